"""Pairing: an unknown person gets a code, an owner who is told it lets them in, and may send them away again."""

from __future__ import annotations

import secrets
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

from bot.core.address import Address, Sender
from bot.core.inbound import UserMessage
from bot.core.ports import Clock
from bot.core.stop import StopReason
from bot.core.text import clipped
from bot.core.texts import say
from bot.core.transcript import EndRow, ReplyRow
from bot.inbox.gate import Gate
from bot.store.inbox import InboxRow
from bot.store.people import Greeting, PeopleRows, Person, Ruling, Stranger

ALPHABET: Final = "34679ACDEFGHJKMNPQRTUVWXY"
"""Without 0 O, 1 I L, 2 Z, 5 S and 8 B: a code is read from one screen and typed on another."""
CODE_CHARS: Final = 8
GUESSES: Final = 5
"""Wrong codes an hour from one person in a chat; 25^8 codes of which a few count make guessing hopeless anyway."""
NAME_CHARS: Final = 40


@dataclass(frozen=True, slots=True)
class Listing:
    """Who waits with a code, and who may or may no longer talk."""

    waiting: tuple[Stranger, ...]
    people: tuple[Person, ...]


async def listing_of(rows: PeopleRows | None, gate: Gate, now: float) -> Listing:
    """``rows`` None: nobody was ever here."""
    configured = gate.configured()
    if rows is None:
        return Listing((), tuple(configured))
    return Listing(tuple(await rows.waiting(now)), (*configured, *await rows.people()))


class Pairing:
    """``announce`` is given the row whose turn tells a person that they were let in, ``turn_out`` the identity of one
    who was sent away: nothing of theirs is answered any more."""

    def __init__(
        self,
        rows: PeopleRows,
        gate: Gate,
        clock: Clock,
        *,
        announce: Callable[[InboxRow], None],
        turn_out: Callable[[str], Awaitable[None]],
    ) -> None:
        self._rows, self._gate, self._clock = rows, gate, clock
        self._announce, self._turn_out = announce, turn_out

    async def load(self) -> None:
        """Before anything is judged: tell the gate who was let in and sent away in the past."""
        self._gate.learn(*await self._rows.people())

    def is_owner(self, sender: Sender) -> bool:
        return self._gate.is_owner(sender)

    async def listing(self) -> Listing:
        return await listing_of(self._rows, self._gate, self._clock.now())

    async def knock(self, message: UserMessage, language: str) -> str:
        """The sentence for an unknown person who wrote directly; "" when they were told within the hour."""
        sender = message.sender
        known = Sender(sender.channel, sender.id, _name(sender.name), sender.is_bot)
        new_code = _code if self._gate.pairs(message.address.channel) else None
        knock = await self._rows.knock(known, message.address, language, self._clock.now(), new_code)
        if not knock.told:
            return ""
        if knock.code:
            return say("refused_with_code", language, code=knock.code)
        return say("refused_crowd" if new_code else "refused_stranger", language)

    async def approve(self, code: str, by: str, guesses: int | None = GUESSES) -> Ruling:
        """Let in whoever has this code. ``by`` is the approver's identity; ``guesses`` None: at the machine itself."""
        code = "".join(char for char in code.upper() if char.isalnum())
        ruling = await self._rows.approve(code, by, self._clock.now(), self._greeting, self._gate.owned, guesses)
        if ruling.kind == "approved" and ruling.person is not None:
            self._gate.learn(ruling.person)
        if ruling.notice is not None:
            self._announce(ruling.notice)
        return ruling

    async def revoke(self, identity: str, by: str) -> Ruling:
        """``identity`` is ``channel:id``. Whom the configuration names can only be taken out of it."""
        channel, _, id = identity.partition(":")
        configured = {person.identity for person in self._gate.configured()}
        if identity in configured:
            return Ruling("configured", Person(channel, id))
        anybody = f"{channel}:*" in configured
        ruling = await self._rows.revoke(channel, id, by, self._clock.now(), anybody=anybody)
        if ruling.kind == "revoked" and ruling.person is not None:
            self._gate.learn(ruling.person)
            await self._turn_out(identity)
        return ruling

    def _greeting(self, person: Person, where: Address, language: str) -> Greeting:
        """The answer stands in the transcript before its turn runs, so the turn only shows it, also after a restart."""
        turn = secrets.token_hex(6)
        sender = Sender(person.channel, person.id, person.name, language=language)
        opening = UserMessage(f"paired-{turn}", where, sender, "/pair", person.since or 0.0)
        key = "pair_greeting_owner" if person.standing == "owner" else "pair_greeting"
        return Greeting(turn, opening, (ReplyRow(say(key, language)), EndRow(StopReason.COMMAND)))


def told(ruling: Ruling, language: str, mark: str = "") -> str:
    """The sentence for whoever approved or revoked; ``mark`` goes around what the person chose to be called."""
    person = ruling.person or Person("", "")
    who = named(person, mark)
    if ruling.kind == "approved" and person.standing == "owner":
        return say("pair_approved_owner", language, who=who, channel=person.channel)
    return say(f"pair_{ruling.kind}", language, who=who, channel=person.channel)


def named(person: Person | Stranger, mark: str = "") -> str:
    """Name and identity, or the identity alone."""
    identity = f"{mark}{person.identity}{mark}"
    return f"{mark}{person.name}{mark} ({identity})" if person.name else identity


def in_chat(listing: Listing, now: float, language: str) -> str:
    """The listing as CommonMark for an owner. Names are strangers' own words, so they stand as code."""
    line = partial(say, "pair_line", language)
    waiting = [
        line(who=named(one, "`"), what=f"**{one.code}**, {_left(one, now, language)}") for one in listing.waiting
    ]
    people = [line(who=named(one, "`"), what=say(f"pair_as_{one.standing}", language)) for one in listing.people]
    blocks = [say("pair_waiting" if waiting else "pair_nobody_waits", language), *_block(waiting)]
    blocks += [say("pair_people" if people else "pair_nobody", language), *_block(people), say("pair_usage", language)]
    return "\n\n".join(blocks)


def _left(stranger: Stranger, now: float, language: str) -> str:
    minutes = max(1, round((stranger.expires_at - now) / 60))
    left = say("pair_minutes", language, minutes=minutes)
    return f"{left}, {say('pair_as_revoked', language)}" if stranger.returning else left


def _block(lines: Sequence[str]) -> tuple[str, ...]:
    return ("\n".join(lines),) if lines else ()


def is_code(text: str) -> bool:
    """Whether this is meant as a code, right or mistyped, and not as words."""
    code = "".join(char for char in text if char not in " -")
    if len(code) != CODE_CHARS or not (code.isascii() and code.isalnum()):
        return False
    return code.isupper() or any(char.isdigit() for char in code) or set(code.upper()) <= set(ALPHABET)


def _code() -> str:
    return "".join(secrets.choice(ALPHABET) for _ in range(CODE_CHARS))


def _name(name: str) -> str:
    """What a stranger is called, on one line and without what could pass for something else on an owner's screen."""
    return "".join(char for char in clipped(name, NAME_CHARS) if char.isprintable() and char != "`").strip()
