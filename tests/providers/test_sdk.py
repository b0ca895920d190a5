"""The vendors' libraries over the house's transport: what they ask is carried once, and what they answer stays small."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from aiohttp import web

from bot.core.errors import ProviderError, ProviderFailed, StreamCut
from tests.net.blunt import Line, blunt
from tests.providers.bench import KEY, VENDORS, Bench, ask
from tests.sim.llm import LlmSim, answer, text

ROOT = Path(__file__).parents[2]


def openai_answer() -> bytes:
    chunk = {"choices": [{"index": 0, "delta": {"content": "Hi"}, "finish_reason": "stop"}]}
    body = f"data: {json.dumps(chunk)}\n\ndata: [DONE]\n\n"
    head = f"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: {len(body)}\r\n"
    return f"{head}Set-Cookie: track=you\r\n\r\n{body}".encode()


@asynccontextmanager
async def serving(handler: Callable[[web.Request], Awaitable[web.StreamResponse]]) -> AsyncIterator[str]:
    """The address of a server that answers every POST by ``handler``."""
    app = web.Application()
    app.router.add_post("/{path:.*}", handler)
    runner = web.AppRunner(app, handler_cancellation=True, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    await runner.cleanup()


@pytest.fixture
async def openai(sim: LlmSim) -> AsyncIterator[Bench]:
    bench = Bench(VENDORS["openai"], sim)
    yield bench
    await bench.aclose()


async def test_answers_that_were_read_leave_their_connection_to_the_next(openai: Bench) -> None:
    def talk(line: Line) -> None:
        while True:
            line.hear()
            line.say(openai_answer())

    with blunt(talk) as server:
        provider = openai.bare(base_url=server.url)
        for _ in range(4):
            assert (await ask(provider, openai.request())).text == "Hi"
    assert {heard.split()[0] for heard in server.heard} == {"0"}
    assert len(server.heard) == 4


async def test_a_question_that_may_have_arrived_is_not_asked_again_in_silence(openai: Bench) -> None:
    """The vendor would be paid twice."""

    def talk(line: Line) -> None:
        line.hear()
        line.say(openai_answer())
        line.hear()

    with blunt(talk) as server:
        provider = openai.bare(base_url=server.url)
        await ask(provider, openai.request())
        heard = await ask(provider, openai.request())
    assert isinstance(heard.error, StreamCut)
    assert len(server.heard) == 2


async def test_no_cookie_goes_back_to_a_vendor(bench: Bench) -> None:
    cookies: list[str | None] = []

    async def refuse(request: web.Request) -> web.Response:
        cookies.append(request.headers.get("Cookie"))
        return web.json_response({"error": "no"}, status=400, headers={"Set-Cookie": "track=you; Path=/"})

    async with serving(refuse) as url:
        provider = bench.bare(base_url=url)
        for _ in range(2):
            assert isinstance((await ask(provider, bench.request())).error, ProviderError)
    assert cookies == [None, None]


async def test_an_error_without_end_is_read_as_far_as_it_is_worth(bench: Bench) -> None:
    gone = asyncio.Event()

    async def babble(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(status=500)
        await response.prepare(request)
        try:
            while True:
                await response.write(b"trouble " * 1024)
        finally:
            gone.set()

    async with serving(babble) as url:
        heard = await ask(bench.bare(base_url=url), bench.request())
        async with asyncio.timeout(5):
            await gone.wait()
    assert isinstance(heard.error, ProviderFailed)
    assert "trouble" in heard.error.detail
    assert KEY not in heard.error.detail


ASKING = """
import asyncio, json, sys
from pathlib import Path
from bot.providers.discovery import built, entry
from bot.net.http import Transport
from bot.time.clock import SystemClock
from tests.providers.bench import ask, user
from bot.core.model import ModelRef, ModelRequest

async def counted(provider, request):
    calls = 0
    def note(frame, event, value):
        nonlocal calls
        calls += event == "call"
    sys.setprofile(note)
    try:
        await ask(provider, request)
    finally:
        sys.setprofile(None)
    return calls

async def main(kind, model, section, warm):
    http = Transport()
    provider = built(entry(kind, section), SystemClock(), Path("unused"), http)
    if warm:
        await asyncio.to_thread(provider.warm)
    request = ModelRequest(model=ModelRef(kind, model), messages=(user("hi"),), system="x", tools=())
    print([await counted(provider, request) for _ in range(10)])
    await provider.aclose()
    await http.aclose()

asyncio.run(main(*json.loads(sys.argv[1])))
"""


async def test_a_warmed_library_asks_first_as_it_asks_the_tenth_time(bench: Bench, sim: LlmSim) -> None:
    """What it imports and works out only once is behind it: told by the calls of functions, not by time."""

    async def calls(warm: bool) -> list[int]:
        sim.script(*[answer(text("Hi"))] * 10)
        section = {"base_url": bench.base_url, "api_key": KEY}
        child = await asyncio.create_subprocess_exec(
            sys.executable,
            "-c",
            ASKING,
            json.dumps([bench.kind, bench.model, section, warm]),
            stdout=asyncio.subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
        )
        said, _ = await child.communicate()
        found: list[int] = json.loads(said)
        return found

    cold, warmed = await calls(False), await calls(True)
    assert cold[0] > 2 * cold[-1]
    assert warmed[0] <= 1.5 * warmed[-1]
