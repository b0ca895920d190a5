"""Turns from message to end: steps, tools, failures, limits, and resuming at every point."""

from __future__ import annotations

import asyncio

import pytest

from bot.brain.history import UNANSWERED, paired
from bot.brain.limits import TurnLimits
from bot.brain.prompt import Persona, request_for
from bot.core.errors import (
    ContextTooLong,
    KeyRefused,
    ModelMissing,
    ModelNotHere,
    NoCredit,
    ProviderBusy,
    ProviderError,
    ProviderFailed,
    ProviderUnreachable,
    RequestRefused,
    StreamCut,
    StreamGarbled,
    StreamStalled,
)
from bot.core.events import Resumed, TextDelta, ToolEnded
from bot.core.inbound import ButtonPress
from bot.core.model import (
    CallBlock,
    Message,
    ModelCall,
    ModelRequest,
    ModelStop,
    ModelStopReason,
    ModelText,
    ModelThinking,
    ModelThought,
    ModelUsage,
    ResultBlock,
    TextBlock,
    ThinkingBlock,
    Usage,
)
from bot.core.stop import StopReason
from bot.core.tool import ToolCall
from bot.core.transcript import EndRow, GivenRow, ResultRow, RouteRow, Row, StepRow, UserRow
from bot.core.view import Phase
from tests.brain.conftest import HERE, OWNER, House, MakeHouse
from tests.fakes.provider import calls, says

NOTE = ToolCall("c1", "note_write", {"text": "buy milk"})
SUM = ToolCall("c2", "calculate", {"expression": "17*23"})


def bodies(rows: list[Row] | tuple[Row, ...], kind: type) -> list[object]:
    return [row.body for row in rows if isinstance(row.body, kind)]


async def rows_of(house: House, turn: str = "turn1") -> list[Row]:
    return list(await house.store.transcript.turn_rows(turn))


async def open_card(house: House) -> str:
    for _ in range(1000):
        await asyncio.sleep(0.002)
        cards = [a.card for a in await house.store.approvals.of_turn("turn1") if not a.card.decision]
        if cards and any(card.id == cards[0].id for card in house.view.cards):
            return cards[0].id
    raise AssertionError("no card was shown")


async def press(house: House, card: str, verb: str, who: object = OWNER) -> str:
    return await house.approvals.decide(ButtonPress("p", HERE, who, f"b:{card}:{verb}", 1.0), "en")  # type: ignore[arg-type]


async def test_a_plain_answer_is_stored_shown_and_ended(make_house: MakeHouse) -> None:
    house = make_house(says("Hel", "lo ", "there"))
    turn = await house.turn()
    assert await house.answer(turn) is StopReason.ANSWERED
    assert (house.view.text, house.view.phase, house.view.notices) == ("Hello there", Phase.DONE, ())
    rows = await rows_of(house)
    assert [type(row.body) for row in rows] == [UserRow, RouteRow, StepRow, EndRow]
    assert await house.store.transcript.draft("turn1") is None


async def test_text_is_stored_before_it_is_shown(make_house: MakeHouse) -> None:
    gate = asyncio.Event()
    house = make_house([ModelText("stored"), gate, ModelText(" more"), ModelStop(ModelStopReason.END)])
    turn = await house.turn()
    async with asyncio.TaskGroup() as group:
        group.create_task(house.answer(turn))
        while not any(isinstance(event, TextDelta) for event in house.events):
            await asyncio.sleep(0.001)
        draft = await house.store.transcript.draft("turn1")
        assert draft is not None and draft.text == "stored"
        gate.set()


async def test_a_tool_without_effect_runs_at_once_and_its_result_reaches_the_model(make_house: MakeHouse) -> None:
    house = make_house(calls(SUM, text="Let me see."), says("It is 391."))
    assert await house.answer(await house.turn()) is StopReason.ANSWERED
    assert house.view.text == "Let me see.\n\nIt is 391."
    (line,) = house.view.tools
    assert (line.name, line.summary, line.error) == ("calculate", "17*23", False)
    (result,) = [b for m in house.provider.requests[1].messages for b in m.content if isinstance(b, ResultBlock)]
    assert result.text == "17*23 = 391"


async def test_a_tool_with_an_effect_waits_for_a_press_and_runs_once(make_house: MakeHouse) -> None:
    house = make_house(calls(NOTE), says("Noted."))
    turn = await house.turn()
    async with asyncio.TaskGroup() as group:
        task = group.create_task(house.answer(turn))
        card = await open_card(house)
        while not house.parked:
            await asyncio.sleep(0.001)
        assert house.view.phase is Phase.WAITING and house.parked == 1
        assert '"buy milk"' in house.view.cards[0].arguments
        assert await press(house, card, "once") == "Approved once."
        assert await press(house, card, "deny") == "Already decided: Approved once."
    assert task.result() is StopReason.ANSWERED
    assert (house.workspace / "notes.md").read_text().count("buy milk") == 1
    assert house.view.cards[0].decision == "once"


async def test_b158_denying_one_of_two_calls_leaves_both_with_results(make_house: MakeHouse) -> None:
    house = make_house(calls(NOTE, SUM), says("All right."))
    turn = await house.turn()
    async with asyncio.TaskGroup() as group:
        group.create_task(house.answer(turn))
        await press(house, await open_card(house), "deny")
    results = [b for b in house.provider.requests[1].messages[-1].content if isinstance(b, ResultBlock)]
    assert [(r.call_id, r.error) for r in results] == [("c1", True), ("c2", False)]
    assert not (house.workspace / "notes.md").exists()


async def test_b092_b098_b099_an_approval_expires_and_a_late_press_shows_what_happened(make_house: MakeHouse) -> None:
    house = make_house(calls(NOTE), says("Nobody answered."))
    turn = await house.turn()
    async with asyncio.TaskGroup() as group:
        group.create_task(house.answer(turn))
        card = await open_card(house)
        await asyncio.sleep(0.05)
        await house.clock.advance(30 * 60 + 1)
    assert house.view.cards[0].decision == "expired"
    assert await press(house, card, "once") == "Already decided: Expired: it was not run."
    assert not (house.workspace / "notes.md").exists()
    (result,) = bodies(await rows_of(house), ResultRow)
    assert result.seconds < 60, "the time that a person takes is not the tool's"
    assert isinstance(result, ResultRow) and "in time" in result.text


async def test_b089_a_stranger_cannot_press(make_house: MakeHouse) -> None:
    from bot.core.address import Sender

    house = make_house(calls(NOTE), says("ok"))
    turn = await house.turn()
    async with asyncio.TaskGroup() as group:
        group.create_task(house.answer(turn))
        card = await open_card(house)
        assert await press(house, card, "once", Sender("web", "7002")) == "Only an owner can decide this."
        assert (await house.store.approvals.get(card)).card.decision == ""  # type: ignore[union-attr]
        await press(house, card, "deny")


async def test_a_permission_for_the_chat_asks_no_second_time(make_house: MakeHouse) -> None:
    house = make_house(calls(NOTE), says("one"), calls(NOTE), says("two"))
    turn = await house.turn()
    async with asyncio.TaskGroup() as group:
        group.create_task(house.answer(turn))
        await press(house, await open_card(house), "chat")
    assert await house.answer(await house.turn("again", 2)) is StopReason.ANSWERED
    assert (house.workspace / "notes.md").read_text().count("buy milk") == 2


async def test_b118_b129_a_call_that_was_cut_off_is_not_run_and_the_model_is_told(make_house: MakeHouse) -> None:
    cut = ToolCall("c1", "note_write", {}, invalid="its arguments were cut off by the output limit")
    house = make_house([ModelCall(cut), ModelStop(ModelStopReason.MAX_TOKENS)], says("Shorter then."))
    assert await house.answer(await house.turn()) is StopReason.ANSWERED
    (result,) = bodies(await rows_of(house), ResultRow)
    assert isinstance(result, ResultRow) and result.error and "cut off" in result.text
    assert not (house.workspace / "notes.md").exists()


async def test_wrong_arguments_and_unknown_tools_teach_the_model(make_house: MakeHouse) -> None:
    house = make_house(calls(ToolCall("a", "calculate", {"expr": "1"}), ToolCall("b", "calculator", {})), says("ok"))
    await house.answer(await house.turn())
    first, second = bodies(await rows_of(house), ResultRow)
    assert isinstance(first, ResultRow) and isinstance(second, ResultRow)
    assert "expression: Field required" in first.text and "calculate" in second.text
    assert first.error and second.error


async def test_calls_with_the_same_id_in_two_steps_are_two_calls(make_house: MakeHouse) -> None:
    again = ToolCall("c2", "calculate", {"expression": "1+1"})
    house = make_house(calls(SUM), calls(again), says("391 and 2"))
    assert await house.answer(await house.turn()) is StopReason.ANSWERED
    assert [r.text for r in bodies(await rows_of(house), ResultRow)] == ["17*23 = 391", "1+1 = 2"]  # type: ignore[attr-defined]


async def test_b125_b126_an_error_in_the_middle_takes_the_text_back_and_the_next_model_answers(
    make_house: MakeHouse,
) -> None:
    house = make_house([ModelText("Hello wor"), ProviderBusy("busy")], [ProviderBusy("busy")], says("Hello world"))
    assert await house.answer(await house.turn()) is StopReason.ANSWERED
    assert house.view.text == "Hello world"
    assert [str(r.model) for r in house.provider.requests] == ["a/big", "a/big", "b/small"]
    (step,) = bodies(await rows_of(house), StepRow)
    assert isinstance(step, StepRow) and step.model == "b/small"


@pytest.mark.parametrize(
    ("failure", "words"),
    [
        (KeyRefused("x"), "a/big does not accept its key"),
        (NoCredit("x"), "no credit left"),
        (ModelMissing("x"), "does not exist at its provider"),
        (RequestRefused("x"), "the log says why"),
        (ContextTooLong("x"), "/new"),
        (ProviderBusy("x"), "the account's limits"),
        (ProviderFailed("x"), "a fault on its side"),
        (ProviderUnreachable("x"), "check the network and base_url"),
        (StreamStalled("x"), "took too long to answer"),
        (StreamCut("x"), "broke off its answer"),
        (StreamGarbled("x"), "base_url may be wrong"),
    ],
)
async def test_that_another_model_had_to_answer_is_said_with_what_to_mend(
    make_house: MakeHouse, failure: ProviderError, words: str
) -> None:
    house = make_house([failure], says("From the second."), says("From the first."))
    assert await house.answer(await house.turn()) is StopReason.ANSWERED
    (notice,) = house.view.notices
    assert words in notice and "b/small answered" in notice
    house.events.clear()
    await house.answer(await house.turn("again", 2))
    assert house.view.notices == ()


async def test_a_model_that_falls_silent_is_not_waited_for_twice_where_another_can_answer(
    make_house: MakeHouse,
) -> None:
    house = make_house([ModelText("half an ans"), StreamStalled("silence")], says("Whole."))
    await house.answer(await house.turn())
    assert house.view.text == "Whole."
    assert [str(r.model) for r in house.provider.requests] == ["a/big", "b/small"]


async def test_sealed_text_stays_and_is_continued(make_house: MakeHouse) -> None:
    house = make_house([ModelText("First part. Sec"), StreamCut("cut")], says("ond part."))
    turn = await house.turn()
    await house.store.parts.intend("turn1", 0, 0, "h")
    await house.store.parts.seal("turn1", 0, 11)
    assert await house.answer(turn) is StopReason.ANSWERED
    assert house.view.text == "First part. Second part."
    assert not any(isinstance(event, Resumed) for event in house.events)
    tail = house.provider.requests[1].messages[-2:]
    assert tail[0].content == (TextBlock("First part. Sec"),) and "cut off" in tail[1].content[0].text  # type: ignore[union-attr]


async def test_a_continuation_does_not_double_the_blank_at_the_break(make_house: MakeHouse) -> None:
    house = make_house([ModelText("Hello "), StreamCut("cut")], says(" ", " world"))
    await house.answer(await house.turn(can_edit=False))
    assert house.view.text == "Hello world"


async def test_text_that_cannot_be_edited_is_continued(make_house: MakeHouse) -> None:
    house = make_house([ModelText("Hello wor"), StreamCut("cut")], says("ld"))
    await house.answer(await house.turn(can_edit=False))
    assert house.view.text == "Hello world"


@pytest.mark.parametrize(
    ("failure", "reason", "words"),
    [
        (KeyRefused("x"), StopReason.PROVIDER_UNAVAILABLE, "does not accept its key"),
        (NoCredit("x"), StopReason.PROVIDER_UNAVAILABLE, "no credit left"),
        (ProviderBusy("x"), StopReason.PROVIDER_UNAVAILABLE, "try again in a few minutes"),
        (ModelMissing("x"), StopReason.NO_MODEL, "has no model"),
        (ModelNotHere("x"), StopReason.NO_MODEL, "I have no language model yet"),
        (ContextTooLong("x"), StopReason.CONTEXT_OVERFLOW, "too long for the model"),
        (RequestRefused("secret detail"), StopReason.PROVIDER_UNAVAILABLE, "refused this request"),
        (StreamGarbled("x"), StopReason.PROVIDER_UNAVAILABLE, "the owner should check base_url of this provider"),
        (ProviderUnreachable("x"), StopReason.PROVIDER_UNAVAILABLE, "a cannot be reached: the owner should check"),
        (StreamStalled("x"), StopReason.PROVIDER_UNAVAILABLE, "a fell silent"),
        (StreamCut("x"), StopReason.PROVIDER_UNAVAILABLE, "a broke off before its answer was complete"),
        (ProviderFailed("x"), StopReason.PROVIDER_UNAVAILABLE, "a has a fault on its side"),
        (ProviderBusy("x", retry_after=20), StopReason.PROVIDER_UNAVAILABLE, "too much to do right now"),
        (ProviderBusy("x", retry_after=5400), StopReason.PROVIDER_UNAVAILABLE, "until 09:30 UTC: its limit is reached"),
        (ProviderBusy("x", retry_after=2e5), StopReason.PROVIDER_UNAVAILABLE, "until 2027-01-17 15:34 UTC"),
    ],
)
async def test_b149_when_all_models_fail_the_person_gets_one_sentence(
    make_house: MakeHouse, failure: Exception, reason: StopReason, words: str
) -> None:
    house = make_house(*([failure] for _ in range(4)))  # type: ignore[misc]
    assert await house.answer(await house.turn()) is reason
    (notice,) = house.view.notices
    assert words in notice and "secret" not in notice
    assert house.view.stop is reason
    if isinstance(failure, ProviderError) and reason is StopReason.PROVIDER_UNAVAILABLE:
        assert notice.count("(Reference ") == 1


async def test_a_failure_after_sealed_text_keeps_the_text(make_house: MakeHouse) -> None:
    house = make_house(*([ModelText(f"piece {n} "), StreamCut("cut")] for n in range(5)))
    whole = "piece 0 piece 1 piece 2 piece 3 piece 4 "
    assert await house.answer(await house.turn(can_edit=False)) is StopReason.PROVIDER_UNAVAILABLE
    assert house.view.text == whole
    (step,) = bodies(await rows_of(house), StepRow)
    assert isinstance(step, StepRow) and step.stop == "" and step.content == (TextBlock(whole),)


async def test_b064_an_empty_answer_is_asked_for_once_more_and_then_told(make_house: MakeHouse) -> None:
    house = make_house(says(), says("Here."))
    assert await house.answer(await house.turn()) is StopReason.ANSWERED
    house = make_house(says(), says("  "))
    assert await house.answer(await house.turn("again", 2)) is StopReason.EMPTY
    assert "empty answer" in house.view.notices[0]


async def test_a_refusal_is_told_and_not_asked_for_again(make_house: MakeHouse) -> None:
    house = make_house(says("", stop=ModelStopReason.REFUSED))
    assert await house.answer(await house.turn()) is StopReason.REFUSED
    assert len(house.provider.requests) == 1


async def test_the_limit_of_calls_gives_one_answer_without_tools(make_house: MakeHouse) -> None:
    endless = [calls(ToolCall(f"n{n}", "now", {})) for n in range(10)]
    house = make_house(*endless[:3], says("This is what I know."), limits=TurnLimits(tool_calls=3))
    assert await house.answer(await house.turn()) is StopReason.TOOL_LIMIT
    assert house.provider.requests[-1].tool_choice == "none"
    assert house.view.text == "This is what I know."


async def test_a_model_that_calls_on_beyond_the_limit_is_not_obeyed(make_house: MakeHouse) -> None:
    endless = [calls(ToolCall(f"n{n}", "now", {})) for n in range(20)]
    house = make_house(*endless, limits=TurnLimits(tool_calls=3))
    assert await house.answer(await house.turn()) is StopReason.TOOL_LIMIT
    assert len(bodies(await rows_of(house), ResultRow)) == 3
    assert house.view.notices == ("The limit of 3 tool calls for one message was reached.",)


async def test_the_token_budget_ends_the_turn(make_house: MakeHouse) -> None:
    spent = [ModelUsage(Usage(900, 200)), *calls(SUM)]
    house = make_house(spent, limits=TurnLimits(tokens=1000))
    assert await house.answer(await house.turn()) is StopReason.TOKEN_BUDGET


async def test_the_time_limit_keeps_what_was_written(make_house: MakeHouse) -> None:
    house = make_house([ModelText("so far"), asyncio.Event()], limits=TurnLimits(seconds=0.3))
    assert await house.answer(await house.turn()) is StopReason.TIME_LIMIT
    assert house.view.text == "so far"
    assert house.provider.closed_early == 1


async def test_reasoning_is_never_text_and_is_replayed_unchanged(make_house: MakeHouse) -> None:
    thought = ThinkingBlock("anthropic", "hm", '{"type":"thinking","signature":"s"}')
    house = make_house([ModelThinking("hm"), ModelThought(thought), *calls(SUM)], says("391"))
    await house.answer(await house.turn())
    assert house.view.text == "391"
    assert house.provider.requests[1].messages[-2].content[0] == thought


async def test_messages_that_arrive_meanwhile_join_at_the_step_boundary(make_house: MakeHouse) -> None:
    house = make_house(calls(SUM), says("Both."))
    turn = await house.turn()

    async def steer(first: bool) -> int:
        if first or any("2+2" in row.body.text for row in await rows_of(house) if isinstance(row.body, UserRow)):
            return 0
        await house.store.transcript.append(HERE, turn.id, 1.0, UserRow("and 2+2?", OWNER, "9", steered=True))
        return 1

    house.steer = steer
    assert await house.answer(turn) is StopReason.ANSWERED
    last = house.provider.requests[1].messages[-1].content
    assert any(isinstance(block, TextBlock) and "and 2+2?" in block.text for block in last)


async def test_stopping_keeps_the_text_closes_the_connection_and_leaves_no_open_call(make_house: MakeHouse) -> None:
    house = make_house(calls(NOTE, text="I will note that."))
    turn = await house.turn()
    task = asyncio.ensure_future(house.answer(turn))
    card = await open_card(house)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await house.brain.break_off(turn, StopReason.STOPPED, house.events.append) is StopReason.STOPPED
    (result,) = bodies(await rows_of(house), ResultRow)
    assert isinstance(result, ResultRow) and "Stopped before it ran" in result.text
    assert await press(house, card, "once") == "Already decided: No longer needed: the turn is over."
    house.provider.scripts = [says("fine")]
    assert await house.answer(await house.turn("go on", 2)) is StopReason.ANSWERED


async def test_b154_a_turn_killed_while_tools_ran_resumes_without_running_them_again(make_house: MakeHouse) -> None:
    house = make_house(says("I do not know whether it was noted."))
    turn = await house.turn()
    await house.store.transcript.append(
        HERE, turn.id, 1.0, StepRow(0, (CallBlock(NOTE), CallBlock(SUM)), "a/big", "tool_use")
    )
    await house.store.calls.start(turn.id, NOTE, 1.0, durable=True)
    await house.store.calls.start(turn.id, SUM, 1.0, durable=False)
    assert await house.answer(turn) is StopReason.ANSWERED
    results = {r.call_id: r for r in bodies(await rows_of(house), ResultRow)}  # type: ignore[attr-defined]
    assert "unknown" in results["c1"].text and results["c2"].text == "17*23 = 391"
    assert not (house.workspace / "notes.md").exists()


async def test_an_approval_pressed_while_the_process_was_down_runs_once_after_the_start(make_house: MakeHouse) -> None:
    house = make_house(calls(NOTE), says("Noted."))
    turn = await house.turn()
    task = asyncio.ensure_future(house.answer(turn))
    card = await open_card(house)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    await press(house, card, "once")
    house.events.clear()
    assert await house.answer(turn) is StopReason.ANSWERED
    assert (house.workspace / "notes.md").read_text().count("buy milk") == 1
    assert len(await house.store.approvals.of_turn(turn.id)) == 1


async def test_a_finished_turn_is_only_shown_again(make_house: MakeHouse) -> None:
    house = make_house(says("Once."))
    turn = await house.turn()
    await house.answer(turn)
    house.events.clear()
    assert await house.answer(turn) is StopReason.ANSWERED
    assert house.view.text == "Once." and house.view.final
    assert len(house.provider.requests) == 1


async def test_a_broken_draft_is_written_anew_after_a_restart(make_house: MakeHouse) -> None:
    house = make_house(says("Hello world"))
    turn = await house.turn()
    await house.store.transcript.write_draft(turn.id, 0, 0, "Hello wor")
    await house.answer(turn)
    assert house.view.text == "Hello world"


async def test_b156_a_tool_with_a_defect_costs_its_call_and_nothing_else(make_house: MakeHouse) -> None:
    from bot.tools.registry import tool

    @tool()
    async def broken(*, context: object) -> str:
        """Break."""
        raise RuntimeError("sk-secret")

    from bot.tools.registry import find_tools

    house = make_house(calls(ToolCall("x", "broken", {}), SUM), says("ok"), tools={**find_tools(), "broken": broken})
    assert await house.answer(await house.turn()) is StopReason.ANSWERED
    results = {r.call_id: r for r in bodies(await rows_of(house), ResultRow)}  # type: ignore[attr-defined]
    assert results["x"].error and "sk-secret" not in results["x"].text and not results["c2"].error
    assert sum(isinstance(event, ToolEnded) for event in house.events) == 2


def said_in(request: ModelRequest) -> list[str]:
    """What was said, without the moments at which it was."""
    texts = [block.text for m in request.messages for block in m.content if isinstance(block, TextBlock)]
    return [text for text in texts if not text.startswith("<now>")]


async def test_history_of_earlier_turns_reaches_the_model_and_a_break_hides_it(make_house: MakeHouse) -> None:
    from bot.core.transcript import BreakRow

    house = make_house(says("Blue."), says("You like blue."), says("I do not know."))
    await house.answer(await house.turn("I like blue", 1))
    await house.answer(await house.turn("What do I like?", 2))
    assert said_in(house.provider.requests[1]) == ["I like blue", "Blue.", "What do I like?"]
    await house.store.transcript.append(HERE, "x", 1.0, BreakRow())
    await house.answer(await house.turn("What do I like?", 3))
    assert len(house.provider.requests[2].messages) == 1


async def test_a_message_that_was_set_aside_never_goes_to_a_model_again(make_house: MakeHouse) -> None:
    house = make_house(says("Fine."))
    deadly = await house.turn("the message that kills", 1)
    await house.brain.break_off(deadly, StopReason.PARKED, house.events.append)
    await house.answer(await house.turn("hello", 2))
    assert "kills" not in str(house.provider.requests[0].messages)


async def test_a_question_without_an_answer_is_known_as_such_to_the_next_turn(make_house: MakeHouse) -> None:
    house = make_house(*([ProviderBusy("x")] for _ in range(2)), says("Hello."))
    assert await house.answer(await house.turn("the first question", 1)) is StopReason.PROVIDER_UNAVAILABLE
    await house.answer(await house.turn("hello", 2))
    before, now = house.provider.requests[-1].messages
    assert [block.text for block in before.content if isinstance(block, TextBlock)][::2] == [
        "the first question",
        UNANSWERED,
    ]
    assert UNANSWERED not in str(now)


async def test_b175_the_prefix_is_byte_equal_from_turn_to_turn(make_house: MakeHouse) -> None:
    house = make_house(says("one"), says("two"))
    await house.answer(await house.turn("a", 1))
    await house.clock.advance(14)
    await house.answer(await house.turn("b", 2))
    first, second = house.provider.requests
    assert first.system == second.system and first.tools == second.tools


async def test_b151_a_clients_history_with_a_call_that_nobody_answered_is_mended_before_it_is_sent(
    make_house: MakeHouse,
) -> None:
    house = make_house(says("ok"))
    given = (Message("user", (TextBlock("sum"),)), Message("assistant", (CallBlock(SUM),)))
    turn = await house.turn("go on")
    rows = list(await house.store.transcript.turn_rows(turn.id))
    request = request_for(
        turn,
        house.chain[0],
        Persona("soul", "small"),
        history=(),
        rows=[Row(0, HERE, turn.id, 1.0, GivenRow(given)), *rows],
        tools=(),
        at=1.0,
        zone="UTC",
    )
    assert paired(request.messages)
    (result,) = [block for message in request.messages for block in message.content if isinstance(block, ResultBlock)]
    assert result.error and result.call_id == SUM.id


async def test_an_answer_that_shows_nothing_is_an_empty_one(make_house: MakeHouse) -> None:
    for unseen in ("```\n```", "\ufeff\u200b", " \n "):
        house = make_house(says(unseen), says(unseen))
        assert await house.answer(await house.turn()) is StopReason.EMPTY


async def test_long_arguments_are_all_in_the_question(make_house: MakeHouse) -> None:
    long = ToolCall("c1", "note_write", {"text": "x" * 5000 + " and then the end"})
    house = make_house(calls(long), says("ok"))
    async with asyncio.TaskGroup() as group:
        group.create_task(house.answer(await house.turn()))
        await press(house, await open_card(house), "deny")
    assert "and then the end" in house.view.cards[0].arguments
