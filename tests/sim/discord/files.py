"""Attachments and where they are served: links that are signed and end after a day."""

from __future__ import annotations

import hashlib
import mimetypes
from collections.abc import Callable
from urllib.parse import quote

from aiohttp import web

from tests.sim.discord.refusals import Json

LINK_SECONDS = 24 * 3600
"""Attachment links carry the time of their end (discord-api-docs, reference: signed attachment CDN URLs)."""


class Files:
    """``base`` is the URL of the CDN, set when the simulator serves."""

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self.base = ""
        self._contents: dict[str, tuple[bytes, str]] = {}

    def attachment(self, channel: int, id_: int, name: str, media_type: str, content: bytes, **fields: object) -> Json:
        """Keep a file; its attachment object. ``fields`` as description or title."""
        guessed = media_type if media_type and media_type != "application/octet-stream" else ""
        kind = guessed or mimetypes.guess_type(name)[0] or ""
        path = f"attachments/{channel}/{id_}/{quote(name)}"
        self._contents[path] = (content, kind or "application/octet-stream")
        url = f"{self.base}/{path}?{self._signature(path)}"
        body: Json = {"id": str(id_), "filename": name, "size": len(content), "url": url, "proxy_url": url}
        if kind:
            body["content_type"] = kind
        return {**body, **{key: value for key, value in fields.items() if value is not None}}

    def serve(self, path: str, query: str) -> web.Response:
        """404 for a link that is unknown, unsigned or past its end."""
        known = self._contents.get(path)
        fields = dict(pair.partition("=")[::2] for pair in query.rstrip("&").split("&"))
        try:
            ends = int(fields.get("ex", "0"), 16)
        except ValueError:
            ends = 0
        if known is None or ends < self._now() or fields.get("hm") != _sign(path, fields.get("ex", "")):
            return web.Response(status=404, text="This content is no longer available.")
        return web.Response(body=known[0], headers={"Content-Type": known[1]})

    def _signature(self, path: str) -> str:
        now = int(self._now())
        ends = f"{now + LINK_SECONDS:x}"
        return f"ex={ends}&is={now:x}&hm={_sign(path, ends)}&"


def _sign(path: str, ends: str) -> str:
    return hashlib.sha256(f"{path} {ends}".encode()).hexdigest()
