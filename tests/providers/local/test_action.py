"""The action: schemas that hold the model, and the decoder under any cut of its text."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from bot.core.model import (
    ModelCall,
    ModelEvent,
    ModelRef,
    ModelRequest,
    ModelStop,
    ModelStopReason,
    ModelText,
)
from bot.core.tool import ToolSpec
from bot.providers.calls import CallIds
from bot.providers.chat_stream import ChatStream
from bot.providers.faults import Faults
from bot.providers.local.action import ActionDecoder, ActionStream, StringDecoder, action_schema
from tests.fakes.clock import FakeClock

ADD = ToolSpec("add", "Add.", {"properties": {"a": {"type": "integer"}}, "required": ["a"]})
any_text = st.text(st.characters(codec="utf-16"), max_size=60)


@st.composite
def cut(draw: st.DrawFn, whole: st.SearchStrategy[str]) -> list[str]:
    """A text, cut anywhere into pieces."""
    text = draw(whole)
    points = sorted(draw(st.lists(st.integers(0, len(text)), max_size=8)))
    return [text[start:end] for start, end in zip([0, *points], [*points, len(text)], strict=True)]


@given(any_text, st.booleans(), st.data())
def test_a_string_decodes_alike_however_it_is_cut(text: str, escape_all: bool, data: st.DataObject) -> None:
    inside = json.dumps(text, ensure_ascii=escape_all)[1:]
    decoder = StringDecoder()
    pieces = data.draw(cut(st.just(inside + ' }, "ignored": "more"')))
    assert "".join(decoder.feed(piece) for piece in pieces) == text
    assert decoder.closed


@given(st.lists(st.integers(0xD7F0, 0xE010), max_size=6), st.data())
def test_surrogates_in_any_order_become_characters_that_can_be_encoded(units: list[int], data: st.DataObject) -> None:
    inside = "".join(f"\\u{unit:04x}" for unit in units)
    decoder = StringDecoder()
    said = "".join(decoder.feed(piece) for piece in data.draw(cut(st.just(inside + '"'))))
    expected = json.loads(f'"{inside}"').encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    assert said == expected
    said.encode()


def test_nothing_is_told_before_it_is_certain_and_everything_as_soon_as_it_is() -> None:
    decoder = StringDecoder()
    heard = [decoder.feed(piece) for piece in ("Hi", "\\", "n", "\\ud8", "3d", "\\u", "de00", "!", '"', "}")]
    assert heard == ["Hi", "", "\n", "", "", "", "😀", "!", "", ""]


@given(any_text, st.sampled_from(['{"reply":"', '{ "reply" : "', '\n{\n  "reply": "']), st.data())
def test_a_reply_shows_its_words_and_no_json(text: str, opening: str, data: st.DataObject) -> None:
    action = opening + json.dumps(text)[1:] + "}"
    decoder = ActionDecoder()
    assert "".join(decoder.feed(piece) for piece in data.draw(cut(st.just(action)))) == text
    assert not decoder.is_call


@given(any_text, st.data())
def test_a_call_shows_nothing_and_comes_whole(text: str, data: st.DataObject) -> None:
    action = json.dumps({"tool": "note_write", "arguments": {"text": text, "reply": text}}, indent=2)
    decoder = ActionDecoder()
    assert "".join(decoder.feed(piece) for piece in data.draw(cut(st.just(action)))) == ""
    assert decoder.is_call
    assert decoder.call() == ("note_write", {"text": text, "reply": text})


@given(st.data())
def test_text_that_is_no_action_is_a_reply_as_it_is(data: st.DataObject) -> None:
    decoder = ActionDecoder()
    assert "".join(map(decoder.feed, data.draw(cut(st.just('Sure: {"reply": "no"}'))))) == 'Sure: {"reply": "no"}'


def test_the_schema_offers_each_tool_and_a_reply() -> None:
    call, reply = action_schema([ADD])["anyOf"]
    assert call["properties"]["tool"] == {"const": "add"}
    assert call["properties"]["arguments"]["required"] == ["a"]
    assert list(call["properties"]) == ["tool", "arguments"]
    assert reply["properties"]["reply"]["maxLength"] > 0


def answer(text: str, finish: str | None = "stop") -> list[ModelEvent]:
    """The events of an answer whose text came a character at a time."""
    request = ModelRequest(ModelRef("local", "m"), "", ())
    ids = CallIds(request, FakeClock())
    stream = ActionStream(ChatStream(request, Faults("local"), ids, vendor="local"), ids)
    frames = [json.dumps({"choices": [{"delta": {"content": letter}}]}) for letter in text]
    frames.append(json.dumps({"choices": [{"delta": {}, "finish_reason": finish}]}))
    events = [event for frame in frames for event in stream.feed(frame)]
    return [*events, *stream.end()]


def words(events: list[ModelEvent]) -> str:
    return "".join(event.text for event in events if isinstance(event, ModelText))


def calls(events: list[ModelEvent]) -> list[ModelCall]:
    return [event for event in events if isinstance(event, ModelCall)]


def test_a_call_ends_the_answer_as_a_tool_use() -> None:
    events = answer('{"tool": "add", "arguments": {"a": 3}}')
    (call,) = calls(events)
    assert (call.call.name, dict(call.call.arguments), call.call.invalid) == ("add", {"a": 3}, "")
    assert events[-1] == ModelStop(ModelStopReason.TOOL_USE, "stop")
    assert words(events) == ""


def test_a_reply_ends_the_answer_as_an_end() -> None:
    events = answer('{"reply": "Good\\nmorning"}')
    assert (words(events), calls(events)) == ("Good\nmorning", [])
    assert events[-1] == ModelStop(ModelStopReason.END, "stop")


def test_a_call_that_was_cut_off_is_invalid_and_never_text() -> None:
    events = answer('{"tool": "add", "arguments": {"a": 3', "length")
    (call,) = calls(events)
    assert call.call.invalid
    assert not call.call.arguments
    assert events[-1] == ModelStop(ModelStopReason.MAX_TOKENS, "length")
    assert words(events) == ""


def test_a_reply_that_was_cut_off_keeps_its_words() -> None:
    events = answer('{"reply": "Good mor', "length")
    assert words(events) == "Good mor"
    assert events[-1] == ModelStop(ModelStopReason.MAX_TOKENS, "length")
