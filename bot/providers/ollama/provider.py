"""Ollama: the official library carries the request to the native API, the raw stream is read here."""

from __future__ import annotations

import json
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

from pydantic import Field, SecretStr, field_validator

from bot.core.errors import (
    ContextTooLong,
    ProviderError,
    ProviderUnreachable,
    RequestRefused,
    StreamCut,
    StreamStalled,
)
from bot.core.model import ModelEvent, ModelRequest
from bot.core.ports import Clock
from bot.providers.calls import CallIds
from bot.providers.concessions import Concessions
from bot.providers.faults import Faults, complaint_of
from bot.providers.ollama.request import chat_body, estimated_tokens
from bot.providers.ollama.stream import OllamaStream
from bot.providers.sdk import CONNECT_SECONDS, WRITE_SECONDS, clean_environment, hush, install_hint
from bot.providers.settings import ProviderConfig, checked_key, checked_url
from bot.providers.sse import NdjsonFrames
from bot.providers.wire import Transport, answering, body_bytes

if TYPE_CHECKING:
    import httpx

log = logging.getLogger(__name__)

_CUT_RATIO: Final = 0.6
"""A prompt counted at less than this share of its estimate was cut by the server: estimates are within a third."""
_WORTH_CHECKING_TOKENS: Final = 1024
_ERROR_BYTES: Final = 64 * 1024


class Config(ProviderConfig):
    """``window_tokens`` is the context window for models whose entry names none; the server's own default is smaller
    than most prompts. ``think`` is whether, or how much, a model that can reason does so."""

    silence_seconds: float = Field(default=300.0, gt=0)
    first_seconds: float = Field(default=600.0, gt=0)
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

    def missing(self, endpoint: str = "") -> str:
        return install_hint("ollama")


def build(name: str, config: Config, clock: Clock, data_dir: Path) -> OllamaProvider:
    return OllamaProvider(name, config, clock)


class OllamaProvider:
    """Implements ``bot.core.ports.Provider``. Clients are built at their first use, one per address."""

    def __init__(self, name: str, config: Config, clock: Clock) -> None:
        self._name, self._config, self._clock = name, config, clock
        self._clients: dict[str, httpx.AsyncClient] = {}
        self._concessions = Concessions(name)

    @asynccontextmanager
    async def stream(self, request: ModelRequest) -> AsyncIterator[AsyncIterator[ModelEvent]]:
        """A prompt that surely does not fit the window is refused here with ``ContextTooLong``; one that the server's
        count shows to have been cut is logged, since its answer has been read by then."""
        import httpx

        faults = Faults(self._name, request.model.model, (self._config.api_key.get_secret_value(),))
        response, estimate_tokens = await self._opened(request, faults)
        answer = OllamaStream(request, faults, CallIds(request, self._clock), vendor=self._name)
        transport = Transport(httpx.HTTPError, lambda error: translated(error, faults))
        async with answering(response, NdjsonFrames(), answer, faults, transport) as events:
            yield events
        self._note_cut(request, answer.prompt_tokens, estimate_tokens)

    async def aclose(self) -> None:
        clients = list(self._clients.values())
        self._clients.clear()
        for client in clients:
            await client.aclose()

    def _window(self, request: ModelRequest) -> int:
        return request.model.window_tokens or self._config.window_tokens

    async def _opened(self, request: ModelRequest, faults: Faults) -> tuple[httpx.Response, int]:
        model = request.model.model
        while True:
            body = chat_body(
                request,
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
                parts = {"tools"} & body.keys() | ({"thinking"} if "think" in body else set())
                if not self._concessions.learn(model, refusal, parts):
                    raise

    async def _post(self, request: ModelRequest, body: dict[str, Any], faults: Faults) -> httpx.Response:
        import httpx

        client = self._client(request.model.endpoint or self._config.base_url)
        try:
            sent = client.build_request("POST", "/api/chat", content=body_bytes(body))
            response = await client.send(sent, stream=True)
            if response.is_success:
                return response
            try:
                said = await _bounded(response)
            finally:
                await response.aclose()
        except httpx.HTTPError as error:
            raise translated(error, faults) from None
        raise faults.complaint(complaint_of(said, response.status_code, response.headers, self._clock.now()))

    def _client(self, base_url: str) -> httpx.AsyncClient:
        if base_url not in self._clients:
            key = self._config.api_key.get_secret_value()
            with clean_environment("OLLAMA_", "SSL_CERT_"):  # importing the library builds a client of its own
                self._clients[base_url] = _transport(base_url, key, self._config.read_seconds)
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


def _transport(base_url: str, key: str, read_seconds: float) -> httpx.AsyncClient:
    """The official client's transport. Its own methods read answers into classes that drop ids and refuse what models
    really send, and offer no raw stream; hence the subclass."""
    import httpx
    import ollama

    hush("ollama")

    class Carrier(ollama.AsyncClient):
        @property
        def transport(self) -> httpx.AsyncClient:
            client: httpx.AsyncClient = self._client
            return client

    timeout = httpx.Timeout(connect=CONNECT_SECONDS, read=read_seconds, write=WRITE_SECONDS, pool=CONNECT_SECONDS)
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    return Carrier(base_url, timeout=timeout, headers=headers, trust_env=False, follow_redirects=False).transport


async def _bounded(response: httpx.Response) -> Any:
    body = bytearray()
    async for chunk in response.aiter_bytes():
        body += chunk
        if len(body) > _ERROR_BYTES:
            break
    text = body.decode("utf-8", "replace")
    try:
        return json.loads(text)
    except ValueError:
        return text


def translated(error: Exception, faults: Faults) -> ProviderError:
    """The one place where the errors of Ollama's transport become ours."""
    import httpx

    if isinstance(error, httpx.ConnectError | httpx.ConnectTimeout | httpx.PoolTimeout):
        return faults.error(ProviderUnreachable, type(error).__name__)
    if isinstance(error, httpx.ReadTimeout):
        return faults.error(StreamStalled, type(error).__name__)
    return faults.error(StreamCut, type(error).__name__)
