"""What a text counts by the estimate, held against the tokenizers that are in the house, and how the estimate learns."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import replace
from itertools import accumulate
from pathlib import Path
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.brain.budget import Gauge, prompt_tokens
from bot.brain.prompt import fixed_words
from bot.brain.tokens import estimated_tokens
from bot.core.model import (
    ImageBlock,
    Message,
    ModelEvent,
    ModelRef,
    ModelRequest,
    ModelStop,
    ModelStopReason,
    ModelText,
    ModelUsage,
    TextBlock,
    Usage,
)
from bot.net.http import Transport
from bot.providers.local.catalogue import QWEN, SMOLLM2, Weights
from bot.providers.local.engine import Engine, EngineSettings
from tests.brain.conftest import FIRST, MakeHouse
from tests.brain.samples import SPOKEN, texts
from tests.fakes.clock import FakeClock
from tests.fakes.notes import MemoryNotes
from tests.fakes.provider import says
from tests.providers.weights import fetched, shared_folder

Count = Callable[[str], Awaitable[int]]
LARGE: Final = ("readme", "soul", "code", "config", "table", "log", "objects", "page")
SOUL: Final = texts()["soul"]


@pytest.fixture(params=[QWEN, SMOLLM2], ids=["qwen", "smollm2"])
async def counted(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[tuple[Weights, Count]]:
    """A model, and how many tokens its own tokenizer makes of a text."""
    transport = Transport()
    engine = Engine(
        EngineSettings(fetched(request.param, shared_folder()), "m", tmp_path / "log", context=512), transport
    )
    await engine.start()

    async def count(text: str) -> int:
        body = json.dumps({"content": text}).encode()
        answer = await transport.fetch("POST", f"{engine.address}/tokenize", headers=engine.headers, body=body)
        return len(json.loads(answer.body)["tokens"])

    yield request.param, count
    await engine.aclose()
    await transport.aclose()


def request(*said: str, model: ModelRef = FIRST, system: str = SOUL) -> ModelRequest:
    return ModelRequest(model, system, tuple(Message("user", (TextBlock(text),)) for text in said))


def conversation(text: str) -> list[ModelRequest]:
    """Fourteen prompts, each a piece of the text longer."""
    pieces = [text[n * len(text) // 14 : (n + 1) * len(text) // 14] for n in range(14)]
    return [request(*said) for said in accumulate(([piece] for piece in pieces), list.__add__)]


@pytest.mark.model
@pytest.mark.timeout(180)
async def test_the_estimate_is_near_to_what_tokenizers_count(counted: tuple[Weights, Count]) -> None:
    """For the tokenizer that the weights are fitted to; the other knows English only, and of that it is true as well."""
    weights, count = counted
    for name, text in texts().items():
        share = estimated_tokens(text) / await count(text)
        if weights is QWEN:
            assert (0.9 if name in LARGE else 0.8) <= share <= 1.5, name
        elif name in (*LARGE, "english"):
            assert 0.8 <= share <= 1.2, name


@pytest.mark.model
@pytest.mark.timeout(180)
@pytest.mark.parametrize("language", ["english", "chinese", "russian"])
async def test_after_ten_turns_the_estimate_is_within_a_twentieth(
    counted: tuple[Weights, Count], language: str
) -> None:
    _, count = counted
    gauge = Gauge()
    prompts = conversation(SPOKEN[language] * 3)
    for number, prompt in enumerate(prompts):
        wire = "".join(f"<|im_start|>user\n{m.content[0].text}<|im_end|>\n" for m in prompt.messages)  # type: ignore[union-attr]
        told = await count(f"<|im_start|>system\n{prompt.system}<|im_end|>\n{wire}<|im_start|>assistant\n")
        if number >= 10:
            assert gauge.ratio(FIRST) * prompt_tokens(prompt) == pytest.approx(told, rel=0.05), number
        gauge.note(prompt, Usage(told, 10))


@pytest.mark.parametrize("factor", [0.7, 1.4, 3.0])
def test_what_is_counted_by_the_vendor_is_learned_for_that_model_alone(factor: float) -> None:
    gauge, other = Gauge(), ModelRef("b", "other")
    for prompt in conversation(texts()["readme"])[:10]:
        gauge.note(prompt, Usage(int(prompt_tokens(prompt) * factor) + 150, 10))
    last = conversation(texts()["readme"])[11]
    assert gauge.ratio(FIRST) * prompt_tokens(last) == pytest.approx(prompt_tokens(last) * factor + 150, rel=0.05)
    assert gauge.ratio(other) == gauge.scale(other) == 1.0
    assert gauge.ratio(FIRST) <= gauge.scale(FIRST) < gauge.ratio(FIRST) + 0.1 + 1e-6


def test_what_counts_something_else_is_not_learned_from() -> None:
    gauge, prompt = Gauge(), request("hi " * 400)
    size = prompt_tokens(prompt)
    picture = replace(prompt, messages=(*prompt.messages, Message("user", (ImageBlock("image/jpeg", b"x"),))))
    gauge.note(prompt, Usage(0, 3))
    gauge.note(prompt, Usage(size * 2, 3, estimated=True))
    gauge.note(prompt, Usage(size // 2, 3))  # the server cut the prompt
    gauge.note(picture, Usage(size * 2, 3))
    assert gauge.ratio(FIRST) == 1.0


def bill(prompt: ModelRequest, factor: float) -> Usage:
    return Usage(int(prompt_tokens(prompt) * factor), 10)


async def test_what_was_learned_outlives_the_process_for_its_provider_and_model_alone() -> None:
    notes, prompt = MemoryNotes(), request("hi " * 400)
    gauge = Gauge(notes)
    await gauge.load()
    gauge.note(prompt, bill(prompt, 1.4))
    await gauge.keep()
    after = Gauge(notes)
    assert after.ratio(FIRST) == 1.0
    await after.load()
    assert after.ratio(FIRST) == pytest.approx(1.4, rel=0.01)
    assert after.ratio(replace(FIRST, provider="z")) == after.ratio(replace(FIRST, model="z")) == 1.0


async def test_what_was_learned_is_written_once_a_minute_and_only_where_it_has_changed() -> None:
    written: list[str] = []

    class Counting(MemoryNotes):
        async def write(self, key: str, value: str) -> None:
            written.append(value)
            await super().write(key, value)

    clock, prompt = FakeClock(), request("hi " * 4000)
    gauge = Gauge(Counting())
    await gauge.load()
    writing = asyncio.create_task(gauge.run(clock))
    for factor, wait, count in (
        (1.4, 0.0, 0),
        (1.4, 59.0, 0),
        (1.4, 2.0, 1),
        (1.4, 61.0, 1),
        (1.41, 61.0, 1),
        (2.0, 61.0, 2),
    ):
        gauge.note(prompt, bill(prompt, factor))
        await clock.advance(wait)
        assert len(written) == count, (factor, wait)
    writing.cancel()
    await asyncio.wait([writing])


@pytest.mark.parametrize(
    "noted",
    ["{", "[]", '{"a/big": 3}', '{"a/big": {"estimated": 0, "told": 1}}', '{"a/big": {"estimated": 1, "told": 900}}'],
)
async def test_what_was_noted_and_cannot_be_is_measured_anew(noted: str) -> None:
    notes = MemoryNotes()
    notes.values["ratios"] = noted
    gauge, prompt = Gauge(notes), request("hi " * 400)
    await gauge.load()
    assert gauge.ratio(FIRST) == 1.0
    gauge.note(prompt, bill(prompt, 1.3))
    await gauge.keep()
    assert "told" in notes.values["ratios"]


async def test_the_first_prompt_after_a_restart_is_measured_as_the_last_one_before(make_house: MakeHouse) -> None:
    house, notes = make_house(), MemoryNotes()
    house.brain._gauge = house.brain._steps._gauge = Gauge(notes)
    house.provider.scripts = [
        [
            ModelText("One."),
            ModelUsage(Usage(9_000, 9)),
            ModelStop(ModelStopReason.END),
        ]  # of about 3,000 by the estimate
    ]
    await house.answer(await house.turn("a word or two about the harbour. " * 400, 1))
    assert house.brain._gauge.ratio(FIRST) > 2
    await house.brain._gauge.keep()
    again = make_house()
    again.brain._gauge = again.brain._steps._gauge = Gauge(notes)
    again.provider.scripts = [says("Two.")]
    await again.answer(await again.turn("hi", 2))
    assert again.brain._gauge.ratio(FIRST) == pytest.approx(house.brain._gauge.ratio(FIRST))


def test_the_parts_are_told_in_the_models_own_tokens() -> None:
    prompt = request("hi", system="x" * 4000)
    plain, double = (fixed_words(prompt, "en", ratio) for ratio in (1.0, 2.0))
    size = estimated_tokens(prompt.system)
    assert f"about {size} tokens" in plain and f"about {2 * size} tokens" in double


@pytest.mark.parametrize("factor", [1.0, 3.0])
async def test_a_model_that_counts_more_than_the_estimate_is_sent_less_from_then_on(
    make_house: MakeHouse, factor: float
) -> None:
    long = "a word or two about the harbour and its ships. " * 40
    house = make_house()
    house.chain[:] = [replace(FIRST, window_tokens=12_000, max_tokens=1000)]

    def script() -> Iterator[ModelEvent]:
        """With what this vendor makes of the prompt that it was sent."""
        yield ModelText(long)
        yield ModelUsage(Usage(int(prompt_tokens(house.provider.requests[-1]) * factor), 9))
        yield ModelStop(ModelStopReason.END)

    for number in range(1, 25):
        house.provider.scripts = [script()]  # type: ignore[list-item]
        await house.answer(await house.turn(long, number))
    sizes = [prompt_tokens(request) * factor for request in house.provider.requests]
    assert 6_000 < max(sizes[5:]) <= 11_000


@given(st.text(max_size=300), st.text(max_size=300))
def test_every_text_counts_something_and_two_together_about_as_much_as_apart(one: str, other: str) -> None:
    together = estimated_tokens(one + other)
    assert together >= 1
    assert abs(together - estimated_tokens(one) - estimated_tokens(other)) <= 2


@pytest.mark.parametrize("text", ["\ud83d", "\x00" * 9, "💥" * 50, "ﷺ", "\u200b"])
def test_odd_characters_count_as_well(text: str) -> None:
    assert estimated_tokens(text) >= 1
