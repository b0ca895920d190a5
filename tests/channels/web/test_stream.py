"""Open streams: heartbeats, seats, slow readers, the WebSocket, and what a vanished page leads to."""

from __future__ import annotations

import asyncio
import json
import socket
import time
from collections.abc import AsyncIterator
from typing import Any

import aiohttp
import pytest
from pydantic import SecretStr

from bot.core.inbound import ButtonPress, StopPressed, UserMessage
from bot.core.stop import StopReason
from bot.core.view import Phase
from bot.time.clock import SystemClock
from channels.web.channel import Config
from channels.web.stream import SEATS_PER_CLIENT
from tests.channels.web.house import House, Turn, card
from tests.channels.web.reader import Page, events


class QuickClock(SystemClock):
    """Sleeps a hundredth of what it is asked for."""

    async def sleep(self, seconds: float) -> None:
        await super().sleep(seconds / 100)


async def test_a_heartbeat_comes_although_nothing_happens() -> None:
    house = House(clock=QuickClock())
    async with house.open(), aiohttp.ClientSession() as http:
        async with http.get(f"{house.url}/v1/events?chat=a") as stream:
            assert stream.headers["content-type"] == "text/event-stream; charset=utf-8"
            beats = 0
            async for event in events(stream):
                beats += event.type == ":" and event.data["comment"] == "beat"
                if beats == 3:
                    break
        line = await http.ws_connect(f"{house.url}/v1/ws?chat=a")
        assert (await line.receive_json())["type"] == "hello"
        assert await line.receive_json() == {"type": "beat"}
        await line.close()


async def test_one_client_may_not_take_every_seat() -> None:
    house = House(language="en")
    async with house.open(), aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as http:
        open_ = [await http.get(f"{house.url}/v1/events?chat=c{n}") for n in range(SEATS_PER_CLIENT - 1)]
        line = await http.ws_connect(f"{house.url}/v1/ws?chat=a")
        async with http.get(f"{house.url}/v1/events?chat=a") as refused:
            assert refused.status == 503
            assert "Too many open streams" in (await refused.json())["error"]
        with pytest.raises(aiohttp.WSServerHandshakeError) as denied:
            await http.ws_connect(f"{house.url}/v1/ws?chat=a")
        assert denied.value.status == 503
        await line.close()
        for stream in open_[:2]:
            stream.close()
        await asyncio.sleep(0.1)
        async with http.get(f"{house.url}/v1/events?chat=a") as again:
            assert again.status == 200
        for stream in open_:
            stream.close()


async def test_clients_behind_a_proxy_do_not_share_their_seats() -> None:
    house = House(Config(port=0, token=SecretStr("right")), language="en")
    key = {"Authorization": "Bearer right"}
    async with house.open(), aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0), headers=key) as http:
        first = {"X-Forwarded-For": "203.0.113.9, 198.51.100.1"}
        taken = [await http.get(f"{house.url}/v1/events?chat=c{n}", headers=first) for n in range(SEATS_PER_CLIENT)]
        async with http.get(f"{house.url}/v1/events?chat=a", headers=first) as refused:
            assert refused.status == 503
        async with http.get(f"{house.url}/v1/events?chat=a", headers={"X-Forwarded-For": "198.51.100.2"}) as other:
            assert other.status == 200
        for stream in taken:
            stream.close()


async def test_a_reader_that_does_not_read_holds_up_nobody_and_catches_up() -> None:
    house = House()
    async with house.open(), aiohttp.ClientSession() as http:
        turn = house.start("a")
        with socket.socket() as deaf:
            deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            deaf.setblocking(False)
            loop = asyncio.get_running_loop()
            await loop.sock_connect(deaf, ("127.0.0.1", house.port))
            await loop.sock_sendall(deaf, b"GET /v1/events?chat=a HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
            async with http.get(f"{house.url}/v1/events?chat=a") as quick:
                text = ""
                for n in range(1500):
                    piece = f"paragraph {n} " + "with some words " * 20 + "\n\n"
                    text += piece
                    await turn.write(piece)
                    await asyncio.sleep(0)
                await turn.end()
                page = await watched(events(quick))
                assert page.turns[turn.id].text == text
            raw = bytearray()
            async with asyncio.timeout(10):
                while b"event: done" not in raw:
                    raw += await loop.sock_recv(deaf, 65536)
        late = Page()
        for row in unchunked(bytes(raw)).split(b"\n"):
            if row.startswith(b"data: "):
                late.take(json.loads(row[6:]))
        assert late.turns[turn.id].text == text
        assert late.turns[turn.id].done == "answered"


def unchunked(raw: bytes) -> bytes:
    body, out = raw.partition(b"\r\n\r\n")[2], bytearray()
    while body:
        size, _, rest = body.partition(b"\r\n")
        out += rest[: int(size, 16)]
        body = rest[int(size, 16) + 2 :]
    return bytes(out)


async def watched(stream: AsyncIterator[Any]) -> Page:
    page = Page()
    async for event in stream:
        if event.type != ":":
            page.take(event.data)
        if event.type == "done":
            break
    return page


async def test_fifty_pages_of_one_chat_stay_live() -> None:
    house = House()
    async with house.open(), aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as http:
        lines = [await http.ws_connect(f"{house.url}/v1/ws?chat=a") for _ in range(50)]
        turn = house.start("a")
        for line in lines:
            assert (await line.receive_json())["type"] == "hello"
        before = time.monotonic()
        await turn.write("First words")
        for line in lines:
            while (await line.receive_json())["data"]["type"] != "token":
                pass
        assert time.monotonic() - before < 1.0
        for line in lines:
            await line.close()


async def test_the_websocket_talks_both_ways() -> None:
    async def script(turn: Turn) -> None:
        await turn.write("May I?")
        verb = await turn.ask(card())
        await turn.write(f" You said {verb}.")
        await turn.stopped.wait()
        await turn.end(StopReason.STOPPED, "Stopped.")

    house = House(script=script)
    async with house.open(), aiohttp.ClientSession() as http:
        line = await http.ws_connect(f"{house.url}/v1/ws?chat=a")
        page, replies, complete = Page(), [], None
        await line.send_json({"type": "message", "text": "Hello", "id": "m1"})
        async with asyncio.timeout(10):
            while complete is None:
                message = await line.receive_json()
                if message["type"] == "event" and message["event"] == "agent:stream":
                    page.take(message["data"])
                    if message["data"]["type"] == "approval" and not message["data"]["decision"]:
                        await line.send_json({"type": "press", "id": "card1", "decision": "chat"})
                    if message["data"]["type"] == "token" and "chat." in message["data"]["text"]:
                        await line.send_json({"type": "stop"})
                elif message["type"] == "event":
                    complete = message
                else:
                    replies.append(message)
        assert complete["event"] == "agent:complete"
        assert complete["data"]["stop"] == "stopped"
        assert page.turns["turn1"].text == "May I? You said chat."
        assert page.turns["turn1"].cards == {"card1": "chat"}
        assert {"type": "receipt", "id": "m1", "turn": "turn1"} in replies
        assert {"type": "answer", "id": "card1", "notice": "Noted: chat."} in replies
        kinds = [type(inbound) for inbound in house.inbound]
        assert kinds == [UserMessage, ButtonPress, StopPressed]
        await line.close()


@pytest.mark.parametrize(
    "sent",
    [
        "",
        "x",
        "[1]",
        "[" * 100_000,
        '{"type":"dance"}',
        '{"type":"message","text":1}',
        '{"type":"message","text":"  "}',
        '{"type":"message","id":"a b","text":"x"}',
        '{"type":"press"}',
    ],
    ids=range(9),
)
async def test_the_websocket_answers_nonsense_with_a_sentence(sent: str) -> None:
    house = House()
    async with house.open(), aiohttp.ClientSession() as http:
        line = await http.ws_connect(f"{house.url}/v1/ws?chat=a")
        assert (await line.receive_json())["type"] == "hello"
        await line.send_str(sent)
        reply = await line.receive_json()
        assert reply["type"] == "error"
        assert reply["error"]
        await line.send_json({"type": "message", "text": "still here", "id": "1"})
        assert (await line.receive_json())["type"] in ("receipt", "event")
        await line.close()


async def test_the_websocket_closes_on_a_frame_beyond_the_bound() -> None:
    house = House()
    async with house.open(), aiohttp.ClientSession() as http:
        line = await http.ws_connect(f"{house.url}/v1/ws?chat=a")
        await line.receive()
        await line.send_str("x" * 1_500_000)
        async with asyncio.timeout(5):
            while (await line.receive()).type not in (aiohttp.WSMsgType.CLOSE, aiohttp.WSMsgType.CLOSED):
                pass
        assert line.close_code == 1009
        assert house.inbound == []


async def test_a_message_that_is_not_stored_is_not_acknowledged_on_the_websocket() -> None:
    house = House(language="en")
    house.full = True
    async with house.open(), aiohttp.ClientSession() as http:
        line = await http.ws_connect(f"{house.url}/v1/ws?chat=a")
        await line.receive()
        await line.send_json({"type": "message", "text": "keep me", "id": "1"})
        reply = await line.receive_json()
        assert reply == {"type": "error", "id": "1", "error": reply["error"]}
        assert "disk of the machine I run on is full" in reply["error"]
        await line.close()


async def test_a_stream_that_cannot_tell_what_was_missed_ends_so_that_the_client_comes_again() -> None:
    house = House()
    house.archive.broken = True
    async with house.open(), aiohttp.ClientSession() as http:
        async with http.get(f"{house.url}/v1/events?chat=a", headers={"Last-Event-ID": "1"}) as stream:
            assert stream.status == 200
            async with asyncio.timeout(3):
                assert await stream.read() == b""
        house.archive.broken = False
        async with http.get(f"{house.url}/v1/events?chat=a", headers={"Last-Event-ID": "1"}) as stream:
            assert await stream.content.readline() == b": open\n"


async def long(turn: Turn) -> None:
    await turn.write("Working on it. ")
    await turn.stopped.wait()
    await turn.end(StopReason.STOPPED, "Stopped.")


@pytest.mark.parametrize(("policy", "stops"), [("stop", 1), ("finish", 0)])
async def test_when_the_last_page_is_gone_the_turn_stops_only_if_asked_to(policy: Any, stops: int) -> None:
    house = House(Config(port=0, on_disconnect=policy), clock=QuickClock(), script=long)
    async with house.open(), aiohttp.ClientSession() as http:
        first = await http.ws_connect(f"{house.url}/v1/ws?chat=a")
        second = await http.ws_connect(f"{house.url}/v1/ws?chat=a")
        (await http.post(f"{house.url}/v1/messages", json={"chat": "a", "text": "go", "id": "1"})).close()
        await asyncio.sleep(0.05)
        await first.close()
        await asyncio.sleep(0.2)
        assert [one for one in house.inbound if isinstance(one, StopPressed)] == []
        await second.close()
        await asyncio.sleep(0.3)
        assert len([one for one in house.inbound if isinstance(one, StopPressed)]) == stops


async def test_a_page_that_is_reloaded_stops_nothing() -> None:
    house = House(Config(port=0, on_disconnect="stop"), clock=QuickClock(), script=long)
    async with house.open(), aiohttp.ClientSession() as http:
        line = await http.ws_connect(f"{house.url}/v1/ws?chat=a")
        (await http.post(f"{house.url}/v1/messages", json={"chat": "a", "text": "go", "id": "1"})).close()
        await asyncio.sleep(0.02)
        await line.close()
        again = await http.ws_connect(f"{house.url}/v1/ws?chat=a")
        await asyncio.sleep(0.2)
        assert not any(isinstance(one, StopPressed) for one in house.inbound)
        await again.close()


async def test_pages_hear_how_the_model_is_getting_on_and_scripts_do_not() -> None:
    house = House(clock=QuickClock())
    house.about["model"] = {"state": "downloading", "name": "small", "done": 1, "total": 10, "demo": True}
    async with house.open(), aiohttp.ClientSession() as http:
        page = await http.ws_connect(f"{house.url}/v1/ws?chat=a&page=1")
        script = await http.ws_connect(f"{house.url}/v1/ws?chat=a")
        house.about["model"] = {"state": "ready", "name": "small", "demo": True}
        async with asyncio.timeout(5):
            while (message := await page.receive_json())["type"] != "event":
                pass
        assert message["data"]["type"] == "about"
        assert message["data"]["model"]["state"] == "ready"
        await asyncio.sleep(0.05)
        await script.close()
        async with asyncio.timeout(5):
            while (heard := await script.receive()).type is aiohttp.WSMsgType.TEXT:
                assert "about" not in heard.data
        await page.close()


async def test_the_server_closes_with_pages_open_and_the_turn_is_not_stopped() -> None:
    house = House(Config(port=0, on_disconnect="stop"), script=long)
    async with aiohttp.ClientSession() as http:
        async with house.open():
            stream = await http.get(f"{house.url}/v1/events?chat=a")
            line = await http.ws_connect(f"{house.url}/v1/ws?chat=a")
            (await http.post(f"{house.url}/v1/messages", json={"chat": "a", "text": "go", "id": "1"})).close()
            await asyncio.sleep(0.05)
            assert house.turns["turn1"].view.phase is Phase.WRITING
            before = time.monotonic()
        assert time.monotonic() - before < 3
        assert not any(isinstance(one, StopPressed) for one in house.inbound)
        stream.close()
        await line.close()
