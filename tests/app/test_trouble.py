"""What goes wrong at a vendor or on the disk reaches the person who can act, over the wire and in one sentence."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import openai
import pytest

from bot.app.control_client import ControlClient
from bot.store.store import FILE_NAME
from tests.app.conftest import CONFIG, Live, StartDaemon
from tests.fakes.saying import PAGE, saying
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
    async with saying(PAGE) as url, daemon(url) as live, control() as client:
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


async def told(live: Live) -> dict[str, str]:
    """What the page shows to a reader of each language."""
    async with live.http.get(f"{live.url}/v1/about") as answer:
        troubles: dict[str, str] = (await answer.json())["troubles"]
    return troubles


OLLAMA = CONFIG.replace("local: off", "local: off\n  ollama: {{base_url: '{page}'}}").replace(
    "provider: openai, model: gpt-test", "provider: ollama, model: x"
)


async def test_a_web_page_in_place_of_the_ollama_that_was_chosen_is_told_before_anybody_asks(
    sim: LlmSim, daemon: StartDaemon, control: Callable[[], ControlClient]
) -> None:
    async with saying(PAGE) as page, daemon(sim.url, OLLAMA, page=page) as live, control() as client:
        troubles = await told(live)
        assert "ollama sends something that is not a model's answer" in troubles["en"]
        assert "ollama 返回的内容不是模型的回答" in troubles["zh"]
        assert (await client.status())["trouble"] == troubles["en"] and "troubles" not in await client.status()


async def test_a_local_model_that_could_not_help_out_is_told_while_another_answers(
    sim: LlmSim, daemon: StartDaemon, tmp_path: Path
) -> None:
    own = tmp_path / "mine.gguf"
    async with daemon(sim.url, CONFIG.replace("local: off", "local: {{path: mine.gguf}}")) as live:
        async with asyncio.timeout(10):
            while not (troubles := await told(live))["en"]:
                await asyncio.sleep(0.02)
        assert "which answers when the others cannot, does not work" in troubles["en"]
        assert "names a file that does not exist" in troubles["en"] and "备用模型无法工作" in troubles["zh"]
        sim.script(answer(text("ok")))
        assert (await live.until_done(turn=await live.say("hi")))[0] == "ok"
    own.write_bytes(b"GGUF")
    async with daemon(sim.url, CONFIG.replace("local: off", "local: {{path: mine.gguf}}")) as live:
        assert await told(live) == {"en": "", "zh": ""}


async def test_a_page_in_chinese_is_told_of_a_damaged_store_in_chinese(
    sim: LlmSim, daemon: StartDaemon, tmp_path: Path
) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / FILE_NAME).write_bytes(b"SQLite format 3\0" + b"\xff" * 8192)
    async with daemon(sim.url) as live:
        troubles = await told(live)
        assert "has been replaced" in troubles["en"] and "现已替换" in troubles["zh"]
