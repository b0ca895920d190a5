"""What the server does to a text before it is shown: cleaning, trimming, entities checked, dropped or refused."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

from tests.sim.telegram.nouns import Json, bad

MAX_TEXT = 4096
MAX_CAPTION = 1024
MAX_ENTITIES = 100
_TYPES = (
    "mention hashtag cashtag bot_command url email phone_number bold italic underline strikethrough spoiler blockquote"
    " expandable_blockquote code pre text_link text_mention custom_emoji date_time"
)
TYPES = frozenset(_TYPES.split())
_DETECTED = "mention hashtag cashtag bot_command url email phone_number"
DETECTED = frozenset(_DETECTED.split())
"""Found by the server itself; a bot that sends them is not refused, but they do nothing."""
CLOSED = ("pre", "code")
QUOTES = ("blockquote", "expandable_blockquote")
SCHEMES = ("http", "https", "tg", "ton", "mailto", "tel")

_CONTROL = {code: " " for code in range(32) if code not in (10, 13)}
_REMOVED = dict.fromkeys([13, *range(0x2028, 0x202F), 0x0333, 0x033F, 0x030A], "")
_CLEANING = str.maketrans({**_CONTROL, **_REMOVED})
_UNCLEAN = re.compile("[\x00-\x09\x0b-\x1f\u2028-\u202e\u0333\u033f\u030a]")
_INVISIBLE = " \n\u00a0\u00ad\u115f\u1160\u180e\u2060\u2800\u3000\u3164\ufe0f\ufeff\uffa0"
_INVISIBLE += "".join(map(chr, range(0x2000, 0x2010)))

Note = Callable[[str], None]


def units(text: str) -> int:
    """Length in UTF-16 code units."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


def fixed(text: str, raw: Any, note: Note, *, limit: int = MAX_TEXT) -> tuple[str, list[Json]]:
    """The text as shown and its entities; ``note`` gets what a careful bot would not have sent.

    Refuses what the server refuses: nothing visible, too long after trimming, entities that leave the text or split a
    character, halves of a character.
    """
    if _has_surrogates(text):
        raise bad("strings must be encoded in UTF-8")
    if not text:
        raise bad("message text is empty")
    entities = _read_entities(raw, note)
    _check_ranges(text, entities)
    text, entities = _cleaned(text, entities)
    text, entities = _trimmed(text, entities)
    if not text.strip(_INVISIBLE):
        raise bad("message text is empty")
    if units(text) > limit:
        raise bad("message is too long" if limit == MAX_TEXT else "message caption is too long")
    entities = _nested(_sorted(entities), note)
    if len(entities) > MAX_ENTITIES:
        note("more than 100 entities")
        entities = entities[:MAX_ENTITIES]
    return text, entities


def _has_surrogates(text: str) -> bool:
    if text.isascii():
        return False
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return False


def _read_entities(raw: Any, note: Note) -> list[Json]:
    if raw is None:
        return []
    if not isinstance(raw, list):
        raise bad("expected an Array of MessageEntity")
    entities = []
    for entity in raw:
        if not isinstance(entity, dict):
            raise bad("can't parse MessageEntity: MessageEntity must be an Object")
        for name in ("offset", "length"):
            if not isinstance(entity.get(name), int):
                raise bad(f"can't parse MessageEntity: Can't find field \"{name}\"")
        if _is_known(entity, note) and entity["length"] != 0:
            entities.append(dict(entity))
    return entities


def _is_known(entity: Json, note: Note) -> bool:
    kind = entity.get("type")
    if kind not in TYPES:
        note(f"unknown entity type {kind!r}")
        return False
    if kind == "text_link" and not is_link(str(entity.get("url", ""))):
        note(f"text_link with an address that is dropped: {str(entity.get('url'))[:80]!r}")
        return False
    if kind == "custom_emoji" and not str(entity.get("custom_emoji_id", "")).isdigit():
        raise bad("invalid custom emoji identifier specified")
    return kind not in DETECTED


def is_link(url: str) -> bool:
    """Whether the server makes a link of it."""
    if not url or any(char.isspace() or char < " " for char in url):
        return False
    try:
        parts = urlsplit(url if "://" in url or re.match(r"(mailto|tel):", url) else f"http://{url}")
        host = parts.hostname or ""
    except ValueError:
        return False
    if parts.scheme in ("mailto", "tel"):
        return bool(parts.path)
    if parts.scheme in ("tg", "ton"):
        return bool(host)
    known = host == "localhost" or "." in host.strip(".") or ":" in host
    return parts.scheme in SCHEMES and known


def _check_ranges(text: str, entities: list[Json]) -> None:
    if not entities:
        return
    wide = text.encode("utf-16-le")
    size = len(wide) // 2
    for entity in entities:
        offset, length = entity["offset"], entity["length"]
        if offset < 0:
            raise bad(f"receive an entity with incorrect offset {offset}")
        if length < 0:
            raise bad(f"receive an entity with incorrect length {length}")
        if offset > size:
            raise bad(f"entity begins after the end of the text at UTF-16 offset {offset}")
        end = offset + length
        if end > size:
            raise bad(
                f"entity beginning at UTF-16 offset {offset} ends after the end of the text at UTF-16 offset {end}"
            )
        if _splits(wide, offset):
            raise bad(f"entity begins in a middle of a UTF-16 symbol at byte offset {_byte_offset(text, offset)}")
        if _splits(wide, end):
            raise bad(
                f"entity beginning at UTF-16 offset {offset} ends in a middle of a UTF-16 symbol"
                f" at byte offset {_byte_offset(text, end)}"
            )


def _splits(wide: bytes, offset: int) -> bool:
    """Whether the code unit at ``offset`` is the second half of a character."""
    at = 2 * offset + 1
    return at < len(wide) and wide[at] & 0xFC == 0xDC


def _byte_offset(text: str, offset: int) -> int:
    at = size = 0
    for char in text:
        if at >= offset:
            break
        at += units(char)
        size += len(char.encode())
    return size


def _cleaned(text: str, entities: list[Json]) -> tuple[str, list[Json]]:
    """Control characters become spaces; carriage returns and line marks vanish, and the entities move along."""
    if not _UNCLEAN.search(text):
        return text, entities
    removed = [units(text[:at]) for at, char in enumerate(text) if ord(char) in _REMOVED]
    for entity in entities if removed else ():
        start, end = entity["offset"], entity["offset"] + entity["length"]
        before, within = sum(at < start for at in removed), sum(start <= at < end for at in removed)
        entity["offset"], entity["length"] = start - before, end - start - within
    return text.translate(_CLEANING), [entity for entity in entities if entity["length"] > 0]


def _trimmed(text: str, entities: list[Json]) -> tuple[str, list[Json]]:
    """Without white space at the end, nor at the beginning up to the first entity."""
    text = text.rstrip(" \n")
    size = units(text)
    kept = []
    for entity in entities:
        entity["length"] = min(entity["length"], size - entity["offset"])
        if entity["length"] > 0:
            kept.append(entity)
    first = min((entity["offset"] for entity in kept), default=size)
    lead = min(len(text) - len(text.lstrip(" \n")), first)
    for entity in kept:
        entity["offset"] -= lead
    return text[lead:], kept


def _sorted(entities: list[Json]) -> list[Json]:
    return sorted(entities, key=lambda entity: (entity["offset"], -entity["length"]))


def _nested(entities: list[Json], note: Note) -> list[Json]:
    """Drop what lies inside code, and quotes inside quotes; note every overlap that is no nesting."""
    kept: list[Json] = []
    open_: list[Json] = []
    for entity in entities:
        start, end = entity["offset"], entity["offset"] + entity["length"]
        open_ = [outer for outer in open_ if outer["offset"] + outer["length"] > start]
        if any(outer["offset"] + outer["length"] < end for outer in open_):
            note(f"entities overlap: {entity['type']} at {start}")
        if any(outer["type"] in CLOSED for outer in open_):
            note(f"an entity inside code: {entity['type']} at {start}")
            continue
        if entity["type"] in CLOSED and any(outer["type"] not in QUOTES for outer in open_):
            note(f"code inside another entity: {entity['type']} at {start}")
        if entity["type"] in QUOTES and any(outer["type"] in QUOTES for outer in open_):
            note(f"a blockquote inside a blockquote at {start}")
            continue
        kept.append(entity)
        open_.append(entity)
    return kept


_FOUND = (
    ("bot_command", re.compile(r"(?<![\w/])/[A-Za-z0-9_]{1,64}(?:@[A-Za-z0-9_]{3,32})?(?!\w)")),
    ("mention", re.compile(r"(?<!\w)@[A-Za-z0-9_]{4,32}(?!\w)")),
    ("url", re.compile(r"https?://[^\s<>]+")),
)


def found(text: str) -> list[Json]:
    """The entities that the server finds by itself in what a person wrote."""
    spans: list[tuple[int, int, str]] = []
    for kind, pattern in _FOUND:
        for match in pattern.finditer(text):
            if not any(start < match.end() and match.start() < end for start, end, _ in spans):
                spans.append((match.start(), match.end(), kind))
    return [
        {"type": kind, "offset": units(text[:start]), "length": units(text[start:end])}
        for start, end, kind in sorted(spans)
    ]
