"""A prompt that is too long, at all four kinds of vendors and in their real words: once more and smaller, then the end."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import pytest

from bot.core.stop import StopReason
from bot.core.transcript import StepRow
from tests.providers.matrix import FIRST, KINDS, SECOND, House, house
from tests.sim.llm import LlmSim, answer, error_event, raw, status, stop, text
from tests.sim.llm.steps import Step

WINDOW: Final = 12_000
LONG: Final = "the harbour and its ships lay still in the grey morning light. " * 110
AGAIN: Final = "It fits now."


def _openai(message: str, **more: Any) -> Mapping[str, Any]:
    return {"error": {"message": message, "type": "invalid_request_error", "param": "messages", "code": None, **more}}


def _claude(message: str, kind: str = "invalid_request_error") -> Mapping[str, Any]:
    return {"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_011"}


_VLLM: Final = (
    f"This model's maximum context length is {WINDOW} tokens. However, you requested 13210 tokens (12210 in the messages,"
    " 1000 in the completion). Please reduce the length of the messages or completion."
)
_KEEPING: Final = (
    "Trying to keep the first 12804 tokens when context the overflows. However, the model is loaded with context length of"
    f" only {WINDOW} tokens, which is not enough. Try to load the model with a larger context length, or provide a shorter"
    " input"
)
REFUSALS: Final[Mapping[str, Mapping[str, Step]]] = {
    "anthropic": {
        "prompt": status(400, body=_claude(f"prompt is too long: 12950 tokens > {WINDOW} maximum")),
        "with the answer": status(
            400,
            body=_claude(
                f"input length and `max_tokens` exceed context limit: 11500 + 1000 > {WINDOW}, decrease input length or"
                " `max_tokens` and try again"
            ),
        ),
        "bytes": status(413, body=_claude("Request exceeds the maximum size", "request_too_large")),
        "in the stream": error_event("invalid_request_error", f"prompt is too long: 12950 tokens > {WINDOW} maximum"),
    },
    "openai": {
        "chat": status(
            400,
            body=_openai(
                f"This model's maximum context length is {WINDOW} tokens. However, your messages resulted in 12950 tokens."
                " Please reduce the length of the messages.",
                code="context_length_exceeded",
            ),
        ),
        "newer": status(
            400,
            body=_openai(
                "Your input exceeds the context window of this model. Please adjust your input and try again.",
                code="context_length_exceeded",
            ),
        ),
        "in the stream": error_event(
            "invalid_request_error",
            "Your input exceeds the context window of this model. Please adjust your input and try again.",
            "context_length_exceeded",
        ),
    },
    "compatible": {
        "vLLM": status(400, body={"error": {"message": _VLLM, "type": "BadRequestError", "param": None, "code": 400}}),
        "older vLLM": status(400, body={"object": "error", "message": _VLLM, "type": "BadRequestError", "code": 400}),
        "llama.cpp": status(
            400,
            body={
                "error": {
                    "code": 400,
                    "message": f"the request exceeds the available context size ({WINDOW} tokens), try increasing it",
                    "type": "exceed_context_size_error",
                    "n_prompt_tokens": 12950,
                    "n_ctx": WINDOW,
                }
            },
        ),
        "LM Studio": status(400, body={"error": _KEEPING}),
        "newer LM Studio": status(
            400, body={"error": f"Cannot truncate prompt with n_keep (12804) >= n_ctx ({WINDOW})"}
        ),
        "LM Studio, MLX": status(400, body={"error": "Context size has been exceeded."}),
        "OpenRouter": status(
            400,
            body={
                "error": {
                    "message": f"This endpoint's maximum context length is {WINDOW} tokens. However, you requested about"
                    " 12950 tokens (12000 of text input, 950 in the output). Please reduce the length of either one.",
                    "code": 400,
                    "metadata": {"provider_name": None},
                }
            },
        ),
        "xAI": status(
            400,
            body={
                "code": "Client specified an invalid argument",
                "error": f"This model's maximum prompt length is {WINDOW} but the request contains 12950 tokens.",
            },
        ),
        "in the stream": raw(f'event: error\ndata: {{"error":{{"message":"{_KEEPING}"}}}}\n\n'),
        "in the stream, flat": raw(f'data: {{"error":"{_KEEPING}","code":"error"}}\n\n'),
    },
    "ollama": {
        "plain": status(400, body={"error": "the input length exceeds the context length"}),
        "in the cloud": status(400, body={"error": "prompt too long; exceeded max context length by 512 tokens"}),
        "runner": status(500, body={"error": "the prompt exceeds the available context size"}),
        "in the stream": error_event(message="the input length exceeds the context length"),
    },
}
CASES: Final = [(kind, name) for kind, named in REFUSALS.items() for name in named]


@asynccontextmanager
async def talking(kind: str, folder: Path, *, alone: bool = True) -> AsyncIterator[House]:
    """A chat that takes most of a window of 12,000 tokens."""
    async with LlmSim() as sim, house(KINDS[kind], sim, folder, alone=alone) as home:
        home.chain[:] = [replace(model, window_tokens=WINDOW, max_tokens=1_000) for model in home.chain]
        home.script(*[(text(LONG),)] * 4)
        for _ in range(4):
            await home.ask(f"Tell me of the harbour. {LONG[:600]}")
        yield home


def sizes(home: House) -> list[int]:
    """Of the prompts that the first model got, in characters."""
    asked = (seen.body for seen in home.sim.chats)
    return [len(str(body["messages"])) for body in asked if body["model"] == home.kind.first]


async def because(home: House) -> list[str]:
    rows = await home.store.transcript.turn_rows(f"turn{home.number}")
    return [row.body.because for row in rows if isinstance(row.body, StepRow)]


@pytest.mark.parametrize(("kind", "name"), CASES)
async def test_b160_a_long_prompt_is_sent_once_more_with_half_of_the_window(
    kind: str, name: str, tmp_path: Path
) -> None:
    async with talking(kind, tmp_path) as home:
        home.script((REFUSALS[kind][name],), (text(AGAIN),))
        told = await home.ask("And now?")
        assert (told.stop, told.text, told.error) == (StopReason.ANSWERED, AGAIN, "ContextTooLong"), told
        assert told.first == 2 and told.slept == [], "no waiting: time alone does not make a prompt shorter"
        *_, whole, smaller = sizes(home)
        assert smaller < whole * 0.7
        assert await because(home) == ["compaction"]
        assert home.sim.violations == []


@pytest.mark.parametrize(("kind", "name"), CASES)
async def test_b160_a_prompt_that_stays_too_long_ends_the_turn_in_words(kind: str, name: str, tmp_path: Path) -> None:
    async with talking(kind, tmp_path) as home:
        home.script(answer(REFUSALS[kind][name]), repeat=True)
        told = await home.ask("And now?")
        assert (told.stop, told.first) == (StopReason.COMPACTED_OVERFLOW, 2), told
        assert "the system prompt has about" in told.notices[-1]


@pytest.mark.parametrize("kind", KINDS)
async def test_b160_where_there_is_nothing_to_leave_out_the_turn_ends_at_once(kind: str, tmp_path: Path) -> None:
    async with LlmSim() as sim, house(KINDS[kind], sim, tmp_path, alone=True) as home:
        home.script(answer(next(iter(REFUSALS[kind].values()))), repeat=True)
        told = await home.ask("hi")
        assert (told.stop, told.first) == (StopReason.CONTEXT_OVERFLOW, 1), told


@pytest.mark.parametrize("kind", KINDS)
async def test_b160_another_model_with_a_larger_window_answers_before_anything_is_left_out(
    kind: str, tmp_path: Path
) -> None:
    async with talking(kind, tmp_path, alone=False) as home:
        home.script(answer(next(iter(REFUSALS[kind].values()))), repeat=True)
        told = await home.ask("And now?")
        assert (told.stop, told.text, told.first, told.second) == (StopReason.ANSWERED, SECOND, 1, 1), told


@pytest.mark.parametrize("kind", KINDS)
async def test_the_window_that_a_refusal_names_holds_for_the_second_try(kind: str, tmp_path: Path) -> None:
    """Of a model about which nobody knows anything 128,000 tokens are assumed; half of that would be too much again."""
    words = "This model's maximum context length is 4096 tokens. However, your messages resulted in 9000 tokens."
    async with talking(kind, tmp_path) as home:
        unsized = [replace(model, window_tokens=None, max_tokens=500) for model in home.chain]
        home.brain._routes.models = lambda turn, row: [  # type: ignore[method-assign]
            replace(model, window_tokens=home.models.window(model)) for model in unsized
        ]
        home.script((status(400, message=words),), (text(FIRST),))
        told = await home.ask("And now?")
        assert (told.stop, told.text) == (StopReason.ANSWERED, FIRST)
        *_, whole, smaller = sizes(home)
        assert whole > 20_000 and smaller < 8_000


FULL: Final = stop("model_context_window_exceeded")


async def test_an_answer_that_filled_the_window_goes_on_with_a_smaller_prompt(tmp_path: Path) -> None:
    async with talking("anthropic", tmp_path) as home:
        home.script((text("As far as it we"), FULL), (text("nt, and to the end."),))
        told = await home.ask("And now?")
        assert (told.stop, told.text) == (StopReason.ANSWERED, "As far as it went, and to the end."), told
        *_, whole, smaller = sizes(home)
        assert smaller < whole * 0.7
        assert await because(home) == ["answer", "continuation"]


async def test_an_answer_that_fills_every_window_keeps_its_text_and_is_said_to_be_cut(tmp_path: Path) -> None:
    async with talking("anthropic", tmp_path) as home:
        home.script((text("As far as it we"), FULL), (text("nt"), FULL))
        told = await home.ask("And now?")
        assert (told.stop, told.text, told.first) == (StopReason.TRUNCATED, "As far as it went", 2), told
        assert told.notices
