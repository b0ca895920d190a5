"""Ollama: the official library makes the request to the native API, the raw stream is read here."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

from pydantic import Field, SecretStr, field_validator

from bot.core.errors import ContextTooLong, ProviderError, RequestRefused, TransportError
from bot.core.http import Http, Reply
from bot.core.model import FREE, ModelEvent, ModelRef, ModelRequest, Price
from bot.core.ports import Clock
from bot.net.http import Transport
from bot.providers.calls import CallIds
from bot.providers.concessions import Concessions
from bot.providers.faults import Faults, complaint_of
from bot.providers.ollama.request import chat_body, estimated_tokens
from bot.providers.ollama.served import served, shown
from bot.providers.ollama.stream import OllamaStream
from bot.providers.schemas import told
from bot.providers.sdk import Carrier, Nowhere, clean_environment, hush, install_hint, rehearse, reply_of
from bot.providers.settings import ProviderConfig, checked_key, checked_url
from bot.providers.sse import NdjsonFrames
from bot.providers.wire import answering, body_bytes

if TYPE_CHECKING:
    import httpx

log = logging.getLogger(__name__)

_CUT_RATIO: Final = 0.6
"""A prompt counted at less than this share of its estimate was cut by the server: estimates are within a third."""
_WORTH_CHECKING_TOKENS: Final = 1024


class Config(ProviderConfig):
    """``window_tokens`` is the context window for models whose entry names none: the server's own default is smaller
    than most prompts, and what a model could read more memory than most machines have. Where it is left out, a model that
    was set up with a ``num_ctx`` of its own keeps that. ``think`` is whether, or how much, a model that can reason does so."""

    silence_seconds: float = Field(default=300.0, gt=0)
    first_seconds: float = Field(default=600.0, gt=0)
    alive_seconds: float = Field(default=600.0, gt=0)
    whole_seconds: float = Field(default=900.0, gt=0)
    api_key: SecretStr = SecretStr("")
    base_url: str = "http://127.0.0.1:11434"
    window_tokens: int = Field(default=8192, ge=512)
    think: bool | Literal["default", "low", "medium", "high", "max"] = "default"
    keep_alive: str | None = None

    @field_validator("base_url")
    @classmethod
    def _a_url(cls, value: str) -> str:
        return checked_url(value).removesuffix("/v1").removesuffix("/api")

    @field_validator("api_key")
    @classmethod
    def _a_key(cls, value: SecretStr) -> SecretStr:
        return checked_key(value)

    def price(self, model: str, endpoint: str = "") -> Price:
        return FREE

    def window(self, model: str, endpoint: str = "") -> int:
        return self.window_tokens

    def missing(self, endpoint: str = "") -> str:
        return install_hint("ollama")


async def probe(config: Config) -> str:
    """How many models it has; raises ``ProviderError`` or ``TransportError`` with what to do."""
    transport = Transport()
    try:
        names = await served(transport, config.base_url, config.api_key)
    finally:
        await transport.aclose()
    return f"Ollama runs and has {len(names) or 'no'} model{'s' if len(names) != 1 else ''}"


def build(name: str, config: Config, clock: Clock, data_dir: Path, http: Http) -> OllamaProvider:
    return OllamaProvider(name, config, clock, http)


class OllamaProvider:
    """Implements ``bot.core.ports.Provider``. Clients are built at their first use, one per address."""

    def __init__(self, name: str, config: Config, clock: Clock, http: Http) -> None:
        self._name, self._config, self._clock, self._http = name, config, clock, http
        self._clients: dict[str, httpx.AsyncClient] = {}
        self._concessions = Concessions(name)

    @asynccontextmanager
    async def stream(self, request: ModelRequest) -> AsyncIterator[AsyncIterator[ModelEvent]]:
        """A prompt that surely does not fit the window is refused here with ``ContextTooLong``; one that the server's
        count shows to have been cut is logged, since its answer has been read by then."""
        faults = Faults(self._name, request.model.model, (self._config.api_key.get_secret_value(),))
        reply, estimate_tokens = await self._opened(request, faults)
        answer = OllamaStream(request, faults, CallIds(request, self._clock), vendor=self._name)
        async with answering(reply, NdjsonFrames(), answer, faults, request.gather) as events:
            yield events
        self._note_cut(request, answer.prompt_tokens, estimate_tokens)

    async def window(self, model: ModelRef) -> int:
        """Implements ``bot.providers.windows.Telling``."""
        config = self._config
        told = await shown(self._http, model.endpoint or config.base_url, config.api_key, model.model)
        if "window_tokens" in config.model_fields_set:
            return min(config.window_tokens, told.context_tokens or config.window_tokens)
        return told.window(config.window_tokens)

    def warm(self, endpoint: str = "") -> None:
        """Implements ``bot.providers.models.Warming``."""
        base_url = endpoint or self._config.base_url
        self._client(base_url)
        rehearse(_rehearsal(_client(base_url, "", Nowhere(), self._config.read_seconds)))

    async def aclose(self) -> None:
        clients = list(self._clients.values())
        self._clients.clear()
        for client in clients:
            await client.aclose()

    def _window(self, request: ModelRequest) -> int:
        return request.model.window_tokens or self._config.window_tokens

    async def _opened(self, request: ModelRequest, faults: Faults) -> tuple[Reply, int]:
        """A schema stands in the prompt as well: the server holds the model to it, but the model writes better when told."""
        model, said = request.model.model, told(request)
        while True:
            body = chat_body(
                said,
                self._name,
                window_tokens=self._window(request),
                think=None if self._config.think == "default" else self._config.think,
                keep_alive=self._config.keep_alive,
                without=self._concessions.of(model),
            )
            estimate_tokens, least_tokens = estimated_tokens(body)
            if least_tokens > self._window(request):
                raise faults.error(ContextTooLong, f"at least {least_tokens} tokens for {self._window(request)}")
            try:
                return await self._post(request, body, faults), estimate_tokens
            except RequestRefused as refusal:
                parts = {"tools", "format"} & body.keys() | ({"thinking"} if "think" in body else set())
                if not self._concessions.learn(model, refusal, parts):
                    raise

    async def _post(self, request: ModelRequest, body: dict[str, Any], faults: Faults) -> Reply:
        client = self._client(request.model.endpoint or self._config.base_url)
        try:
            response = await _asked(client, body)
        except TransportError as error:
            raise faults.unreached(error) from None
        if response.is_success:
            return reply_of(response)
        raise translated(response, faults, self._clock.now())

    def _client(self, base_url: str) -> httpx.AsyncClient:
        if base_url not in self._clients:
            key = self._config.api_key.get_secret_value()
            with clean_environment("OLLAMA_", "SSL_CERT_"):  # importing the library builds a client of its own
                self._clients[base_url] = _client(base_url, key, self._http, self._config.read_seconds)
        return self._clients[base_url]

    def _note_cut(self, request: ModelRequest, counted: int | None, estimate_tokens: int) -> None:
        if estimate_tokens < _WORTH_CHECKING_TOKENS:
            return
        if counted is not None and counted < estimate_tokens * _CUT_RATIO:
            log.warning(
                "%s read %d tokens of a prompt of about %d for %s: it was cut; give the model a larger window_tokens",
                self._name,
                counted,
                estimate_tokens,
                request.model.model,
            )


async def _asked(client: httpx.AsyncClient, body: dict[str, Any]) -> httpx.Response:
    return await client.send(client.build_request("POST", "/api/chat", content=body_bytes(body)), stream=True)


async def _rehearsal(client: httpx.AsyncClient) -> Reply:
    return reply_of(await _asked(client, {}))


def _client(base_url: str, key: str, http: Http | Nowhere, read_seconds: float) -> httpx.AsyncClient:
    """The HTTP client of the official library. The library's own methods read answers into classes that drop ids and
    refuse what models really send, and offer no raw stream; hence the subclass."""
    import httpx
    import ollama

    hush("ollama")

    class Bare(ollama.AsyncClient):
        @property
        def client(self) -> httpx.AsyncClient:
            client: httpx.AsyncClient = self._client
            return client

    headers = {"Authorization": f"Bearer {key}"} if key else {}
    carrier = Carrier(http, read_seconds, httpx.Response)
    return Bare(base_url, transport=carrier, headers=headers, trust_env=False, follow_redirects=False).client


def translated(response: httpx.Response, faults: Faults, now: float) -> ProviderError:
    """The one place where Ollama's errors, which it tells by a status and JSON, become ours."""
    try:
        said = response.json()
    except ValueError:
        said = response.text
    return faults.complaint(complaint_of(said, response.status_code, response.headers, now))
