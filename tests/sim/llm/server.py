"""The simulator itself: three vendors' HTTP APIs and a control API on one loopback port, and the methods that do the same."""

import asyncio
import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from types import TracebackType
from typing import Any, Self

from aiohttp import web

from tests.sim.llm import asked, catalog, faults, vendors
from tests.sim.llm.control import control_routes
from tests.sim.llm.faults import Refusal
from tests.sim.llm.gates import Gates
from tests.sim.llm.ledger import Ledger, Seen, Violation, presented_key
from tests.sim.llm.player import Player, request_headers
from tests.sim.llm.reply import Occasion
from tests.sim.llm.script import Answer, Script
from tests.sim.llm.steps import Status, Text, Usage
from tests.sim.llm.vendors import Memory, Settings

MAX_BODY_BYTES = 32 * 1024 * 1024
NAME = "{name:.+}"
ROUTES = {
    ("POST", "/v1/messages"): ("anthropic", "chat"),
    ("POST", "/v1/messages/count_tokens"): ("anthropic", "count_tokens"),
    ("POST", "/v1/chat/completions"): ("openai", "chat"),
    ("POST", "/v1/embeddings"): ("openai", "embeddings"),
    ("GET", "/v1/models"): ("openai", "models"),
    ("GET", f"/v1/models/{NAME}"): ("openai", "model"),
    ("GET", "/props"): ("openai", "props"),
    ("GET", f"/api/v0/models/{NAME}"): ("openai", "loaded"),
    ("POST", "/api/chat"): ("ollama", "chat"),
    ("GET", "/api/tags"): ("ollama", "models"),
    ("POST", "/api/show"): ("ollama", "show"),
    ("GET", "/api/ps"): ("ollama", "running"),
    ("GET", "/api/version"): ("ollama", "version"),
    ("POST", "/api/embed"): ("ollama", "embeddings"),
}


class LlmSim:
    """`async with LlmSim() as sim:` serves until the end of the block. `url` is the base for anthropic and ollama."""

    def __init__(
        self,
        settings: Settings | None = None,
        *,
        api_key: str | None = None,
        clock: Callable[[], float] = time.time,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        port: int = 0,
    ) -> None:
        self.settings = replace(settings or Settings(), api_key=api_key or (settings.api_key if settings else None))
        self.gates = Gates()
        self._clock, self._sleep, self._port = clock, sleep, port
        self._ledger = Ledger(clock)
        self._script = Script()
        self._memory = Memory()
        self._runner: web.AppRunner | None = None
        self._closing = False
        self.url = ""

    async def __aenter__(self) -> Self:
        app = web.Application(client_max_size=MAX_BODY_BYTES)
        for method, path in ROUTES:
            app.router.add_route(method, path, self._serve)
        app.router.add_routes(control_routes(self))
        app.router.add_route("*", "/{unknown:.*}", self._nowhere)
        self._runner = web.AppRunner(app, handler_cancellation=True, access_log=None, shutdown_timeout=0.2)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", self._port).start()
        self.url = f"http://127.0.0.1:{self._runner.addresses[0][1]}"
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._runner is not None, "never entered"
        self._closing = True
        self.gates.close()
        await self._runner.cleanup()

    @property
    def openai_url(self) -> str:
        """The base_url for openai clients."""
        return f"{self.url}/v1"

    @property
    def api_key(self) -> str | None:
        """The key Anthropic and OpenAI requests must present; None lets every key pass. Ollama needs none."""
        return self.settings.api_key

    @api_key.setter
    def api_key(self, key: str | None) -> None:
        self.settings.api_key = key

    @property
    def requests(self) -> list[Seen]:
        return self._ledger.requests

    @property
    def chats(self) -> list[Seen]:
        """The requests that asked a model to speak."""
        return [seen for seen in self.requests if seen.endpoint == "chat"]

    @property
    def violations(self) -> list[Violation]:
        return self._ledger.violations

    @property
    def unused(self) -> list[Answer]:
        """Scripted answers nobody has asked for."""
        return self._script.unused

    def script(self, *answers: Answer) -> None:
        """Add answers behind those already waiting."""
        self._script.add(answers)

    def release(self, gate: str) -> None:
        self.gates.release(gate)

    def reset(self) -> None:
        """Forget script, records, caches and signatures; running answers go on past their gates. Settings stay."""
        self._script.clear()
        self._ledger.clear()
        self._memory = Memory()
        self.gates.close()
        self.gates = Gates()

    async def at(self, gate: str, timeout: float = 10.0) -> None:
        """Return once an answer waits at the gate; TimeoutError after `timeout` seconds."""
        async with asyncio.timeout(timeout):
            await self.gates.at(gate)

    async def until(self, holds: Callable[[Sequence[Seen]], bool], timeout: float = 10.0) -> None:
        """Return once `holds(requests)`, looked at whenever a request arrives or ends; TimeoutError otherwise."""
        async with asyncio.timeout(timeout), self._ledger.changed:
            await self._ledger.changed.wait_for(lambda: holds(self.requests))

    async def _serve(self, request: web.Request) -> web.StreamResponse:
        resource = request.match_info.route.resource
        assert resource is not None
        vendor, endpoint = ROUTES[request.method, resource.canonical.replace("{name}", NAME)]
        if endpoint in ("models", "model") and "anthropic-version" in request.headers:
            vendor = "anthropic"  # they belong to both
        ledger = self._ledger
        seen = ledger.open(vendor, endpoint, request.method, request.path, request.headers, self.api_key)
        async with self._noted(ledger, seen):
            await ledger.announce()
            body = await self._read(request, seen)
            refusal = body if isinstance(body, Refusal) else self._refusal(seen, body)
            if isinstance(body, Refusal) or refusal is not None:
                return self._refuse(seen, refusal or Refusal(""))
            return await self._answer(request, seen, body)

    async def _nowhere(self, request: web.Request) -> web.StreamResponse:
        """Any other path: the vendor's 404, and a violation, since a library was pointed at the wrong place."""
        vendor = "ollama" if request.path.startswith("/api") else "openai"
        vendor = "anthropic" if "anthropic-version" in request.headers else vendor
        seen = self._ledger.open(vendor, "unknown", request.method, request.path, request.headers, self.api_key)
        async with self._noted(self._ledger, seen):
            return self._refuse(seen, Refusal(f"no such endpoint: {request.method} {request.path}", 404))

    @asynccontextmanager
    async def _noted(self, ledger: Ledger, seen: Seen) -> AsyncIterator[None]:
        """Note how the request ended: a lost connection nobody scripted means that the client left."""
        try:
            yield
            ledger.close(seen, "complete")
        except (asyncio.CancelledError, ConnectionError):
            ledger.close(seen, "dropped" if self._closing else "left")
            raise
        except Exception as error:
            ledger.violated(seen, f"simulator failed: {error!r}")
            ledger.close(seen, "failed")
            raise
        finally:
            seen.ended_at = seen.ended_at or self._clock()
            if not self._closing:
                await asyncio.shield(ledger.announce())

    async def _read(self, request: web.Request, seen: Seen) -> dict[str, Any] | Refusal:
        if request.method == "GET":
            return {"model": request.match_info["name"]} if "name" in request.match_info else {}
        try:
            body = json.loads(await request.read())
        except web.HTTPRequestEntityTooLarge:
            return faults.known(seen.vendor, 413, None)
        except ValueError:
            return Refusal("We could not parse the JSON body of your request.")
        seen.body = body
        return body if isinstance(body, dict) else Refusal("Input should be a valid dictionary")

    def _refusal(self, seen: Seen, body: dict[str, Any]) -> Refusal | None:
        if self.api_key is not None and seen.vendor != "ollama" and not seen.key_matches:
            usual = faults.known(seen.vendor, 401, None)
            return replace(usual, message=usual.message.replace("{masked}", "sk-*****"))
        if seen.endpoint in ("models", "version", *catalog.ABOUT_ONE):
            return None
        rules = vendors.complaints(seen.vendor, seen.endpoint, body, seen.headers, self.settings, self._memory)
        refusal = next(rules, None)
        return refusal or (vendors.too_long(seen.vendor, body, self.settings) if seen.endpoint == "chat" else None)

    def _refuse(self, seen: Seen, refusal: Refusal) -> web.Response:
        """The vendor's own error for a request that breaks its rules, noted as a violation."""
        self._ledger.violated(seen, refusal.message, refusal.param)
        seen.status, seen.outcome = refusal.status, "refused"
        return self._error(seen, refusal)

    def _error(self, seen: Seen, refusal: Refusal) -> web.Response:
        headers = request_headers(seen.vendor, seen.number)
        body = faults.body_of(seen.vendor, refusal, f"req_sim_{seen.number:04}")
        return web.json_response(body, status=refusal.status, headers=headers)

    async def _answer(self, request: web.Request, seen: Seen, body: dict[str, Any]) -> web.StreamResponse:
        question = asked.read(seen.vendor, seen.endpoint, self._ledger.nth(seen.endpoint), body)
        chosen = self._script.pick(question)
        seen.scripted = chosen is not None
        seen.prompt_tokens = vendors.prompt_size(body)
        if seen.endpoint == "chat":
            chosen = chosen or self._default(seen, question)
        player = self._player(request, seen, chosen or Answer(()))
        if seen.endpoint == "chat":
            return await self._chat(player, body)
        if (fault := await player.faults_only()) is not None:
            return fault
        found = catalog.answer(seen.vendor, seen.endpoint, body, self.settings)
        seen.status = found.status if isinstance(found, Refusal) else 200
        headers = request_headers(seen.vendor, seen.number)
        return self._error(seen, found) if isinstance(found, Refusal) else web.json_response(found, headers=headers)

    def _player(self, request: web.Request, seen: Seen, chosen: Answer) -> Player:
        return Player(request, seen, chosen, presented_key(request.headers)[1], self.gates, self._sleep)

    async def _chat(self, player: Player, body: dict[str, Any]) -> web.StreamResponse:
        seen, now = player.seen, self._clock()
        usage = next((step for step in reversed(player.answer.steps) if isinstance(step, Usage)), Usage())
        prompt = vendors.measure(seen.vendor, body, now, self.settings, self._memory)
        encoder = vendors.encoder(seen.vendor, Occasion(seen.number, body, prompt, now, usage), self._memory)
        return await (player.stream(encoder) if vendors.streams(seen.vendor, body) else player.whole(encoder))

    def _default(self, seen: Seen, question: asked.Asked) -> Answer:
        if self.settings.default == "echo":
            return Answer((Text(f"echo: {question.user_text}"),))
        message = (
            f"simulator: no scripted answer fits this request (vendor {question.vendor}, model {question.model},"
            f" turn {question.turn}, step {question.step}, nth {question.nth}, user {question.user_text[:80]!r})"
        )
        self._ledger.violated(seen, message)
        return Answer((Status(500, message=message),))
