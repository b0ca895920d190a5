"""What a ``rich_text`` block may hold: its element types, their fields and styles, and what may stand inside what."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.sim.slack.nouns import Json

Fault = Callable[[str, str], None]
"""Takes a message and the JSON pointer it is about."""

SECTION, LIST, PREFORMATTED, QUOTE = "rich_text_section", "rich_text_list", "rich_text_preformatted", "rich_text_quote"
STYLES = frozenset(("bold", "italic", "strike", "code", "underline"))
MENTION_STYLES = STYLES | {"highlight", "client_highlight", "unlink"}
FIELDS: dict[str, tuple[frozenset[str], frozenset[str]]] = {
    "text": (frozenset(("text",)), frozenset(("style",))),
    "link": (frozenset(("url",)), frozenset(("text", "unsafe", "style"))),
    "user": (frozenset(("user_id",)), frozenset(("style",))),
    "channel": (frozenset(("channel_id",)), frozenset(("style",))),
    "usergroup": (frozenset(("usergroup_id",)), frozenset(("style",))),
    "broadcast": (frozenset(("range",)), frozenset(("style",))),
    "emoji": (frozenset(("name",)), frozenset(("unicode", "skin_tone", "style", "display_name"))),
    "date": (frozenset(("timestamp", "format")), frozenset(("url", "fallback", "style"))),
    "color": (frozenset(("value",)), frozenset(("style",))),
}
"""Required and optional fields of an inline element."""
CONTAINERS: dict[str, frozenset[str]] = {
    SECTION: frozenset(("type", "elements")),
    LIST: frozenset(("type", "elements", "style", "indent", "offset", "border")),
    PREFORMATTED: frozenset(("type", "elements", "border", "language")),
    QUOTE: frozenset(("type", "elements", "border")),
}
LIST_STYLES = ("bullet", "ordered")
RANGES = ("here", "channel", "everyone")
IN_PREFORMATTED = frozenset(("text", "link", "emoji", "user", "channel", "usergroup", "broadcast", "date"))
MAX_INDENT = 8


def check_rich_text(block: Json, pointer: str, fault: Fault) -> None:
    elements = block.get("elements")
    if not isinstance(elements, list):
        fault("missing required field: elements", pointer)
        return
    for index, element in enumerate(elements):
        place = f"{pointer}/elements/{index}"
        if not isinstance(element, dict) or element.get("type") not in CONTAINERS:
            kind = element.get("type") if isinstance(element, dict) else element
            fault(f"unsupported type: {kind}", f"{place}/type")
        else:
            _container(element, place, fault)


def _container(element: Json, pointer: str, fault: Fault) -> None:
    kind = element["type"]
    _names(element, CONTAINERS[kind], pointer, fault)
    inner = element.get("elements")
    if not isinstance(inner, list):
        fault("missing required field: elements", pointer)
        return
    if not inner:
        fault("must have at least 1 item", f"{pointer}/elements")
    if kind == LIST:
        _list(element, inner, pointer, fault)
        return
    allowed = IN_PREFORMATTED if kind == PREFORMATTED else frozenset(FIELDS)
    for index, one in enumerate(inner):
        _inline(one, allowed, f"{pointer}/elements/{index}", fault)


def _list(element: Json, inner: list[Any], pointer: str, fault: Fault) -> None:
    if element.get("style") not in LIST_STYLES:
        fault("must be one of: bullet, ordered", f"{pointer}/style")
    for name, highest in (("indent", MAX_INDENT), ("offset", 10**6), ("border", 1)):
        value = element.get(name, 0)
        if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= highest:
            fault(f"must be an integer between 0 and {highest}", f"{pointer}/{name}")
    for index, item in enumerate(inner):
        place = f"{pointer}/elements/{index}"
        if not isinstance(item, dict) or item.get("type") != SECTION:
            fault("a list holds rich_text_section only", f"{place}/type")
        else:
            _container(item, place, fault)


def _inline(element: Any, allowed: frozenset[str], pointer: str, fault: Fault) -> None:
    kind = element.get("type") if isinstance(element, dict) else None
    if kind not in allowed:
        fault(f"unsupported type: {kind}", f"{pointer}/type")
        return
    required, optional = FIELDS[kind]
    _names(element, required | optional | {"type"}, pointer, fault)
    for name in sorted(required):
        value = element.get(name)
        if name == "timestamp":
            if not isinstance(value, int):
                fault("must be an integer", f"{pointer}/{name}")
        elif not isinstance(value, str) or not value:
            fault(f"must be a non-empty string: {name}", f"{pointer}/{name}")
    if kind == "broadcast" and element.get("range") not in RANGES:
        fault("must be one of: here, channel, everyone", f"{pointer}/range")
    if "style" in element:
        _style(element["style"], STYLES if kind in ("text", "link") else MENTION_STYLES, f"{pointer}/style", fault)


def _style(style: Any, allowed: frozenset[str], pointer: str, fault: Fault) -> None:
    if not isinstance(style, dict):
        fault("must be an object", pointer)
        return
    for name, value in style.items():
        if name not in allowed:
            fault(f"invalid additional property: {name}", pointer)
        elif not isinstance(value, bool):
            fault("must be a boolean", f"{pointer}/{name}")


def _names(element: Json, allowed: frozenset[str], pointer: str, fault: Fault) -> None:
    for name in element:
        if name not in allowed:
            fault(f"invalid additional property: {name}", pointer)
