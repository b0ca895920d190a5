"""What a platform may do to a turn, and what the person sees all the same."""

from __future__ import annotations

import logging
from collections.abc import Callable
from itertools import pairwise

import pytest

from bot.core.address import Address
from bot.core.errors import (
    ChannelError,
    ChannelUnreachable,
    ChatClosed,
    FormatRefused,
    MessageGone,
    RateLimited,
    TooLong,
    Unauthorised,
)
from bot.core.events import ApprovalAsked, Resumed
from bot.core.ports import CallKind
from bot.core.texts import say
from bot.core.view import ApprovalCard, Entity, Limits, Rendered
from bot.outbox.graphemes import length
from tests.fakes.channel import Fault
from tests.outbox.stage import Stage

SMALL = Limits(size=300, unit="utf16", pace=1.0)
TOKENS = [f"token{number} " for number in range(120)]
TEXT = "".join(TOKENS).strip()


def at(number: int, error: ChannelError, *, after_effect: bool = False) -> Callable[[int], Fault | None]:
    return lambda call: Fault(error, after_effect) if call == number else None


async def streamed(stage: Stage, *, per_second: float = 20, wait: float = 900) -> None:
    async with stage.running():
        await stage.stream(TOKENS, per_second)
        stage.end()
        await stage.clock.advance(wait)


def times(stage: Stage) -> list[float]:
    return [call.at for call in stage.channel.calls]


@pytest.mark.parametrize("wait", [1.0, 8.0, 35.0, 238.0])
@pytest.mark.parametrize("call", [0, 3, 6])
async def test_b003_a_flood_wait_is_kept_in_full_and_followed_by_one_call_with_everything(
    wait: float, call: int
) -> None:
    """At the first send, in the middle, at the last edit."""
    stage = Stage(fault=at(call, RateLimited("slow down", wait)), latency=lambda number: 0.1)
    await streamed(stage)
    assert stage.result() == "delivered"
    assert stage.channel.texts == [TEXT]
    refused = stage.channel.calls[call]
    later = [moment for moment in times(stage) if moment > refused.at]
    assert later[0] >= refused.ended + wait - 0.001
    if refused.ended + wait > 6:
        assert len(later) == 1
    assert stage.channel.count("send") == (2 if call == 0 else 1)
    assert len(stage.channel.messages) == 1
    assert stage.channel.violations == []


async def test_b001_while_a_chat_is_silenced_text_gathers_and_other_chats_are_served() -> None:
    stage = Stage(fault=at(1, RateLimited("slow down", 33)))
    elsewhere: list[float] = []
    async with stage.running():
        stage.say("The first words of a longer answer. ")
        await stage.clock.advance(1)
        stage.say("These words are refused. ")
        await stage.clock.advance(1)
        for number in range(40):
            stage.say(f"Delta {number}. ")
            await stage.clock.advance(0.25)
        async with stage.governor.call(Address("fake", "main", "2"), CallKind.PREVIEW):
            elsewhere.append(stage.clock.monotonic())
        await stage.clock.advance(60)
    refused = stage.channel.calls[1]
    assert elsewhere[0] < refused.at + 33
    assert len(stage.channel.calls) == 3
    assert times(stage)[2] == pytest.approx(refused.at + 33)
    assert stage.channel.texts[0].endswith("Delta 39.")


async def test_b002_after_a_wait_in_the_stream_the_visible_text_is_the_stored_text() -> None:
    stage = Stage(fault=at(6, RateLimited("slow down", 34)))
    await streamed(stage, per_second=15)
    assert stage.channel.texts == [TEXT]
    assert list(stage.channel.messages) == ["1"]
    rows = await stage.ledger.load("turn-1")
    assert [row.accepted_hash != "" for row in rows] == [True]


async def test_nothing_counts_as_delivered_during_a_wait() -> None:
    stage = Stage(fault=at(1, RateLimited("slow down", 34)))
    async with stage.running():
        stage.say("The first words of a longer answer. ")
        await stage.clock.advance(1)
        stage.say("The end.")
        stage.end()
        await stage.clock.advance(30)
        assert stage.result() == "running"
        assert [row.accepted_hash for row in await stage.ledger.load("turn-1")] == [""]
        await stage.clock.advance(10)
    assert stage.result() == "delivered"


async def test_b004_one_refusal_counts_once_and_streaming_goes_on_in_the_same_message() -> None:
    stage = Stage(fault=lambda number: Fault(RateLimited("slow down", 9)) if number == 2 else None)
    await streamed(stage, per_second=6)
    assert stage.channel.texts == [TEXT]
    assert stage.channel.count("send") == 1
    gap = times(stage)[3] - times(stage)[2]
    assert gap >= 9
    assert len(times(stage)) > 8


async def test_a_platform_that_always_asks_to_wait_is_asked_once_per_wait() -> None:
    stage = Stage(fault=lambda number: Fault(RateLimited("slow down", 30)) if number < 20 else None)
    await streamed(stage, wait=3600)
    moments = times(stage)
    assert all(later - earlier >= 29.99 for earlier, later in pairwise(moments[:21]))
    assert stage.channel.texts == [TEXT]


async def test_b007_a_flood_wait_never_makes_a_message_plain() -> None:
    stage = Stage(
        fault=at(1, RateLimited("slow down", 27)), render=lambda text: Rendered(text.replace("*", ""), len(text))
    )
    async with stage.running():
        stage.say("Some **bold** words of a longer answer. ")
        await stage.clock.advance(1)
        stage.say("And **more** of it.")
        await stage.clock.advance(20)
        assert len(stage.channel.calls) == 2
        stage.end()
        await stage.clock.advance(20)
    assert len(stage.channel.calls) == 3
    assert "*" not in stage.channel.texts[0]


async def test_refused_formatting_goes_out_plain_once_and_stays_plain_in_that_part() -> None:
    stage = Stage(
        limits=SMALL,
        fault=at(0, FormatRefused("can't parse")),
        render=lambda text: Rendered(text.replace("*", ""), length(text.replace("*", ""), "utf16")),
    )
    text = "Some **bold** words here. " * 60
    async with stage.running():
        await stage.stream([text[start : start + 13] for start in range(0, len(text), 13)], 10)
        stage.end()
        await stage.clock.advance(30)
    assert stage.result() == "delivered"
    first, *others = stage.channel.texts
    assert "**" in first and len(others) > 1
    assert not any("*" in other for other in others)
    assert stage.channel.count("send") == 1 + 1 + len(others)


async def test_refused_plain_text_ends_with_a_reason() -> None:
    stage = Stage(fault=lambda number: Fault(FormatRefused("can't parse")))
    await streamed(stage)
    assert stage.result() == "refused"
    assert len(stage.channel.calls) <= 6


async def test_b015_a_deleted_message_is_sent_once_anew_and_never_edited_again() -> None:
    stage = Stage()
    async with stage.running():
        await stage.stream(TOKENS[:60], 20)
        stage.channel.delete("1")
        await stage.stream(TOKENS[60:], 20)
        stage.end()
        await stage.clock.advance(30)
    assert stage.result() == "delivered"
    assert stage.channel.texts == [TEXT]
    assert stage.channel.count("send") == 2
    gone = [call for call in stage.channel.calls if isinstance(call.error, MessageGone)]
    assert len(gone) == 1


async def test_a_message_that_is_deleted_again_and_again_comes_back_only_when_it_is_finished() -> None:
    stage = Stage()
    async with stage.running():
        for number in range(6):
            await stage.stream(TOKENS[number * 20 : number * 20 + 20], 10)
            for message_id in list(stage.channel.messages):
                stage.channel.delete(message_id)
        assert stage.channel.count("send") == 2
        stage.end()
        await stage.clock.advance(30)
    assert stage.channel.count("send") == 3
    assert stage.channel.texts == [TEXT]


async def test_a_platform_where_every_message_is_gone_is_given_up() -> None:
    stage = Stage(fault=lambda number: Fault(MessageGone("gone")))
    await streamed(stage)
    assert stage.result() == "message_gone"
    assert len(stage.channel.calls) == 3


async def test_b058_a_send_refused_for_something_that_is_gone_is_made_once_more() -> None:
    stage = Stage(fault=at(0, MessageGone("message to be replied not found")))
    await streamed(stage)
    assert stage.channel.texts == [TEXT]
    assert stage.channel.count("send") == 2


async def test_b019_what_is_too_long_is_split_once_more_and_then_given_up_with_a_reason() -> None:
    """The platform counts otherwise than the channel thinks: it takes no more than 200."""
    stage = Stage(limits=SMALL)
    stage.channel.fault = lambda number: (
        Fault(TooLong("message is too long"))
        if (part := stage.channel.calls[-1].part) and part.rendered.length > 200
        else None
    )
    async with stage.running():
        stage.say("word " * 50)
        stage.end()
        await stage.clock.advance(60)
    assert stage.result() == "delivered"
    assert " ".join(stage.channel.texts) == ("word " * 50).strip()
    stage = Stage(limits=SMALL, fault=lambda number: Fault(TooLong("message is too long")))
    await streamed(stage)
    assert stage.result() == "too_long"
    assert len(stage.channel.calls) == 2


@pytest.mark.parametrize(
    ("error", "reason"), [(ChatClosed("blocked"), "chat_closed"), (Unauthorised("token"), "unauthorised")]
)
@pytest.mark.parametrize("call", [0, 2, 6])
async def test_a_closed_chat_or_a_dead_token_stops_every_call_at_once(
    error: ChannelError, reason: str, call: int, caplog: pytest.LogCaptureFixture
) -> None:
    stage = Stage(fault=lambda number: Fault(error) if number >= call else None)
    with caplog.at_level(logging.WARNING):
        await streamed(stage)
    assert stage.result() == reason
    assert len(stage.channel.calls) == call + 1
    assert len(caplog.records) == 1


async def test_b019_an_unknown_refusal_is_not_repeated_unchanged_and_is_named_where_it_is_given_up(
    caplog: pytest.LogCaptureFixture,
) -> None:
    stage = Stage(fault=lambda number: Fault(ChannelError("It does not like the words.")))
    stage.channel.renders = lambda text: Rendered(text, length(text, "utf16"), (Entity("bold", 0, 4),))
    with caplog.at_level(logging.WARNING):
        await streamed(stage)
    assert stage.result() == "refused"
    first, second = (call.part for call in stage.channel.calls)
    assert first is not None and first.buttons and first.rendered.entities
    assert second is not None and not second.buttons and not second.rendered.entities
    [told] = [record.getMessage() for record in caplog.records]
    assert "refused" in told and "It does not like the words." in told


async def test_what_was_refused_with_buttons_and_formatting_goes_out_without() -> None:
    def picky(number: int) -> Fault | None:
        part = stage.channel.calls[-1].part
        return Fault(ChannelError("no")) if part is not None and part.buttons else None

    stage = Stage(fault=picky)
    await streamed(stage)
    assert stage.result() == "delivered" and stage.channel.texts == [TEXT]
    assert sum(call.error is not None for call in stage.channel.calls) == 1, "it has learnt its lesson"


async def test_a_refusal_now_and_then_costs_no_answer() -> None:
    stage = Stage(fault=lambda number: Fault(ChannelError("no")) if number % 3 == 1 else None)
    await streamed(stage, per_second=5)
    assert len(stage.channel.calls) > 20
    assert stage.channel.texts == [TEXT]


@pytest.mark.parametrize("every", [2, 3, 5])
@pytest.mark.parametrize(("after_effect", "maybe_done"), [(False, False), (False, True), (True, True)])
async def test_network_errors_never_lose_or_double_text(every: int, after_effect: bool, maybe_done: bool) -> None:
    error = ChannelUnreachable("no answer", maybe_done=maybe_done)
    stage = Stage(
        limits=SMALL, nonces=True, fault=lambda number: Fault(error, after_effect) if number % every == 0 else None
    )
    await streamed(stage)
    assert stage.result() == "delivered"
    assert " ".join(stage.channel.texts) == TEXT
    assert stage.channel.violations == []


async def test_without_nonces_a_send_whose_answer_was_lost_is_repeated_and_counted() -> None:
    error = ChannelUnreachable("no answer", maybe_done=True)
    stage = Stage(fault=at(0, error, after_effect=True))
    await streamed(stage)
    assert stage.channel.texts[-1] == f"{TEXT}\n\n{say('copy_above', 'en')}", "what stands above is explained"
    assert len(stage.channel.texts) == 2
    assert stage.publisher.repeated_sends == 1
    stage = Stage(fault=at(0, ChannelUnreachable("no route", maybe_done=False)))
    await streamed(stage)
    assert stage.publisher.repeated_sends == 0


async def edited_and_taken_back(stage: Stage) -> None:
    """The second call is an edit; meanwhile the text goes back to what the first one had shown."""
    async with stage.running():
        stage.say("Some words that are long enough to be shown.")
        await stage.clock.advance(2)
        stage.say(" More.")
        await stage.clock.advance(0.1)
        stage.emit(Resumed("Some words that are long enough"))
        stage.say(" to be shown.")
        await stage.clock.advance(60)
    assert stage.channel.texts == ["Some words that are long enough to be shown."]


async def test_after_an_edit_whose_answer_was_lost_nothing_is_taken_to_stand() -> None:
    stage = Stage(fault=at(1, ChannelUnreachable("no answer", maybe_done=True), after_effect=True))
    await edited_and_taken_back(stage)
    assert [call.action for call in stage.channel.calls] == ["send", "edit", "edit"]


async def test_after_an_edit_that_was_refused_what_stood_before_stands() -> None:
    stage = Stage(fault=at(1, RateLimited("slow down", 5)))
    await edited_and_taken_back(stage)
    assert [call.action for call in stage.channel.calls] == ["send", "edit"]


async def test_an_unreachable_platform_is_tried_ever_more_slowly_until_it_is_back() -> None:
    back = 400.0
    stage = Stage()
    stage.channel.fault = lambda number: (
        Fault(ChannelUnreachable("down", maybe_done=False)) if stage.clock.monotonic() < back else None
    )
    await streamed(stage, wait=1000)
    gaps = [later - earlier for earlier, later in pairwise(times(stage))]
    assert stage.channel.texts == [TEXT]
    assert len(stage.channel.calls) < 16
    assert max(gaps) <= 61 and gaps[:4] == sorted(gaps[:4])


async def test_an_unreachable_platform_is_given_up_some_time_after_the_end() -> None:
    stage = Stage(patience=300, fault=lambda number: Fault(ChannelUnreachable("down", maybe_done=False)))
    await streamed(stage, wait=1000)
    assert stage.result() == "unreachable"
    assert 300 <= times(stage)[-1] - 6 <= 370


async def test_an_unreachable_platform_is_not_given_up_while_the_turn_lives() -> None:
    stage = Stage(patience=10, fault=lambda number: Fault(ChannelUnreachable("down", maybe_done=False)))
    async with stage.running():
        stage.say("Some words that are long enough to be shown.")
        await stage.clock.advance(86_400)
        assert stage.result() == "running"
        stage.channel.fault = lambda number: None
        stage.end()
        await stage.clock.advance(100)
    assert stage.result() == "delivered"


async def test_a_part_that_can_not_be_removed_does_not_keep_the_turn() -> None:
    card = ApprovalCard("c1", "1", "shell", "run", "A reason in words. " * 40, "{}", 2e9)
    stage = Stage(limits=SMALL)
    async with stage.running():
        stage.emit(ApprovalAsked(card))
        await stage.clock.advance(10)
        for message_id in list(stage.channel.messages)[1:]:
            stage.channel.delete(message_id)
        stage.say("Done.")
        stage.emit(ApprovalAsked(ApprovalCard("c1", "1", "shell", "run", "", "{}", 2e9, "once")))
        stage.end()
        await stage.clock.advance(30)
    assert stage.result() == "delivered"
    assert stage.channel.texts == ["Done.\n\n**shell** · Approved once."]


async def test_a_part_that_the_platform_will_not_remove_is_left_there() -> None:
    card = ApprovalCard("c1", "1", "shell", "run", "A reason in words. " * 40, "{}", 2e9)
    stage = Stage(limits=SMALL)
    async with stage.running():
        stage.emit(ApprovalAsked(card))
        await stage.clock.advance(10)
        stage.channel.fault = lambda number: (
            Fault(ChannelError("too old")) if stage.channel.calls[-1].action == "remove" else None
        )
        stage.emit(Resumed("Done."))
        stage.end()
        await stage.clock.advance(60)
    assert stage.result() == "delivered"
    assert stage.channel.texts[0] == "Done." and len(stage.channel.texts) == 3
    assert stage.channel.count("remove") == 2
    assert stage.channel.violations == []


async def test_a_wait_that_the_governor_was_not_told_of_is_kept_all_the_same() -> None:
    stage = Stage(fault=at(0, RateLimited("slow down", 20)))
    stage.channel.governor = None
    await streamed(stage)
    assert times(stage)[1] - times(stage)[0] == pytest.approx(20)
