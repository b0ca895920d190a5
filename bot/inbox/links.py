"""One person on several platforms: linked by a code that is typed on both sides."""

from __future__ import annotations

import secrets
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final

from bot.brain.turn import Turn
from bot.core.address import Address, Sender
from bot.core.ports import Clock
from bot.core.text import clipped
from bot.core.texts import say
from bot.inbox.pairing import ALPHABET, CODE_CHARS
from bot.store.links import LinkRows

OFFER_SECONDS: Final = 600.0
OFFERS: Final = 100
GUESSES: Final = 5
GUESS_SECONDS: Final = 3600.0
NAME_CHARS: Final = 40

Tell = Callable[[Address, Sender, str], Awaitable[None]]


@dataclass(slots=True)
class _Offer:
    """``claim`` is who typed the code on another side, and where."""

    sender: Sender
    address: Address
    language: str
    until: float
    claim: tuple[Sender, Address, str] | None = None


class Links:
    """``tell`` says something to a person in a direct chat. Offers are forgotten when the bot is started again."""

    def __init__(self, rows: LinkRows, clock: Clock, tell: Tell) -> None:
        self._rows, self._clock, self._tell = rows, clock, tell
        self._offers: dict[str, _Offer] = {}
        self._wrong: dict[str, deque[float]] = {}

    async def answer(self, turn: Turn, rest: str) -> str:
        """``/link``, ``/link CODE``, ``/link off``. Rights stay with each identity; what is one is the person: standing
        permissions, usage and memory."""
        language = turn.language
        if not turn.message.direct:
            return say("link_direct_only", language)
        wish = "".join(char for char in rest.upper() if char.isalnum())
        if not wish:
            return await self._offered(turn)
        if wish == "OFF":
            return say("link_off" if await self._rows.unlink(turn.sender.identity) else "link_none", language)
        if self._locked(turn.sender.identity):
            return say("link_locked", language)
        offer = self._offers.get(wish)
        if offer is None or offer.until < self._clock.monotonic():
            self._wrong.setdefault(turn.sender.identity, deque(maxlen=GUESSES)).append(self._clock.monotonic())
            return say("link_unknown", language)
        if offer.sender.identity == turn.sender.identity:
            return await self._confirmed(wish, offer, language)
        return await self._claimed(wish, offer, turn)

    async def _offered(self, turn: Turn) -> str:
        now, mine = self._clock.monotonic(), turn.sender.identity
        self._offers = {
            code: one for code, one in self._offers.items() if one.until > now and one.sender.identity != mine
        }
        while len(self._offers) >= OFFERS:
            del self._offers[next(iter(self._offers))]
        code = "".join(secrets.choice(ALPHABET) for _ in range(CODE_CHARS))
        self._offers[code] = _Offer(turn.sender, turn.address, turn.language, now + OFFER_SECONDS)
        known = [one for one in await self._rows.identities(mine) if one != mine]
        told = say("link_code", turn.language, code=code, minutes=int(OFFER_SECONDS // 60))
        return f"{told}\n\n{say('link_known', turn.language, identities=', '.join(known))}" if known else told

    async def _claimed(self, code: str, offer: _Offer, turn: Turn) -> str:
        """The one who began must confirm it: a code can be seen over somebody's shoulder."""
        if offer.claim is not None and offer.claim[0].identity != turn.sender.identity:
            return say("link_unknown", turn.language)
        if offer.claim is None:
            offer.claim = (turn.sender, turn.address, turn.language)
            told = say("link_confirm", offer.language, who=_named(turn.sender), code=code)
            await self._tell(offer.address, offer.sender, told)
        return say("link_wait", turn.language, channel=offer.sender.channel, code=code)

    async def _confirmed(self, code: str, offer: _Offer, language: str) -> str:
        if offer.claim is None:
            return say("link_other_side", language, code=code)
        other, where, tongue = offer.claim
        del self._offers[code]
        await self._rows.link(offer.sender.identity, other.identity)
        await self._tell(where, other, say("link_done", tongue, who=_named(offer.sender)))
        return say("link_done", language, who=_named(other))

    def _locked(self, identity: str) -> bool:
        wrong = self._wrong.get(identity, deque())
        return len(wrong) == GUESSES and self._clock.monotonic() - wrong[0] < GUESS_SECONDS


def _named(sender: Sender) -> str:
    name = "".join(char for char in clipped(sender.name, NAME_CHARS) if char.isprintable() and char != "`").strip()
    return f"`{name}` (`{sender.identity}`)" if name else f"`{sender.identity}`"
