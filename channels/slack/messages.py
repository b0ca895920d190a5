"""How a part becomes a Slack message: text for notifications, rich text to be seen, buttons below it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from bot.core.view import Button, Part
from bot.outbox.styled.spans import is_blank
from channels.slack.escapes import escaped

TEXT_BYTES: Final = 4000
"""``chat.update`` takes no longer text."""
NOTHING: Final = "…"
"""Stands for an answer of invisible characters alone, which Slack would refuse."""
STOP: Final = ":stop"

Block = dict[str, Any]


def content(part: Part, rich: Sequence[Block], *, plain: bool) -> dict[str, Any]:
    """``text`` and ``blocks``. ``rich`` are the blocks of the part's Markdown; ``plain``: they were refused before, so
    the Markdown itself is shown."""
    text = escaped(part.markdown) if plain else part.rendered.text
    blocks = [_plain(part.markdown)] if plain else list(rich)
    if is_blank(part.markdown if plain else text):
        text, blocks = NOTHING, [_plain(NOTHING)]
    return {"text": _cut(text), "blocks": [*blocks, *actions(part.buttons)]}


def actions(buttons: Sequence[Button]) -> list[Block]:
    """A row for every card, Stop on a row of its own."""
    rows: dict[str, list[Block]] = {}
    for button in buttons:
        made: Block = {
            "type": "button",
            "action_id": button.payload,
            "value": button.payload,
            "text": {"type": "plain_text", "text": button.label, "emoji": False},
        }
        if button.style != "plain":
            made["style"] = button.style
        rows.setdefault(button.payload.rpartition(":")[0], []).append(made)
    return [{"type": "actions", "elements": elements} for elements in rows.values()]


def decides(part: Part) -> bool:
    """Whether there is anything to press beside Stop."""
    return any(not button.payload.endswith(STOP) for button in part.buttons)


def _plain(text: str) -> Block:
    """Text that nothing is read into."""
    section = {"type": "rich_text_section", "elements": [{"type": "text", "text": text}]}
    return {"type": "rich_text", "elements": [section]}


def _cut(text: str) -> str:
    """What is seen are the blocks, so the end may go, an entity at a time."""
    raw = text.encode()
    if len(raw) <= TEXT_BYTES:
        return text
    cut = raw[: TEXT_BYTES - 3].decode(errors="ignore")
    broken = cut.rfind("&", max(0, len(cut) - 5))
    return (cut[:broken] if broken >= 0 and ";" not in cut[broken:] else cut) + "…"
