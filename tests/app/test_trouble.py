"""What goes wrong at a vendor or on the disk reaches the person who can act, over the wire and in one sentence."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import openai
import pytest

from bot.app.control_client import ControlClient
from bot.store.store import FILE_NAME
from tests.app.conftest import StartDaemon
from tests.sim.llm import LlmSim, answer, drop, status, text

LONG = "A long answer, word by word." * 56


async def test_a_long_answer_stays_when_its_connection_drops_and_the_vendor_then_is_overloaded(
    sim: LlmSim, daemon: StartDaemon
) -> None:
    sim.script(answer(text(LONG), drop()), answer(status(529), repeat=True))
    async with daemon(sim.url) as live:
        turn = await live.say("write much")
        shown, done = await live.until_done(turn=turn)
        assert shown == LONG
        assert done["stop"] == "provider_unavailable" and "openai" in done["notice"]
        again, _ = await live.until_done(turn=turn)
        assert again == LONG


async def test_a_web_page_in_place_of_a_model_service_is_named_and_seen_by_the_owner(
    sim: LlmSim, daemon: StartDaemon, control: Callable[[], ControlClient]
) -> None:
    async def page(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        body = b"<!doctype html><title>Welcome</title>"
        head = b"HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: %d\r\nconnection: close\r\n\r\n"
        writer.write(head % len(body) + body)
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(page, "127.0.0.1", 0)
    url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    async with server, daemon(url) as live, control() as client:
        _, done = await live.until_done(turn=await live.say("hi"))
        assert "openai sends something that is not a model's answer" in done["notice"]
        assert "base_url" in done["notice"] and "(Reference " in done["notice"]
        trouble = (await client.status())["trouble"]
        assert "base_url" in trouble and "Reference" not in trouble


async def test_a_chinese_message_is_told_of_a_limit_in_chinese(sim: LlmSim, daemon: StartDaemon) -> None:
    sim.script(answer(status(429, headers={"retry-after": "7200"}), repeat=True))
    async with daemon(sim.url) as live:
        _, done = await live.until_done(turn=await live.say("你好"))
        assert "openai 在" in done["notice"] and "已达到其限额" in done["notice"]


@pytest.mark.parametrize(("fault", "expected"), [(401, 502), (402, 502), (529, 503)])
async def test_an_api_client_can_tell_what_a_vendor_refuses_us_from_what_passes(
    sim: LlmSim, daemon: StartDaemon, fault: int, expected: int
) -> None:
    sim.script(answer(status(fault), repeat=True))
    async with daemon(sim.url) as live, openai.AsyncOpenAI(base_url=f"{live.url}/v1", api_key="x", max_retries=0) as ai:
        with pytest.raises(openai.InternalServerError) as failed:
            await ai.chat.completions.create(model="bowerbird", messages=[{"role": "user", "content": "hi"}])
    assert failed.value.status_code == expected


async def test_a_damaged_store_is_told_to_the_owner_until_the_next_start(
    sim: LlmSim, daemon: StartDaemon, control: Callable[[], ControlClient], tmp_path: Path
) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / FILE_NAME).write_bytes(b"SQLite format 3\0" + b"\xff" * 8192)
    async with daemon(sim.url) as live, control() as client:
        assert "The store was damaged and has been replaced" in (await client.status())["trouble"]
        async with live.http.get(f"{live.url}/v1/about") as told:
            assert "damaged-" in (await told.json())["trouble"]
    async with daemon(sim.url), control() as client:
        assert (await client.status())["trouble"] == ""
