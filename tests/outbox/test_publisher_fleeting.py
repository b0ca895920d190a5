"""Previews that are no messages: kept alive while the answer grows, replaced by one message, absent from the ledger."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bot.core.errors import ChannelError, ChannelUnreachable, FleetingRefused, RateLimited
from bot.core.events import ApprovalAsked, ApprovalDecided, Resumed, ToolStarted
from bot.core.texts import say
from bot.core.view import ApprovalCard, Limits
from tests.fakes.channel import Fault
from tests.outbox.stage import TURN, Stage

FLEETING = Limits(size=4096, unit="utf16", pace=1.0, fleeting=30.0)
FIRST = "These are the first words of an answer. "
REST = "And these are the last."
WHOLE = (FIRST + REST).strip()
CARD = ApprovalCard("c1", "1", "shell", "run", "why", '{"cmd": "ls"}', 2_000_000_000.0)


class Killed(Exception):
    """The process died here."""


async def test_the_answer_grows_without_a_message_and_ends_as_one() -> None:
    stage = Stage(limits=FLEETING)
    async with stage.running():
        await stage.stream([f"token{number} " for number in range(60)], per_second=10)
        assert stage.channel.flashed.startswith("token0 token1") and stage.channel.texts == []
        assert stage.ledger.log == []
        stage.end()
        await stage.clock.advance(2.0)
    assert stage.result() == "delivered"
    assert stage.channel.texts == [" ".join(f"token{number}" for number in range(60))]
    assert stage.channel.count("send") == 1 and stage.channel.count("edit") == 0 and stage.channel.count("flash") >= 5
    assert stage.ledger.log == [("intend", 0), ("record", 0)] and stage.channel.violations == []


async def test_it_is_seen_without_a_gap_while_nothing_changes() -> None:
    stage = Stage(limits=FLEETING)
    async with stage.running():
        stage.say(FIRST)
        await stage.clock.advance(1.0)
        for _ in range(100):
            assert stage.channel.flashed == FIRST.strip()
            await stage.clock.advance(1.0)
    assert 6 <= stage.channel.count("flash") <= 8 and stage.channel.violations == []


async def test_invisible_news_does_not_put_the_renewal_off() -> None:
    stage = Stage(limits=FLEETING)
    async with stage.running():
        stage.say(FIRST)
        await stage.clock.advance(1.0)
        for _ in range(40):
            stage.say("\n")
            await stage.clock.advance(2.0)
            assert stage.channel.flashed == FIRST.strip()


async def test_a_tool_that_runs_long_is_seen_all_the_time() -> None:
    stage = Stage(limits=FLEETING)
    async with stage.running():
        stage.emit(ToolStarted("1", "web_search", "search the web"))
        await stage.clock.advance(1.0)
        for _ in range(300):
            assert "search the web" in stage.channel.flashed
            await stage.clock.advance(1.0)
    assert stage.channel.violations == []


async def test_a_question_is_a_message_and_the_answer_goes_on_in_it() -> None:
    stage = Stage(limits=FLEETING)
    async with stage.running():
        stage.say(FIRST)
        await stage.clock.advance(2.0)
        stage.emit(ToolStarted("1", "shell", "run ls"), ApprovalAsked(CARD))
        await stage.clock.advance(2.0)
        (shown,) = stage.channel.messages.values()
        assert shown.part.buttons and not shown.part.fleeting and stage.channel.flashed == ""
        flashes = stage.channel.count("flash")
        stage.emit(ApprovalDecided(replace(CARD, decision="once", decided_by="Ann")))
        await stage.clock.advance(2.0)
        stage.say(REST)
        await stage.clock.advance(2.0)
        stage.end()
        await stage.clock.advance(2.0)
    assert stage.result() == "delivered" and len(stage.channel.texts) == 1
    assert stage.channel.count("flash") == flashes and stage.channel.violations == []


async def test_a_long_answer_stands_page_by_page_and_its_end_is_fleeting() -> None:
    stage = Stage(limits=Limits(size=300, unit="utf16", pace=1.0, fleeting=30.0))
    tokens = [f"token{number} " for number in range(120)]
    async with stage.running():
        await stage.stream(tokens[:70], per_second=10)
        seen = " ".join([*stage.channel.texts, stage.channel.flashed]).split()
        assert stage.channel.texts and stage.channel.flashed and seen == "".join(tokens).split()[: len(seen)]
        await stage.stream(tokens[70:], per_second=10)
        stage.end()
        await stage.clock.advance(10.0)
    assert stage.result() == "delivered"
    assert " ".join(stage.channel.texts).split() == "".join(tokens).split()
    assert stage.channel.count("edit") == 0 and stage.channel.violations == []


async def test_where_it_is_refused_messages_are_edited_from_then_on() -> None:
    refused = Fault(FleetingRefused("Not here."))
    stage = Stage(limits=FLEETING, fault=lambda number: refused if number == 1 else None)
    async with stage.running():
        await stage.stream([f"token{number} " for number in range(60)], per_second=10)
        assert stage.channel.texts and stage.channel.count("flash") == 2
        stage.end()
        await stage.clock.advance(2.0)
    assert stage.result() == "delivered" and stage.channel.texts == [" ".join(f"token{n}" for n in range(60))]
    assert stage.channel.count("flash") == 2 and stage.channel.count("edit") >= 2 and stage.channel.violations == []


@pytest.mark.parametrize(
    "error", [ChannelUnreachable("", maybe_done=True), ChannelUnreachable("", maybe_done=False), RateLimited("", 8.0)]
)
@pytest.mark.parametrize("at", [0, 1, 2, 5])
async def test_a_call_that_fails_is_made_up_for_and_nothing_is_sent_twice(error: ChannelError, at: int) -> None:
    stage = Stage(limits=FLEETING, fault=lambda number: Fault(error) if number == at else None)
    async with stage.running():
        await stage.stream([f"token{number} " for number in range(60)], per_second=10)
        stage.end()
        await stage.clock.advance(30.0)
    assert stage.result() == "delivered" and stage.channel.texts == [" ".join(f"token{n}" for n in range(60))]
    assert stage.channel.violations == []


async def test_after_a_crash_the_answer_is_a_new_message_without_a_word_about_copies() -> None:
    stage = Stage(limits=FLEETING)
    async with stage.running():
        stage.say(FIRST)
        await stage.clock.advance(2.0)
        assert stage.channel.flashed
    stage.restart()
    async with stage.running():
        stage.emit(Resumed(FIRST))
        stage.say(REST)
        stage.end()
        await stage.clock.advance(3.0)
    assert stage.result() == "delivered" and stage.channel.texts == [WHOLE]
    assert stage.channel.count("edit") == 0


@pytest.mark.parametrize("arrived", [False, True])
async def test_where_the_process_dies_with_the_one_message_on_its_way_the_next_says_that_there_may_be_a_copy(
    arrived: bool,
) -> None:
    stage = Stage(limits=FLEETING)
    stage.channel.fault = lambda number: Fault(Killed(), arrived) if number == 1 else None  # type: ignore[arg-type]
    with pytest.raises(ExceptionGroup) as failed:
        async with stage.running():
            stage.say(FIRST)
            await stage.clock.advance(2.0)
            stage.say(REST)
            stage.end()
            await stage.clock.advance(2.0)
    assert failed.group_contains(Killed) and stage.ledger.log == [("intend", 0)]
    stage.restart()
    async with stage.running():
        stage.emit(Resumed(FIRST))
        stage.say(REST)
        stage.end()
        await stage.clock.advance(3.0)
    *copies, last = stage.channel.texts
    assert stage.result() == "delivered" and copies == ([WHOLE] if arrived else [])
    assert last == f"{WHOLE}\n\n{say('copy_above', 'en')}"


async def test_the_end_of_the_process_leaves_the_text_so_far_as_a_message_that_is_edited_later() -> None:
    stage = Stage(limits=FLEETING)
    async with stage.running():
        stage.say(FIRST)
        await stage.clock.advance(2.0)
    await stage.publisher.close("I go on soon.")
    assert stage.channel.texts == [f"{FIRST.strip()}\n\nI go on soon."]
    stage.restart()
    async with stage.running():
        stage.emit(Resumed(FIRST))
        await stage.clock.advance(2.0)
        stage.say(REST)
        stage.end()
        await stage.clock.advance(3.0)
    assert stage.result() == "delivered" and stage.channel.texts == [WHOLE]
    assert TURN in {turn for turn, _ in stage.ledger.rows}
