"""Which models answer: keys, a running Ollama, and the embedded model at the end."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from bot.app.chain import Chain
from bot.brain.prompt import is_small
from bot.config.load import load
from bot.core.errors import ProviderError, StreamGarbled
from bot.core.model import ModelRef
from bot.net.http import Transport
from tests.fakes.clock import FakeClock
from tests.fakes.saying import PAGE, saying
from tests.sim.llm import LlmSim, Settings

LOCAL = ModelRef("local", "auto", max_tokens=1024, window_tokens=4096)


def chain(
    folder: Path,
    transport: Transport,
    env: Mapping[str, str],
    extra: str = "",
    local: ModelRef | None = LOCAL,
    met: Callable[[ModelRef, ProviderError], None] = lambda model, error: None,
    clock: FakeClock | None = None,
    window: Callable[[ModelRef], int | None] = lambda model: None,
) -> Chain:
    file = folder / "config.yaml"
    file.write_text(f"data_dir: data\n{extra}", encoding="utf-8")
    return Chain(load(file, env), transport, clock or FakeClock(), local, met, window)


async def names(made: Chain) -> list[str]:
    await made.look()
    return [str(model) for model in made.models()]


@pytest.fixture
def nowhere() -> str:
    return "providers:\n  ollama: {base_url: http://127.0.0.1:9}\n"


async def test_with_nothing_set_only_the_embedded_model_answers(tmp_path: Path, nowhere: str) -> None:
    transport = Transport()
    made = chain(tmp_path, transport, {}, nowhere)
    assert await names(made) == ["local/auto"] and made.needs_local
    await transport.aclose()


@pytest.mark.parametrize(
    ("env", "expected"),
    [
        ({"ANTHROPIC_API_KEY": "sk-ant-x"}, ["anthropic/claude-sonnet-5-5", "local/auto"]),
        ({"OPENAI_API_KEY": "sk-x"}, ["openai/gpt-5.4-mini", "local/auto"]),
    ],
)
async def test_one_key_puts_its_vendor_first(
    tmp_path: Path, nowhere: str, env: dict[str, str], expected: list[str]
) -> None:
    transport = Transport()
    made = chain(tmp_path, transport, env, nowhere)
    assert await names(made) == expected and not made.needs_local
    await transport.aclose()


async def test_a_running_ollama_offers_what_it_has_and_leaves_when_it_stops(tmp_path: Path) -> None:
    transport = Transport()
    async with LlmSim(Settings(ollama_models=("nomic-embed-text", "qwen3:4b"))) as sim:
        clock = FakeClock()
        made = chain(tmp_path, transport, {}, f"providers:\n  ollama: {{base_url: {sim.url}}}\n", clock=clock)
        assert await names(made) == ["ollama/qwen3:4b", "local/auto"]
        alone = asyncio.create_task(made.left_alone())
        await asyncio.sleep(0)
        assert not alone.done()
    assert await names(made) == ["local/auto"]
    await clock.advance(60)
    assert alone.done(), "now the embedded model is fetched and loaded"
    await transport.aclose()


@pytest.mark.parametrize("default", ["ollama/llama3.2", "openai/gpt-5.4-mini"])
async def test_what_stands_in_ollamas_place_is_named_and_told_to_whoever_chose_ollama(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, default: str
) -> None:
    caplog.set_level("INFO")
    transport, met = Transport(), list[tuple[ModelRef, ProviderError]]()
    async with saying(PAGE) as url:
        extra = f"providers:\n  ollama: {{base_url: {url}}}\nbrain:\n  llm:\n    default: {default}\n    fallback: [ollama/x]\n"
        made = chain(tmp_path, transport, {}, extra, met=lambda model, error: met.append((model, error)))
        assert await names(made) == ["local/auto"] and await names(made) == ["local/auto"]
    assert caplog.text.count("is a web page, not a model service") == 1
    told = [(str(model), type(error)) for model, error in met]
    assert told == ([("ollama/llama3.2", StreamGarbled)] * 2 if default.startswith("ollama") else [])
    await names(made)
    assert "does not run any more" in caplog.text
    await transport.aclose()


async def test_an_ollama_behind_a_key_is_asked_with_it(tmp_path: Path) -> None:
    transport = Transport()
    async with saying(b'{"models": [{"name": "qwen3:4b"}]}', key="sk-o") as url:
        made = chain(tmp_path, transport, {}, f"providers:\n  ollama: {{base_url: {url}, api_key: sk-o}}\n")
        assert await names(made) == ["ollama/qwen3:4b", "local/auto"]
    await transport.aclose()


async def test_a_default_model_is_never_replaced_by_another(tmp_path: Path) -> None:
    transport = Transport()
    async with LlmSim(Settings(ollama_models=("qwen3:4b",))) as sim:
        extra = f"providers:\n  ollama: {{base_url: {sim.url}}}\nbrain:\n  llm:\n    default: ollama/llama3.2\n    fallback: []\n"
        assert await names(chain(tmp_path, transport, {}, extra)) == ["ollama/llama3.2", "local/auto"]
    await transport.aclose()


async def test_without_engine_and_keys_there_is_no_model(tmp_path: Path, nowhere: str) -> None:
    transport = Transport()
    made = chain(tmp_path, transport, {}, nowhere, None)
    assert await names(made) == [] and not made.needs_local
    await transport.aclose()


async def test_the_embedded_model_keeps_its_window_also_as_the_persons_choice(tmp_path: Path, nowhere: str) -> None:
    transport = Transport()
    made = chain(
        tmp_path, transport, {}, nowhere + "brain:\n  llm:\n    default: {provider: local}\n    fallback: []\n"
    )
    assert list(made.models()) == [LOCAL]
    await transport.aclose()


@pytest.mark.parametrize(
    ("entry", "told", "window", "answer"),
    [
        ("{provider: mylab, model: m}", None, None, 8192),
        ("{provider: mylab, model: m}", 20_000, 20_000, 5_000),
        ("{provider: mylab, model: m, window_tokens: 9000, max_tokens: 6000}", 20_000, 9_000, 6_000),
        ("{provider: anthropic, model: claude-sonnet-5-5}", None, 1_000_000, 8_192),
        ("{provider: anthropic, model: claude-sonnet-5-5}", 200_000, 200_000, 8_192),
    ],
    ids=["nobody knows", "the provider", "the entry wins", "the list", "the provider before the list"],
)
async def test_a_window_is_what_the_entry_says_else_what_the_provider_told_else_what_the_list_has(
    tmp_path: Path, nowhere: str, entry: str, told: int | None, window: int | None, answer: int
) -> None:
    transport = Transport()
    extra = (
        f"{nowhere}  mylab: {{kind: openai, base_url: 'http://127.0.0.1:9/v1'}}\nbrain:\n  llm:\n    default: {entry}\n"
    )
    made = chain(tmp_path, transport, {"ANTHROPIC_API_KEY": "sk-ant-x"}, extra, window=lambda model: told)
    assert (made.models()[0].window_tokens, made.models()[0].max_tokens) == (window, answer)
    assert made.models()[-1] == LOCAL
    await transport.aclose()


async def test_an_ollama_model_is_sent_no_more_than_the_window_it_is_asked_for(tmp_path: Path) -> None:
    transport = Transport()
    async with LlmSim(Settings(ollama_models=("qwen3:4b",))) as sim:
        made = chain(tmp_path, transport, {}, f"providers:\n  ollama: {{base_url: {sim.url}}}\n")
        await made.look()
        model = made.models()[0]
        assert (model.window_tokens, model.max_tokens, is_small(model)) == (8192, 2048, False)
    await transport.aclose()
