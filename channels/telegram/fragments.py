"""Pieces of one message: albums come photo by photo, and a long text as a person's client took it apart."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from bot.core.address import Address
from bot.core.inbound import UserMessage
from bot.inbox.commands import command_of
from channels.telegram.entities import units

LONG_UNITS: Final = 2048
"""Clients cut at 4,096 units; Telegram Desktop at the best place in the second half of them (``TextUtilities::CutPart``)."""
BURST_SECONDS: Final = 2.0
"""Pieces follow each other at once; Telegram dates them in whole seconds."""
KEPT: Final = 1000


@dataclass(slots=True)
class _Fragment:
    """``ids`` are its pieces, ``goes_on_until`` (by Telegram's dates) when the last of them was long enough to be cut."""

    name: str
    addressed: bool
    goes_on_until: float = 0.0
    ids: set[str] = field(default_factory=set)


class Fragments:
    """Remembers the latest one of each person in each chat. Who sees a piece for the second time names it as before."""

    def __init__(self) -> None:
        self._latest: OrderedDict[tuple[Address, str], _Fragment] = OrderedDict()

    def named(self, message: UserMessage, raw: Mapping[str, Any]) -> UserMessage:
        """The message with the name of what it is a piece of, if it is. It is meant for the bot where an earlier piece is,
        which alone carries the mention. ``raw`` is Telegram's own form of it."""
        place = message.address, message.sender.id
        known = self._latest.get(place)
        album = raw.get("media_group_id")
        if album is not None:
            name = f"album:{album}"
            fragment = known if known is not None and known.name == name else _Fragment(name, message.addressed)
        elif known is not None and (message.id in known.ids or _continues(known, message, raw)):
            fragment = known
        elif _is_cut(message, raw) and command_of(message.text) is None:
            fragment = _Fragment(f"text:{message.id}", message.addressed)
        else:
            return message
        if message.id not in fragment.ids:
            fragment.ids.add(message.id)
            fragment.goes_on_until = message.sent_at + BURST_SECONDS if _is_cut(message, raw) else 0.0
        fragment.addressed = fragment.addressed or message.addressed
        self._latest[place] = fragment
        self._latest.move_to_end(place)
        if len(self._latest) > KEPT:
            self._latest.popitem(last=False)
        return replace(message, fragment=fragment.name, addressed=fragment.addressed)


def _continues(fragment: _Fragment, message: UserMessage, raw: Mapping[str, Any]) -> bool:
    """A reply or a command is a message of its own, however soon it comes."""
    reply = raw.get("reply_to_message")
    is_reply = (isinstance(reply, Mapping) and "forum_topic_created" not in reply) or "external_reply" in raw
    return (
        message.sent_at <= fragment.goes_on_until
        and _is_plain(message, raw)
        and not is_reply
        and command_of(message.text) is None
    )


def _is_cut(message: UserMessage, raw: Mapping[str, Any]) -> bool:
    return _is_plain(message, raw) and units(str(raw["text"])) > LONG_UNITS


def _is_plain(message: UserMessage, raw: Mapping[str, Any]) -> bool:
    return "text" in raw and not message.files and "forward_origin" not in raw
