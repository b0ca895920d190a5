"""The referee of rendered text: what Telegram allows."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import combinations

from bot.core.view import Entity, Rendered

KINDS = frozenset({"bold", "italic", "strikethrough", "spoiler", "blockquote", "code", "pre", "text_link"})


def formatted(rendered: Rendered, entity: Entity) -> str:
    raw = rendered.text.encode("utf-16-le")
    return raw[2 * entity.offset : 2 * (entity.offset + entity.length)].decode("utf-16-le")


def spans(rendered: Rendered, kind: str = "") -> list[tuple[str, str, str]]:
    """Kind, text and value of every entity, or of those of one kind."""
    return [
        (one.type, formatted(rendered, one), one.value) for one in rendered.entities if one.type == kind or not kind
    ]


def illegal(rendered: Rendered) -> list[str]:
    """Everything that the rules of the Bot API, or the server's own cleaning, would change or refuse."""
    text, found = rendered.text, []
    text.encode("utf-8")
    size = len(text.encode("utf-16-le")) // 2
    if re.search("[\x00-\x09\x0b-\x1f\u2028-\u202e\u030a\u0333\u033f\x7f]", text):
        found.append("control characters")
    if text.rstrip(" \n") != text:
        found.append("space at the end")
    lead = len(text) - len(text.lstrip(" \n"))
    if lead and (not rendered.entities or rendered.entities[0].offset > 0):
        found.append("space at the beginning")
    if rendered.length < size or rendered.length * 100 < 4096 * len(rendered.entities):
        found.append("length is too small")
    order = [(one.offset, -one.length) for one in rendered.entities]
    if order != sorted(order):
        found.append("not sorted")
    for one in rendered.entities:
        found += _alone(rendered, one, size)
    for one, other in combinations(rendered.entities, 2):
        if other.offset < one.offset + one.length:
            found += _together(one, other)
    return found


def _alone(rendered: Rendered, one: Entity, size: int) -> Iterator[str]:
    if one.type not in KINDS:
        yield f"kind {one.type}"
    if one.length <= 0 or one.offset < 0 or one.offset + one.length > size:
        yield f"range of {one}"
        return
    try:
        inside = formatted(rendered, one)
    except UnicodeDecodeError:
        yield f"half a character in {one}"
        return
    is_code = any(other.type == "pre" and other.offset == one.offset for other in rendered.entities)
    if inside != inside.rstrip() or (not is_code and inside != inside.lstrip()) or inside.startswith("\n"):
        yield f"space at the ends of {one}: {inside!r}"
    if (one.type == "text_link") != bool(re.match(r"https?://|tg://|mailto:", one.value)) and one.type != "pre":
        yield f"value of {one}"


def _together(one: Entity, other: Entity) -> Iterator[str]:
    """``other`` begins within ``one``."""
    ends, other_ends = one.offset + one.length, other.offset + other.length
    if other_ends > ends:
        yield f"overlap: {one} {other}"
    if {one.type, other.type} & {"code", "pre"} and "blockquote" not in (one.type, other.type):
        yield f"code with something else: {one} {other}"
    if other.type in ("code", "pre") and ends == other_ends and one.offset == other.offset and one.type != "blockquote":
        yield f"code with something else: {one} {other}"
    if one.type == other.type:
        yield f"twice the same: {one} {other}"
    if other.type == "blockquote" and (one.offset, ends) != (other.offset, other_ends):
        yield f"a quotation inside: {one} {other}"
