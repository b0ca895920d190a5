"""OpenAI and every server that speaks its chat completions: the official library carries, the raw stream is read here."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, cast
from urllib.parse import urlsplit

from pydantic import SecretStr, field_validator

from bot.core.errors import (
    KeyRefused,
    ProviderError,
    ProviderUnreachable,
    RequestRefused,
    StreamCut,
    StreamStalled,
)
from bot.core.model import ModelEvent, ModelRequest
from bot.core.ports import Clock
from bot.providers.calls import CallIds
from bot.providers.chat_request import chat_format, chat_messages, chat_tools
from bot.providers.chat_stream import ChatStream
from bot.providers.concessions import Concessions
from bot.providers.faults import Faults, complaint_of
from bot.providers.proof import proven
from bot.providers.sdk import clean_environment, http2_client, hush, install_hint
from bot.providers.settings import ProviderConfig, checked_key, checked_url
from bot.providers.sse import Frames, SseFrames, WholeBody
from bot.providers.wire import Transport, answering, body_bytes

if TYPE_CHECKING:
    import httpx2
    import openai

_OWN_HOST: Final = "api.openai.com"
_CONCEDABLE: Final = frozenset({"temperature", "max_completion_tokens", "stream_options", "reasoning_effort"})
_NO_KEY: Final = "none"
"""What servers without keys are sent: the library insists on one."""


class Config(ProviderConfig):
    """A key is needed at OpenAI itself; other servers may have none."""

    api_key: SecretStr = SecretStr("")
    base_url: str = "https://api.openai.com/v1"
    effort: Literal["default", "none", "minimal", "low", "medium", "high", "xhigh", "max"] = "default"

    @field_validator("base_url")
    @classmethod
    def _a_url(cls, value: str) -> str:
        return checked_url(value)

    @field_validator("api_key")
    @classmethod
    def _a_key(cls, value: SecretStr) -> SecretStr:
        return checked_key(value)

    def missing(self, endpoint: str = "") -> str:
        if not self.api_key.get_secret_value() and is_openai(endpoint or self.base_url):
            return "It has no api_key."
        return install_hint("openai")


async def probe(config: Config) -> str:
    """Whether the key is accepted; raises ``ProviderError`` or ``TransportError`` with what to do."""
    key = config.api_key.get_secret_value() or _NO_KEY
    return await proven(f"{config.base_url}/models", {"Authorization": f"Bearer {key}"})


def build(name: str, config: Config, clock: Clock, data_dir: Path) -> OpenAIProvider:
    return OpenAIProvider(name, config, clock)


class OpenAIProvider:
    """Implements ``bot.core.ports.Provider``. Clients are built at their first use, one per address."""

    def __init__(self, name: str, config: Config, clock: Clock) -> None:
        self._name, self._config, self._clock = name, config, clock
        self._clients: dict[str, openai.AsyncOpenAI] = {}
        self._concessions = Concessions(name)

    @asynccontextmanager
    async def stream(self, request: ModelRequest) -> AsyncIterator[AsyncIterator[ModelEvent]]:
        import httpx2

        faults = Faults(self._name, request.model.model, (self._config.api_key.get_secret_value(),))
        response = await self._opened(request, faults)
        others = not is_openai(request.model.endpoint or self._config.base_url)
        answer = ChatStream(request, faults, CallIds(request, self._clock), vendor=self._name, writes_calls=others)
        transport = Transport(httpx2.HTTPError, lambda error: translated(error, faults, self._clock.now()))
        async with answering(response, _frames(response), answer, faults, transport) as events:
            yield events

    async def aclose(self) -> None:
        clients = list(self._clients.values())
        self._clients.clear()
        for client in clients:
            await client.close()

    async def _opened(self, request: ModelRequest, faults: Faults) -> httpx2.Response:
        model = request.model.model
        while True:
            body = completion_body(request, self._name, self._concessions.of(model), effort=self._config.effort)
            try:
                return await self._post(request, body, faults)
            except RequestRefused as refusal:
                if not self._concessions.learn(model, refusal, _CONCEDABLE & body.keys()):
                    raise

    async def _post(self, request: ModelRequest, body: dict[str, Any], faults: Faults) -> httpx2.Response:
        client = self._client(request.model.endpoint or self._config.base_url, faults)  # imports it in a clean room
        import httpx2
        import openai

        try:
            sent = client.post(
                "/chat/completions",
                cast_to=httpx2.Response,
                content=body_bytes(body),
                options={"headers": {"Content-Type": "application/json", "Accept": "text/event-stream"}},
                stream=True,
                stream_cls=openai.AsyncStream[object],
            )
            return cast("httpx2.Response", await sent)
        except (openai.OpenAIError, httpx2.HTTPError) as error:
            raise translated(error, faults, self._clock.now()) from None

    def _client(self, base_url: str, faults: Faults) -> openai.AsyncOpenAI:
        if base_url not in self._clients:
            if missing := self._config.missing(base_url):
                raise faults.error(KeyRefused, missing)
            with clean_environment("OPENAI_"):
                import openai

                hush("openai")
                self._clients[base_url] = openai.AsyncOpenAI(
                    api_key=self._config.api_key.get_secret_value() or _NO_KEY,
                    base_url=base_url,
                    max_retries=0,
                    http_client=http2_client(self._config.read_seconds),
                )
        return self._clients[base_url]


def is_openai(base_url: str) -> bool:
    """Whether it is OpenAI itself that answers there: it wants a key, and its models never write calls as text."""
    return urlsplit(base_url).hostname == _OWN_HOST


def completion_body(
    request: ModelRequest, vendor: str, without: frozenset[str] = frozenset(), *, effort: str = "default"
) -> dict[str, Any]:
    """The body of ``POST /chat/completions``. ``without`` are parameters that this model has refused; a server that
    does not know ``max_completion_tokens`` gets its old name."""
    model = request.model
    limit = "max_tokens" if "max_completion_tokens" in without else "max_completion_tokens"
    body: dict[str, Any] = {
        "model": model.model,
        "messages": chat_messages(request, vendor),
        limit: model.max_tokens,
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    if model.temperature is not None:
        body["temperature"] = model.temperature
    if effort != "default":
        body["reasoning_effort"] = effort
    if request.tools:
        body["tools"] = chat_tools(request.tools)
        if request.tool_choice == "none":
            body["tool_choice"] = "none"
    if request.schema is not None:
        body["response_format"] = chat_format(request.schema)
    return {key: value for key, value in body.items() if key not in without}


def _frames(response: httpx2.Response) -> Frames:
    """A server that does not stream answers with the whole completion as JSON."""
    kind = response.headers.get("content-type", "")
    return WholeBody() if kind.startswith("application/json") else SseFrames()


def translated(error: Exception, faults: Faults, now: float) -> ProviderError:
    """The one place where OpenAI's errors, and those of the transport below it, become ours."""
    import httpx2
    import openai

    if isinstance(error, openai.APIStatusError):
        body = error.body if error.body is not None else error.response.text
        return faults.complaint(complaint_of(body, error.status_code, error.response.headers, now))
    cause = error.__cause__ if isinstance(error, openai.APIConnectionError) else error
    if isinstance(cause, httpx2.ReadTimeout):
        return faults.error(StreamStalled, type(cause).__name__)
    if isinstance(error, openai.APIConnectionError):
        return faults.error(ProviderUnreachable, type(cause).__name__)
    return faults.error(StreamCut if isinstance(error, httpx2.HTTPError) else RequestRefused, type(error).__name__)
