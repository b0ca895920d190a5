"""Room for everybody: a busy host does not keep the others waiting, and what waits gets its turn."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

from aiohttp import web

from bot.core.http import Timeouts
from bot.net.http import CONNECTIONS, PER_HOST, Transport

STREAMS = 256
"""Model streams that the brain lets run at once."""


@asynccontextmanager
async def vendor() -> AsyncIterator[str]:
    """The address of a server that answers every GET with a stream without end, and every POST at once."""

    async def stream(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        await response.write(b"word ")
        await asyncio.sleep(60)
        return response

    async def post(_request: web.Request) -> web.Response:
        return web.Response(text="done")

    app = web.Application()
    app.router.add_get("/", stream)
    app.router.add_post("/", post)
    runner = web.AppRunner(app, handler_cancellation=True, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0, backlog=1024).start()
    yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    await runner.cleanup()


async def test_all_the_streams_that_may_run_leave_room_at_their_own_host_and_elsewhere() -> None:
    transport = Transport()
    async with vendor() as models, vendor() as platform, AsyncExitStack() as streams:
        streams.push_async_callback(transport.aclose)
        for _ in range(STREAMS):
            await streams.enter_async_context(transport.request("GET", models))
        for url in (models, platform):
            answer = await transport.fetch("POST", url, timeouts=Timeouts(connect=1, silence=2))
            assert answer.body == b"done"
        await streams.aclose()
    assert CONNECTIONS >= PER_HOST * 2 >= STREAMS * 4


async def test_a_host_that_is_full_keeps_no_other_waiting() -> None:
    transport = Transport(connections=4, per_host=2)
    async with vendor() as models, vendor() as platform, asyncio.TaskGroup() as group, AsyncExitStack() as streams:
        streams.push_async_callback(transport.aclose)
        held = [await streams.enter_async_context(transport.request("GET", models)) for _ in range(2)]
        waiting = [group.create_task(transport.fetch("POST", models)) for _ in range(5)]
        await asyncio.sleep(0.05)
        assert (await transport.fetch("POST", platform, timeouts=Timeouts(connect=1, silence=2))).body == b"done"
        assert not any(task.done() for task in waiting)
        await held[0].aclose()
        async with asyncio.timeout(5):
            assert {(await task).body for task in waiting} == {b"done"}


async def test_a_request_that_is_given_up_leaves_its_place() -> None:
    transport = Transport(connections=1, per_host=1)
    async with vendor() as models, AsyncExitStack() as stack:
        stack.push_async_callback(transport.aclose)
        async with transport.request("GET", models), asyncio.TaskGroup() as group:
            given_up = group.create_task(transport.fetch("POST", models))
            await asyncio.sleep(0.05)
            given_up.cancel()
        assert (await transport.fetch("POST", models, timeouts=Timeouts(connect=1, silence=2))).body == b"done"
