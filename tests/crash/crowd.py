"""Many people at once, each with a question and an answer of their own: what mixes up two of them is seen."""

from __future__ import annotations

from collections import Counter
from typing import Final

from tests.crash.platform import Simulated
from tests.crash.story import INTERRUPTED
from tests.crash.verdict import answer_of
from tests.sim.llm import When, answer, sleep, text
from tests.sim.llm.script import Answer

PIECES: Final = 48
SOON: Final = 18
PIECE_SECONDS: Final = 0.3


class Crowd:
    """``count`` people. The answer to every fifth is over soon, that to the others takes longer than any stop."""

    def __init__(self, platform: Simulated, count: int) -> None:
        self.chats = [platform.beside(1000 + n, f"Person {n}") for n in range(count)]

    async def ask(self) -> None:
        for n, chat in enumerate(self.chats):
            await chat.say(f"Question {n}: count for me.")

    def answers(self, seconds: float) -> list[Answer]:
        """``seconds`` between two pieces."""
        return [
            answer(*(step for piece in _pieces(n) for step in (text(piece), sleep(seconds))), when=_asks(n))
            for n in range(len(self.chats))
        ]

    def first_messages(self) -> list[str]:
        """The id of the bot's first message to each."""
        return [chat.standing[0].id for chat in self.chats]

    def whole(self, chat: Simulated) -> str:
        return "".join(_pieces(self.chats.index(chat))).strip()

    def state(self, chat: Simulated) -> str:
        """``nothing``, ``whole``, ``marked`` as interrupted, ``begun``; anything else is what stands there wrongly."""
        told = [message.text for message in chat.standing]
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
