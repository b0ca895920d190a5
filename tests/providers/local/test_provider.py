"""The provider with the small model: one answer from request to events, and every way it can end."""

from __future__ import annotations

import asyncio
import json
import os
import signal
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import pytest
from pydantic import BaseModel, ValidationError

from bot.brain.structured import structured
from bot.core.errors import ContextTooLong, ModelMissing, ProviderError
from bot.core.model import ModelStop, ModelStopReason, ModelText
from bot.core.tool import ToolCall
from bot.net.http import Transport
from bot.providers.local.engine import Engine
from bot.providers.local.keeper import LocalState, Phase
from bot.providers.local.prompt import PROFILE
from bot.providers.local.provider import Config, LocalProvider, build
from bot.time.clock import SystemClock
from tests.providers.local.asking import ask, assistant, came, prompted, request, result, user
from tests.providers.local.messages import CALCULATE, NOW, TOOLS

MODEL = [pytest.mark.model, pytest.mark.timeout(180)]
CONTEXT = 512


def unable(tmp_path: Path) -> LocalProvider:
    """A provider that has no weights and no way to get them."""
    config = Config(sources=("path",), models_dir=tmp_path / "models")
    return build("local", config, SystemClock(), tmp_path / "data", Transport())


@pytest.fixture
async def transport() -> AsyncIterator[Transport]:
    transport = Transport()
    yield transport
    await transport.aclose()


@pytest.fixture
async def provider(smollm2: Path, tmp_path: Path, transport: Transport) -> AsyncIterator[LocalProvider]:
    config = Config(path=smollm2, context=CONTEXT)
    provider = build("local", config, SystemClock(), tmp_path / "data", transport)
    assert (await provider.prepare()).phase is Phase.READY
    yield provider
    await provider.aclose()


async def engine_of(provider: LocalProvider) -> Engine:
    return await provider._keeper.engine(1)


async def told(provider: LocalProvider, path: str, body: dict[str, Any] | None = None) -> Any:
    """What the engine itself says under ``path``."""
    engine, transport = await engine_of(provider), Transport()
    try:
        method, data = ("POST", json.dumps(body).encode()) if body else ("GET", None)
        answer = await transport.fetch(method, engine.address + path, headers=engine.headers, body=data)
        return json.loads(answer.body)
    finally:
        await transport.aclose()


async def test_a_bare_question_for_the_time_is_one_call_even_before_there_is_a_model(tmp_path: Path) -> None:
    heard = await ask(unable(tmp_path), request(user("what time is it?"), tools=TOOLS))
    assert [(call.name, dict(call.arguments), call.invalid) for call in heard.calls] == [("now", {}, "")]
    assert heard.stop == ModelStop(ModelStopReason.TOOL_USE)


async def test_a_denied_call_is_answered_by_the_house_and_never_made_again(tmp_path: Path) -> None:
    provider = unable(tmp_path)  # whoever asked it would get an error
    for words, said in (
        ("note: buy milk", "Not done: it was denied. What would you like instead?"),
        ("记一下：买牛奶", "没有执行：已被拒绝。想改成什么？"),
    ):
        call = ToolCall("c1", "note_write", {"text": "milk"})
        heard = await ask(provider, prompted(words, *came(call, "Denied.", error=True, outcome="denied"), tools=TOOLS))
        assert (heard.text, heard.calls, heard.stop) == (said, [], ModelStop(ModelStopReason.END))


async def test_without_a_model_the_error_says_how_to_get_one(tmp_path: Path) -> None:
    provider = unable(tmp_path)
    with pytest.raises(ModelMissing, match="path of the local provider"):
        await ask(provider, request(user("hello")))
    await provider.aclose()


@pytest.mark.parametrize("wrong", [{"model": "gpt-5"}, {"thread": 2}, {"threads": 0}, {"sources": ["torrent"]}])
def test_a_config_with_anything_else_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        Config(**wrong)


def test_the_models_lie_in_the_data_folder_unless_told_otherwise(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def folder(config: Config) -> Path:
        return build("local", config, SystemClock(), tmp_path, Transport())._keeper._shelf.folder

    monkeypatch.delenv("BOWERBIRD_MODELS", raising=False)
    assert folder(Config()) == tmp_path / "models"
    monkeypatch.setenv("BOWERBIRD_MODELS", "/shared/models")
    assert folder(Config()) == Path("/shared/models")
    assert folder(Config(models_dir=Path("/mine"))) == Path("/mine")


class TestWithTheSmallModel:
    pytestmark = MODEL

    async def test_it_runs_beside_the_daemon_until_cancelled(
        self, smollm2: Path, tmp_path: Path, transport: Transport
    ) -> None:
        config = Config(path=smollm2, context=CONTEXT)
        provider = build("local", config, SystemClock(), tmp_path / "data", transport)
        heard: list[LocalState] = []
        async with asyncio.TaskGroup() as group:
            running = group.create_task(provider.run(provider.profile, heard.append))
            await asyncio.sleep(0.01)
            async with asyncio.timeout(60):
                answer = await ask(provider, request(user("hello"), max_tokens=5))  # waits for the model
            running.cancel()
        await provider.aclose()
        assert answer.text
        assert [state.phase for state in heard] == [Phase.LOADING, Phase.READY]

    async def test_text_comes_in_pieces_then_the_counts_and_the_stop(self, provider: LocalProvider) -> None:
        heard = await ask(provider, request(user("Say hello to Anna."), max_tokens=24))
        assert len([event for event in heard.events if isinstance(event, ModelText)]) > 2
        assert heard.usage.input_tokens > 20
        assert 0 < heard.usage.output_tokens <= 24
        assert heard.stop.reason in (ModelStopReason.END, ModelStopReason.MAX_TOKENS)

    async def test_the_profile_was_read_before_the_first_message(self, provider: LocalProvider) -> None:
        heard = await ask(provider, request(user("Tell me of birds."), max_tokens=2))
        assert len((await told(provider, "/tokenize", {"content": PROFILE}))["tokens"]) < 400
        assert heard.usage.cache_read_tokens >= len((await told(provider, "/tokenize", {"content": PROFILE}))["tokens"])

    async def test_another_prefix_can_be_read_beforehand(self, provider: LocalProvider) -> None:
        system = "You are a pirate who knows all birds of the seven seas by their first names."
        assert (await provider.prepare(system)).phase is Phase.READY
        heard = await ask(provider, replace(request(user("Tell me of birds."), max_tokens=2), system=system))
        assert heard.usage.cache_read_tokens >= 16

    async def test_the_next_turn_reads_only_what_is_new(self, provider: LocalProvider) -> None:
        first = await ask(provider, request(user("Tell me of birds."), max_tokens=16))
        talk = (user("Tell me of birds."), assistant(first.text), user("And of fish?"))
        second = await ask(provider, request(*talk, max_tokens=2))
        assert second.usage.cache_read_tokens >= first.usage.input_tokens - 1
        assert second.usage.input_tokens - second.usage.cache_read_tokens < 40

    async def test_what_does_not_fit_the_window_is_too_long(self, provider: LocalProvider) -> None:
        with pytest.raises(ContextTooLong, match="/new"):
            await ask(provider, request(user("bird " * 2 * CONTEXT)))

    async def test_the_limit_on_the_answer_holds(self, provider: LocalProvider) -> None:
        heard = await ask(provider, request(user("Tell me of birds."), max_tokens=3))
        assert heard.usage.output_tokens == 3
        assert heard.stop.reason is ModelStopReason.MAX_TOKENS

    async def test_an_answer_of_a_given_shape_has_it(self, provider: LocalProvider) -> None:
        shape = {
            "type": "object",
            "properties": {"mood": {"enum": ["good", "bad"]}, "words": {"type": "array", "items": {"type": "string"}}},
            "required": ["mood", "words"],
        }
        heard = await ask(provider, request(user("I had a lovely day."), max_tokens=400, schema=shape))
        if heard.stop.reason is ModelStopReason.END:
            answer = json.loads(heard.text)
            assert answer["mood"] in ("good", "bad")
            assert all(isinstance(word, str) for word in answer["words"])
        assert heard.text.lstrip().startswith("{")

    async def test_an_answer_in_one_piece_is_the_same_events(self, provider: LocalProvider) -> None:
        asked = request(user("Say hello."), max_tokens=20)
        streamed, whole = await ask(provider, asked), await ask(provider, replace(asked, whole=True))
        assert whole.text and whole.text == streamed.text
        assert sum(isinstance(event, ModelText) for event in whole.events) == 1
        assert whole.usage.output_tokens == streamed.usage.output_tokens > 0
        assert whole.stop.reason is streamed.stop.reason

    async def test_the_house_gets_objects_out_of_it(self, provider: LocalProvider) -> None:
        class Mood(BaseModel):
            mood: Literal["good", "bad"]

        asked = request(user("I had a lovely day."), schema=Mood.model_json_schema())
        assert (await structured(provider, asked, Mood.model_validate)).mood in ("good", "bad")

    async def test_with_a_tool_on_offer_there_is_a_call_or_words_and_never_json(self, provider: LocalProvider) -> None:
        heard = await ask(provider, request(user("calculate 17*23"), tools=TOOLS, max_tokens=200))
        assert bool(heard.calls) != bool(heard.text)
        assert not heard.text.lstrip().startswith("{")
        for call in heard.calls:
            assert call.name == CALCULATE.name
            assert call.invalid or isinstance(call.arguments["expression"], str)

    async def test_after_a_result_it_answers_in_words(self, provider: LocalProvider) -> None:
        call = ToolCall("c1", NOW.name)
        heard = await ask(provider, request(user("what time is it?"), *result(call, "15:27"), tools=TOOLS))
        assert heard.calls == []
        assert heard.text.strip()

    @pytest.mark.parametrize("how", ["left", "cancelled"])
    async def test_an_answer_that_nobody_reads_frees_its_slot(self, provider: LocalProvider, how: str) -> None:
        async def read_one() -> None:
            async with provider.stream(request(user("Count to one hundred."), max_tokens=400)) as events:
                await anext(events)
                reading.set()
                if how == "cancelled":
                    await asyncio.sleep(30)

        reading = asyncio.Event()
        async with asyncio.TaskGroup() as group:
            task = group.create_task(read_one())
            await reading.wait()
            if how == "cancelled":
                assert any(slot["is_processing"] for slot in await told(provider, "/slots"))
                task.cancel()
        async with asyncio.timeout(3):
            while any(slot["is_processing"] for slot in await told(provider, "/slots")):
                await asyncio.sleep(0.02)

    async def test_two_conversations_are_answered_side_by_side(self, provider: LocalProvider) -> None:
        async with asyncio.TaskGroup() as group:
            asked = [request(user(f"Tell me of {what}."), max_tokens=12) for what in ("birds", "fish", "trees")]
            tasks = [group.create_task(ask(provider, one)) for one in asked]
        assert all(task.result().text for task in tasks)

    async def test_an_engine_that_dies_in_an_answer_is_a_retryable_error_and_the_next_message_works(
        self, provider: LocalProvider
    ) -> None:
        pid = (await engine_of(provider)).pid
        assert pid is not None
        with pytest.raises(ProviderError) as caught:
            async with provider.stream(request(user("Count to one hundred."), max_tokens=400)) as events:
                async for _ in events:
                    os.kill(pid, signal.SIGKILL)
        assert caught.value.retryable
        async with asyncio.timeout(30):
            assert await self._text_with_retries(provider)

    async def _text_with_retries(self, provider: LocalProvider) -> str:
        while True:
            try:
                return (await ask(provider, request(user("hello"), max_tokens=5))).text
            except ProviderError as error:  # the death may not have been noticed yet
                assert error.retryable
                await asyncio.sleep(0.1)
