"""Every way a turn can end: how it comes about, what the person reads in both languages, and that it is counted."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from typing import Final

import pytest

from bot.brain.endings import Ending
from bot.brain.limits import CONTINUATIONS, TurnLimits
from bot.brain.purse import MoneyLimits
from bot.brain.turn import Turn
from bot.core.errors import ContextTooLong, ProviderBusy
from bot.core.inbound import CallerRequest
from bot.core.model import CallBlock, ModelStopReason, ModelUsage, Price, Usage
from bot.core.stop import StopReason
from bot.core.texts import TEXTS
from bot.core.tool import ToolCall, ToolSpec
from bot.core.transcript import KeptFile, ResultRow, StepRow, UserRow
from bot.web.metrics import Metrics
from tests.brain.conftest import FIRST, OWNER, House, MakeHouse
from tests.fakes.clock import FakeClock
from tests.fakes.provider import Step, calls, says

SUM: Final = ToolCall("c", "calculate", {"expression": "1+1"})
NOTE: Final = ToolCall("c", "note_write", {"text": "milk"})
Way = Callable[[MakeHouse, str], Awaitable[tuple[House, StopReason]]]


def summing(n: int, used: int = 0) -> list[Step]:
    return [ModelUsage(Usage(used, 0)), *calls(replace(SUM, id=f"c{n}"))]


async def ended(house: House, language: str, number: int = 1, **facts: object) -> tuple[House, StopReason]:
    house.events.clear()
    turn = replace(await house.turn("hi", number), language=language, **facts)  # type: ignore[arg-type]
    return house, await house.answer(turn)


def scripted(*scripts: Sequence[Step], **made: object) -> Way:
    async def way(make: MakeHouse, language: str) -> tuple[House, StopReason]:
        return await ended(make(*scripts, **made), language)

    return way


def broken_off(reason: StopReason, *, acting: bool = False, reference: str = "") -> Way:
    async def way(make: MakeHouse, language: str) -> tuple[House, StopReason]:
        house = make()
        turn = replace(await house.turn(), language=language)
        if acting:
            step = StepRow(0, (CallBlock(NOTE),), "a/big", "tool_use")
            await house.store.transcript.append(turn.address, turn.id, 1.0, step)
            await house.store.calls.start(turn.id, NOTE, 1.0, durable=True)
        return house, await house.brain.break_off(turn, reason, house.events.append, reference)

    return way


async def too_slow(make: MakeHouse, language: str) -> tuple[House, StopReason]:
    return await ended(make([asyncio.Event()], limits=TurnLimits(seconds=0.05)), language)


async def without_money(make: MakeHouse, language: str) -> tuple[House, StopReason]:
    house = make(says("never"), money=MoneyLimits(day=0.0))
    house.chain[:] = [replace(FIRST, price=Price(1.0, 1.0))]
    return await ended(house, language)


async def without_a_model(make: MakeHouse, language: str) -> tuple[House, StopReason]:
    house = make()
    house.chain.clear()
    return await ended(house, language)


async def too_long_even_in_short(make: MakeHouse, language: str) -> tuple[House, StopReason]:
    house = make(says("Fine."), *([ContextTooLong("x")] for _ in range(4)))
    await ended(house, language)
    return await ended(house, language, 2)


async def nothing_to_read(make: MakeHouse, language: str) -> tuple[House, StopReason]:
    house = make(says("never"))
    turn = replace(await house.turn(""), language=language)
    file = KeptFile("photo.heic", "image/heic", trouble="broken")
    row = UserRow("", OWNER, "1", files=(file,))
    await house.store.transcript.append(turn.address, "anew", 1.0, row)
    return house, await house.answer(replace(turn, id="anew"))


def unwanted(outcome: str) -> Way:
    async def way(make: MakeHouse, language: str) -> tuple[House, StopReason]:
        house = make(says("never"))
        turn = replace(await house.turn(), language=language)
        for n in range(3):
            step = StepRow(n, (CallBlock(replace(NOTE, id=f"c{n}")),), "a/big", "tool_use")
            result = ResultRow(f"c{n}", NOTE.name, "no", error=True, outcome=outcome)  # type: ignore[arg-type]
            await house.store.transcript.append(turn.address, turn.id, 1.0, step, result)
        return house, await house.answer(turn)

    return way


async def asked_for_a_tool_of_the_callers(make: MakeHouse, language: str) -> tuple[House, StopReason]:
    house = make(calls(ToolCall("w", "weather", {})))
    caller = CallerRequest(tools=(ToolSpec("weather", "Tells the weather.", {"type": "object"}),))
    turn = await house.turn()
    return await ended(house, language, 2, message=replace(turn.message, id="2", caller=caller))


async def command(make: MakeHouse, language: str) -> tuple[House, StopReason]:
    """``tests/inbox`` has them for real."""
    house = make()
    turn: Turn = replace(await house.turn("/help"), language=language)
    return house, await house.brain.end(turn, Ending(StopReason.COMMAND), house.events.append)


CUT: Final = [says(f"part {n} ", stop=ModelStopReason.MAX_TOKENS) for n in range(CONTINUATIONS + 1)]
WAYS: Final[Mapping[StopReason, Way]] = {
    StopReason.ANSWERED: scripted(says("Hello.")),
    StopReason.STOPPED: broken_off(StopReason.STOPPED),
    StopReason.TOOL_INTERRUPTED: broken_off(StopReason.STOPPED, acting=True),
    StopReason.TOOL_LIMIT: scripted(summing(1), says("2"), limits=TurnLimits(tool_calls=1)),
    StopReason.LOOP: scripted(*(summing(n) for n in range(20)), says("2"), limits=TurnLimits(tokens=10**9)),
    StopReason.TOKEN_BUDGET: scripted(summing(1, 2_000), limits=TurnLimits(tokens=1_000)),
    StopReason.DIMINISHING: scripted(summing(1, 910), summing(2, 1), limits=TurnLimits(tokens=1_000)),
    StopReason.MONEY: without_money,
    StopReason.TIME_LIMIT: too_slow,
    StopReason.TRUNCATED: scripted(*CUT),
    StopReason.REFUSED: scripted(says(stop=ModelStopReason.REFUSED)),
    StopReason.CONTEXT_OVERFLOW: scripted([ContextTooLong("x")], [ContextTooLong("x")]),
    StopReason.COMPACTED_OVERFLOW: too_long_even_in_short,
    StopReason.EMPTY: scripted(says(), says()),
    StopReason.UNREADABLE: nothing_to_read,
    StopReason.PROVIDER_UNAVAILABLE: scripted(*([ProviderBusy("x")] for _ in range(9))),
    StopReason.NO_MODEL: without_a_model,
    StopReason.APPROVAL_DENIED: unwanted("denied"),
    StopReason.APPROVAL_EXPIRED: unwanted("expired"),
    StopReason.CALLER_TOOLS: asked_for_a_tool_of_the_callers,
    StopReason.COMMAND: command,
    StopReason.PARKED: broken_off(StopReason.PARKED),
    StopReason.INTERNAL_ERROR: broken_off(StopReason.INTERNAL_ERROR, reference="abc123"),
}
SPEAK_FOR_THEMSELVES: Final = {StopReason.ANSWERED, StopReason.CALLER_TOOLS, StopReason.COMMAND}
WITHOUT_A_WAY: Final = {StopReason.HOOK_BLOCKED}
"""Its way comes with hooks; its sentence is there."""


def test_every_stop_reason_has_its_way_here() -> None:
    assert set(WAYS) | WITHOUT_A_WAY == set(StopReason)
    assert not set(WAYS) & WITHOUT_A_WAY


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("reason", WAYS)
async def test_it_comes_about_and_is_told(make_house: MakeHouse, reason: StopReason, language: str) -> None:
    house, found = await WAYS[reason](make_house, language)
    assert found is reason
    told = "\n".join(house.view.notices)
    assert bool(told) is (reason not in SPEAK_FOR_THEMSELVES)
    assert any("\u4e00" <= char <= "\u9fff" for char in told) is (bool(told) and language == "zh")
    assert "{" not in told and "}" not in told
    assert house.view.stop is reason


@pytest.mark.parametrize("reason", StopReason)
def test_it_has_a_sentence_in_both_languages_and_is_counted(reason: StopReason) -> None:
    sentences = TEXTS[f"end_{reason.value}"]
    own = {StopReason.UNREADABLE}  # its sentences are those of the files
    assert all(sentences.values()) is (reason not in SPEAK_FOR_THEMSELVES | own)
    metrics = Metrics(FakeClock(), "1")
    metrics.turn_started()
    metrics.turn_ended(reason, 1.0)
    assert f'bowerbird_turns_total{{reason="{reason.value}"}} 1' in metrics.text()
