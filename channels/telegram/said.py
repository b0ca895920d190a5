"""What stands in one of Telegram's messages: its words, its files, and what it replies to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from bot.core.inbound import FileRef, Quote
from channels.telegram.shared import Raw, rich_text, shared

ALONE: Final = (
    ("document", ""),
    ("voice", "audio/ogg"),
    ("audio", "audio/mpeg"),
    ("video", "video/mp4"),
    ("video_note", "video/mp4"),
    ("animation", "video/mp4"),
    ("sticker", "image/webp"),
)


def text_of(raw: Raw) -> tuple[str, Sequence[Raw]]:
    """What was written, in the message itself or below its picture, and what Telegram marks in it."""
    if raw.get("text") is not None:
        return str(raw["text"]), raw.get("entities") or ()
    if isinstance(rich := raw.get("rich_message"), Mapping):
        return rich_text(rich), ()
    return str(raw.get("caption") or ""), raw.get("caption_entities") or ()


def name_of(user: Raw) -> str:
    return " ".join(str(user[key]) for key in ("first_name", "last_name") if user.get(key))


def origin(raw: Raw) -> str:
    """The name of whoever wrote a message of elsewhere first, as far as they let it be known."""
    user, chat = raw.get("sender_user"), raw.get("sender_chat") or raw.get("chat")
    if isinstance(user, Mapping):
        return str(user.get("first_name") or "")
    if isinstance(chat, Mapping):
        return str(chat.get("title") or "")
    return str(raw.get("sender_user_name") or "")


def replied_to(raw: Raw, channel: str) -> Quote | None:
    """The message that this one replies to, in this chat or in another one (of which Telegram gives the words only as far
    as they were chosen); None where there is nothing in it to read or to fetch."""
    chosen = raw.get("quote")
    words = str(chosen.get("text") or "") if isinstance(chosen, Mapping) else ""
    name = number = ""
    if isinstance(original := raw.get("reply_to_message"), Mapping):
        author = original.get("from")
        words = words or text_of(original)[0]
        name, number = name_of(author) if isinstance(author, Mapping) else "", str(int(original["message_id"]))
    elif isinstance(original := raw.get("external_reply"), Mapping):
        name = origin(original.get("origin") or {})
    else:
        original = {}
    text = "\n".join(part for part in (words, shared(original)) if part)
    files = files_of(original, channel)
    return Quote(text, name, number, files=files) if text or files else None


def files_of(raw: Raw, channel: str) -> tuple[FileRef, ...]:
    return tuple(_found(raw, channel))


def _found(raw: Raw, channel: str) -> Iterator[FileRef]:
    if sizes := raw.get("photo"):
        best = max(sizes, key=lambda size: int(size.get("width") or 0) * int(size.get("height") or 0))
        yield _file(best, "photo.jpg", "image/jpeg", channel)
    for kind, media_type in ALONE:
        if isinstance(file := raw.get(kind), Mapping) and not (kind == "document" and "animation" in raw):
            name = f"sticker {file.get('emoji') or ''}".strip() if kind == "sticker" else kind
            yield _file(file, str(file.get("file_name") or name), media_type, channel, spoken=kind == "voice")
    if isinstance(paid := raw.get("paid_media"), Mapping):
        for media in paid.get("paid_media") or ():
            yield from _found(media, channel)


def _file(raw: Raw, name: str, media_type: str, channel: str, *, spoken: bool = False) -> FileRef:
    size = raw.get("file_size")
    kind = str(raw.get("mime_type") or media_type or "application/octet-stream")
    size_bytes = int(size) if size is not None else None
    return FileRef(channel, str(raw["file_id"]), name, kind, size_bytes, spoken)
