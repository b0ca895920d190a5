"""The local model as a provider: its config, and one answer from request to events."""

from __future__ import annotations

import json
import logging
import os
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final, Literal

from pydantic import Field

from bot.core.errors import (
    ModelMissing,
    ProviderError,
    ProviderUnreachable,
    TransportError,
    TransportTimeout,
)
from bot.core.http import Http, Reply, Timeouts
from bot.core.model import (
    FREE,
    ModelCall,
    ModelEvent,
    ModelRequest,
    ModelStop,
    ModelStopReason,
    ModelText,
    ModelUsage,
    Price,
    Usage,
)
from bot.core.ports import Clock
from bot.core.tool import ToolSpec
from bot.providers import wire
from bot.providers.calls import CallIds, called
from bot.providers.chat_stream import ChatStream
from bot.providers.faults import Faults, complaint_of
from bot.providers.local.action import ActionStream, action_schema
from bot.providers.local.bounds import bounded
from bot.providers.local.catalogue import SMOLLM2, chosen
from bot.providers.local.echo import EchoStream
from bot.providers.local.gate import goes_without_saying, may_need
from bot.providers.local.keeper import Keeper, LocalState, Phase, Plan
from bot.providers.local.machine import free_memory_bytes
from bot.providers.local.prompt import PROFILE, Turn, chat_turns, settled, still_open, turns_of
from bot.providers.local.repeat import RepeatStream
from bot.providers.local.sentence import OneSentence, wants_one_sentence
from bot.providers.local.weights import Shelf, Source, wrong_with
from bot.providers.settings import ProviderConfig
from bot.providers.sse import SseFrames

log = logging.getLogger(__name__)

MODELS_VARIABLE: Final = "BOWERBIRD_MODELS"
"""A folder of models shared by several data folders (tests, several bots); ``models_dir`` goes before it."""
ERROR_BYTES: Final = 64 * 1024
STOPPED: Final = "The local model has stopped and is being started again. Try again in a moment."


class Config(ProviderConfig):
    """``path`` is a GGUF file of one's own and goes before ``model``; ``auto`` takes the larger of the two models that
    memory allows, and the smaller where the larger cannot be had. ``context`` is in tokens per conversation.
    ``wait_seconds`` is how long a message waits for a model that is still being prepared."""

    model: Literal["auto", "qwen2.5-coder-0.5b", "smollm2-135m"] = "auto"
    path: Path | None = None
    threads: int = Field(default=1, ge=1, le=64)
    context: int = Field(default=4096, ge=512, le=32768)
    max_tokens: int = Field(default=1024, ge=16)
    sources: tuple[Source, ...] = ("path", "hub", "packages")
    models_dir: Path | None = None
    hub: str = ""
    pip_options: tuple[str, ...] = ()
    wait_seconds: float = Field(default=600.0, gt=0)
    silence_seconds: float = Field(default=300.0, gt=0)
    first_seconds: float = Field(default=600.0, gt=0)
    alive_seconds: float = Field(default=600.0, gt=0)
    whole_seconds: float = Field(default=900.0, gt=0)

    def price(self, model: str, endpoint: str = "") -> Price:
        return FREE

    def missing(self, endpoint: str = "") -> str:
        if find_spec("xllamacpp") is None:
            return "The package xllamacpp is not installed: pip install 'bowerbird[local]'."
        return ""

    def wrong(self) -> str:
        found = wrong_with(self.path) if self.path and "path" in self.sources else ""
        return f"path {found}: {self.path}" if found else ""


def build(name: str, config: Config, clock: Clock, data_dir: Path, http: Http) -> LocalProvider:
    return LocalProvider(name, config, clock, data_dir, http)


class LocalProvider:
    """Implements ``bot.core.ports.Provider``. Nothing runs until ``prepare``, ``run`` or the first request."""

    def __init__(self, name: str, config: Config, clock: Clock, data_dir: Path, http: Http) -> None:
        self._name, self._config, self._clock, self._http = name, config, clock, http
        folder = config.models_dir or Path(os.environ.get(MODELS_VARIABLE) or data_dir / "models")
        shelf = Shelf(folder, http, clock, config.sources, config.hub, config.pip_options)
        data_dir.mkdir(parents=True, exist_ok=True)
        self._keeper = Keeper(_plan(config, data_dir), shelf, http, clock)

    @property
    def profile(self) -> str:
        """The system prompt made for this model: short, and the same bytes every time."""
        return PROFILE

    @property
    def state(self) -> LocalState:
        if missing := self._config.missing():
            return LocalState(Phase.FAILED, reason=missing)
        return self._keeper.state

    async def prepare(self, system: str = PROFILE, progress: Callable[[LocalState], None] | None = None) -> LocalState:
        """Download what is missing, load it, and have ``system``, the prompt that requests will begin with, read once.

        Raises no ``ProviderError``: what went wrong is in the state that is returned.
        """
        if self._config.missing():
            return self.state
        return await self._keeper.prepare(system, progress)

    async def run(self, system: str = PROFILE, progress: Callable[[LocalState], None] | None = None) -> None:
        """``prepare``, and then until cancelled: start the engine again if it ends."""
        await self.prepare(system, progress)
        await self._keeper.watch()

    async def stand_by(self) -> None:
        """Until cancelled, while others answer: know whether the person's own file could be loaded if it were needed."""
        await self._keeper.stand_by()

    @asynccontextmanager
    async def stream(self, request: ModelRequest) -> AsyncIterator[AsyncIterator[ModelEvent]]:
        if missing := self._config.missing():
            raise ModelMissing(missing)
        faults = Faults(self._name, request.model.model)
        turns = turns_of(request.messages)
        ids = CallIds(request, self._clock)
        if sentence := "" if request.schema else settled(request.messages, turns, request.tools):
            yield _one_answer(sentence)
            return
        offered = _offered(request, turns)
        if len(offered) == 1 and goes_without_saying("\n".join(turns[-1].words), offered[0]):
            yield _one_call(ids, offered[0])
            return
        answer = self._answer(request, turns, offered, faults, ids)
        engine = await self._keeper.engine(self._config.wait_seconds)
        try:
            async with self._http.request(
                "POST",
                f"{engine.address}/v1/chat/completions",
                headers=engine.headers,
                body=wire.body_bytes(self._body(request, turns, offered)),
                timeouts=Timeouts(connect=5.0, silence=self._config.read_seconds),
            ) as reply:
                if reply.status != 200:
                    raise await _refused(reply, faults)
                frames = wire.frames_of(reply, SseFrames)
                async with wire.answering(reply, frames, answer, faults, request.gather) as events:
                    yield events
        except TransportError as error:
            raise translated(error, faults) from None

    async def aclose(self) -> None:
        await self._keeper.aclose()

    def _answer(
        self, request: ModelRequest, turns: list[Turn], offered: tuple[ToolSpec, ...], faults: Faults, ids: CallIds
    ) -> wire.Answer:
        plain = ChatStream(replace(request, tools=()), faults, ids, vendor=self._name)
        answer: wire.Answer = ActionStream(plain, ids) if offered else plain
        if request.schema:
            return answer
        if turns and turns[-1].facts:
            answer = EchoStream(answer, turns[-1].said, turns[-1].known, turns[-1].told)
        elif turns and wants_one_sentence(turns[-1].said):
            answer = OneSentence(answer)
        return RepeatStream(answer)

    def _body(self, request: ModelRequest, turns: list[Turn], offered: tuple[ToolSpec, ...]) -> dict[str, Any]:
        schema = action_schema(offered) if offered else bounded(request.schema) if request.schema else None
        body: dict[str, Any] = {
            "messages": chat_turns(request.system, turns, offered),
            "max_tokens": min(request.model.max_tokens, self._config.max_tokens),
            "temperature": request.model.temperature or 0.0,
            "stream": not request.whole,
            "cache_prompt": True,
        }
        if not request.whole:
            body["stream_options"] = {"include_usage": True}
        if schema:
            body["response_format"] = {"type": "json_schema", "json_schema": {"name": "answer", "schema": schema}}
        return body


def _offered(request: ModelRequest, turns: list[Turn]) -> tuple[ToolSpec, ...]:
    """The tools that the model gets to see for the words it is to answer now."""
    if not turns or turns[-1].role != "user" or request.tool_choice == "none" or request.schema:
        return ()
    return may_need("\n".join(turns[-1].words), still_open(turns[-1], request.tools))


async def _one_call(ids: CallIds, tool: ToolSpec) -> AsyncIterator[ModelEvent]:
    yield ModelUsage(Usage())  # nobody was asked
    yield ModelCall(called(ids.take(None), tool.name, {}))
    yield ModelStop(ModelStopReason.TOOL_USE)


async def _one_answer(sentence: str) -> AsyncIterator[ModelEvent]:
    yield ModelUsage(Usage())
    yield ModelText(sentence)
    yield ModelStop(ModelStopReason.END)


async def _refused(reply: Reply, faults: Faults) -> ProviderError:
    body = (await reply.read(ERROR_BYTES)).decode("utf-8", "replace")
    try:
        said = json.loads(body)
    except ValueError:
        said = body
    return faults.complaint(complaint_of(said, reply.status, reply.headers))


def translated(error: TransportError, faults: Faults) -> ProviderError:
    """The one place where what breaks on the way to the engine becomes a provider's error: it is gone, or so busy that
    it does not even accept."""
    if isinstance(error, TransportTimeout):
        return faults.lost(error)
    return ProviderUnreachable(STOPPED, detail=str(error))


def _plan(config: Config, data_dir: Path) -> Plan:
    first = chosen(config.model, free_memory_bytes())
    models = (first, SMOLLM2) if config.model == "auto" and first is not SMOLLM2 else (first,)
    path = config.path if "path" in config.sources else None
    return Plan(path, models, config.threads, config.context, data_dir / "local-engine.log")
