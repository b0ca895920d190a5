"""Half-written Markdown looks like what it becomes, code is never touched, and a final text is left as it is."""

from __future__ import annotations

import pytest

from bot.core.stop import StopReason
from bot.core.view import Limits, Phase, View
from bot.outbox.partial import repaired
from bot.outbox.parts import Look, wanted_parts
from tests.outbox.renders import identity

LIMITS = Limits(size=4096, pace=1.0)


def shown(view: View, limits: Limits = LIMITS) -> list[str]:
    return [want.part.markdown for want in wanted_parts(view, [], Look(limits, identity("chars"), "en", now=0.0))]


@pytest.mark.parametrize(
    "text",
    [
        "plain",
        "**b** and `c` and [l](https://x.example)",
        "a\n\n```py\nx = 1\n\ndef f(**kw):\n```",
        "a\n\n```py\nx = [1\n\ny = `2\n```\n",
        "```\nx = [1\n\n**y",
        "- a\n\n  ```\n  b\n\n  **c\n  ```",
        "x[i] = y[j, k] and [0, 1]",
        "[0]*n and a(b)*(c",
        "if [ -f x ]",
        "Done!",
    ],
)
def test_finished_text_and_code_are_left_alone(text: str) -> None:
    assert repaired(text) == text


@pytest.mark.parametrize(
    ("half", "look"),
    [
        ("a **b", "a **b**"),
        ("a\n```", "a"),
        ("a\n```py", "a"),
        ("```py\nx\n``", "```py\nx"),
        ("```py\nx\n\ny = **z\n```\nand **b", "```py\nx\n\ny = **z\n```\nand **b**"),
        ("see [te", "see te"),
        ("参见[te", "参见te"),
        ("see !", "see "),
        ("aᵢ*(G and *b", "aᵢ*(G and *b*"),
    ],
)
def test_the_end_is_closed_or_held_back(half: str, look: str) -> None:
    assert repaired(half) == look


def test_only_a_view_that_grows_is_repaired() -> None:
    text = "def f(*args, **kw"
    assert shown(View("t", text=text, phase=Phase.WRITING)) == ["def f(*args, **kw***"]
    assert shown(View("t", text=text, phase=Phase.DONE, stop=StopReason.ANSWERED)) == [text]


def test_a_platform_that_takes_nothing_back_gets_the_text_as_it_is() -> None:
    view = View("t", text="a **b", phase=Phase.WRITING)
    assert shown(view, Limits(size=4096, pace=1.0, can_edit=False)) == ["a **b"]
    assert shown(view, Limits(size=4096, pace=1.0, structured=True)) == ["a **b"]


def test_an_open_fence_is_closed_below_its_code_and_not_repaired() -> None:
    assert shown(View("t", text="```py\ndef f(**kw", phase=Phase.WRITING)) == ["```py\ndef f(**kw\n```"]


def test_half_markers_alone_are_no_part() -> None:
    for text in ("**", "# ", "```py", "> ", "- ", "| a | b |"):
        assert shown(View("t", text=text, phase=Phase.WRITING)) == []
