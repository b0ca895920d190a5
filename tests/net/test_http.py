"""The transport against a real server on loopback that misbehaves in the ways that servers do."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest
from aiohttp import web

from bot.core.errors import TransportError, TransportTimeout
from bot.core.http import Timeouts
from bot.net.http import Transport

QUICK = Timeouts(connect=2.0, silence=0.2)


class Server:
    def __init__(self) -> None:
        self.url = ""
        self.seen: list[web.Request] = []
        self.gone = asyncio.Event()
        self._runner: web.AppRunner | None = None

    async def start(self) -> None:
        app = web.Application(client_max_size=2_000_000)
        for path in ("plain", "drip", "cut", "silent", "again", "cookie", "long"):
            app.router.add_route("*", f"/{path}", getattr(self, path))
        self._runner = web.AppRunner(app, handler_cancellation=True, shutdown_timeout=0.1)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", 0)
        await site.start()
        self.url = f"http://127.0.0.1:{self._runner.addresses[0][1]}"

    async def stop(self) -> None:
        assert self._runner is not None
        await self._runner.cleanup()

    async def plain(self, request: web.Request) -> web.Response:
        self.seen.append(request)
        return web.Response(text=f"{request.method} {await request.text()}", headers={"X-Told": "yes"})

    async def drip(self, request: web.Request) -> web.StreamResponse:
        """Speaks until the other side hangs up, which `gone` tells."""
        response = web.StreamResponse()
        await response.prepare(request)
        try:
            while True:
                await response.write(b"drop\n")
                await asyncio.sleep(0.01)
        finally:
            self.gone.set()

    async def cut(self, request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Length": "1000"})
        await response.prepare(request)
        await response.write(b"x" * 10)
        assert request.transport is not None
        request.transport.abort()
        return response

    async def silent(self, request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        await response.write(b"one")
        await asyncio.sleep(5)
        return response

    async def again(self, request: web.Request) -> web.Response:
        left = int(request.query["left"])
        raise web.HTTPFound(f"/again?left={left - 1}" if left else "/plain")

    async def cookie(self, request: web.Request) -> web.Response:
        self.seen.append(request)
        response = web.Response()
        response.set_cookie("track", "you")
        return response

    async def long(self, _request: web.Request) -> web.Response:
        return web.Response(body=b"x" * 5000)


@pytest.fixture
async def server() -> AsyncIterator[Server]:
    server = Server()
    await server.start()
    yield server
    await server.stop()


@pytest.fixture
async def transport() -> AsyncIterator[Transport]:
    transport = Transport()
    yield transport
    await transport.aclose()


async def test_an_answer_comes_with_its_status_headers_and_body(server: Server, transport: Transport) -> None:
    answer = await transport.fetch("POST", f"{server.url}/plain", body=b"hello")
    assert (answer.status, answer.headers["x-told"], answer.body) == (200, "yes", b"POST hello")


async def test_a_large_body_arrives_whole(server: Server, transport: Transport) -> None:
    body = b"0123456789" * 100_000
    answer = await transport.fetch("POST", f"{server.url}/plain", body=body)
    assert answer.body == b"POST " + body


async def test_a_status_is_not_an_error(server: Server, transport: Transport) -> None:
    assert (await transport.fetch("GET", f"{server.url}/nothing-here")).status == 404


async def test_a_body_beyond_the_limit_is_refused(server: Server, transport: Transport) -> None:
    assert len((await transport.fetch("GET", f"{server.url}/long", limit_bytes=5000)).body) == 5000
    with pytest.raises(TransportError, match="more than 4999 bytes"):
        await transport.fetch("GET", f"{server.url}/long", limit_bytes=4999)


async def test_a_refused_connection_names_the_host_and_nothing_else(transport: Transport) -> None:
    with pytest.raises(TransportError) as caught:
        await transport.fetch("GET", "http://127.0.0.1:1/secret-path?key=sk-123")
    assert str(caught.value) == "127.0.0.1 cannot be reached."


async def test_silence_in_the_middle_is_a_timeout(server: Server, transport: Transport) -> None:
    got = b""
    with pytest.raises(TransportTimeout):
        async with transport.request("GET", f"{server.url}/silent", timeouts=QUICK) as reply:
            async for chunk in reply.aiter_bytes():
                got += chunk
    assert got == b"one"


async def test_a_body_that_breaks_off_is_an_error(server: Server, transport: Transport) -> None:
    with pytest.raises(TransportError):
        await transport.fetch("GET", f"{server.url}/cut")


async def test_leaving_an_open_answer_hangs_up(server: Server, transport: Transport) -> None:
    async with transport.request("GET", f"{server.url}/drip") as reply:
        async for _ in reply.aiter_bytes():
            break
    async with asyncio.timeout(5):
        await server.gone.wait()


async def test_cancelling_an_open_answer_hangs_up(server: Server, transport: Transport) -> None:
    async def listen() -> None:
        async with transport.request("GET", f"{server.url}/drip") as reply:
            async for _ in reply.aiter_bytes():
                heard.set()

    heard = asyncio.Event()
    async with asyncio.TaskGroup() as group:
        task = group.create_task(listen())
        await heard.wait()
        task.cancel()
    async with asyncio.timeout(5):
        await server.gone.wait()


async def test_a_timeout_of_the_caller_stays_the_callers(server: Server, transport: Transport) -> None:
    with pytest.raises(TimeoutError):
        async with transport.request("GET", f"{server.url}/plain"):
            raise TimeoutError


async def test_redirects_are_followed_as_far_as_asked(server: Server, transport: Transport) -> None:
    async with transport.request("GET", f"{server.url}/again?left=0") as reply:
        assert reply.status == 302
    async with transport.request("GET", f"{server.url}/again?left=1", redirects=3) as reply:
        assert reply.status == 200
    with pytest.raises(TransportError, match="redirects too often"):
        async with transport.request("GET", f"{server.url}/again?left=9", redirects=3):
            pass


async def test_nothing_of_the_environment_and_no_cookie_goes_along(
    server: Server, transport: Transport, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    for _ in range(2):
        await transport.fetch("GET", f"{server.url}/cookie")
    assert [dict(request.cookies) for request in server.seen] == [{}, {}]
    assert "gzip" not in server.seen[0].headers["Accept-Encoding"]


async def test_a_connection_is_used_again(server: Server, transport: Transport) -> None:
    ports = set()
    for _ in range(3):
        await transport.fetch("GET", f"{server.url}/plain")
    for request in server.seen:
        ports.add(request.headers.get("X-None", "") or id(request.protocol))
    assert len(ports) == 1


async def test_a_closed_transport_says_so(server: Server) -> None:
    transport = Transport()
    await transport.fetch("GET", f"{server.url}/plain")
    await transport.aclose()
    with pytest.raises(TransportError, match="closed"):
        await transport.fetch("GET", f"{server.url}/plain")


async def test_what_is_no_address_is_refused(transport: Transport) -> None:
    with pytest.raises(TransportError, match="not a web address"):
        await transport.fetch("GET", "http://[bad")


async def test_a_rest_lets_the_bytes_gather_and_loses_none(server: Server, transport: Transport) -> None:
    async with transport.request("GET", f"{server.url}/drip") as reply:
        chunks = reply.aiter_bytes()
        sizes = [len(await anext(chunks))]
        for _ in range(3):
            await reply.rest(0.15)
            sizes.append(len(await anext(chunks)))
    assert min(sizes[1:]) > 2 * sizes[0]
