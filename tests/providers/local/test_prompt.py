"""What the model is shown of a conversation."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.core.address import Address, Sender
from bot.core.model import CallBlock, ImageBlock, Message, ResultBlock, TextBlock
from bot.core.tool import ToolCall, ToolContext
from bot.providers.local.prompt import PROFILE, chat_turns, offer, settled, still_open, turns_of
from bot.tools.registry import find_tools
from tests.providers.local.asking import AT, ZONE, Outcome
from tests.providers.local.messages import CALCULATE, NOTE_WRITE, NOW, TOOLS

INTERNAL = "The person denied this call. Do not try it again; ask what they want instead."
HERE = Address("web", "main", "c")


def user(text: str) -> Message:
    return Message("user", (TextBlock(text),))


def assistant(text: str) -> Message:
    return Message("assistant", (TextBlock(text),))


def called(name: str, text: str = "", *, error: bool = False, outcome: Outcome = "") -> tuple[Message, Message]:
    """A call of the tool ``name`` and its result."""
    call = Message("assistant", (CallBlock(ToolCall("c1", name)),))
    return call, Message("user", (ResultBlock("c1", name, text, error, outcome),))


def test_a_result_is_a_fact_in_front_of_the_question() -> None:
    turns = turns_of([user("what time is it?"), *called("now", "Monday, 15:27")])
    assert [(turn.role, turn.text) for turn in turns] == [("user", "now: Monday, 15:27\n\nwhat time is it?")]


def test_a_failure_is_told_as_one() -> None:
    (turn,) = turns_of([user("note: x"), *called("note_write", "not allowed", error=True)])
    assert turn.text.startswith("note_write: failed: not allowed\n\n")


def test_the_way_a_call_is_written_is_never_shown() -> None:
    text = str(chat_turns(PROFILE, turns_of([user("a"), *called("now", "b"), assistant("c"), user("d")]), ()))
    assert "arguments" not in text
    assert '"tool"' not in text


def test_words_between_calls_stay_in_their_place() -> None:
    spoken = Message("assistant", (TextBlock("Let me look."), CallBlock(ToolCall("c1", "now"))))
    turns = turns_of([user("time?"), spoken, called("now", "15:27")[1]])
    assert [turn.role for turn in turns] == ["user", "assistant", "user"]
    assert turns[-1].text == "now: 15:27"


def test_the_next_turn_begins_with_the_bytes_of_the_last() -> None:
    before = [user("what time is it?"), *called("now", "15:27"), assistant("15:27")]
    first = chat_turns(PROFILE, turns_of(before), ())
    second = chat_turns(PROFILE, turns_of([*before, user("thanks")]), ())
    assert second[: len(first)] == first


def test_the_offer_stands_right_before_the_last_words_and_history_before_it() -> None:
    turns = turns_of([user("hi"), assistant("hello"), user("note: buy milk")])
    with_offer, without = chat_turns(PROFILE, turns, (NOTE_WRITE,)), chat_turns(PROFILE, turns, ())
    assert with_offer[:3] == without[:3]
    assert with_offer[-1] == without[-1]
    assert with_offer[-2] == {"role": "system", "content": offer((NOTE_WRITE,))}


def test_an_offer_holds_no_example_that_could_be_called() -> None:
    assert "17*23" not in offer((CALCULATE,))
    assert "Calculate an arithmetic expression exactly." in offer((CALCULATE,))


def test_a_tool_is_offered_once_for_the_same_words_and_twice_if_it_failed() -> None:
    def left(*messages: Message) -> tuple[str, ...]:
        return tuple(tool.name for tool in still_open(turns_of(messages)[-1], TOOLS))

    failed = called("calculate", "no", error=True)
    assert left(user("x"), *called("now", "15:27")) == ("calculate", "note_write")
    assert left(user("x"), *failed) == ("now", "calculate", "note_write")
    assert left(user("x"), *failed, *failed) == ("now", "note_write")
    assert left(user("x"), *called("now", "1"), assistant("1"), user("and now?")) == (
        NOW.name,
        "calculate",
        "note_write",
    )


@pytest.mark.parametrize("outcome", ["denied", "expired", "blocked", "interrupted"])
def test_a_tool_that_was_not_run_is_not_offered_again(outcome: Outcome) -> None:
    refused = called("note_write", INTERNAL, error=True, outcome=outcome)
    (turn,) = turns_of([user("note: buy milk"), *refused])
    assert NOTE_WRITE not in still_open(turn, TOOLS)
    assert INTERNAL not in turn.text + turn.told + turn.known
    failed = called("note_write", "the disk is full", error=True)
    (turn,) = turns_of([user("note: buy milk"), *failed, *refused])
    assert NOTE_WRITE not in still_open(turn, TOOLS)


@pytest.mark.parametrize(
    ("words", "outcome", "sentence"),
    [
        ("note: buy milk", "denied", "Not done: it was denied. What would you like instead?"),
        ("记一下：买牛奶", "denied", "没有执行：已被拒绝。想改成什么？"),
        ("note: buy milk", "expired", "Not done: nobody approved it in time."),
        ("记一下：买牛奶", "expired", "没有执行：没有人及时批准。"),
        ("note: buy milk", "interrupted", "Stopped while a tool was at work: whether it took effect is unknown."),
        ("note: buy milk", "", ""),
    ],
)
def test_a_call_that_was_not_run_is_told_in_the_persons_language(words: str, outcome: Outcome, sentence: str) -> None:
    messages = [user(words), *called("note_write", INTERNAL, error=True, outcome=outcome)]
    assert settled(messages, turns_of(messages), TOOLS) == sentence
    messages.append(user("and what is the capital of France?"))
    assert settled(messages, turns_of(messages), TOOLS) == ""


def test_what_else_was_found_is_told_with_it() -> None:
    denied = called("note_write", INTERNAL, error=True, outcome="denied")
    messages = [user("calculate 17*23 and note it"), *called("calculate", "17*23 = 391"), *denied]
    assert (
        settled(messages, turns_of(messages), TOOLS)
        == "17*23 = 391\nNot done: it was denied. What would you like instead?"
    )


def test_the_days_that_were_reckoned_are_told_but_never_beside_an_offer() -> None:
    dates = "<dates>\nToday is Monday, 30 November 2026.\n</dates>"
    turns = turns_of([Message("user", (TextBlock(dates), TextBlock("note: what day is it?")))])
    assert chat_turns(PROFILE, turns, ())[-1]["content"] == f"{dates}\n\nnote: what day is it?"
    assert chat_turns(PROFILE, turns, (NOTE_WRITE,))[-1]["content"] == "note: what day is it?"


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("what time is it?", "It is Monday, 30 November 2026, 15:27 (Asia/Shanghai)."),
        ("现在几点？", "现在是2026年11月30日 星期一 15:27（Asia/Shanghai）。"),
    ],
)
async def test_what_the_clock_says_is_told_in_the_persons_language(words: str, told: str, tmp_path: Path) -> None:
    context = ToolContext("t", "c", HERE, Sender("web", "1"), AT, ZONE, tmp_path)
    said = await find_tools()["now"].run({}, context)
    assert said.text == turns_of([user(words), *called("now", said.text)])[0].known
    messages = [user(words), *called("now", said.text)]
    assert settled(messages, turns_of(messages), TOOLS) == told
    assert settled(messages, turns_of(messages), ()) == ""
    messages = [user(f"{words} And in Tokyo?"), *called("now", said.text)]
    assert settled(messages, turns_of(messages), TOOLS) == ""
    messages = [user(words), *called("now", "there is no such zone", error=True)]
    assert settled(messages, turns_of(messages), TOOLS) == ""


def test_a_message_that_came_in_between_belongs_to_the_same_words() -> None:
    result = Message("user", (ResultBlock("c1", "now", "15:27"), TextBlock("and in Chinese")))
    (turn,) = turns_of([user("time?"), called("now")[0], result])
    assert turn.text == "now: 15:27\n\ntime?\n\nand in Chinese"


def test_an_image_is_told_not_to_be_seen() -> None:
    (turn,) = turns_of([Message("user", (ImageBlock("image/png", b"x"), TextBlock("what is this?")))])
    assert "cannot see" in turn.text


def test_the_profile_is_short_even_if_every_chinese_character_were_two_tokens() -> None:
    assert sum(2 if ord(character) > 0x2E80 else 0.4 for character in PROFILE) < 400


def test_a_note_is_told_in_the_persons_language() -> None:
    written = "Noted in notes.md: 明天买牛奶"
    chinese = turns_of([user("记一下：明天买牛奶"), *called("note_write", written)])
    english = turns_of([user("note: buy milk"), *called("note_write", "Noted in notes.md: buy milk")])
    assert chinese[-1].known == "已记入 notes.md：明天买牛奶"
    assert english[-1].known == "Noted in notes.md: buy milk"
