"""Discord says wait, or says nothing at all: nothing is lost, nothing doubled, and nobody else waits."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from itertools import pairwise, product
from typing import Any, Literal

import pytest

from bot.core.inbound import Inbound, Receipt
from tests.channels.discord.reading import whole
from tests.channels.discord.stage import Stage, Turn, stage
from tests.channels.telegram.texts import LONG

WORDS = [f"word{number} " for number in range(120)]
WHOLE = "".join(WORDS).strip()
SEND, EDIT = "POST /channels/{id}/messages", "PATCH /channels/{id}/messages/{id}"


def sampled(cases: Iterable[tuple[object, ...]], ordinary: Collection[tuple[object, ...]]) -> list[Any]:
    """All of them in ``make prove``, the ``ordinary`` ones also in ``make test``."""
    return [pytest.param(*case, marks=() if case in ordinary else pytest.mark.prove) for case in cases]


FLOODS = sampled(
    product((1, 8, 35, 238), ("first", "middle", "last")), {(35, "first"), (8, "middle"), (1, "last"), (238, "last")}
)
CUTS = sampled(
    product(range(2, 8), ("none", "done"), ("drop", "reset", "garbage")),
    {(2, "done", "drop"), (3, "none", "drop"), (3, "done", "garbage"), (5, "done", "reset")},
)
SPEEDS = sampled(product((5, 20, 80, 500), (0.01, 0.2, 2.0)), {(5, 2.0), (80, 0.2), (500, 0.01)})


async def played(stage: Stage, turn: Turn, when: str, wait: int) -> None:
    """One answer of a dozen seconds, with one flood wait in it."""
    if when == "first":
        stage.sim.fail(SEND, retry_after=wait, channel=turn.chat)
    if when == "middle":
        stage.sim.fail(EDIT, 4, retry_after=wait, channel=turn.chat)
    await turn.write(WORDS, 10)
    if when == "last":
        stage.sim.fail(EDIT, retry_after=wait, channel=turn.chat)
    turn.end()
    await turn.delivered(within=wait + 10)


@pytest.mark.parametrize(("wait", "when"), FLOODS)
async def test_a_flood_wait_is_honoured_in_full_and_only_where_it_was_said(wait: int, when: str) -> None:
    async with stage() as house:
        flooded, other = house.turn(house.dm(7)), house.turn(house.dm(8))
        await played(house, flooded, when, wait)
        assert flooded.texts == [WHOLE]
        refused = next(call for call in flooded.calls if call.status == 429)
        after = [call.at - refused.at for call in flooded.calls if call.at > refused.at]
        assert after and min(after) >= wait, "called again before the wait was over"
        await other.write(WORDS, 40)
        other.end()
        await other.delivered(within=4)
        assert other.texts == [WHOLE]


async def test_another_chat_goes_on_at_its_own_pace_while_one_waits() -> None:
    async with stage() as house:
        flooded, other = house.turn(house.dm(7)), house.turn(house.dm(8))
        house.sim.fail(SEND, retry_after=238, channel=flooded.chat)
        flooded.say(WHOLE)
        flooded.end()
        await other.write(WORDS, 10)
        other.end()
        await other.delivered(within=3)
        times = [call.at for call in other.calls]
        assert other.texts == [WHOLE] and flooded.texts == []
        assert max(after - before for before, after in pairwise(times)) < 1.8
        await flooded.delivered(within=240)
        assert flooded.texts == [WHOLE]


@pytest.mark.parametrize("asked", [{"retry_after": 12, "scope": "global"}, {"action": "garbage", "status": 429}])
async def test_a_wait_for_the_whole_account_silences_every_chat_and_nothing_is_lost(asked: dict[str, Any]) -> None:
    """``global`` in JSON names its seconds. What Cloudflare says is a page without any, for everybody."""
    async with stage() as house:
        first, other = house.turn(house.dm(7)), house.turn(house.dm(8))
        house.sim.fail(EDIT, 2, channel=first.chat, **asked)
        await first.write(WORDS[:60], 10)
        refused = next(call for call in first.calls if call.status == 429)
        await other.write(WORDS[:60], 10)
        for turn in (first, other):
            await turn.write(WORDS[60:], 30)
            turn.end()
        for turn in (first, other):
            await turn.delivered(within=20)
            assert turn.texts == [WHOLE]
        later = [call.at - refused.at for call in house.sim.calls if call.at > refused.at]
        assert min(later) >= (12 if "scope" in asked else 5)


async def test_a_wait_outlives_the_process() -> None:
    async with stage() as house:
        turn = house.turn(house.dm(7))
        house.sim.fail(SEND, retry_after=100, channel=turn.chat)
        turn.say(WHOLE)
        turn.end()
        await house.clock.advance(3)
        assert [call.status for call in turn.calls] == [429]
        turn.task.cancel()
        reborn = house.reborn()
        async with reborn.hearing(nobody):
            again, other = reborn.turn(turn.chat, "t2"), reborn.turn(house.dm(8))
            for one in (again, other):
                one.say("A second answer, by another life.")
                one.end()
            await other.delivered(within=10)
            await house.clock.advance(80)
            assert [call.status for call in turn.calls] == [429]
            await again.delivered(within=30)
        assert again.texts == ["A second answer, by another life."]


async def nobody(inbound: Inbound) -> Receipt:
    return Receipt()


@pytest.mark.parametrize(("k", "effect", "action"), CUTS)
async def test_the_network_fails_on_every_kth_call(
    k: int, effect: Literal["none", "done"], action: Literal["drop", "reset", "garbage"]
) -> None:
    """A send that had its effect and whose answer was lost is sent again with its nonce: it is the same message."""
    async with stage() as house:
        turn = house.turn(house.dm(7))
        text = [f"word{number} " for number in range(600)]  # three messages
        house.sim.fail("*", k, action=action, effect=effect, every=True, channel=turn.chat)
        await turn.write(text, 100)
        turn.end()
        await turn.delivered(within=120)
        assert " ".join(turn.texts).split() == "".join(text).split()
        assert len(turn.texts) == 3


@pytest.mark.parametrize(("rate", "latency"), SPEEDS)
async def test_at_any_speed_of_the_model_and_the_platform_the_pace_holds(rate: int, latency: float) -> None:
    async with stage(latency=latency) as house:
        turn = house.turn(house.dm(7))
        pieces = WORDS if rate < 100 else WORDS * 20
        await turn.write(pieces, rate)
        last_token = house.clock.monotonic()
        turn.end()
        await turn.delivered(within=60)
        calls = turn.calls
        assert turn.first_token_at is not None
        assert calls[0].at - turn.first_token_at <= 1.0 + latency + 0.05
        assert min(later.at - sooner.at for sooner, later in pairwise(calls)) >= 1.29
        parts = len(turn.texts)
        assert calls[-1].at - last_token <= (parts + 1) * (1.3 + latency) + latency + 0.5
        assert " ".join(turn.texts).split() == "".join(pieces).split()


async def test_a_hundred_chats_at_once_stay_within_what_the_account_bears() -> None:
    async with stage() as house:
        turns = [house.turn(house.dm(100 + number)) for number in range(100)]
        for turn in turns:
            turn.say("A first sentence for everybody, long enough to be shown.")
        await house.clock.advance(3)
        for turn in turns:
            turn.say(" And the second.")
            turn.end()
        for turn in turns:
            await turn.delivered(within=20)
            assert turn.texts == ["A first sentence for everybody, long enough to be shown. And the second."]


async def test_a_message_that_somebody_deleted_is_shown_again_whole() -> None:
    """Discord remembers the nonce for some minutes, so that the copy has one of its own."""
    async with stage() as house:
        turn = house.turn(house.dm(7))
        await turn.write(WORDS[:30], 10)
        await house.sim.delete(turn.chat, house.sim.visible(turn.chat)[-1].id)
        await turn.write(WORDS[30:], 10)
        turn.end()
        await turn.delivered(within=10)
        assert turn.texts == [WHOLE]


@pytest.mark.prove
@pytest.mark.parametrize(("rate", "latency"), [(5, 0.01), (5, 2.0), (80, 0.3), (500, 0.01), (500, 2.0)])
async def test_a_long_answer_is_whole_and_once_at_any_speed(rate: int, latency: float) -> None:
    async with stage(latency=latency) as house:
        turn = house.turn(house.dm(7))
        size = 4 if rate > 5 else 40  # else it would last for twenty minutes, of which each is played
        await turn.write([LONG[at : at + size] for at in range(0, len(LONG), size)], rate)
        turn.end()
        await turn.delivered(within=60)
        whole(turn.texts)
