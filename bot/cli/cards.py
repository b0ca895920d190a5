"""Approval cards on a terminal: which are open, and which of them a typed line decides.

Only a whole line that is one of the four commands decides, and only about a card that was on the screen when the person
began to type it. Every other line is a message.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

VERBS: Final = ("once", "chat", "always", "deny")


@dataclass(frozen=True, slots=True)
class Card:
    """``number`` is what the person calls it; ``verbs`` are the decisions that its buttons offer."""

    id: str
    number: int
    tool: str
    effect: str
    reason: str
    arguments: str
    verbs: tuple[str, ...]

    def payload(self, verb: str) -> str:
        return f"b:{self.id}:{verb}"


@dataclass(frozen=True, slots=True)
class Decision:
    payload: str


@dataclass(frozen=True, slots=True)
class Unclear:
    """The line is a command about a card, but decides none. ``word`` says why."""

    word: str
    values: Mapping[str, object] = field(default_factory=dict)


class CardDesk:
    def __init__(self) -> None:
        self._open: dict[str, Card] = {}
        self._numbers: dict[str, int] = {}
        self._seen: frozenset[str] = frozenset()

    @property
    def open(self) -> tuple[Card, ...]:
        return tuple(self._open.values())

    def lay(self, cards: Iterable[Mapping[str, Any]], buttons: Iterable[Mapping[str, Any]]) -> None:
        """Take the cards (frames of the terminal channel) of every growing turn: those without a decision are open."""
        payloads = [str(button["payload"]) for button in buttons]
        self._open = {}
        for card in cards:
            if card["decision"]:
                continue
            id = str(card["id"])
            number = self._numbers.setdefault(id, len(self._numbers) + 1)
            offered = tuple(verb for verb in VERBS if f"b:{id}:{verb}" in payloads)
            self._open[id] = Card(id, number, card["tool"], card["effect"], card["reason"], card["arguments"], offered)

    def typing_began(self) -> None:
        """The person starts a line: these cards are what it can be about."""
        self._seen = frozenset(self._open)

    def read(self, line: str) -> Decision | Unclear | None:
        """None when the line is a message."""
        head, _, tail = line.strip().partition(" ")
        verb = head.removeprefix("/").lower()
        number = tail.strip()
        if not head.startswith("/") or verb not in VERBS or (number and not (number.isascii() and number.isdigit())):
            return None
        if not self._open:
            return Unclear("terminal_no_card")
        chosen = [card for card in self._open.values() if not number or card.number == int(number)]
        if len(chosen) != 1:
            return Unclear("terminal_which_card", {"verb": head, "number": next(iter(self._open.values())).number})
        card = chosen[0]
        if card.id not in self._seen:
            return Unclear("terminal_card_changed")
        if verb not in card.verbs:
            return Unclear("terminal_not_offered", {"verb": head})
        return Decision(card.payload(verb))
