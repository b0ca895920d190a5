"""What people share that is neither text nor a file: places, contacts, polls, dice, lists, in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

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
    return ""


def _point(location: Any) -> str:
    if not isinstance(location, Mapping):
        return "?"
    return f"{location.get('latitude')}, {location.get('longitude')}"
