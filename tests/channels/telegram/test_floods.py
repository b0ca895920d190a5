"""Telegram says wait, or says nothing at all: nothing is lost, nothing doubled, and nobody else waits."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from itertools import pairwise, product
from typing import Any, Literal

import pytest

from bot.core.ports import CallKind
from bot.core.texts import say
from tests.channels.telegram.stage import Stage, Turn, reborn, stage
from tests.channels.telegram.texts import LONG, whole

WORDS = [f"word{number} " for number in range(120)]
WHOLE = "".join(WORDS).strip()
COPIED = f"\n\n{say('copy_above')}"


def sampled(cases: Iterable[tuple[object, ...]], ordinary: Collection[tuple[object, ...]]) -> list[Any]:
    """All of them in ``make prove``, the ``ordinary`` ones also in ``make test``."""
    return [pytest.param(*case, marks=() if case in ordinary else pytest.mark.prove) for case in cases]


FLOODS = sampled(
    product((1, 8, 35, 238), ("first", "middle", "last")), {(35, "first"), (8, "middle"), (1, "last"), (238, "last")}
)
CUTS = sampled(
    product(range(1, 8), ("none", "done"), ("drop", "reset", "garbage")),
    {
        (1, "none", "drop"),
        (1, "done", "reset"),
        (2, "done", "drop"),
        (3, "none", "drop"),
        (3, "done", "garbage"),
        (5, "done", "reset"),
    },
)
SPEEDS = sampled(product((5, 20, 80, 500), (0.01, 0.2, 2.0)), {(5, 2.0), (80, 0.2), (500, 0.01)})


async def played(stage: Stage, turn: Turn, when: str, wait: int) -> None:
    """One answer of a dozen seconds, with one flood wait in it."""
    if when == "first":
        stage.sim.fail("sendMessage", retry_after=wait, chat=turn.chat)
    if when == "middle":
        stage.sim.fail("editMessageText", 4, retry_after=wait, chat=turn.chat)
    await turn.write(WORDS, 10)
    if when == "last":
        stage.sim.fail("editMessageText", retry_after=wait, chat=turn.chat)
    turn.end()
    await turn.delivered(within=wait + 10)


@pytest.mark.parametrize(("wait", "when"), FLOODS)
async def test_a_flood_wait_is_honoured_in_full_and_only_where_it_was_said(wait: int, when: str) -> None:
    async with stage() as house:
        flooded, other = house.turn(house.private(7)), house.turn(house.private(8))
        await played(house, flooded, when, wait)
        assert flooded.texts == [WHOLE]
        refused = next(call for call in flooded.calls if call.status == 429)
        after = [call.at - refused.at for call in flooded.calls if call.at > refused.at]
        assert after and min(after) >= wait, "called again before the wait was over"
        await other.write(WORDS, 40)
        other.end()
        await other.delivered(within=4)
        assert other.texts == [WHOLE]
        assert house.sim.violations == []


async def test_another_chat_goes_on_at_its_own_pace_while_one_waits() -> None:
    async with stage() as house:
        flooded, other = house.turn(house.private(7)), house.turn(house.private(8))
        house.sim.fail("sendMessage", retry_after=238, chat=flooded.chat)
        flooded.say(WHOLE)
        flooded.end()
        await other.write(WORDS, 10)
        other.end()
        await other.delivered(within=3)
        times = [call.at for call in other.calls]
        assert other.texts == [WHOLE] and flooded.texts == []
        assert max(after - before for before, after in pairwise(times)) < 1.5
        await flooded.delivered(within=240)
        assert flooded.texts == [WHOLE] and house.sim.violations == []


@pytest.mark.parametrize(("k", "effect", "action"), CUTS)
async def test_the_network_fails_on_every_kth_call_of_a_chat_and_nobody_else_notices(
    k: int, effect: Literal["none", "done"], action: Literal["drop", "reset", "garbage"]
) -> None:
    """Doubled is only what nobody can know of: a send that had its effect and whose answer was lost. Where every call
    fails, all is there once the network is back."""
    async with stage() as house:
        turn, other = house.turn(house.private(7)), house.turn(house.private(8))
        text = [f"word{number} " for number in range(1200)]  # three messages
        house.sim.fail("*", k, action=action, effect=effect, every=True, chat=turn.chat)
        for number, word in enumerate(WORDS):
            other.say(word)
            await turn.write(text[number * 10 : number * 10 + 10], 100)
        turn.end()
        other.end()
        await other.delivered(within=3)
        times = [call.at for call in other.calls]
        assert other.texts == [WHOLE] and max(after - before for before, after in pairwise(times)) < 1.5
        if k == 1:
            await house.clock.advance(20)
            assert turn.outcome is None
            house.sim.heal()
        await turn.delivered(within=120)
        sends = house.sim.called("sendMessage", turn.chat)
        unknowable = [call for call in sends if call.status != 200] if effect == "done" else []
        lost = any(call.status != 200 for call in sends)
        assert turn.texts[-1].endswith(COPIED) == lost, "what may stand there twice is explained, and nothing else"
        seen = list(dict.fromkeys(text.removesuffix(COPIED) for text in turn.texts))
        final = [shown for shown in seen if not any(is_beginning(shown, other) for other in seen if other is not shown)]
        assert " ".join(final).split() == "".join(text).split()
        assert len(turn.texts) - len(final) <= len(unknowable)
        assert house.sim.violations == []


def is_beginning(shown: str, other: str) -> bool:
    return len(shown) < len(other) and other.startswith(re.sub(r"\s+\S*$", "", shown))


@pytest.mark.parametrize(("rate", "latency"), SPEEDS)
async def test_at_any_speed_of_the_model_and_the_platform_the_pace_holds(rate: int, latency: float) -> None:
    async with stage(latency=latency) as house:
        turn = house.turn(house.private(7))
        pieces = WORDS if rate < 100 else WORDS * 20
        await turn.write(pieces, rate)
        last_token = house.clock.monotonic()
        turn.end()
        await turn.delivered(within=60)
        calls = [call for call in turn.calls if call.method != "sendChatAction"]
        assert turn.first_token_at is not None
        assert calls[0].at - turn.first_token_at <= 1.0 + latency + 0.05
        parts = len(turn.texts)
        assert calls[-1].at - last_token <= (parts + 1) * (1.05 + latency) + latency + 0.5
        assert " ".join(turn.texts).split() == "".join(pieces).split()
        assert house.sim.violations == []


async def test_the_first_words_in_a_group_come_right_after_the_sign_of_life_before_them() -> None:
    async with stage() as house:
        await house.clock.advance(100)
        team = house.sim.group(-1001, "Team", members=[house.sim.person(7, "Ann")])
        turn = house.turn(team)
        async with house.governor.call(turn.to, CallKind.TYPING):
            pass
        turn.say("These words are long enough to be shown at once.")
        began = house.clock.monotonic()
        await house.clock.advance(1.5)
        assert [call.at - began < 0.5 for call in turn.calls] == [True]
        turn.end()
        await turn.delivered(within=4)


async def test_waits_that_an_earlier_life_was_told_of_hold_in_full_and_nowhere_else() -> None:
    """Three of them are no refusals of this life, which would be a crowd."""
    async with stage() as house:
        flooded = [house.turn(house.private(number)) for number in (7, 8, 9)]
        for turn in flooded:
            house.sim.fail("sendMessage", retry_after=60, chat=turn.chat)
            turn.say(WHOLE)
            turn.end()
            await house.clock.advance(3)
        asked = {turn.chat.id: turn.calls[0].at for turn in flooded}
        async with reborn(house) as later:
            again = [later.turn(turn.chat, f"again{turn.chat.id}") for turn in flooded]
            for turn in again:
                turn.say(WHOLE)
                turn.end()
            other = later.turn(later.private(20))
            other.say(WHOLE)
            other.end()
            await other.delivered(within=1)
            for turn in again:
                await turn.delivered(within=64)
                assert next(call.at for call in turn.calls if call.status == 200) - asked[turn.chat.id] >= 60
            assert [call.status for turn in again for call in turn.calls] == [429, 200] * 3
            assert house.sim.violations == []


async def test_a_group_is_told_at_most_twenty_times_a_minute_and_the_end_finds_room() -> None:
    async with stage() as house:
        team = house.sim.group(-1001, "Team", members=[house.sim.person(7, "Ann")])
        turn = house.turn(team)
        await turn.write(WORDS * 8, 8)  # two minutes
        turn.end()
        await turn.delivered(within=70)
        times = [call.at for call in turn.calls]
        assert " ".join(turn.texts).split() == "".join(WORDS * 8).split()
        assert all(later - sooner > 60 for sooner, later in zip(times, times[20:], strict=False))
        assert times[-1] - times[-2] < 62 and house.sim.violations == []


async def test_a_hundred_chats_at_once_stay_within_what_the_account_bears() -> None:
    async with stage() as house:
        turns = [house.turn(house.private(100 + number)) for number in range(100)]
        for turn in turns:
            turn.say("A first sentence for everybody, long enough to be shown.")
        await house.clock.advance(3)
        for turn in turns:
            turn.say(" And the second.")
            turn.end()
        for turn in turns:
            await turn.delivered(within=20)
            assert turn.texts == ["A first sentence for everybody, long enough to be shown. And the second."]
        assert house.sim.violations == []


@pytest.mark.prove
@pytest.mark.parametrize(("rate", "latency"), [(5, 0.01), (5, 2.0), (80, 0.3), (500, 0.01), (500, 2.0)])
async def test_a_long_answer_is_whole_and_once_at_any_speed(rate: int, latency: float) -> None:
    async with stage(latency=latency) as house:
        turn = house.turn(house.private(7))
        size = 4 if rate > 5 else 24  # the driven clock ticks once for each
        await turn.write([LONG[at : at + size] for at in range(0, len(LONG), size)], rate)
        turn.end()
        await turn.delivered(within=60)
        whole(turn.texts)
        assert house.sim.violations == []
