"""OpenAI and every server that speaks its chat completions: the official library asks, the raw stream is read here."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal
from urllib.parse import urlsplit

from pydantic import SecretStr, field_validator

from bot.core.errors import KeyRefused, ProviderError, RequestRefused, TransportError
from bot.core.http import Http, Reply
from bot.core.model import Audio, ModelEvent, ModelRef, ModelRequest, Price, Transcript, Usage
from bot.core.ports import Clock
from bot.providers import pricelist
from bot.providers.calls import CallIds
from bot.providers.chat_request import chat_format, chat_messages, chat_tools
from bot.providers.chat_stream import ChatStream
from bot.providers.concessions import Concessions
from bot.providers.faults import Faults, complaint_of
from bot.providers.proof import proven
from bot.providers.schemas import told
from bot.providers.sdk import Nowhere, carried, clean_environment, hush, install_hint, rehearse, reply_of
from bot.providers.serving import window_at
from bot.providers.settings import ProviderConfig, checked_key, checked_url
from bot.providers.sse import SseFrames
from bot.providers.wire import answering, body_bytes, frames_of, parsed

if TYPE_CHECKING:
    import openai

_OWN_HOST: Final = "api.openai.com"
_CONCEDABLE: Final = frozenset(
    {"temperature", "max_completion_tokens", "stream_options", "reasoning_effort", "response_format"}
)
_BLIND: Final = re.compile(r"gpt-3|gpt-4(-\d{4}|-32k|$)|o1-(mini|preview)|o3-mini")
_NO_KEY: Final = "none"
"""What servers without keys are sent: the library insists on one."""


class Config(ProviderConfig):
    """A key is needed at OpenAI itself; other servers may have none."""

    transcribes: ClassVar[bool] = True

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

    def sees(self, model: str, endpoint: str = "") -> bool:
        """OpenAI's own do, but for the few that are named; what another server has, only its owner knows."""
        return is_openai(endpoint or self.base_url) and not _BLIND.match(model)

    def price(self, model: str, endpoint: str = "") -> Price | None:
        return pricelist.price_of("openai", model) if is_openai(endpoint or self.base_url) else None

    def window(self, model: str, endpoint: str = "") -> int | None:
        return pricelist.window_of("openai", model) if is_openai(endpoint or self.base_url) else None

    def missing(self, endpoint: str = "") -> str:
        if not self.api_key.get_secret_value() and is_openai(endpoint or self.base_url):
            return "It has no api_key."
        return install_hint("openai")


async def probe(config: Config) -> str:
    """Whether the key is accepted; raises ``ProviderError`` or ``TransportError`` with what to do."""
    key = config.api_key.get_secret_value() or _NO_KEY
    return await proven(f"{config.base_url}/models", {"Authorization": f"Bearer {key}"})


def build(name: str, config: Config, clock: Clock, data_dir: Path, http: Http) -> OpenAIProvider:
    return OpenAIProvider(name, config, clock, http)


class OpenAIProvider:
    """Implements ``bot.core.ports.Provider``. Clients are built at their first use, one per address."""

    def __init__(self, name: str, config: Config, clock: Clock, http: Http) -> None:
        self._name, self._config, self._clock, self._http = name, config, clock, http
        self._clients: dict[str, openai.AsyncOpenAI] = {}
        self._concessions = Concessions(name)

    @asynccontextmanager
    async def stream(self, request: ModelRequest) -> AsyncIterator[AsyncIterator[ModelEvent]]:
        faults = Faults(self._name, request.model.model, (self._config.api_key.get_secret_value(),))
        reply = await self._opened(request, faults)
        others = not is_openai(request.model.endpoint or self._config.base_url)
        answer = ChatStream(request, faults, CallIds(request, self._clock), vendor=self._name, writes_calls=others)
        async with answering(reply, frames_of(reply, SseFrames), answer, faults, request.gather) as events:
            yield events

    async def transcribe(self, model: ModelRef, audio: Audio) -> Transcript:
        """Implements ``bot.core.ports.Transcribing``."""
        faults = Faults(self._name, model.model, (self._config.api_key.get_secret_value(),))
        base_url = model.endpoint or self._config.base_url
        if missing := self._config.missing(base_url):
            raise faults.error(KeyRefused, missing)
        client = self._client(base_url)
        import openai

        try:
            reply = await _sent_sound(client, model.model, audio)
            try:
                body = await reply.read()
            finally:
                await reply.aclose()
        except (openai.OpenAIError, TransportError) as error:
            raise translated(error, faults, self._clock.now()) from None
        return _transcript(parsed(body.decode("utf-8", "replace"), faults), faults)

    async def window(self, model: ModelRef) -> int | None:
        """Implements ``bot.providers.windows.Telling``. OpenAI's own list of models says nothing of it."""
        base_url = model.endpoint or self._config.base_url
        if is_openai(base_url):
            return None
        key = self._config.api_key.get_secret_value() or _NO_KEY
        return await window_at(self._http, base_url, {"Authorization": f"Bearer {key}"}, model.model)

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

    async def _opened(self, request: ModelRequest, faults: Faults) -> Reply:
        """A server that is not OpenAI's own may take a schema and not keep to it: there it stands in the prompt as well."""
        model = request.model.model
        obeys = is_openai(request.model.endpoint or self._config.base_url)
        while True:
            without = self._concessions.of(model)
            said = request if obeys and "response_format" not in without else told(request)
            body = completion_body(said, self._name, without, effort=self._config.effort)
            try:
                return await self._post(request, body, faults)
            except RequestRefused as refusal:
                if not self._concessions.learn(model, refusal, _CONCEDABLE & body.keys()):
                    raise

    async def _post(self, request: ModelRequest, body: dict[str, Any], faults: Faults) -> Reply:
        base_url = request.model.endpoint or self._config.base_url
        if missing := self._config.missing(base_url):
            raise faults.error(KeyRefused, missing)
        client = self._client(base_url)  # imports the library in a clean room
        import openai

        try:
            return await _asked(client, body)
        except (openai.OpenAIError, TransportError) as error:
            raise translated(error, faults, self._clock.now()) from None

    def _client(self, base_url: str) -> openai.AsyncOpenAI:
        if base_url not in self._clients:
            self._clients[base_url] = self._made(base_url, self._http)
        return self._clients[base_url]

    def _made(self, base_url: str, http: Http | Nowhere) -> openai.AsyncOpenAI:
        with clean_environment("OPENAI_"):
            import openai

            hush("openai")
            return openai.AsyncOpenAI(
                api_key=self._config.api_key.get_secret_value() or _NO_KEY,
                base_url=base_url,
                max_retries=0,
                http_client=carried(http, self._config.read_seconds),
            )


async def _asked(client: openai.AsyncOpenAI, body: dict[str, Any]) -> Reply:
    import httpx2
    import openai

    sent = client.post(
        "/chat/completions",
        cast_to=httpx2.Response,
        content=body_bytes(body),
        options={"headers": {"Content-Type": "application/json", "Accept": "text/event-stream"}},
        stream=True,
        stream_cls=openai.AsyncStream[object],
    )
    return reply_of(await sent)


async def _sent_sound(client: openai.AsyncOpenAI, model: str, audio: Audio) -> Reply:
    """``POST /audio/transcriptions``, https://developers.openai.com/api/reference: a form with the file and the model."""
    import httpx2

    sent = client.post(
        "/audio/transcriptions",
        cast_to=httpx2.Response,
        body={"model": model, "response_format": "json"},
        files=[("file", (audio.name, audio.data, audio.media_type))],
        options={"headers": {"Content-Type": "multipart/form-data", "Accept": "application/json"}},
    )
    return reply_of(await sent)


def _transcript(body: dict[str, Any], faults: Faults) -> Transcript:
    """Servers that charge by the minute tell no tokens."""
    text, used = body.get("text"), body.get("usage")
    if not isinstance(text, str):
        raise faults.garbled("a transcript without its text")
    counts = used if isinstance(used, dict) else {}
    read, written = (counts.get(key) for key in ("input_tokens", "output_tokens"))
    return Transcript(text, Usage(read if isinstance(read, int) else 0, written if isinstance(written, int) else 0))


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
        "stream": not request.whole,
    }
    if not request.whole:
        body["stream_options"] = {"include_usage": True}
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


def translated(error: Exception, faults: Faults, now: float) -> ProviderError:
    """The one place where OpenAI's errors, and those of the transport below it, become ours."""
    import openai

    if isinstance(error, openai.APIStatusError):
        body = error.body if error.body is not None else error.response.text
        return faults.complaint(complaint_of(body, error.status_code, error.response.headers, now))
    cause = error.__cause__ if isinstance(error, openai.APIConnectionError) else error
    if isinstance(cause, TransportError):
        return faults.unreached(cause)
    return faults.error(RequestRefused, type(error).__name__)
