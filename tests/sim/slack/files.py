"""Files on the platform: what people and the bot sent, and the uploads that are under way."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field

from tests.sim.slack.nouns import BOT_USER, TEAM, Json, Refused

KINDS = {"txt": "text/plain", "md": "text/markdown", "png": "image/png", "jpg": "image/jpeg", "pdf": "application/pdf"}


@dataclass(slots=True)
class Stored:
    """``length`` is what was announced; ``content`` is None until it is uploaded. ``shares``: channel and ts."""

    id: str
    name: str
    media_type: str
    user: str
    length: int
    content: bytes | None = None
    title: str = ""
    gone: bool = False
    complete: bool = False
    shares: list[tuple[str, str]] = field(default_factory=list)


class Files:
    """``base`` is the server's URL, where files are fetched with the bot's token."""

    def __init__(self) -> None:
        self.base = ""
        self.by_id: dict[str, Stored] = {}
        self._numbers = itertools.count(1)

    def keep(
        self, name: str, content: bytes | None, *, media_type: str = "", user: str = BOT_USER, length: int = -1
    ) -> Stored:
        kind = media_type or KINDS.get(name.rpartition(".")[2].lower(), "application/octet-stream")
        size = len(content) if content is not None else length
        stored = Stored(f"F0SIM{next(self._numbers):05d}", name, kind, user, size, content, name)
        stored.complete = content is not None
        self.by_id[stored.id] = stored
        return stored

    def find(self, id: str) -> Stored:
        stored = self.by_id.get(id)
        if stored is None:
            raise Refused("file_not_found")
        if stored.gone:
            raise Refused("file_deleted")
        return stored

    def receive(self, id: str, content: bytes) -> str:
        """The bytes of an upload; what is wrong with them, "" when nothing."""
        stored = self.by_id.get(id)
        if stored is None or stored.complete:
            return "upload not found"
        if len(content) != stored.length:
            return f"expected {stored.length} bytes, got {len(content)}"
        stored.content = content
        return ""

    def to_json(self, stored: Stored) -> Json:
        suffix = stored.name.rpartition(".")[2].lower() if "." in stored.name else "binary"
        return {
            "id": stored.id,
            "created": 1_790_000_000,
            "timestamp": 1_790_000_000,
            "name": stored.name,
            "title": stored.title,
            "mimetype": stored.media_type,
            "filetype": {"txt": "text"}.get(suffix, suffix),
            "pretty_type": suffix.upper(),
            "user": stored.user,
            "user_team": TEAM,
            "editable": False,
            "size": max(stored.length, 0),
            "mode": "hosted",
            "is_external": False,
            "is_public": False,
            "file_access": "visible",
            "url_private": f"{self.base}/files-pri/{TEAM}-{stored.id}/{stored.name}",
            "url_private_download": f"{self.base}/files-pri/{TEAM}-{stored.id}/download/{stored.name}",
            "permalink": f"{self.base}/files/{stored.user}/{stored.id}/{stored.name}",
        }

    def content(self, id: str) -> bytes | None:
        stored = self.by_id.get(id)
        return None if stored is None or stored.gone else stored.content
