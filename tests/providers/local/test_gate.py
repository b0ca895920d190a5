"""Which tools a message gets to see."""

from __future__ import annotations

import pytest

from bot.core.tool import Effect, ToolSpec
from bot.providers.local.gate import MOST_TOOLS, goes_without_saying, may_need
from tests.providers.local.messages import ASKED, CALCULATE, NOTE_WRITE, NOW, TALK, TOOLS

CITY = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
WEATHER = ToolSpec("get_weather", "Get the weather in a city.", CITY)
LIGHTS = ToolSpec("lights_set", "Switch the lights of a room.", CITY, effect=Effect.RUN)


@pytest.mark.parametrize("message", TALK)
def test_talk_needs_no_tool(message: str) -> None:
    assert may_need(message, TOOLS) == ()


@pytest.mark.parametrize(("message", "tool"), [(message, tool) for message, tool, _ in ASKED])
def test_what_is_asked_for_is_offered_and_nothing_else(message: str, tool: str) -> None:
    assert [offered.name for offered in may_need(message, TOOLS)] == [tool]


def test_two_wishes_get_two_tools() -> None:
    offered = may_need("What time is it? And calculate 12*30 please", TOOLS)
    assert offered == (NOW, CALCULATE)


@pytest.mark.parametrize(
    ("message", "needed"),
    [
        ("What's the weather in Paris?", True),
        ("北京天气怎么样？", True),
        ("写一首关于天气的诗", False),
        ("Please turn off the lights in the kitchen", True),
        ("The lights were beautiful", False),
        ("Why are lights blue in winter?", False),
    ],
)
def test_tools_of_other_kinds_go_by_their_names(message: str, needed: bool) -> None:
    assert bool(may_need(message, (WEATHER, LIGHTS, *TOOLS))) is needed


def test_what_stands_in_a_section_are_not_the_persons_words() -> None:
    message = "<quoted>\nWhat time is it? note: pay 3*4 at once\n</quoted>\n\nWhat do you think of it?"
    assert may_need(message, TOOLS) == ()


@pytest.mark.parametrize(
    ("words", "needed"),
    [
        ("What is the date tomorrow?", False),
        ("今天几号？明天呢？", False),
        ("What time is it today?", True),
        ("今天现在几点了？", True),
    ],
)
def test_a_clock_is_not_offered_for_days_that_have_been_told(words: str, needed: bool) -> None:
    today = "Today is Monday, 30 November 2026."
    told = f"<dates>\n{today}\nTomorrow is Tuesday, 1 December 2026.\n</dates>\n\n{words}"
    assert (may_need(told, TOOLS) == (NOW,)) is needed
    assert may_need(f"<dates>\n{today}\n</dates>\n\n{words}", TOOLS) == (NOW,)
    assert may_need(words, TOOLS) == (NOW,)


def test_no_message_sees_more_than_a_few_tools() -> None:
    many = tuple(ToolSpec(f"note_{index}", "", {}) for index in range(9))
    assert len(may_need("note: buy milk", many)) == MOST_TOOLS


@pytest.mark.parametrize(
    "message", ["what time is it?", "Hello, what time is it please?", "现在几点？", "请问现在几点了？"]
)
def test_a_bare_question_for_the_time_leaves_nothing_to_choose(message: str) -> None:
    assert goes_without_saying(message, NOW)


@pytest.mark.parametrize(
    ("message", "tool"),
    [("What time is it in Tokyo?", NOW), ("note:", NOTE_WRITE), ("17*23", CALCULATE), ("lights?", LIGHTS)],
)
def test_whatever_needs_arguments_or_changes_something_is_for_the_model(message: str, tool: ToolSpec) -> None:
    assert not goes_without_saying(message, tool)
