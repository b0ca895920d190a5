"""What a call wants a message to be: the checks of Discord on content, embeds, flags, nonce, files and components."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tests.sim.discord.bodies import Upload
from tests.sim.discord.components import TEXT, check_components, check_url
from tests.sim.discord.mentions import Allowed, Named, named_in, read_allowed
from tests.sim.discord.nouns import EPHEMERAL, SILENT, SUPPRESS_EMBEDS, V2, VOICE_MESSAGE, Message, walk
from tests.sim.discord.refusals import FormErrors, Json, refused

MAX_CONTENT, MAX_NONCE = 2000, 25
MAX_EMBEDS, MAX_FIELDS, MAX_EMBED_TEXT = 10, 25, 6000
EMBED_LIMITS = {"title": 256, "description": 4096}
MAX_FILES, MAX_FILE_BYTES = 10, 10 * 1024 * 1024
SENDABLE = SUPPRESS_EMBEDS | SILENT | VOICE_MESSAGE | V2
EDITABLE = SUPPRESS_EMBEDS | V2


@dataclass(frozen=True, slots=True)
class Draft:
    """A message as it shall be: after an edit, with what the call did not mention as it was. ``uploads`` are new files
    with their metadata, ``kept`` the attachments that stay. ``retold`` tells that the text changed, so that mentions
    are read anew."""

    content: str
    embeds: list[Json]
    components: list[Json]
    flags: int
    allowed: Allowed
    uploads: list[tuple[Upload, Json]]
    kept: list[Json]
    retold: bool

    @property
    def text(self) -> str:
        """What is searched for mentions."""
        shown = [one["content"] for one in walk(self.components) if one["type"] == TEXT] if self.flags & V2 else []
        return "\n".join([self.content, *shown])

    @property
    def pinged(self) -> Named:
        """Whom the text pings."""
        return self.allowed.of(named_in(self.text))


def read_draft(body: Json, uploads: list[Upload], old: Message | None = None, *, interaction: bool = False) -> Draft:
    """Refused with all that is wrong. ``old`` is the message that is edited."""
    errors = FormErrors()
    content = _content(body, old, errors)
    embeds = _embeds(body, old, errors)
    flags = _flags(body, old, errors, interaction=interaction)
    _check_nonce(body, errors)
    allowed = read_allowed(body.get("allowed_mentions"), errors)
    raw = body.get("components")
    if raw is not None and not isinstance(raw, list):
        errors.add("components", "LIST_TYPE_CONVERT", "Only iterables may be used in a ListType")
        raw = []
    components = old.components if old is not None and "components" not in body else raw or []
    if "components" in body or old is None:
        components = check_components(components, errors, v2=bool(flags & V2))
    if flags & V2:
        _check_v2(content, embeds, body, errors)
    new, kept = _attachments(body, uploads, old, errors)
    errors.raise_any()
    if not (content or embeds or components or new or kept):
        raise refused(50006)
    retold = old is None or "content" in body or bool(flags & V2 and "components" in body)
    return Draft(content, embeds, components, flags, allowed, new, kept, retold)


def _content(body: Json, old: Message | None, errors: FormErrors) -> str:
    if old is not None and "content" not in body:
        return old.content
    content = body.get("content")
    if content is None:
        return ""
    if not isinstance(content, str):
        content = str(content)
    errors.too_long("content", content, MAX_CONTENT)
    return content.strip()


def _embeds(body: Json, old: Message | None, errors: FormErrors) -> list[Json]:
    if old is not None and "embeds" not in body:
        return old.embeds
    embeds: list[Json] = [] if body.get("embeds") is None else body["embeds"]
    if not isinstance(embeds, list) or not all(isinstance(embed, dict) for embed in embeds):
        errors.add("embeds", "LIST_TYPE_CONVERT", "Only iterables of dictionaries may be used in a ListType")
        return []
    if len(embeds) > MAX_EMBEDS:
        errors.add("embeds", "BASE_TYPE_BAD_LENGTH", f"Must be {MAX_EMBEDS} or fewer in length.")
    total = 0
    for index, embed in enumerate(embeds):
        total += _embed_size(embed, f"embeds.{index}", errors)
    if total > MAX_EMBED_TEXT:
        errors.add("embeds", "MAX_EMBED_SIZE_EXCEEDED", f"Embed size exceeds maximum size of {MAX_EMBED_TEXT}")
    return [{"type": "rich", **embed} for embed in embeds]


def _embed_size(embed: Json, path: str, errors: FormErrors) -> int:
    texts = {name: embed.get(name) or "" for name in EMBED_LIMITS}
    for name, limit in EMBED_LIMITS.items():
        errors.too_long(f"{path}.{name}", texts[name], limit)
    footer, author = embed.get("footer") or {}, embed.get("author") or {}
    errors.too_long(f"{path}.footer.text", footer.get("text") or "", 2048)
    errors.too_long(f"{path}.author.name", author.get("name") or "", 256)
    fields = embed.get("fields") or []
    if len(fields) > MAX_FIELDS:
        errors.add(f"{path}.fields", "BASE_TYPE_BAD_LENGTH", f"Must be {MAX_FIELDS} or fewer in length.")
    size = sum(map(len, texts.values())) + len(footer.get("text") or "") + len(author.get("name") or "")
    for index, row in enumerate(fields):
        for name, limit in (("name", 256), ("value", 1024)):
            if not str(row.get(name) or "").strip():
                errors.required(f"{path}.fields.{index}.{name}")
            errors.too_long(f"{path}.fields.{index}.{name}", row.get(name) or "", limit)
            size += len(row.get(name) or "")
    check_url(embed.get("url") or "", f"{path}.url", errors)
    if not size and not any(embed.get(name) for name in ("image", "thumbnail", "url")):
        errors.required(f"{path}.description")
    return size


def _flags(body: Json, old: Message | None, errors: FormErrors, *, interaction: bool) -> int:
    asked = int(body.get("flags") or 0)
    if old is None:
        return asked & (SENDABLE | EPHEMERAL if interaction else SENDABLE)
    if body.get("flags") is None:
        return old.flags
    if old.flags & V2 and not asked & V2:
        errors.add("flags", "MESSAGE_CANNOT_REMOVE_COMPONENTS_V2_FLAG", "The IS_COMPONENTS_V2 flag cannot be removed")
    return (old.flags & ~EDITABLE) | (asked & EDITABLE)


def _check_nonce(body: Json, errors: FormErrors) -> None:
    nonce = body.get("nonce")
    if nonce is not None and len(str(nonce)) > MAX_NONCE:
        errors.too_long("nonce", str(nonce), MAX_NONCE)


def _check_v2(content: str, embeds: list[Json], body: Json, errors: FormErrors) -> None:
    used = {"content": content, "embeds": embeds, "sticker_ids": body.get("sticker_ids"), "poll": body.get("poll")}
    for name, value in used.items():
        if value:
            message = f"The '{name}' field cannot be used when using MessageFlags.IS_COMPONENTS_V2"
            errors.add(name, "MESSAGE_CANNOT_USE_LEGACY_FIELDS_WITH_COMPONENTS_V2", message)


def _attachments(
    body: Json, uploads: list[Upload], old: Message | None, errors: FormErrors
) -> tuple[list[tuple[Upload, Json]], list[Json]]:
    """New files with their metadata, and the attachments of the edited message that stay."""
    raw: list[Any] = body.get("attachments") or []
    existing = {one["id"]: one for one in (old.attachments if old is not None else ())}
    numbers = {str(upload.number) for upload in uploads}
    about = {str(one.get("id")): one for one in raw}
    for name in about:
        if name not in numbers and name not in existing:
            raise refused(50146)
    if any(len(upload.content) > MAX_FILE_BYTES for upload in uploads):
        raise refused(40005)
    kept = list(existing.values()) if "attachments" not in body else [existing[one] for one in about if one in existing]
    if len(uploads) + len(kept) > MAX_FILES:
        raise refused(30015)
    return [(upload, about.get(str(upload.number), {})) for upload in uploads], kept
