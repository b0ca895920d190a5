"""Native streaming: a message grows by appends while it only grows, and is whole and once whatever ends that."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest

from bot.core.events import (
    ApprovalAsked,
    ApprovalDecided,
    Notice,
    Resumed,
    ThinkingStarted,
    ToolEnded,
    ToolStarted,
    TurnEnded,
)
from bot.core.stop import StopReason
from bot.core.view import ApprovalCard
from bot.store.parts import PartRecord
from tests.channels.slack.stage import Stage, Turn, stage

WORDS = [f"word{number} " for number in range(120)]
WHOLE = "".join(WORDS).strip()
CARD = ApprovalCard("abc", "c1", "note_write", "writes", "This tool writes.", '{"text": "milk"}', 2e9)


def methods(turn: Turn) -> list[str]:
    return [call.method.removeprefix("chat.") for call in turn.calls]


def sound(house: Stage, turn: Turn, text: str) -> None:
    """One message holds the whole text, and nothing about it is left open."""
    assert turn.texts == [text]
    assert not any(message.streaming or message.broken or message.buttons for message in turn.shown)
    assert house.sim.violations == [] and house.sim.pings == []


async def test_an_answer_is_a_stream_from_its_first_words_to_its_last() -> None:
    async with stage("native") as house:
        turn = await house.ask(house.room())
        await turn.write(WORDS, 10)
        turn.end()
        await turn.delivered(within=4)
        sound(house, turn, WHOLE)
        assert methods(turn)[0] == "startStream" and methods(turn)[-1] == "stopStream"
        assert set(methods(turn)[1:-1]) == {"appendStream"}
        assert turn.first_token_at is not None and turn.calls[0].at - turn.first_token_at <= 1.0
        start = turn.calls[0].params
        assert (start["recipient_user_id"], start["recipient_team_id"]) == ("U0001", "T0SIM")
        assert turn.shown[0].thread_ts == turn.to.thread


async def test_beside_a_thread_and_where_an_answer_is_there_at_once_nothing_is_streamed() -> None:
    async with stage("native") as house:
        alone, short = await house.ask(house.dm()), await house.ask(house.room())
        await alone.write(WORDS, 20)
        alone.end()
        short.say("An answer that is complete before anything was shown of it.")
        short.end()
        for turn in (alone, short):
            await turn.delivered(within=4)
        assert methods(alone)[0] == "postMessage" and methods(short) == ["postMessage"]
        assert alone.texts == [WHOLE] and house.sim.violations == []


async def test_a_thread_of_a_direct_chat_is_streamed_without_a_recipient() -> None:
    async with stage("native") as house:
        dm = house.dm()
        root = await house.sim.say(dm, house.sim.world.people["U0001"], "a root")
        turn = await house.ask(dm, thread=root["ts"])
        await turn.write(WORDS, 20)
        turn.end()
        await turn.delivered(within=4)
        sound(house, turn, WHOLE)
        assert methods(turn)[0] == "startStream" and "recipient_user_id" not in turn.calls[0].params


async def test_tools_are_cards_that_say_for_how_long_and_end() -> None:
    async with stage("native") as house:
        turn = await house.ask(house.room())
        turn.say("I look it up, in two places at once. ")
        await house.clock.advance(2)
        turn.emit(ToolStarted("c1", "web_search", "the weather"), ToolStarted("c2", "web_fetch", "a page"))
        await house.clock.advance(14)
        [shown] = turn.shown
        assert shown.text == "I look it up, in two places at once."
        assert [card.status for card in shown.cards] == ["in_progress", "in_progress"]
        assert all(card.title.endswith(" s") for card in shown.cards)
        turn.emit(ToolEnded("c1", 14.2, False), ToolEnded("c2", 14.4, True))
        turn.say("\n\nThere it is.")
        turn.end()
        await turn.delivered(within=5)
        sound(house, turn, "I look it up, in two places at once.\n\nThere it is.")
        assert [(card.title, card.status) for card in turn.shown[0].cards] == [
            ("web_search: the weather · 14 s", "complete"),
            ("web_fetch: a page · 14 s", "error"),
        ]


async def test_while_nothing_is_said_a_card_shows_that_somebody_thinks() -> None:
    async with stage("native") as house:
        turn = await house.ask(house.room())
        turn.emit(ThinkingStarted())
        await house.clock.advance(6)
        [shown] = turn.shown
        title = "thinking… · “@bowerbird stop” stops it"  # the app is no agent: Slack shows no button
        assert shown.streaming and [(card.title, card.status) for card in shown.cards] == [(title, "in_progress")]
        await turn.write(WORDS, 20)
        turn.end()
        await turn.delivered(within=5)
        sound(house, turn, WHOLE)
        [card] = turn.shown[0].cards
        assert (card.title, card.status) == ("thinking…", "complete") and methods(turn)[0] == "startStream"


@pytest.mark.parametrize("agent", [False, True])
async def test_where_slack_shows_no_button_a_line_says_how_a_long_answer_is_stopped(
    agent: bool, caplog: pytest.LogCaptureFixture
) -> None:
    async with stage("native", agent=agent) as house:
        room, statuses = house.room(), list[str]()
        turn = await house.ask(room)
        for number in range(6):
            await turn.write(WORDS[number * 12 : (number + 1) * 12], 12)
            statuses.append(house.sim.status(room, turn.to.thread))
        turn.end()
        await turn.delivered(within=5)
        await house.clock.advance(1)
        hint = "is writing… · “@bowerbird stop” stops it"
        assert (hint in statuses) is not agent and house.sim.status(room, turn.to.thread) == ""
        assert ("no Stop button" in caplog.text) is not agent
        assert house.sim.violations == [] and house.sim.pings == []


async def test_an_agent_that_does_not_hear_of_its_button_says_how_as_well(caplog: pytest.LogCaptureFixture) -> None:
    async with stage("native", agent=True) as house:
        house.sim.subscriptions.discard("agent_session_stopped")
        turn = await house.ask(house.room())
        await turn.write(WORDS[:60], 12)
        assert "“@bowerbird stop”" in house.sim.status(turn.channel, turn.to.thread)
        turn.end()
        await turn.delivered(within=5)
        assert caplog.text.count("no Stop button") == 1 and "agent_session_stopped" in caplog.text


async def test_b015_a_stream_that_is_deleted_on_the_way_is_shown_again_whole() -> None:
    async with stage("native") as house:
        turn = await house.ask(house.room())
        await turn.write(WORDS[:60], 20)
        await house.sim.delete(turn.channel, turn.shown[0].ts)
        await turn.write(WORDS[60:], 20)
        turn.end()
        await turn.delivered(within=5)
        sound(house, turn, WHOLE)


async def test_a_question_with_buttons_ends_the_stream_and_the_answer_goes_on_in_the_same_message() -> None:
    async with stage("native") as house:
        turn = await house.ask(house.room())
        await turn.write(WORDS[:40], 20)
        turn.emit(ApprovalAsked(CARD))
        await house.clock.advance(3)
        [shown] = turn.shown
        assert not shown.streaming and [button.value for button in shown.buttons][:2] == ["b:abc:once", "b:abc:chat"]
        assert "May I run note" in shown.text and shown.text.startswith("word0 word1")
        turn.emit(ApprovalDecided(replace(CARD, decision="once", decided_by="Ann")))
        await turn.write(WORDS[40:], 20)
        turn.end()
        await turn.delivered(within=5)
        assert len(turn.shown) == 1 and turn.texts[0].startswith(WHOLE) and "Approved once." in turn.texts[0]
        assert "startStream" not in methods(turn)[1:] and "postMessage" not in methods(turn)
        assert house.sim.violations == []


async def test_a_stream_is_left_before_slack_lets_it_die_and_nothing_is_lost_or_repeated() -> None:
    async with stage("native") as house:
        turn = await house.ask(house.room())
        words = [f"word{number} " for number in range(400)]
        await turn.write(words, 1.3)  # five minutes
        turn.end()
        await turn.delivered(within=5)
        sound(house, turn, "".join(words).strip())
        stop = next(call for call in turn.calls if call.method == "chat.stopStream")
        assert stop.at - turn.calls[0].at < 240
        assert methods(turn)[-1] == "update"


async def test_a_stream_for_which_there_is_nothing_to_show_does_not_die_either() -> None:
    async with stage("native") as house:
        turn = await house.ask(house.room())
        await turn.write(WORDS[:60], 20)
        await house.clock.advance(400)
        assert not turn.shown[0].streaming and not turn.shown[0].broken
        await turn.write(WORDS[60:], 20)
        turn.end()
        await turn.delivered(within=5)
        sound(house, turn, WHOLE)


async def test_a_stream_that_died_all_the_same_is_mended() -> None:
    async with stage("native") as house:
        house.sim.stream_seconds = 5
        turn = await house.ask(house.room())
        await turn.write(WORDS, 10)
        turn.end()
        await turn.delivered(within=5)
        sound(house, turn, WHOLE)


async def test_text_that_is_taken_back_leaves_no_trace() -> None:
    async with stage("native") as house:
        turn = await house.ask(house.room())
        await turn.write(WORDS[:40], 20)
        turn.emit(Resumed("Another model begins anew. ", (), ()))
        await house.clock.advance(3)
        assert turn.texts[0].startswith("Another model begins anew.")
        await turn.write(WORDS, 20)
        turn.end()
        await turn.delivered(within=5)
        sound(house, turn, "Another model begins anew. " + WHOLE)


async def test_notices_stand_below_the_whole_answer() -> None:
    async with stage("native") as house:
        turn = await house.ask(house.room())
        await turn.write(WORDS[:60], 20)
        turn.emit(Notice("Another model answered."))
        await turn.write(WORDS[60:], 20)
        turn.emit(TurnEnded(StopReason.STOPPED))
        await turn.delivered(within=5)
        sound(house, turn, f"{WHOLE}\n\nAnother model answered.\n\nStopped.")
        assert methods(turn)[-1] == "stopStream"


@pytest.mark.parametrize("effect", ["none", "done"])
async def test_a_lost_answer_to_an_append_repeats_nothing(effect: str) -> None:
    async with stage("native") as house:
        turn = await house.ask(house.room())
        house.sim.fail("chat.appendStream", 3, action="drop", effect=effect)  # type: ignore[arg-type]
        await turn.write(WORDS, 10)
        turn.end()
        await turn.delivered(within=8)
        sound(house, turn, WHOLE)


@pytest.mark.parametrize(
    ("method", "error"),
    [
        ("chat.appendStream", "message_not_in_streaming_state"),
        ("chat.appendStream", "stopped_by_user"),
        ("chat.appendStream", "invalid_chunks"),
        ("chat.appendStream", "msg_too_long"),
        ("chat.appendStream", "something_of_next_year"),
        ("chat.stopStream", "message_not_in_streaming_state"),
        ("chat.stopStream", "invalid_blocks"),
        ("chat.stopStream", "internal_error"),
    ],
)
async def test_b028_whatever_refuses_a_stream_the_answer_is_whole(method: str, error: str) -> None:
    async with stage("native") as house:
        turn = await house.ask(house.room())
        house.sim.fail(method, error=error)
        await turn.write(WORDS, 10)
        turn.end()
        await turn.delivered(within=8)
        assert turn.texts == [WHOLE]


async def test_where_slack_has_no_streams_for_the_app_answers_are_edited_from_then_on() -> None:
    async with stage("native") as house:
        house.sim.fail("chat.startStream", every=True, error="not_allowed_for_app")
        for number in range(5):
            turn = await house.ask(house.room(number))
            await turn.write(WORDS, 40)
            turn.end()
            await turn.delivered(within=5)
            sound(house, turn, WHOLE)
        assert len(house.sim.called("chat.startStream")) == 3


async def test_when_the_minutes_streams_are_used_up_further_answers_are_edited() -> None:
    async with stage("native") as house:
        turns = []
        for number in range(1, 25):
            turns.append(await house.ask(house.room(number)))
            turns[-1].say("A first sentence for everybody, long enough to be shown.")
        await house.clock.advance(3)
        for turn in turns:
            turn.say(" And the second.")
            turn.end()
        for turn in turns:
            await turn.delivered(within=60)
            sound(house, turn, "A first sentence for everybody, long enough to be shown. And the second.")
        begun = [methods(turn)[0] for turn in turns]
        assert {"startStream", "postMessage"} == set(begun) and begun.count("startStream") <= 20


async def test_an_agents_session_offers_stop_and_slacks_own_stop_leaves_a_whole_answer() -> None:
    async with stage("native", agent=True) as house:
        room, ann = house.room(), house.sim.person("U0001", "P1")
        turn = await house.ask(room)
        await turn.write(WORDS[:60], 20)
        assert house.sim.session(room, turn.to.thread) == "processing"
        await house.sim.stop_session(room, turn.to.thread, ann)
        stopped = await house.heard(lambda one: one.kind == "stop")
        assert stopped.address == turn.to
        turn.emit(TurnEnded(StopReason.STOPPED))
        await turn.delivered(within=5)
        await house.clock.advance(1)
        assert len(turn.texts) == 1 and turn.texts[0].endswith("Stopped.") and "word59" in turn.texts[0]
        assert house.sim.session(room, turn.to.thread) == "active" and house.sim.violations == []


async def test_a_session_ends_with_its_answer() -> None:
    async with stage("native", agent=True) as house:
        room = house.room()
        turn = await house.ask(room)
        await turn.write(WORDS, 20)
        turn.end()
        await turn.delivered(within=5)
        sound(house, turn, WHOLE)
        assert house.sim.session(room, turn.to.thread) == "active"
        assert len(house.sim.called("agents.sessions.setStatus")) == 1


async def test_an_app_that_is_no_agent_is_asked_for_a_session_once() -> None:
    async with stage("native") as house:
        for number in (1, 2):
            turn = await house.ask(house.room(number))
            await turn.write(WORDS, 20)
            turn.end()
            await turn.delivered(within=5)
            sound(house, turn, WHOLE)
        assert len(house.sim.called("agents.sessions.setStatus")) == 1


async def left_open(house: Stage) -> Turn:
    """A turn whose process died in the middle of its answer."""
    turn = await house.ask(house.room())
    await turn.write(WORDS[:60], 20)
    turn.task.cancel()
    await house.clock.advance(0.1)
    return turn


@pytest.mark.parametrize("streaming", ["native", "edit"])
@pytest.mark.parametrize("recorded", [True, False])
async def test_after_a_restart_the_answer_goes_on_in_the_same_message(streaming: str, recorded: bool) -> None:
    """Not ``recorded``: the process died between Slack's answer and the ledger."""
    async with stage(streaming) as house:
        turn = await left_open(house)
        assert turn.shown[0].streaming == (streaming == "native")
        if not recorded:
            [(key, record)] = turn.ledger.rows.items()
            turn.ledger.rows[key] = PartRecord(record.index, record.start, None, None, "")
        await house.restart()
        again = house.again(turn)
        again.emit(Resumed("".join(WORDS[:60]), (), ()))
        await again.write(WORDS[60:], 20)
        again.end()
        await again.delivered(within=8)
        sound(house, again, WHOLE)


async def test_after_a_restart_nobody_elses_message_is_taken_for_the_lost_one() -> None:
    async with stage("native") as house:
        room = house.room()
        first = await house.ask(room)
        await first.write(WORDS, 40)
        first.end()
        await first.delivered(within=5)
        second = await house.ask(room, thread=first.to.thread)
        second.task.cancel()
        second.ledger.rows[second.name, 0] = PartRecord(0, 0, None, None, "")
        await house.restart()
        again = house.again(second)
        again.say("Another answer, which nobody has seen before.")
        again.end()
        await again.delivered(within=5)
        assert again.texts == [WHOLE, "Another answer, which nobody has seen before."]
        assert house.sim.violations == []


async def test_a_streamed_message_can_be_removed() -> None:
    async with stage("native") as house:
        turn = await left_open(house)
        [record] = turn.ledger.rows.values()
        assert record.ref is not None
        await house.done(house.channel.remove(turn.to, record.ref))
        assert turn.shown == [] and house.sim.violations == []
        await house.done(house.channel.remove(turn.to, record.ref))


async def test_appends_of_many_streams_share_what_the_workspace_bears() -> None:
    async with stage("native") as house:
        turns = [await house.ask(house.room(number)) for number in range(1, 9)]
        for _ in range(60):
            for turn in turns:
                turn.say("a few words more ")
            await house.clock.advance(1)
        for turn in turns:
            turn.end()
        for turn in turns:
            await turn.delivered(within=60)
            sound(house, turn, ("a few words more " * 60).strip())
        appends = [call.at for call in house.sim.called("chat.appendStream")]
        assert all(later - sooner >= 59 for sooner, later in zip(appends, appends[110:], strict=False))
        assert len(appends) > 60 and all(later >= sooner for sooner, later in pairwise(appends))
