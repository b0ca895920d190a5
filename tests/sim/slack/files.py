"""Files on the platform: what people and the bot sent, and the uploads that are under way."""

from __future__ import annotations

import itertools
import uuid
from dataclasses import dataclass, field

from tests.sim.slack.nouns import BOT_USER, TEAM, Json, Refused

KINDS = {"txt": "text/plain", "md": "text/markdown", "png": "image/png", "jpg": "image/jpeg", "pdf": "application/pdf"}
MOST_BYTES = 1024**3
SPOKEN: Json = {
    "subtype": "slack_audio",
    "media_display_type": "audio",
    "duration_ms": 2100,
    "transcription": {"status": "processing"},
}
"""What the file of a voice clip has beside the fields of any other; its media type may be a film's."""


@dataclass(slots=True)
class Stored:
    """``length`` is what was announced; ``content`` is None until it is uploaded, to the place that ``ticket`` names.
    ``shares``: channel and ts. ``extra`` are further fields as Slack names them."""

    id: str
    name: str
    media_type: str
    user: str
    length: int
    content: bytes | None = None
    title: str = ""
    gone: bool = False
    complete: bool = True
    ticket: str = ""
    extra: Json = field(default_factory=dict)
    shares: list[tuple[str, str]] = field(default_factory=list)


class Files:
    """``base`` is the server's URL, where files are fetched with the bot's token; ``most_bytes`` what the workspace takes."""

    def __init__(self) -> None:
        self.base, self.most_bytes = "", MOST_BYTES
        self.by_id: dict[str, Stored] = {}
        self._numbers = itertools.count(1)

    def keep(self, name: str, content: bytes, *, media_type: str, user: str, spoken: bool = False) -> Stored:
        """What a person sends."""
        stored = Stored(self._id(), name, media_type or _kind(name), user, len(content), content, name)
        stored.extra = dict(SPOKEN) if spoken else {}
        self.by_id[stored.id] = stored
        return stored

    def announce(self, name: str, length: int) -> Stored:
        """What the bot is going to send: nobody knows it before its upload is completed."""
        stored = Stored(self._id(), name, _kind(name), BOT_USER, length, title=name, complete=False)
        stored.ticket = uuid.uuid4().hex
        self.by_id[stored.id] = stored
        return stored

    def _id(self) -> str:
        return f"F0SIM{next(self._numbers):05d}"

    def find(self, id: str) -> Stored:
        stored = self.by_id.get(id)
        if stored is None or not stored.complete:
            raise Refused("file_not_found")
        if stored.gone:
            raise Refused("file_deleted")
        return stored

    def waiting(self, id: str) -> Stored:
        """An upload that has its bytes and is not completed yet."""
        stored = self.by_id.get(id)
        if stored is None or stored.complete or stored.content is None:
            raise Refused("file_not_found")
        return stored

    def discard(self) -> None:
        """Uploads that nobody has completed for long are forgotten."""
        self.by_id = {id: stored for id, stored in self.by_id.items() if stored.complete}

    def receive(self, ticket: str, content: bytes) -> str:
        """The bytes of an upload; what is wrong with them, "" when nothing."""
        stored = next((one for one in self.by_id.values() if ticket and one.ticket == ticket), None)
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
            **stored.extra,
        }

    def content(self, id: str) -> bytes | None:
        stored = self.by_id.get(id)
        return None if stored is None or stored.gone else stored.content


def _kind(name: str) -> str:
    return KINDS.get(name.rpartition(".")[2].lower(), "application/octet-stream")
