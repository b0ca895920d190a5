"""Answers that the output limit cuts off, over the wire: more room, then on from the break, and the text to the letter."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import pytest

from bot.brain.history import CONTINUE
from bot.brain.limits import CONTINUATIONS, MOST_OUTPUT_TOKENS
from bot.core.stop import StopReason
from tests.providers.matrix import KINDS, house
from tests.sim.llm import LlmSim, answer, call, drop, sleep, status, stop, text, thinking

CODE: Final = 'So:\n\n```python\ndef area(radius):\n    """Of a circle."""\n    return 3.14159 * rad'
LONG: Final = " ".join(f"Sentence {n} tells of the number {n * 7919}." for n in range(40))
SEAMS: Final[Mapping[str, tuple[Sequence[str], str]]] = {
    "goes on exactly": (("One, two, th", "ree, four.\n\nF", "ive."), "One, two, three, four.\n\nFive."),
    "the last word again": (("It needs elec", "electricity to run."), "It needs electricity to run."),
    "half a sentence again": (
        ("We met. The quick brown fox ju", "The quick brown fox jumps over", "fox jumps over the dog."),
        "We met. The quick brown fox jumps over the dog.",
    ),
    "an excuse first": (
        ("It was the bes", "Sorry, I was cut off. Continuing:\n\nbest of times."),
        "It was the best of times.",
    ),
    "the whole answer again": ((LONG[:900], f"Here is the full answer:\n\n{LONG}"), LONG),
    "within a block of code": ((CODE, "ius ** 2\n```\nDone."), f"{CODE}ius ** 2\n```\nDone."),
    "the block opened again": ((CODE, "```python\n    return 3.14159 * radius ** 2\n```"), f"{CODE}ius ** 2\n```"),
    "within a Chinese word": (("今天我们去图书", "馆看书。"), "今天我们去图书馆看书。"),
    "the Chinese sentence again": (("好的。今天我们去图书", "今天我们去图书馆看书。"), "好的。今天我们去图书馆看书。"),
    "within an emoji": (("A family: 👨‍👩‍", "👧 and 🇩", "🇪!"), "A family: 👨‍👩‍👧 and 🇩🇪!"),
    "the emoji again": (("A family: 👨‍👩‍", "👨‍👩‍👧!"), "A family: 👨‍👩‍👧!"),
    "half an emoji": (("Good \ufffd", "😀 morning."), "Good 😀 morning."),
    "said twice on purpose": (("Bye bye, ", "bye bye, bye!"), "Bye bye, bye bye, bye!"),
}


def room(body: Mapping[str, Any]) -> int:
    """The output limit of a request, in each vendor's own place."""
    limit = body.get("max_tokens") or body.get("max_completion_tokens") or body["options"]["num_predict"]
    return int(limit)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", SEAMS)
async def test_an_answer_that_was_cut_goes_on_without_a_seam(name: str, kind: str, tmp_path: Path) -> None:
    pieces, whole = SEAMS[name]
    async with LlmSim() as sim, house(KINDS[kind], sim, tmp_path) as home:
        home.script(*(answer(*map(text, _split(piece)), stop("cut")) for piece in pieces[:-1]))
        home.script(answer(*map(text, _split(pieces[-1]))))
        told = await home.ask()
        assert (told.text, told.stop, told.notices) == (whole, StopReason.ANSWERED, ())
        assert all(whole.startswith(shown) for shown in told.shown), "at every moment"
        assert [room(seen.body) for seen in sim.chats] == [8192, *[MOST_OUTPUT_TOKENS] * (len(pieces) - 1)]
        assert CONTINUE in str(sim.chats[-1].body["messages"][-1]).replace("\\n", "\n")
        assert sim.violations == []


def _split(piece: str) -> list[str]:
    return [piece[at : at + 3] for at in range(0, len(piece), 3)]


@pytest.mark.parametrize("kind", KINDS)
async def test_after_three_continuations_it_is_marked_as_cut(kind: str, tmp_path: Path) -> None:
    async with LlmSim() as sim, house(KINDS[kind], sim, tmp_path) as home:
        home.script(*(answer(text(f"Part {n}. "), stop("cut")) for n in range(9)))
        told = await home.ask()
        assert told.stop is StopReason.TRUNCATED
        assert told.text == "".join(f"Part {n}. " for n in range(CONTINUATIONS + 1))
        assert told.notices[-1].startswith("The answer is cut off here")
        assert (told.first, told.second) == (CONTINUATIONS + 1, 0)


@pytest.mark.parametrize("kind", KINDS)
async def test_a_raised_limit_that_is_refused_is_not_asked_for_again(kind: str, tmp_path: Path) -> None:
    async with LlmSim() as sim, house(KINDS[kind], sim, tmp_path) as home:
        refusal = status(400, message="max_tokens: 64000 > 8192, which is the maximum allowed number of output tokens")
        home.script(answer(text("One, "), stop("cut")), answer(refusal), answer(text("two, "), stop("cut")))
        home.script(answer(text("three.")), answer(text("Four, "), stop("cut")), answer(text("five.")))
        told = await home.ask()
        assert (told.text, told.stop) == ("One, two, three.", StopReason.ANSWERED)
        assert (await home.ask("go on")).text == "Four, five."
        assert [room(seen.body) for seen in sim.chats] == [8192, MOST_OUTPUT_TOKENS, 8192, 8192, 8192, 8192]


@pytest.mark.parametrize("kind", KINDS)
async def test_b129_a_call_that_is_cut_again_and_again_is_never_run(kind: str, tmp_path: Path) -> None:
    async with LlmSim() as sim, house(KINDS[kind], sim, tmp_path) as home:
        home.script(answer(call("c1", "note_write", ('{"text": "buy mi',)), stop("cut")), repeat=True)
        told = await home.ask()
        assert told.stop is StopReason.TRUNCATED
        assert told.first == CONTINUATIONS + 1
        assert all(result.error and "cut off" in result.text for result in told.results)
        assert not (tmp_path / "workspace" / "notes.md").exists()
        assert "cut off" in told.notices[-1]


@pytest.mark.parametrize("kind", KINDS)
async def test_a_model_that_thought_until_the_limit_answers_with_more_room(kind: str, tmp_path: Path) -> None:
    async with LlmSim() as sim, house(KINDS[kind], sim, tmp_path) as home:
        home.script(answer(thinking("So much to think of. " * 9), stop("cut")), answer(text("Forty-two.")))
        told = await home.ask()
        assert (told.text, told.stop, told.notices) == ("Forty-two.", StopReason.ANSWERED, ())
        assert [room(seen.body) for seen in sim.chats] == [8192, MOST_OUTPUT_TOKENS]
        assert sim.violations == []


@pytest.mark.parametrize("kind", KINDS)
async def test_a_text_with_a_call_that_was_cut_is_kept_and_the_call_is_asked_for_again(
    kind: str, tmp_path: Path
) -> None:
    async with LlmSim() as sim, house(KINDS[kind], sim, tmp_path) as home:
        cut = answer(text("Let me reckon."), call("c1", "calculate", ('{"expression": "17*',)), stop("cut"))
        home.script(cut, answer(call("c2", "calculate", ('{"expression": "17*23"}',))), answer(text("It is 391.")))
        told = await home.ask()
        assert (told.text, told.stop) == ("Let me reckon.\n\nIt is 391.", StopReason.ANSWERED)
        assert [result.error for result in told.results] == [True, False]
        assert [room(seen.body) for seen in sim.chats] == [8192, MOST_OUTPUT_TOKENS, MOST_OUTPUT_TOKENS]
        assert sim.violations == []


@pytest.mark.parametrize("kind", KINDS)
async def test_a_continuation_that_breaks_off_is_continued_itself(kind: str, tmp_path: Path) -> None:
    async with LlmSim() as sim, house(KINDS[kind], sim, tmp_path) as home:
        home.script(
            answer(text("We met. The quick br"), stop("cut")),
            answer(text("The quick brown fox ju"), sleep(0.03), drop("rst")),
            answer(text("brown fox jumps."), sleep(0.01)),
        )
        told = await home.ask(can_edit=False)
        assert (told.text, told.stop) == ("We met. The quick brown fox jumps.", StopReason.ANSWERED)
        assert all("We met. The quick brown fox jumps.".startswith(shown) for shown in told.shown)
