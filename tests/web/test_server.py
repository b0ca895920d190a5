"""The HTTP server over real sockets: what it owns, what it passes on, and how it stops with streams open."""

from __future__ import annotations

import asyncio
import signal
import socket
import time
from collections.abc import Sequence
from typing import Any

import aiohttp
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket

from bot.core.errors import ConfigError
from bot.core.ports import AsgiApp
from bot.web.health import Health
from bot.web.metrics import Metrics
from bot.web.server import WebServer
from tests.fakes.clock import FakeClock


def web_server(
    mounts: Sequence[AsgiApp] = (), channels: dict[str, bool] | None = None, host: str = "127.0.0.1", port: int = 0
) -> WebServer:
    return WebServer(host, port, mounts, Health(lambda: channels or {}), Metrics(FakeClock(), "1.2.3"))


async def hello(request: Request) -> PlainTextResponse:
    return PlainTextResponse(f"hello {request.url.path}")


async def endless(scope: Any, receive: Any, send: Any) -> None:
    """A stream that ends only when its client is gone."""
    await receive()
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"text/event-stream")]})
    await send({"type": "http.response.body", "body": b": open\n\n", "more_body": True})
    while (await receive())["type"] != "http.disconnect":
        pass
    await send({"type": "http.response.body", "body": b"", "more_body": False})


async def deaf(scope: Any, receive: Any, send: Any) -> None:
    """A handler that listens to nobody."""
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"x", "more_body": True})
    await asyncio.sleep(3600)


async def socket_of(websocket: WebSocket) -> None:
    await websocket.accept()
    while (await websocket.receive())["type"] != "websocket.disconnect":
        pass


async def test_health_is_alive_without_any_channel_app() -> None:
    async with web_server() as server, aiohttp.ClientSession() as http:
        async with http.get(f"{server.url}healthz") as answer:
            assert (answer.status, await answer.text()) == (200, "ok\n")
        async with http.get(f"{server.url}nowhere") as answer:
            assert answer.status == 404
            assert "Nothing answers at this address" in await answer.text()
        async with http.post(f"{server.url}healthz") as answer:
            assert answer.status == 404


async def test_ready_only_when_every_channel_is_connected() -> None:
    channels = {"telegram": True, "web": False}
    async with web_server(channels=channels) as server, aiohttp.ClientSession() as http:
        async with http.get(f"{server.url}readyz") as answer:
            assert answer.status == 503
            assert await answer.json() == {
                "status": "starting",
                "channels": {"telegram": "connected", "web": "disconnected"},
            }
        channels["web"] = True
        async with http.get(f"{server.url}readyz") as answer:
            assert answer.status == 200
            assert await answer.json() == {
                "status": "ready",
                "channels": {"telegram": "connected", "web": "connected"},
            }


async def test_other_paths_reach_the_mounts_in_order() -> None:
    first = Starlette(routes=[Route("/one", hello)])
    second = Starlette(routes=[Route("/two", hello), WebSocketRoute("/ws", socket_of)])
    async with web_server([first, second]) as server, aiohttp.ClientSession() as http:
        for path, status in (("one", 200), ("two", 200), ("three", 404)):
            async with http.get(f"{server.url}{path}") as answer:
                assert answer.status == status
        async with http.ws_connect(f"{server.url}ws") as line:
            assert not line.closed


async def test_open_streams_and_sockets_end_within_three_seconds() -> None:
    app = Starlette(routes=[WebSocketRoute("/ws", socket_of)])

    async def mount(scope: Any, receive: Any, send: Any) -> None:
        await (app if scope["type"] == "websocket" else endless)(scope, receive, send)

    server = web_server([mount])
    async with aiohttp.ClientSession() as http:
        await server.__aenter__()
        stream = await http.get(f"{server.url}stream")
        assert await stream.content.readline() == b": open\n"
        line = await http.ws_connect(f"{server.url}ws")
        before = time.monotonic()
        await server.__aexit__(None, None, None)
        assert time.monotonic() - before < 1.5
        assert await stream.content.read() == b"\n"
        assert (await line.receive()).type in (aiohttp.WSMsgType.CLOSE, aiohttp.WSMsgType.CLOSED)


async def test_a_handler_that_listens_to_nobody_is_cut_within_three_seconds() -> None:
    server = web_server([deaf])
    async with aiohttp.ClientSession() as http:
        await server.__aenter__()
        stream = await http.get(f"{server.url}x")
        before = time.monotonic()
        await server.__aexit__(None, None, None)
        assert time.monotonic() - before < 3
        stream.close()


async def test_run_serves_until_cancelled_and_frees_the_port() -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    server = web_server(port=port)
    async with asyncio.TaskGroup() as group:
        task = group.create_task(server.run())
        await asyncio.sleep(0.1)
        async with aiohttp.ClientSession() as http, http.get(f"http://127.0.0.1:{port}/healthz") as answer:
            assert answer.status == 200
        task.cancel()
    assert task.cancelled()
    with socket.socket() as again:
        again.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        again.bind(("127.0.0.1", port))


async def test_a_port_in_use_is_a_sentence_that_says_what_to_do() -> None:
    async with web_server() as server:
        with pytest.raises(ConfigError, match=rf"^channels\.web\.port: port {server.port} on 127\.0\.0\.1 is in use"):
            await web_server(port=server.port).__aenter__()


async def test_a_host_that_is_not_this_machine_is_a_sentence() -> None:
    for host in ("203.0.113.7", "no such host"):
        with pytest.raises(ConfigError, match=r"^channels\.web\.host: .* address of this machine"):
            await web_server(host=host).__aenter__()


async def test_localhost_answers_on_every_address_it_stands_for() -> None:
    async with web_server(host="localhost") as server, aiohttp.ClientSession() as http:
        async with http.get(f"http://127.0.0.1:{server.port}/healthz") as answer:
            assert answer.status == 200
        assert server.url == f"http://localhost:{server.port}/"


async def test_signals_stay_with_the_daemon() -> None:
    before = signal.getsignal(signal.SIGTERM), signal.getsignal(signal.SIGINT)
    async with web_server():
        await asyncio.sleep(0.05)
        assert (signal.getsignal(signal.SIGTERM), signal.getsignal(signal.SIGINT)) == before


async def test_a_socket_that_is_closing_already_does_not_break_the_stop() -> None:
    async def talks(websocket: WebSocket) -> None:
        await websocket.accept()
        while True:
            await websocket.send_text("x" * 100_000)

    app = Starlette(routes=[WebSocketRoute("/talk", talks), WebSocketRoute("/stay", socket_of)])
    server = web_server([app])
    async with aiohttp.ClientSession() as http:
        async with server:
            reader, writer = await asyncio.open_connection("127.0.0.1", server.port, limit=1024)
            writer.write(
                b"GET /talk HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n"
            )
            assert b"101" in await reader.readuntil(b"\r\n\r\n")
            await asyncio.sleep(0.3)  # nobody reads: what the server says piles up
            writer.write(b"\x88\x80\x00\x00\x00\x00")  # and then its client takes leave
            await asyncio.sleep(0.2)
            stays = await http.ws_connect(f"{server.url}stay")
            began = time.monotonic()
        assert time.monotonic() - began < 3.0
        assert (await stays.receive()).type in (aiohttp.WSMsgType.CLOSE, aiohttp.WSMsgType.CLOSED)
        writer.close()
