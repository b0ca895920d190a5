"""Anthropic: the official library makes the request, the raw stream is read here."""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import aclosing, asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal
from urllib.parse import quote

from pydantic import Field, SecretStr, field_validator

from bot.core.errors import ProviderError, RequestRefused, TransportError
from bot.core.http import Http, Reply
from bot.core.model import Message, ModelEvent, ModelRef, ModelRequest, ModelText, Price, ThinkingBlock
from bot.core.ports import Clock
from bot.providers import pricelist
from bot.providers.anthropic.request import holds_thinking, messages_body, prefilled
from bot.providers.anthropic.stream import MessageStream
from bot.providers.calls import CallIds
from bot.providers.concessions import Concessions
from bot.providers.faults import Faults, complaint_of
from bot.providers.proof import listed, proven
from bot.providers.sdk import Nowhere, carried, clean_environment, hush, install_hint, rehearse, reply_of
from bot.providers.settings import ProviderConfig, checked_key, checked_url
from bot.providers.sse import SseFrames
from bot.providers.windows import count_in
from bot.providers.wire import answering, body_bytes, frames_of

if TYPE_CHECKING:
    import anthropic

log = logging.getLogger(__name__)


API_VERSION: Final = "2026-10-21"


class Config(ProviderConfig):
    """``thinking`` is sent as it stands (``{type: adaptive, display: summarized}``); empty leaves it to the model."""

    api_key: SecretStr = SecretStr("")
    base_url: str = "https://api.anthropic.com"
    effort: Literal["default", "low", "medium", "high", "xhigh", "max"] = "default"
    thinking: dict[str, Any] = Field(default_factory=dict)

    @field_validator("base_url")
    @classmethod
    def _a_url(cls, value: str) -> str:
        return checked_url(value).removesuffix("/v1")

    @field_validator("api_key")
    @classmethod
    def _a_key(cls, value: SecretStr) -> SecretStr:
        return checked_key(value)

    def sees(self, model: str, endpoint: str = "") -> bool:
        """All that Anthropic serves do."""
        return True

    def price(self, model: str, endpoint: str = "") -> Price | None:
        return pricelist.price_of("anthropic", model)

    def window(self, model: str, endpoint: str = "") -> int | None:
        return pricelist.window_of("anthropic", model)

    def missing(self, endpoint: str = "") -> str:
        return install_hint("anthropic") if self.api_key.get_secret_value() else "It has no api_key."


async def probe(config: Config) -> str:
    """Whether the key is accepted; raises ``ProviderError`` or ``TransportError`` with what to do."""
    return await proven(f"{config.base_url}/v1/models", _headers(config))


def _headers(config: Config) -> Mapping[str, str]:
    return {"Authorization": f"Bearer {config.api_key.get_secret_value()}", "anthropic-version": API_VERSION}


def build(name: str, config: Config, clock: Clock, data_dir: Path, http: Http) -> AnthropicProvider:
    return AnthropicProvider(name, config, clock, http)


class AnthropicProvider:
    """Implements ``bot.core.ports.Provider``. Clients are built at their first use, one per address."""

    def __init__(self, name: str, config: Config, clock: Clock, http: Http) -> None:
        if not config.api_key.get_secret_value():
            raise ValueError("an Anthropic provider needs an api_key")
        self._name, self._config, self._clock, self._http = name, config, clock, http
        self._clients: dict[str, anthropic.AsyncAnthropic] = {}
        self._concessions = Concessions(name)

    @asynccontextmanager
    async def stream(self, request: ModelRequest) -> AsyncIterator[AsyncIterator[ModelEvent]]:
        faults = Faults(self._name, request.model.model, (self._config.api_key.get_secret_value(),))
        reply, begins = await self._opened(request, faults)
        answer = MessageStream(faults, CallIds(request, self._clock), vendor=self._name)
        async with answering(reply, frames_of(reply, SseFrames), answer, faults, request.gather) as events:
            if not begins:
                yield events
                return
            async with aclosing(_begun(begins, events)) as begun:
                yield begun

    async def window(self, model: ModelRef) -> int | None:
        """Implements ``bot.providers.windows.Telling``."""
        address = f"{model.endpoint or self._config.base_url}/v1/models/{quote(model.model, safe='')}"
        return count_in((await listed(self._http, address, _headers(self._config))).get("max_input_tokens"))

    def warm(self, endpoint: str = "") -> None:
        """Implements ``bot.providers.models.Warming``."""
        base_url = endpoint or self._config.base_url
        self._client(base_url)
        rehearse(_asked(self._made(base_url, Nowhere()), {}))

    async def aclose(self) -> None:
        clients = list(self._clients.values())
        self._clients.clear()
        for client in clients:
            await client.close()

    async def _opened(self, request: ModelRequest, faults: Faults) -> tuple[Reply, str]:
        """The open answer, and the beginning that the model goes on from. Newer models bind reasoning to all that stands
        before it and refuse it elsewhere: then it goes, whole."""
        while True:
            try:
                return await self._post(request, faults)
            except RequestRefused as refusal:
                words = refusal.detail.lower()
                parts = ({"output_config"} if request.schema else set()) | ({"prefill"} if request.prefill else set())
                if self._concessions.learn(request.model.model, refusal, parts):
                    continue
                is_about_reasoning = "thinking" in words or "signature" in words
                if not is_about_reasoning or not holds_thinking(request, self._name):
                    raise
                log.warning("%s refused reasoning from earlier in this turn; going on without it", self._name)
                request = _without_thinking(request)

    async def _post(self, request: ModelRequest, faults: Faults) -> tuple[Reply, str]:
        client = self._client(request.model.endpoint or self._config.base_url)  # imports the library in a clean room
        import anthropic

        thinking, without = self._config.thinking, self._concessions.of(request.model.model)
        body = messages_body(request, self._name, effort=self._config.effort, thinking=thinking, without=without)
        try:
            return await _asked(client, body), prefilled(request, thinking=bool(thinking), without=without)
        except (anthropic.AnthropicError, TransportError) as error:
            raise translated(error, faults, self._clock.now()) from None

    def _client(self, base_url: str) -> anthropic.AsyncAnthropic:
        """No copies of a client either: making one reads the environment again."""
        if base_url not in self._clients:
            self._clients[base_url] = self._made(base_url, self._http)
        return self._clients[base_url]

    def _made(self, base_url: str, http: Http | Nowhere) -> anthropic.AsyncAnthropic:
        with clean_environment("ANTHROPIC_"):
            import anthropic

            hush("anthropic")
            return anthropic.AsyncAnthropic(
                api_key=self._config.api_key.get_secret_value(),
                base_url=base_url,
                max_retries=0,
                open_telemetry=False,
                http_client=carried(http, self._config.read_seconds),
            )


async def _asked(client: anthropic.AsyncAnthropic, body: dict[str, Any]) -> Reply:
    import anthropic
    import httpx2

    sent = client.post(
        "/v1/messages",
        cast_to=httpx2.Response,
        content=body_bytes(body),
        options={"headers": {"Content-Type": "application/json", "Accept": "text/event-stream"}},
        stream=True,
        stream_cls=anthropic.AsyncStream[object],
    )
    return reply_of(await sent)


async def _begun(begins: str, events: AsyncIterator[ModelEvent]) -> AsyncGenerator[ModelEvent, None]:
    """The model goes on from ``begins`` and does not repeat it."""
    async for event in events:
        if begins and isinstance(event, ModelText):
            yield ModelText(begins)
            begins = ""
        yield event


def translated(error: Exception, faults: Faults, now: float) -> ProviderError:
    """The one place where Anthropic's errors, and those of the transport below it, become ours."""
    import anthropic

    if isinstance(error, anthropic.APIStatusError):
        body = error.body if error.body is not None else str(error)
        return faults.complaint(complaint_of(body, error.status_code, error.response.headers, now))
    cause = error.__cause__ if isinstance(error, anthropic.APIConnectionError) else error
    if isinstance(cause, TransportError):
        return faults.unreached(cause)
    return faults.error(RequestRefused, type(error).__name__)


def _without_thinking(request: ModelRequest) -> ModelRequest:
    messages = (
        Message(message.role, tuple(block for block in message.content if not isinstance(block, ThinkingBlock)))
        for message in request.messages
    )
    return replace(request, messages=tuple(messages))
