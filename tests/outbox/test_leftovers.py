"""A button that does nothing any more is taken away, behind everything that somebody waits for."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from bot.core.address import Address
from bot.core.errors import ChannelError, MessageGone, RateLimited, StoreError
from bot.core.events import Offered
from bot.core.ports import CallKind
from bot.core.view import Button, Part, Ref, Rendered, View
from bot.outbox.governor import BucketGovernor, Rates
from bot.outbox.leftovers import REST_SECONDS, WAITING, WORTH_SECONDS, Leftovers
from bot.outbox.publisher import Offering, Publisher
from tests.fakes.channel import HERE
from tests.fakes.clock import FakeClock
from tests.outbox.stage import TURN, Stage

AGAIN = (Button("Try again", "b:t:retry"),)
PART = Part("t", 0, 0, "words", Rendered("words", 5), View("t"), AGAIN, final=True)
RATES = Rates(chat_interval=1.0)
ELSEWHERE = Address("fake", "main", "2")


class Chat:
    """Leftovers over a real governor; ``taken`` is what was taken away and when."""

    def __init__(self, rates: Rates = RATES) -> None:
        self.clock = FakeClock()
        self.governor = BucketGovernor(self.clock, {"fake": rates})
        self.taken: list[tuple[Address, str, float]] = []
        self.errors: list[Exception] = []
        self.leftovers = Leftovers(self._unbutton, self.governor, self.clock)

    async def _unbutton(self, to: Address, ref: Ref, part: Part) -> None:
        async with self.governor.call(to, CallKind.TYPING, edit=True):
            self.taken.append((to, ref.message_id, self.clock.monotonic()))
            if self.errors:
                raise self.errors.pop()

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        async with asyncio.TaskGroup() as group:
            task = group.create_task(self.leftovers.run())
            await self.clock.settle()
            yield
            task.cancel()


def offering(name: str) -> Offering:
    return Ref(name), PART


async def test_the_button_of_an_older_answer_goes_once_a_newer_one_stands() -> None:
    chat = Chat()
    async with chat.running():
        chat.leftovers.begins(HERE, "fake:7")(offering("a"))
        await chat.clock.advance(10)
        assert chat.taken == []
        chat.leftovers.begins(HERE, "fake:7")(None)
        await chat.clock.advance(10)
        chat.leftovers.begins(HERE, "fake:7")(None)
        await chat.clock.advance(10)
    assert [ref for _, ref, _ in chat.taken] == ["a"]


async def test_somebody_elses_and_other_chats_buttons_stay() -> None:
    chat = Chat()
    async with chat.running():
        chat.leftovers.begins(HERE, "fake:7")(offering("a"))
        chat.leftovers.begins(HERE, "fake:8")(None)
        chat.leftovers.begins(ELSEWHERE, "fake:7")(offering("b"))
        await chat.clock.advance(10)
        assert chat.taken == []
        chat.leftovers.begins(HERE, "fake:7")(offering("c"))
        await chat.clock.advance(10)
    assert [ref for _, ref, _ in chat.taken] == ["a"], "and the newer one has its own"


async def test_an_answer_that_waited_for_a_person_takes_nothing_from_the_one_to_a_later_question() -> None:
    chat = Chat()
    earlier, later = chat.leftovers.begins(HERE, "fake:7"), chat.leftovers.begins(HERE, "fake:7")
    async with chat.running():
        later(offering("later"))
        earlier(offering("earlier"))
        await chat.clock.advance(20)
        assert [ref for _, ref, _ in chat.taken] == ["earlier"]
        chat.leftovers.begins(HERE, "fake:7")(None)
        await chat.clock.advance(20)
    assert [ref for _, ref, _ in chat.taken] == ["earlier", "later"]


async def test_no_text_waits_for_it_and_there_are_three_in_twenty_seconds() -> None:
    chat = Chat()
    async with chat.running():
        for number in range(6):
            to = Address("fake", "main", str(number))
            chat.leftovers.begins(to, "fake:7")(offering("a"))
            chat.leftovers.begins(to, "fake:7")(None)
        await chat.clock.advance(0.1)
        [(to, _, at)] = chat.taken
        async with chat.governor.call(to, CallKind.PREVIEW):
            assert chat.clock.monotonic() - at <= 0.1
        await chat.clock.advance(60)
    times = [at for _, _, at in chat.taken]
    assert len(times) == 6 and all(later - sooner > 20 for sooner, later in zip(times, times[3:], strict=False))


async def test_it_waits_until_the_chat_is_quiet_and_stays_where_it_never_is() -> None:
    chat = Chat()

    async def talk(seconds: float) -> None:
        for _ in range(int(seconds / 1.5)):
            async with chat.governor.call(HERE, CallKind.FINAL):
                pass
            await chat.clock.advance(1.5)

    async with chat.running():
        chat.leftovers.begins(HERE, "fake:7")(offering("a"))
        chat.leftovers.begins(HERE, "fake:7")(offering("b"))
        await talk(15)
        last = chat.clock.monotonic()
        assert chat.taken == []
        await chat.clock.advance(5)
        [(_, _, at)] = chat.taken
        assert at >= last + 0.5
        chat.leftovers.begins(HERE, "fake:7")(None)
        await talk(WORTH_SECONDS + 6)
        await chat.clock.advance(10)
    assert [ref for _, ref, _ in chat.taken] == ["a"]


async def test_in_a_group_it_waits_for_the_first_minute_to_pass_and_leaves_room_for_answers() -> None:
    chat = Chat(Rates(chat_interval=1.0, group_per_minute=20, is_group=lambda to: True))
    async with chat.running():
        chat.leftovers.begins(HERE, "fake:7")(offering("a"))
        chat.leftovers.begins(HERE, "fake:7")(None)
        await chat.clock.advance(30)
        began = chat.clock.monotonic()
        async with chat.governor.call(HERE, CallKind.FINAL):
            assert chat.clock.monotonic() == began, "an answer does not wait for it"
        await chat.clock.advance(25)
        assert chat.taken == []
        await chat.clock.advance(20)
    assert [ref for _, ref, _ in chat.taken] == ["a"]


async def test_what_is_refused_or_gone_is_tried_once_and_stops_nothing() -> None:
    chat = Chat()
    async with chat.running():
        for error in (
            MessageGone("gone"),
            RateLimited("wait", 5.0),
            ChannelError("no"),
            StoreError("full"),
            KeyError("x"),
        ):
            chat.errors.append(error)
            chat.leftovers.begins(HERE, "fake:7")(offering(type(error).__name__))
            chat.leftovers.begins(HERE, "fake:7")(None)
            await chat.clock.advance(20)
    assert [ref for _, ref, _ in chat.taken] == ["MessageGone", "RateLimited", "ChannelError", "StoreError", "KeyError"]


async def test_a_crowd_of_them_is_cut_off_not_kept() -> None:
    chat = Chat()
    for number in range(WAITING + 10):
        to = Address("fake", "main", str(number))
        chat.leftovers.begins(to, "fake:7")(offering("a"))
        chat.leftovers.begins(to, "fake:7")(None)
    async with chat.running():
        for _ in range(WAITING):
            await chat.clock.advance(REST_SECONDS)
    assert len(chat.taken) == WAITING


# what the publisher tells


class Telling(Stage):
    def new_publisher(self) -> Publisher:
        self.told: list[Offering | None] = []
        return Publisher(
            *(self.channel, self.governor, self.ledger, self.clock, HERE, TURN, "en"),
            jitter=lambda: 0.5,
            stands=self.told.append,
        )


async def test_a_complete_answer_is_told_with_the_message_that_has_its_button() -> None:
    stage = Telling()
    async with stage.running():
        stage.say("A first part. " * 400)
        stage.emit(Offered(AGAIN))
        await stage.clock.advance(5)
        assert stage.told == []
        stage.end()
        await stage.clock.advance(10)
    [told] = stage.told
    assert told is not None
    last = [*stage.channel.messages.values()][-1]
    assert (told[0].message_id, told[1].buttons) == (last.id, AGAIN) and len(stage.channel.messages) == 2


async def test_one_without_a_button_is_told_as_well() -> None:
    stage = Telling()
    async with stage.running():
        stage.say("An answer that ends well.")
        stage.end()
        await stage.clock.advance(10)
    assert stage.told == [None]
