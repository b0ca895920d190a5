from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from itertools import pairwise

import pytest

from bot.core.address import Address
from bot.core.errors import RateLimited
from bot.core.ports import CallKind
from bot.outbox.governor import BucketGovernor, Rates
from tests.fakes.clock import FakeClock


def chat(number: int | str, thread: str = "") -> Address:
    return Address("fake", "main", str(number), thread)


class Traffic:
    """Calls through one governor; ``let_in`` has the moment, the chat and the kind of each."""

    def __init__(self, rates: Rates) -> None:
        self.clock = FakeClock()
        self.governor = BucketGovernor(self.clock, {"fake": rates})
        self.let_in: list[tuple[float, Address, CallKind]] = []

    async def call(self, to: Address, kind: CallKind, error: RateLimited | None = None) -> None:
        try:
            async with self.governor.call(to, kind):
                self.let_in.append((round(self.clock.monotonic(), 2), to, kind))
                if error:
                    raise error
        except RateLimited as raised:
            assert raised is error

    async def play(self, *steps: Callable[[], Awaitable[None]], seconds: float = 3600.0) -> None:
        """Start ``steps`` in order, let ``seconds`` go by, and give up what then still waits."""
        async with asyncio.TaskGroup() as group:
            tasks = []
            for step in steps:
                tasks.append(group.create_task(_run(step)))
                await asyncio.sleep(0)
            await self.clock.advance(seconds)
            for task in tasks:
                task.cancel()

    def times(self, to: Address | None = None) -> list[float]:
        return [at for at, where, _ in self.let_in if to in (None, where)]


async def _run(step: Callable[[], Awaitable[None]]) -> None:
    await step()


async def test_calls_in_one_chat_keep_their_distance_and_other_chats_do_not_wait() -> None:
    traffic = Traffic(Rates(chat_interval=1.5))
    await traffic.play(
        *(lambda: traffic.call(chat(1), CallKind.PREVIEW) for _ in range(4)),
        lambda: traffic.call(chat(2), CallKind.FINAL),
    )
    assert traffic.times(chat(1)) == [0, 1.5, 3.0, 4.5]
    assert traffic.times(chat(2)) == [0]


async def test_threads_share_the_budget_of_their_chat() -> None:
    traffic = Traffic(Rates(chat_interval=1.0))
    await traffic.play(*(lambda t=t: traffic.call(chat(1, t), CallKind.FINAL) for t in "abc"))
    assert traffic.times() == [0, 1, 2]


async def test_dearer_calls_go_first_and_within_a_kind_the_older() -> None:
    traffic = Traffic(Rates(chat_interval=1.0))
    kinds = [CallKind.PREVIEW, CallKind.TYPING, CallKind.PREVIEW, CallKind.FINAL, CallKind.TYPING, CallKind.FINAL]
    await traffic.play(*(lambda k=k: traffic.call(chat(1), k) for k in kinds))
    assert [kind for _, _, kind in traffic.let_in] == [
        CallKind.PREVIEW,
        CallKind.FINAL,
        CallKind.FINAL,
        CallKind.PREVIEW,
        CallKind.TYPING,
        CallKind.TYPING,
    ]


async def test_a_buttons_answer_never_waits_behind_messages() -> None:
    traffic = Traffic(Rates(chat_interval=5.0))
    await traffic.play(
        *(lambda: traffic.call(chat(1), CallKind.PREVIEW) for _ in range(5)),
        lambda: traffic.call(chat(1), CallKind.ANSWER),
    )
    assert (0, chat(1), CallKind.ANSWER) in traffic.let_in


async def test_the_account_lets_finals_of_any_chat_pass_previews_of_all() -> None:
    traffic = Traffic(Rates(chat_interval=1.0, account_per_second=5))
    previews = [lambda n=n: traffic.call(chat(n), CallKind.PREVIEW) for n in range(40)]
    finals = [lambda n=n: traffic.call(chat(100 + n), CallKind.FINAL) for n in range(5)]
    await traffic.play(*previews, *finals)
    assert [at for at, _, kind in traffic.let_in if kind is CallKind.FINAL][-1] <= 5 / 4
    assert len(traffic.let_in) == 45


async def test_an_account_spends_what_it_has_evenly() -> None:
    """Thirty at once and thirty more a second later arrive as sixty where the way is uneven."""
    traffic = Traffic(Rates(account_per_second=30))
    await traffic.play(*(lambda n=n: traffic.call(chat(n), CallKind.FINAL) for n in range(120)))
    times = traffic.times()
    assert times.count(0.0) <= 6 and times[-1] <= 120 / 25
    assert all(later - sooner >= 0.99 for sooner, later in zip(times, times[31:], strict=False))


def refusal(traffic: Traffic, number: int, seconds: float) -> Callable[[], Awaitable[None]]:
    return lambda: traffic.call(chat(number), CallKind.FINAL, RateLimited("slow", seconds))


def plain(traffic: Traffic, number: int) -> Callable[[], Awaitable[None]]:
    return lambda: traffic.call(chat(number), CallKind.FINAL)


async def test_refusals_in_two_chats_are_about_those_alone() -> None:
    traffic = Traffic(Rates())
    await traffic.play(refusal(traffic, 1, 60), refusal(traffic, 2, 60), refusal(traffic, 2, 60), plain(traffic, 50))
    assert traffic.times(chat(50)) == [0]


async def test_refusals_in_three_chats_at_once_make_all_chats_wait_for_a_moment_only() -> None:
    """That the account is meant is a guess: of a chat of which nothing was said it holds for some seconds."""
    traffic = Traffic(Rates())
    await traffic.play(*(refusal(traffic, n, 238) for n in (1, 2, 3)), plain(traffic, 50), plain(traffic, 3))
    assert traffic.times(chat(50)) == [5]
    assert traffic.times(chat(3)) == [0, 238], "who was told to wait does, in full"


async def test_all_chats_wait_no_longer_than_the_shortest_of_the_refusals_says() -> None:
    traffic = Traffic(Rates())
    await traffic.play(refusal(traffic, 1, 60), refusal(traffic, 2, 2), refusal(traffic, 3, 60), plain(traffic, 50))
    assert traffic.times(chat(50)) == [2]


async def test_an_account_that_really_is_limited_is_guessed_again() -> None:
    traffic = Traffic(Rates())
    await traffic.play(*(refusal(traffic, n, 40) for n in (1, 2, 3)), *(refusal(traffic, n, 35) for n in (4, 5, 6)))
    await traffic.play(plain(traffic, 7), seconds=0)
    assert [traffic.times(chat(n)) for n in (1, 4, 5, 6)] == [[0], [5], [5], [5]]
    traffic = Traffic(Rates())
    waits = (refusal(traffic, n, 35) for n in (4, 5, 6))
    await traffic.play(*(refusal(traffic, n, 40) for n in (1, 2, 3)), *waits, seconds=6)
    await traffic.play(plain(traffic, 7), seconds=60)
    assert traffic.times(chat(7)) == [10], "five seconds after the second guess"


async def test_refusals_that_come_one_by_one_are_no_crowd() -> None:
    traffic = Traffic(Rates())
    for number in range(6):
        await traffic.play(refusal(traffic, number, 60), seconds=1.5)
    await traffic.play(plain(traffic, 50))
    assert traffic.times(chat(50)) == [9.0]


async def test_a_wait_that_is_known_of_otherwise_is_kept_and_is_no_refusal() -> None:
    traffic = Traffic(Rates())
    for number in range(5):
        traffic.governor.silence(chat(number), 30 + number)
    await traffic.play(*(plain(traffic, n) for n in (0, 4, 50)), lambda: traffic.call(chat(0), CallKind.ANSWER))
    assert [traffic.times(chat(n)) for n in (0, 4, 50)] == [[0, 30], [34], [0]]


async def test_no_chat_starves_another() -> None:
    """Every chat wants more than there is: once the first second's burst is over, each gets its share in turn."""
    traffic = Traffic(Rates(account_per_second=4))

    async def greedy(number: int) -> None:
        for _ in range(20):
            await traffic.call(chat(number), CallKind.PREVIEW)

    await traffic.play(*(lambda n=n: greedy(n) for n in range(8)), seconds=20)
    shares = [sum(at >= 1 for at in traffic.times(chat(number))) for number in range(8)]
    assert max(shares) - min(shares) <= 1


GROUPS = Rates(chat_interval=1.0, group_per_minute=20, is_group=lambda to: to.chat.startswith("-"))
TEAM = chat("-1")


async def grown(rates: Rates = GROUPS) -> tuple[Traffic, float]:
    """A life of which more than a minute is over, and its age."""
    traffic = Traffic(rates)
    await traffic.clock.advance(100)
    return traffic, 100


async def test_a_group_gets_its_calls_a_minute_spread_over_it() -> None:
    traffic, _ = await grown()

    async def previews() -> None:
        for _ in range(60):
            await traffic.call(chat("-1"), CallKind.PREVIEW)

    await traffic.play(previews, seconds=150)
    times = traffic.times()
    assert all(later - earlier >= 3.09 for earlier, later in pairwise(times))
    assert all(sum(start <= at < start + 60 for at in times) <= 20 for start in times)
    await traffic.play(lambda: traffic.call(chat("-1"), CallKind.FINAL), seconds=3.2)
    assert traffic.let_in[-1][2] is CallKind.FINAL


async def test_a_final_in_a_group_does_not_wait_for_the_preview_rhythm() -> None:
    traffic, age = await grown()
    await traffic.play(
        lambda: traffic.call(TEAM, CallKind.PREVIEW),
        lambda: traffic.call(TEAM, CallKind.PREVIEW),
        lambda: traffic.call(TEAM, CallKind.FINAL),
    )
    assert [(at - age, kind) for at, _, kind in traffic.let_in] == [
        (0, CallKind.PREVIEW),
        (1.0, CallKind.FINAL),
        (pytest.approx(4.1), CallKind.PREVIEW),
    ]


async def test_in_a_group_the_first_words_do_not_wait_for_the_sign_of_life_before_them() -> None:
    traffic, age = await grown()
    kinds = (CallKind.TYPING, CallKind.PREVIEW, CallKind.PREVIEW, CallKind.TYPING)
    await traffic.play(*(lambda k=k: traffic.call(TEAM, k) for k in kinds))
    typed, first, second, again = [at - age for at in traffic.times()]
    assert (typed, first) == (0, 0) and second == pytest.approx(3.1)
    assert again - second >= 3.1, "signs of life keep their distance from everything"


async def test_signs_of_life_in_many_topics_leave_a_group_room_for_texts() -> None:
    traffic, age = await grown()

    async def typing(topic: str) -> None:
        while True:
            await traffic.call(chat("-1", topic), CallKind.TYPING)

    async def text() -> None:
        await traffic.clock.sleep(120)
        await traffic.call(TEAM, CallKind.FINAL)

    await traffic.play(*(lambda t=t: typing(t) for t in "abcde"), text, seconds=130)
    assert next(at - age for at, _, kind in traffic.let_in if kind is CallKind.FINAL) <= 123.2


async def test_what_a_group_was_told_before_this_life_may_still_count() -> None:
    """Its calls are spread for a minute, finals as well, and nobody types; a private chat is as ever."""
    traffic = Traffic(GROUPS)
    finals = [lambda: traffic.call(TEAM, CallKind.FINAL) for _ in range(25)]
    await traffic.play(
        lambda: traffic.call(TEAM, CallKind.TYPING), *finals, *(lambda: traffic.call(chat(1), CallKind.FINAL),) * 3
    )
    texts = [at for at, where, kind in traffic.let_in if where == TEAM and kind is CallKind.FINAL]
    [typed] = [at for at, _, kind in traffic.let_in if kind is CallKind.TYPING]
    assert typed >= 62
    early = [at for at in texts if at < 62]
    assert len(early) == 20 and all(later - sooner >= 3.09 for sooner, later in pairwise(early))
    assert all(sum(start <= at < start + 60 for at in texts) <= 20 for start in texts)
    assert traffic.times(chat(1)) == [0, 1, 2]


async def test_typing_does_not_hold_up_the_text() -> None:
    traffic = Traffic(Rates(chat_interval=3.0))
    await traffic.play(lambda: traffic.call(chat(1), CallKind.TYPING), lambda: traffic.call(chat(1), CallKind.PREVIEW))
    assert traffic.times() == [0, 0]


@pytest.mark.parametrize("seconds", [1.0, 8.0, 35.0, 238.0])
async def test_a_flood_wait_is_kept_in_full_and_silences_that_chat_alone(seconds: float) -> None:
    traffic = Traffic(Rates(chat_interval=1.0))
    await traffic.play(
        lambda: traffic.call(chat(1), CallKind.PREVIEW, RateLimited("slow down", seconds)),
        lambda: traffic.call(chat(1), CallKind.FINAL),
        lambda: traffic.call(chat(2), CallKind.PREVIEW),
        lambda: traffic.call(chat(1), CallKind.ANSWER),
    )
    assert traffic.times(chat(1)) == [0, 0, seconds]
    assert traffic.times(chat(2)) == [0]


async def test_a_wait_for_the_whole_account_silences_every_chat_and_answers_too() -> None:
    traffic = Traffic(Rates())
    await traffic.play(
        lambda: traffic.call(chat(1), CallKind.FINAL, RateLimited("slow down", 12, everywhere=True)),
        lambda: traffic.call(chat(2), CallKind.FINAL),
        lambda: traffic.call(chat(3), CallKind.ANSWER),
    )
    assert traffic.times() == [0, 12, 12]
    other = Address("other", "main", "1")
    await traffic.play(lambda: traffic.call(other, CallKind.FINAL), seconds=0)
    assert traffic.let_in[-1][1] == other


async def test_a_refused_answer_silences_answers_and_no_text() -> None:
    traffic = Traffic(Rates())
    await traffic.play(
        lambda: traffic.call(chat(1), CallKind.ANSWER, RateLimited("slow down", 4)),
        lambda: traffic.call(chat(1), CallKind.ANSWER),
        lambda: traffic.call(chat(1), CallKind.FINAL),
    )
    assert [(at, kind) for at, _, kind in traffic.let_in] == [
        (0, CallKind.ANSWER),
        (0, CallKind.FINAL),
        (4, CallKind.ANSWER),
    ]


async def test_a_shorter_wait_does_not_shorten_a_longer_one() -> None:
    traffic = Traffic(Rates())

    async def refused(after: float, wait: float) -> None:
        try:
            async with traffic.governor.call(chat(1), CallKind.FINAL):
                await traffic.clock.sleep(after)
                raise RateLimited("slow down", wait)
        except RateLimited:
            pass

    async def then() -> None:
        await traffic.clock.sleep(3)
        await traffic.call(chat(1), CallKind.FINAL)

    await traffic.play(lambda: refused(1, 30), lambda: refused(2, 2), then)
    assert traffic.times() == [31]


async def test_room_takes_nothing() -> None:
    traffic = Traffic(Rates(chat_interval=10.0))
    for _ in range(3):
        await traffic.governor.room(chat(1), CallKind.PREVIEW)
    await traffic.play(lambda: traffic.call(chat(1), CallKind.PREVIEW), seconds=0)
    assert traffic.times() == [0]


async def test_room_comes_when_a_call_would_be_let_in() -> None:
    traffic = Traffic(Rates(chat_interval=10.0))
    came: list[float] = []

    async def wait() -> None:
        await traffic.governor.room(chat(1), CallKind.PREVIEW)
        came.append(traffic.clock.monotonic())

    await traffic.play(lambda: traffic.call(chat(1), CallKind.PREVIEW), wait)
    assert came == [pytest.approx(10.0)]


async def test_whoever_gives_up_waiting_holds_up_nobody() -> None:
    traffic = Traffic(Rates(chat_interval=1.0, account_per_second=1))
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(traffic.call(chat(n), CallKind.PREVIEW)) for n in range(6)]
        await traffic.clock.advance(0.5)
        for task in tasks[1:4]:
            task.cancel()
        await traffic.clock.advance(30)
    assert [where.chat for _, where, _ in traffic.let_in] == ["0", "4", "5"]


async def test_idle_chats_are_forgotten_and_silenced_ones_are_not() -> None:
    traffic = Traffic(Rates(chat_interval=1.0))
    await traffic.play(lambda: traffic.call(chat("silent"), CallKind.FINAL, RateLimited("", 100_000)), seconds=1)
    for number in range(5000):
        await traffic.call(chat(number), CallKind.FINAL)
        await traffic.clock.advance(0.5) if number % 100 == 0 else None
    assert traffic.governor.known_chats < 1100
    assert traffic.governor._places(chat("silent"))[0].silent_until > 90_000


async def test_an_undeclared_channel_has_no_limits_until_it_declares_some() -> None:
    traffic = Traffic(Rates())
    other = Address("late", "main", "1")
    await traffic.play(*(lambda: traffic.call(other, CallKind.PREVIEW) for _ in range(3)), seconds=0)
    assert len(traffic.let_in) == 3
    traffic.governor.declare("later", Rates(chat_interval=2.0))
    later = Address("later", "main", "1")
    await traffic.play(*(lambda: traffic.call(later, CallKind.PREVIEW) for _ in range(2)))
    assert traffic.times(later)[1] - traffic.times(later)[0] == 2.0


async def test_signs_of_life_and_texts_together_stay_within_one_call_a_second() -> None:
    """Typing comes after a silence that is long enough for it and for the text that need not wait for it."""
    traffic = Traffic(Rates(chat_interval=1.0))

    async def turns() -> None:
        for _ in range(10):
            await traffic.call(chat(1), CallKind.TYPING)
            await traffic.call(chat(1), CallKind.FINAL)

    await traffic.play(turns)
    times = traffic.times()
    assert times[:4] == [0, 0, 2, 2]
    assert all(later - sooner >= 2 for sooner, later in zip(times, times[2:], strict=False))
