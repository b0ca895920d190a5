"""What people share that is neither text nor a file: places, contacts, polls, lists, stories, games, in words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

DEEPEST: Final = 40
"""Telegram nests blocks 16 deep at most (PLATFORMS.md 1.3)."""
_RICH: Final = ("title", "summary", "text", "blocks", "items", "rows", "cells", "caption")
"""What of a block there is to read; a text is a string, or a list of strings and of pieces that are formatted."""

Raw = Mapping[str, Any]


def shared(raw: Raw) -> str:
    """ "" for a message that shares nothing of the kind."""
    if isinstance(venue := raw.get("venue"), Mapping):
        return f"Shared place: {venue.get('title', '')}, {venue.get('address', '')} ({_point(venue.get('location'))})"
    if isinstance(location := raw.get("location"), Mapping):
        return f"Shared location: {_point(location)}"
    if isinstance(contact := raw.get("contact"), Mapping):
        name = " ".join(str(contact[key]) for key in ("first_name", "last_name") if contact.get(key))
        return f"Shared contact: {name}, {contact.get('phone_number', '')}"
    if isinstance(poll := raw.get("poll"), Mapping):
        options = "\n".join(f"- {option.get('text', '')}" for option in poll.get("options") or ())
        return f"Shared poll: {poll.get('question', '')}\n{options}"
    if isinstance(dice := raw.get("dice"), Mapping):
        return f"Thrown: {dice.get('emoji', '')} {dice.get('value', '')}"
    if isinstance(checklist := raw.get("checklist"), Mapping):
        tasks = "\n".join(f"- {task.get('text', '')}" for task in checklist.get("tasks") or ())
        return f"Shared checklist: {checklist.get('title', '')}\n{tasks}"
    return _published(raw)


def _published(raw: Raw) -> str:
    """Of a story and of what must be paid for, Telegram tells bots no more than that it is there."""
    if isinstance(story := raw.get("story"), Mapping):
        chat = story.get("chat") or {}
        return f"Shared story of {chat.get('title') or chat.get('first_name') or '?'}, which Telegram does not show to bots"
    if isinstance(game := raw.get("game"), Mapping):
        return f"Shared game: {game.get('title', '')}\n{game.get('description', '')}".strip()
    if isinstance(paid := raw.get("paid_media"), Mapping):
        return f"Shared media that cost {paid.get('star_count', '?')} stars"
    if isinstance(giveaway := raw.get("giveaway"), Mapping):
        prize = giveaway.get("prize_description") or ""
        return f"Shared giveaway: {giveaway.get('winner_count', '?')} winners\n{prize}".strip()
    if isinstance(invoice := raw.get("invoice"), Mapping):
        amount = f"{invoice.get('total_amount', '')} {invoice.get('currency', '')} (in its smallest unit)"
        return f"Shared invoice: {invoice.get('title', '')}, {amount}\n{invoice.get('description', '')}".strip()
    return ""


def rich_text(value: Any, between: str = "\n", depth: int = 0) -> str:
    """The words of a rich message: its blocks below each other, without their formatting."""
    if isinstance(value, str):
        return value
    parts: Iterable[str] = ()
    if depth < DEEPEST and isinstance(value, Mapping):
        parts = (rich_text(value[key], "" if key == "text" else "\n", depth + 1) for key in _RICH if key in value)
        between = "\n"
    elif depth < DEEPEST and isinstance(value, Sequence):
        parts = (rich_text(one, between, depth + 1) for one in value)
    return between.join(part for part in parts if part)


def _point(location: Any) -> str:
    if not isinstance(location, Mapping):
        return "?"
    return f"{location.get('latitude')}, {location.get('longitude')}"
