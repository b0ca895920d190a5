"""What a person sees of one turn, and with how many calls."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from itertools import pairwise

import pytest

from bot.core.events import ApprovalAsked, ApprovalDecided, Notice, Resumed, ThinkingStarted, ToolEnded, ToolStarted
from bot.core.stop import StopReason
from bot.core.view import ApprovalCard, Limits, Part, Phase
from bot.outbox.publisher import THINKING_SECONDS, Publisher
from tests.fakes.channel import HERE
from tests.outbox.renders import escaping
from tests.outbox.stage import Stage

CARD = ApprovalCard("c1", "1", "shell", "run", "why", '{"cmd": "ls"}', 2_000_000_000.0)
SMALL = Limits(size=300, unit="utf16", pace=1.0)
STRUCTURED = Limits(size=1_000_000, pace=0.03, structured=True)


def part_of(stage: Stage, number: int) -> Part:
    part = stage.channel.calls[number].part
    assert part is not None
    return part


async def test_b046_a_streamed_answer_is_one_message_edited_to_its_final_text() -> None:
    stage = Stage(latency=lambda number: 0.2)
    async with stage.running():
        await stage.stream(["word "] * 200, 40)
        stage.end()
        await stage.clock.advance(5)
    assert stage.result() == "delivered"
    assert stage.channel.texts == [("word " * 200).strip()]
    assert stage.channel.count("send") == 1 and 5 <= stage.channel.count("edit") <= 7
    assert stage.channel.violations == []


async def test_a_short_first_token_is_shown_within_a_second() -> None:
    stage = Stage()
    async with stage.running():
        stage.emit(ThinkingStarted())
        await stage.clock.advance(3)
        assert stage.channel.calls == []
        stage.say("Hm")
        await stage.clock.advance(1.0)
        assert [call.at for call in stage.channel.calls] == [pytest.approx(3.9)]
        assert stage.channel.texts == ["Hm"]


async def test_a_model_that_is_silent_gets_a_thinking_line_with_a_stop_button() -> None:
    stage = Stage()
    async with stage.running():
        stage.emit(ThinkingStarted())
        await stage.clock.advance(60)
        assert [call.at for call in stage.channel.calls] == [pytest.approx(THINKING_SECONDS)]
        shown = part_of(stage, 0)
        assert "thinking" in shown.markdown and [button.label for button in shown.buttons] == ["Stop"]
        stage.say("At last.")
        stage.end()
        await stage.clock.advance(2)
    assert stage.channel.texts == ["At last."] and stage.channel.count("send") == 1


async def test_without_previews_only_a_question_and_the_end_are_shown() -> None:
    stage = Stage(limits=Limits(size=4096, pace=1.0, previews=False))
    async with stage.running():
        await stage.stream(["word "] * 100, 40)
        await stage.clock.advance(10)
        assert stage.channel.calls == []
        stage.emit(ApprovalAsked(CARD))
        await stage.clock.advance(2)
        assert stage.channel.count("send") == 1
        stage.end()
        await stage.clock.advance(5)
    assert stage.channel.count("send") == 1 and stage.channel.violations == []


async def test_thirty_characters_are_shown_at_once() -> None:
    stage = Stage()
    async with stage.running():
        stage.say("x" * 29)
        await stage.clock.advance(0.1)
        assert stage.channel.calls == []
        stage.say("x")
        await stage.clock.advance(0)
        assert len(stage.channel.calls) == 1


async def test_a_final_text_is_shown_at_once_however_short() -> None:
    stage = Stage()
    async with stage.running():
        stage.say("No.")
        stage.end()
        await stage.clock.advance(0)
        assert [(call.action, call.at) for call in stage.channel.calls] == [("send", 0)]
    assert stage.channel.texts == ["No."]


async def test_tools_and_cards_are_shown_at_once() -> None:
    for event in (ToolStarted("1", "web", "rust"), ApprovalAsked(CARD), Notice("The model changed.")):
        stage = Stage()
        async with stage.running():
            stage.emit(event)
            await stage.clock.advance(0)
            assert len(stage.channel.calls) == 1


async def test_a_channel_without_pace_is_shown_everything_at_once() -> None:
    stage = Stage(limits=Limits(size=4096, pace=0))
    async with stage.running():
        stage.emit(ThinkingStarted())
        await stage.clock.advance(0)
        assert stage.channel.texts == ["*thinking…*"]
        for token in ("a", "b", "c"):
            stage.say(token)
            await stage.clock.advance(0)
        assert stage.channel.texts == ["abc"]
    assert len(stage.channel.calls) == 4


async def test_b008_text_that_looks_the_same_makes_no_call() -> None:
    stage = Stage()
    async with stage.running():
        stage.say("Some text that is long enough to be shown.")
        await stage.clock.advance(2)
        stage.say("")
        stage.say(" ")
        stage.say("\n")
        await stage.clock.advance(60)
        assert len(stage.channel.calls) == 1
        stage.end()
        await stage.clock.advance(2)
    assert len(stage.channel.calls) == 2
    assert stage.channel.violations == []


async def test_b009_nothing_older_lands_after_the_final_text() -> None:
    stage = Stage(latency=lambda number: 3.0 if number == 1 else 0.2)
    async with stage.running():
        stage.say("The beginning of a long answer to you.")
        await stage.clock.advance(1.0)
        stage.say(" And more of it.")
        await stage.clock.advance(1.0)
        stage.say(" And the end.")
        stage.end()
        await stage.clock.advance(30)
    assert [call.action for call in stage.channel.calls] == ["send", "edit", "edit"]
    ends = [call.ended for call in stage.channel.calls]
    assert all(later.at >= ended for ended, later in zip(ends, stage.channel.calls[1:], strict=False))
    assert stage.channel.texts == ["The beginning of a long answer to you. And more of it. And the end."]
    assert stage.channel.violations == []


async def test_b011_what_came_within_the_pause_before_the_end_is_not_lost() -> None:
    stage = Stage(limits=Limits(size=4096, pace=3.0))
    async with stage.running():
        stage.say("Hello, this is the beginning of it")
        await stage.clock.advance(0.1)
        stage.say(" world")
        stage.say(" and the rest.")
        stage.end()
        await stage.clock.advance(0.5)
        assert stage.result() == "running"
        await stage.clock.advance(3)
    assert stage.result() == "delivered"
    assert stage.channel.texts == ["Hello, this is the beginning of it world and the rest."]


async def test_b047_a_turn_that_ends_without_a_word_leaves_nothing_on_the_screen() -> None:
    stage = Stage()
    async with stage.running():
        stage.emit(ToolStarted("1", "web", "news"))
        await stage.clock.advance(2)
        assert len(stage.channel.texts) == 1
        stage.emit(ToolEnded("1", 2.0, False), Resumed(""))
        stage.end()
        await stage.clock.advance(10)
    assert stage.channel.texts == []
    assert stage.result() == "delivered"
    assert await stage.ledger.load("turn-1") == []


async def test_a_silent_turn_makes_no_call() -> None:
    stage = Stage()
    async with stage.running():
        stage.emit(ThinkingStarted())
        stage.end()
        await stage.clock.advance(10)
    assert stage.channel.calls == [] and stage.result() == "delivered"


async def test_the_seconds_of_a_running_tool_go_on_slowly() -> None:
    stage = Stage()
    async with stage.running():
        stage.emit(ToolStarted("1", "web", "rust"))
        await stage.clock.advance(62)
        stage.emit(ToolEnded("1", 62.0, False))
        await stage.clock.advance(20)
    seen = [call.part.rendered.text for call in stage.channel.calls if call.part]
    assert seen[:3] == ["*web: rust*", "*web: rust · 5 s*", "*web: rust · 10 s*"]
    assert 8 <= len(seen) <= 13
    assert seen[-1] == "*thinking…*"


async def test_a_structured_channel_gets_no_ticks() -> None:
    stage = Stage(limits=STRUCTURED)
    async with stage.running():
        stage.emit(ToolStarted("1", "web", "rust"))
        await stage.clock.advance(60)
    assert len(stage.channel.calls) == 1


async def test_approval_buttons_come_with_the_card_and_go_with_the_decision() -> None:
    stage = Stage()
    async with stage.running():
        stage.say("I will run it.")
        stage.emit(ApprovalAsked(CARD))
        await stage.clock.advance(1)
        assert [button.payload for button in part_of(stage, 0).buttons][:2] == ["b:c1:once", "b:c1:chat"]
        stage.emit(ApprovalDecided(replace(CARD, decision="deny", decided_by="Ann")))
        await stage.clock.advance(1)
        assert [button.payload for button in part_of(stage, 1).buttons] == ["b:turn-1:stop"]
        stage.end(StopReason.APPROVAL_DENIED, "You denied this.")
        await stage.clock.advance(2)
    assert stage.channel.texts == ["I will run it.\n\n**shell** · Denied. (Ann)\n\nYou denied this."]


async def test_b026_buttons_of_a_long_card_are_on_the_screen_exactly_once() -> None:
    stage = Stage(limits=SMALL)
    async with stage.running():
        stage.emit(ApprovalAsked(replace(CARD, reason="A reason in words. " * 60)))
        await stage.clock.advance(30)
        assert len(stage.channel.texts) > 3
        assert [bool(message.part.buttons) for message in stage.channel.messages.values()][-1]
        assert sum(bool(message.part.buttons) for message in stage.channel.messages.values()) == 1
        stage.emit(ApprovalDecided(replace(CARD, decision="once")))
        stage.say("Done.")
        stage.end()
        await stage.clock.advance(30)
    assert stage.channel.texts == ["Done.\n\n**shell** · Approved once."]
    assert stage.channel.violations == []


async def test_sealed_parts_stand_and_the_boundary_is_written_before_the_next_is_sent() -> None:
    stage = Stage(limits=SMALL)
    text = "".join(f"Sentence number {number} stands here. " for number in range(60))
    async with stage.running():
        await stage.stream([text[start : start + 20] for start in range(0, len(text), 20)], 4)
        stage.end()
        await stage.clock.advance(60)
    assert "".join(stage.channel.texts).replace(" ", "") == text.replace(" ", "")
    assert stage.channel.violations == []
    log = stage.ledger.log
    for index in range(1, len(stage.channel.texts)):
        assert log.index(("seal", index - 1)) < log.index(("intend", index))
    rows = await stage.ledger.load("turn-1")
    assert [row.start for row in rows[1:]] == [row.end for row in rows[:-1]]
    assert rows[-1].end is None and rows[-1].accepted_hash


async def test_text_that_was_taken_back_is_shown_anew_in_the_same_message() -> None:
    stage = Stage()
    async with stage.running():
        stage.say("A first try that the model did not finish")
        await stage.clock.advance(2)
        stage.emit(Resumed(""), ThinkingStarted())
        await stage.clock.advance(2)
        stage.say("A second try that ends.")
        stage.end()
        await stage.clock.advance(2)
    assert stage.channel.texts == ["A second try that ends."]
    assert stage.channel.count("send") == 1


async def test_parts_that_are_no_longer_wanted_are_removed() -> None:
    stage = Stage(limits=SMALL)
    async with stage.running():
        stage.say("word " * 50)
        stage.emit(ApprovalAsked(replace(CARD, arguments="x" * 400)))
        await stage.clock.advance(10)
        assert len(stage.channel.texts) == 3
        stage.emit(ApprovalDecided(replace(CARD, decision="once")))
        await stage.clock.advance(10)
        assert len(stage.channel.texts) == 1
        stage.emit(Resumed("Short."))
        stage.end()
        await stage.clock.advance(20)
    assert stage.channel.texts == ["Short."]
    assert [row.index for row in await stage.ledger.load("turn-1")] == [0]


async def test_text_taken_back_in_the_moment_it_was_sealed_is_corrected() -> None:
    """The Brain looked at the ledger just before the seal was written, and took back what it thought was open."""
    stage = Stage(limits=SMALL)
    async with stage.running():
        stage.say("Old sentence of some words. " * 30)
        await stage.clock.advance(5)
        assert ("seal", 1) in stage.ledger.log
        stage.emit(Resumed("Kept. "), ThinkingStarted())
        stage.say("New sentence. " * 40)
        stage.end()
        await stage.clock.advance(30)
    text = " ".join(stage.channel.texts)
    assert "Old" not in text
    assert text.split() == ("Kept. " + "New sentence. " * 40).split()


@pytest.mark.parametrize("path", ["streamed", "at once", "resumed", "notice", "failure"])
async def test_b020_every_way_out_goes_through_the_pages(path: str) -> None:
    stage = Stage(limits=Limits(size=4096, unit="utf16", pace=1.0), render=escaping("utf16"))
    text = ("Some words of text. " * 310)[:6064].strip()
    async with stage.running():
        match path:
            case "streamed":
                await stage.stream([text[start : start + 100] for start in range(0, len(text), 100)], 10)
                stage.end()
            case "at once":
                stage.say(text)
                stage.end()
            case "resumed":
                stage.emit(Resumed(text))
                stage.end()
            case "notice":
                stage.emit(Notice(text))
                stage.end()
            case "failure":
                stage.end(StopReason.INTERNAL_ERROR, text)
        await stage.clock.advance(60)
    assert len(stage.channel.texts) >= 2
    assert "".join(stage.channel.texts).replace(" ", "") == escaping("utf16")(text).text.replace(" ", "")
    assert stage.channel.violations == []


async def test_a_platform_that_takes_nothing_back_only_sees_text_continue() -> None:
    stage = Stage(limits=Limits(size=4096, pace=0.5, can_edit=False))
    text = "Here it is:\n\n```py\nx = 1\ny = 2\n```\n\nThat was it, with a `word`."
    async with stage.running():
        stage.emit(ThinkingStarted(), ToolStarted("1", "web", "x"), ToolEnded("1", 1.0, False))
        await stage.stream(list(text), 7)
        stage.end()
        await stage.clock.advance(5)
    shown = [call.part.markdown for call in stage.channel.calls if call.part]
    assert all(later.startswith(earlier) for earlier, later in pairwise(shown))
    assert shown[-1] == text


async def test_an_address_may_have_limits_of_its_own() -> None:
    stage = Stage()
    own = Limits(size=200, unit="bytes", pace=0)
    stage.publisher = Publisher(
        stage.channel, stage.governor, stage.ledger, stage.clock, HERE, "turn-1", "en", limits=own
    )
    async with stage.running():
        stage.say("words " * 50)
        stage.end()
        await stage.clock.advance(10)
    assert [len(text) <= 200 for text in stage.channel.texts] == [True, True]


async def test_the_phase_reaches_a_structured_channel() -> None:
    stage = Stage(limits=STRUCTURED)
    async with stage.running():
        stage.emit(ThinkingStarted())
        await stage.clock.advance(0.1)
        stage.say("a")
        await stage.clock.advance(0.1)
        stage.emit(ApprovalAsked(CARD))
        await stage.clock.advance(0.1)
        stage.end()
        await stage.clock.advance(0.1)
    phases = [call.part.view.phase for call in stage.channel.calls if call.part]
    assert phases == [Phase.THINKING, Phase.WRITING, Phase.WAITING, Phase.DONE]


async def test_two_turns_in_one_chat_share_its_pace() -> None:
    stage, other = Stage(), Stage()
    other.clock, other.governor, other.channel = stage.clock, stage.governor, stage.channel
    other.publisher = other.new_publisher()
    async with stage.running(), other.running():
        for _ in range(10):
            stage.say("One turn writes and writes. ")
            other.say("The other one does so too. ")
            await stage.clock.advance(0.7)
        stage.end()
        other.end()
        await stage.clock.advance(10)
    assert "two calls at once" not in stage.channel.violations
    assert [violation for violation in stage.channel.violations if "after the last" in violation] == []
    assert len(stage.channel.texts) == 2


async def test_nothing_is_left_running_when_the_publisher_is_stopped() -> None:
    stage = Stage()
    before = asyncio.all_tasks()
    async with stage.running():
        stage.say("Some words that are long enough to be shown. ")
        await stage.clock.advance(0.5)
        stage.say("more")
        await stage.clock.advance(0.1)
    assert asyncio.all_tasks() == before
