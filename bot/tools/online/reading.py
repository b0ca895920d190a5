"""A page as text for the model: by what it is, in the process that reads such things."""

from __future__ import annotations

import asyncio
import json
import tempfile
from email.message import Message
from pathlib import Path, PurePosixPath
from typing import Final
from urllib.parse import urlsplit

from bot.attachments.kinds import HEAD_BYTES, Kind, kind_of
from bot.attachments.opening import Opener
from bot.core.children import answered
from bot.core.errors import ToolFailed
from bot.net.guarded import Page
from bot.tools.online.read import Read, unpacked

CHARS: Final = 200_000
"""Of the text of one page, which is what a prompt can read on in; a book's middle is left out."""
SECONDS: Final = 30.0
AT_ONCE: Final = 2
_DOCUMENTS: Final = (Kind.PDF, Kind.OFFICE, Kind.OLD_OFFICE)
_UNREADABLE: Final = ("image/", "audio/", "video/", "font/", "model/", "multipart/")
_READABLE: Final = ("text/", "application/pdf", "application/octet-stream", "binary/octet-stream", "application/msword")
_READABLE_PARTS: Final = (
    "xml",
    "json",
    "html",
    "javascript",
    "yaml",
    "officedocument",
    "opendocument",
    "ms-excel",
    "rss",
)
_TROUBLES: Final = {
    "blank": "{where} shows no text: it may need a browser that runs its scripts. Look for another page that says the same.",
    "binary": "What is at {where} is no text.",
    "broken": "What is at {where} is damaged, or too intricate to be read.",
    "locked": "The document at {where} is protected by a password.",
    "kind": "What is at {where} is no document that can be read.",
    "reader": 'Documents cannot be read here: the owner must install the extra "files".',
    "slow": "Reading {where} took too long.",
}


def is_readable(media_type: str) -> bool:
    """Whether something of that type may hold text; "" (the server does not say) may."""
    if media_type.startswith(_UNREADABLE):
        return False
    return not media_type or media_type.startswith(_READABLE) or any(part in media_type for part in _READABLE_PARTS)


def named(page: Page) -> str:
    """For a sentence of ours: of the address that a stranger's server led to, its host alone."""
    return f"{page.asked} (which leads to {urlsplit(page.url).hostname})" if page.redirects else page.asked


class Reader:
    """A few pages at once, whoever asked for them."""

    def __init__(self, *, at_once: int = AT_ONCE, seconds: float = SECONDS) -> None:
        self._slots, self._seconds = asyncio.Semaphore(at_once), seconds
        self._opener = Opener(at_once=at_once, seconds=seconds)

    async def read(self, page: Page) -> Read:
        """Raises ``ToolFailed`` where there is no text in it."""
        kind = kind_of(page.body[:HEAD_BYTES], _file_name(page.url), page.media_type)
        if kind in _DOCUMENTS:
            return await self._document(page, kind)
        if kind in (Kind.PICTURE, Kind.SOUND):
            raise ToolFailed(f"What is at {named(page)} is a {kind.value}, not text.")
        found = await self._markup(page)
        if found.trouble:
            raise ToolFailed(_TROUBLES[found.trouble].format(where=named(page)))
        return found

    async def _markup(self, page: Page) -> Read:
        asked = {"url": page.url, "media_type": page.media_type, "charset": _charset(page), "chars": CHARS}
        question = json.dumps(asked).encode() + b"\n" + page.body
        async with self._slots:
            try:
                said = await answered("bot.tools.online.page_child", seconds=self._seconds, question=question)
                return unpacked(said) if said is not None else Read("broken")
            except TimeoutError:
                raise ToolFailed(_TROUBLES["slow"].format(where=named(page))) from None
            except ValueError:
                return Read("broken")

    async def _document(self, page: Page, kind: Kind) -> Read:
        folder = await asyncio.to_thread(tempfile.TemporaryDirectory, prefix="bowerbird-", ignore_cleanup_errors=True)
        try:
            place = Path(folder.name) / "document"
            await asyncio.to_thread(place.write_bytes, page.body)
            opened = await self._opener.open(place, kind, CHARS)
        finally:
            folder.cleanup()
        if not opened.body:
            trouble = opened.trouble if opened.trouble in _TROUBLES else "broken"
            raise ToolFailed(_TROUBLES[trouble].format(where=named(page)))
        text = opened.body.decode("utf-8", "replace")
        return Read("", text, _file_name(page.url), is_cut=opened.trouble == "cut")


def _charset(page: Page) -> str:
    header = Message()
    header["content-type"] = page.headers.get("content-type", "")
    return header.get_content_charset("") if header.get_param("charset") else ""


def _file_name(url: str) -> str:
    return PurePosixPath(urlsplit(url).path).name[:100]
