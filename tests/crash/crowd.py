"""Many people at once, each with a question and an answer of their own: what mixes up two of them is seen."""

from __future__ import annotations

from collections import Counter
from typing import Final

from tests.crash.platform import Seen
from tests.crash.story import INTERRUPTED
from tests.crash.telegram import TelegramPlatform, seen
from tests.crash.verdict import answer_of
from tests.sim.llm import When, answer, sleep, text
from tests.sim.llm.script import Answer
from tests.sim.telegram import Chat

PIECES: Final = 48
SOON: Final = 18
PIECE_SECONDS: Final = 0.3


class Crowd:
    """``count`` people. The answer to every fifth is over soon, that to the others takes longer than any stop."""

    def __init__(self, platform: TelegramPlatform, count: int) -> None:
        self._sim = platform.sim
        self._people = [self._sim.person(1000 + n, f"Person {n}", language="en") for n in range(count)]
        self.chats = [self._sim.private(person) for person in self._people]

    async def ask(self) -> None:
        for n, (chat, person) in enumerate(zip(self.chats, self._people, strict=True)):
            await self._sim.say(chat, person, f"Question {n}: count for me.")

    def answers(self, seconds: float) -> list[Answer]:
        """``seconds`` between two pieces."""
        return [
            answer(*(step for piece in _pieces(n) for step in (text(piece), sleep(seconds))), when=_asks(n))
            for n in range(len(self.chats))
        ]

    def messages(self, chat: Chat) -> list[Seen]:
        """The bot's messages there."""
        return [seen(shown) for shown in self._sim.visible(chat) if shown.from_bot]

    def whole(self, chat: Chat) -> str:
        return "".join(_pieces(self.chats.index(chat))).strip()

    def state(self, chat: Chat) -> str:
        """``nothing``, ``whole``, ``marked`` as interrupted, ``begun``; anything else is what stands there wrongly."""
        told = [message.text for message in self.messages(chat)]
        if len(told) > 1:
            return repr(told)
        if not told or told == [self.whole(chat)]:
            return "whole" if told else "nothing"
        if not self.whole(chat).startswith(answer_of(told[0])):
            return told[0]
        return "marked" if told[0].endswith(INTERRUPTED) else "begun"

    def states(self) -> Counter[str]:
        return Counter(map(self.state, self.chats))


def _pieces(n: int) -> list[str]:
    return [f"{n} says {piece}. " for piece in range(SOON if n % 5 == 0 else PIECES)]


def _asks(n: int) -> When:
    return When(user=f"Question {n}:")
