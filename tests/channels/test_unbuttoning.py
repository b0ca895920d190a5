"""A button that does nothing any more is taken from its message: the words stay, no text waits for it, no rule is broken."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import pytest

from bot.core.address import Address
from bot.core.ports import CallKind, Governor
from bot.core.stop import StopReason
from bot.core.view import Button, Part, Phase, Ref, View
from tests.channels.discord.stage import stage as discord_stage
from tests.channels.slack.stage import stage as slack_stage
from tests.channels.telegram.stage import stage as telegram_stage
from tests.fakes.clock import FakeClock

WORDS = "The sea is a **large** body of water."
AGAIN = (Button("Try again", "b:t1:retry"),)


@dataclass
class Place:
    """One chat on one platform, in time that the test drives. ``shown`` are its messages with their buttons."""

    channel: Any
    governor: Governor
    clock: FakeClock
    to: Address
    shown: Callable[[], Sequence[tuple[str, Sequence[str]]]]

    async def done(self, work: Coroutine[Any, Any, Any]) -> Any:
        """What ``work`` comes to, while time goes on."""
        task = asyncio.ensure_future(work)
        while not task.done():
            await self.clock.advance(0.1)
        return task.result()

    def part(self, turn: str, text: str, buttons: tuple[Button, ...] = (), *, final: bool = True) -> Part:
        stop, phase = (StopReason.STOPPED, Phase.DONE) if final else (None, Phase.WRITING)
        view = View(turn, text, phase, stop=stop)
        return Part(turn, 0, 0, text, self.channel.render(text), view, buttons, final=final)

    async def offered(self) -> tuple[Ref, Part]:
        """An answer with a button, some time ago."""
        part = self.part("t1", WORDS, AGAIN)
        ref = await self.done(self.channel.show(self.to, None, part))
        await self.clock.advance(4)
        return ref, part


@asynccontextmanager
async def telegram() -> AsyncIterator[Place]:
    async with telegram_stage() as house:
        chat = house.private(7)
        to = Address("telegram", "main", str(chat.id))

        def shown() -> list[tuple[str, list[str]]]:
            messages = [message for message in house.sim.visible(chat) if message.from_bot]
            return [(one.text, [label for row in one.keyboard for label, _ in row]) for one in messages]

        yield Place(house.channel, house.governor, house.clock, to, shown)


@asynccontextmanager
async def discord() -> AsyncIterator[Place]:
    async with discord_stage() as house:
        dm = house.dm(7)

        def shown() -> list[tuple[str, list[str]]]:
            messages = [message for message in house.sim.visible(dm) if message.from_bot]
            return [(one.text, [label for label, _, _ in one.buttons]) for one in messages]

        yield Place(house.channel, house.governor, house.clock, Address("discord", "main", str(dm.id)), shown)


@asynccontextmanager
async def slack() -> AsyncIterator[Place]:
    async with slack_stage() as house:
        dm = house.dm()

        def shown() -> list[tuple[str, list[str]]]:
            messages = [message for message in house.sim.visible(dm) if message.from_bot]
            return [(one.text, [button.label for button in one.buttons]) for one in messages]

        yield Place(house.channel, house.kit.governor, house.clock, house.at(dm), shown)
        assert house.sim.violations == []


@pytest.fixture(params=[telegram, discord, slack])
async def place(request: pytest.FixtureRequest) -> AsyncIterator[Place]:
    async with request.param() as opened:
        yield opened


async def test_the_button_goes_and_the_words_stay_also_where_it_has_gone_before(place: Place) -> None:
    ref, part = await place.offered()
    [(words, labels)] = place.shown()
    assert labels == ["Try again"]
    for _ in range(2):
        await place.done(place.channel.unbutton(place.to, ref, part))
        assert place.shown() == [(words, [])]


async def test_a_message_that_is_gone_is_no_error(place: Place) -> None:
    ref, part = await place.offered()
    await place.done(place.channel.remove(place.to, ref))
    await place.done(place.channel.unbutton(place.to, ref, part))
    assert place.shown() == []


async def test_the_words_of_the_next_answer_do_not_wait_for_it(place: Place) -> None:
    ref, part = await place.offered()
    await place.done(place.channel.unbutton(place.to, ref, part))
    began = place.clock.monotonic()
    await place.done(place.channel.show(place.to, None, place.part("t2", "The sky", final=False)))
    assert place.clock.monotonic() - began < 0.5
    assert [words for words, _ in place.shown()][1:] == ["The sky"]


@pytest.mark.parametrize("seed", [1, 2])
async def test_whenever_it_goes_no_rule_of_the_platform_is_broken(place: Place, seed: int) -> None:
    """Answers are written as fast as the governor lets them be, with rests in which it may go."""
    dice = random.Random(seed)
    old, part = await place.offered()
    ref, gone = await place.done(place.channel.show(place.to, None, place.part("t2", "0", final=False))), 0
    for round_ in range(6):
        for number in range(dice.choice((1, 3))):
            growing = place.part("t2", f"The sky is {round_} {number}", final=False)
            await place.done(place.channel.show(place.to, ref, growing))
        await place.clock.advance(dice.choice((1.0, 3.0)))
        if place.governor.has_room(place.to, CallKind.TYPING, edit=True):
            await place.done(place.channel.unbutton(place.to, old, part))
            gone += 1
    assert gone >= 2
