"""What a message shows, as parameters of the Bot API."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from bot.core.address import Address
from bot.core.view import Button, Part
from bot.outbox.styled.spans import is_blank
from channels.telegram.entities import shown_text

ROW_BUTTONS: Final = 2
NOTHING: Final = "…"
"""Stands for an answer of invisible characters alone, which Telegram would refuse."""
NO_PREVIEW: Final = {"is_disabled": True}
"""Given with every call, so that a link's preview neither comes nor goes while the text grows."""


def content_of(part: Part) -> dict[str, Any]:
    """What a message shows, as parameters."""
    text = part.rendered.text if part.rendered.entities else shown_text(part.rendered.text)
    content: dict[str, Any] = {"text": NOTHING if is_blank(text) else text, "link_preview_options": NO_PREVIEW}
    if part.rendered.entities:
        content["entities"] = [
            _entity(entity.type, entity.offset, entity.length, entity.value) for entity in part.rendered.entities
        ]
    if part.buttons:
        content["reply_markup"] = {"inline_keyboard": _rows(part.buttons)}
    return content


def thread_of(to: Address) -> dict[str, Any]:
    return {"message_thread_id": int(to.thread)} if to.thread else {}


def _entity(type_: str, offset: int, length: int, value: str) -> dict[str, Any]:
    entity: dict[str, Any] = {"type": type_, "offset": offset, "length": length}
    if value and type_ == "pre":
        entity["language"] = value
    elif value and type_ == "text_link":
        entity["url"] = value
    return entity


def _rows(buttons: Sequence[Button]) -> list[list[dict[str, str]]]:
    """The verbs of a card in pairs, so that a phone shows them whole; Stop on a row of its own. Styles as Telegram has
    them."""
    rows: list[list[dict[str, str]]] = []
    last = None
    for button in buttons:
        target = button.payload.rpartition(":")[0]
        made = {"text": button.label, "callback_data": button.payload}
        if button.style != "plain":
            made["style"] = button.style
        if target != last or len(rows[-1]) >= ROW_BUTTONS:
            rows.append([])
            last = target
        rows[-1].append(made)
    return rows
