"""The Telegram simulator as a process of its own: what a bench or a crash test does over HTTP."""

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import aiohttp
import pytest_asyncio
from telegram import Bot

ROOT = Path(__file__).resolve().parents[2]


class Remote:
    """The control API of a running process."""

    def __init__(self, url: str, session: aiohttp.ClientSession) -> None:
        self.url, self._session = url, session

    async def post(self, deed: str, **body: Any) -> Any:
        async with self._session.post(f"{self.url}/_sim/{deed}", json=body) as answer:
            return await answer.json()

    async def get(self, view: str, **query: Any) -> Any:
        async with self._session.get(f"{self.url}/_sim/{view}", params=query) as answer:
            assert answer.status == 200, await answer.text()
            return await answer.json()

    async def status(self, deed: str, **body: Any) -> int:
        async with self._session.post(f"{self.url}/_sim/{deed}", json=body) as answer:
            return answer.status


@pytest_asyncio.fixture
async def remote() -> AsyncIterator[Remote]:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tests.sim.telegram", "--lenient-rates", "--latency", "0",
        stdout=asyncio.subprocess.PIPE, cwd=ROOT, env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )  # fmt: skip
    assert process.stdout is not None
    url = (await process.stdout.readline()).decode().strip()
    async with aiohttp.ClientSession() as session:
        yield Remote(url, session)
    process.send_signal(signal.SIGTERM)
    assert await process.wait() == 0


@pytest_asyncio.fixture
async def bot(remote: Remote) -> AsyncIterator[Bot]:
    async with Bot("123456:SIM", base_url=f"{remote.url}/bot", base_file_url=f"{remote.url}/file/bot") as running:
        yield running


async def test_a_dialogue_over_the_control_api(remote: Remote, bot: Bot) -> None:
    assert (await remote.post("person", id=7, name="Ann", language="en"))["language_code"] == "en"
    assert (await remote.post("private", person=7))["type"] == "private"
    said = await remote.post("say", chat=7, person=7, text="May you?")
    (update,) = await bot.get_updates(timeout=5)
    keyboard = {"inline_keyboard": [[{"text": "Yes", "callback_data": "b:1:yes"}]]}
    sent = await bot.do_api_request("sendMessage", {"chat_id": 7, "text": "Shall I?", "reply_markup": keyboard})
    press = await remote.post("press", chat=7, person=7, message_id=sent["message_id"], key="Yes")
    (pressed,) = await bot.get_updates(offset=update.update_id + 1)
    await bot.answer_callback_query(press, "well")
    await remote.post("edit", chat=7, person=7, message_id=said["message_id"], text="Can you?")
    await remote.post("react", chat=7, person=7, message_id=sent["message_id"], emoji=["👍"])
    visible = await remote.get("visible", chat=7)
    assert [(shown["text"], shown["from_bot"], shown["reactions"]) for shown in visible] == [
        ("Can you?", False, []),
        ("Shall I?", True, ["👍"]),
    ]
    assert (pressed.callback_query.data, await remote.get("callback_answers")) == ("b:1:yes", [[press, "well", False]])
    assert await remote.get("bot_texts", chat=7) == ["Shall I?"]
    assert await remote.get("calls", method="sendMessage", chat=7, count=1) == 1
    assert (await remote.get("calls", method="answerCallbackQuery"))[0]["params"]["text"] == "well"
    assert await remote.get("violations") == []


async def test_groups_trouble_and_latency_over_the_control_api(remote: Remote, bot: Bot) -> None:
    await remote.post("person", id=7, name="Ann")
    await remote.post("group", id=-1001, title="Team", members=[7], forum=True, bot_privacy=False)
    topic = await remote.post("topic", chat=-1001, name="plans")
    await remote.post("say", chat=-1001, person=7, text="hello", thread=topic)
    await remote.post("feed", raw={"poll": {"odd": True}})
    assert [next(iter(set(update) - {"update_id"})) for update in await remote.get("pending")] == ["message", "poll"]
    await remote.post("fail", faults=[{"method": "getMe", "status": 500}, {"method": "getChat", "action": "drop"}])
    async with aiohttp.ClientSession() as session, session.get(f"{remote.url}/bot123456:SIM/getMe") as answer:
        assert answer.status == 500
    assert await remote.post("latency", seconds=0.01, methods={"getMe": 0}) == {
        "seconds": 0.01,
        "methods": {"getMe": 0},
    }
    await remote.post("revoke_token")
    async with aiohttp.ClientSession() as session, session.get(f"{remote.url}/bot123456:SIM/getMe") as answer:
        assert answer.status == 401
    assert (await remote.get("stats"))["statuses"]["401"] == 1
    await remote.post("reset")
    assert await remote.get("calls") == []
    assert await remote.status("say", chat=99, person=7, text="x") == 400
    assert await remote.status("dance") == 404


async def test_many_people_at_once_and_when_each_was_answered(remote: Remote, bot: Bot) -> None:
    said = await remote.post("say_many", count=50, text="question {n}", first_id=1000)
    assert len(said["said"]) == 50
    updates = await bot.get_updates()
    for update in updates:
        sent = await bot.send_message(update.message.chat_id, "thinking")
        await bot.edit_message_text(f"END of {update.message.text}", update.message.chat_id, sent.message_id)
    assert await remote.status("until", contains="END of", chats=50, answered=50, pending=50, timeout=5) == 200
    assert await remote.status("until", contains="never", timeout=0.05) == 408
    await bot.get_updates(offset=updates[-1].update_id + 1)
    assert await remote.status("until", pending=0, polls=2, timeout=5) == 200
    report, firsts = await remote.get("report"), await remote.get("firsts")
    assert len(report) == len(firsts) == 50
    one = report["1003"]
    assert (one["text"], one["sends"], one["edits"]) == ("END of question 3", 1, 1)
    assert said["at"] > one["said_at"]
    assert one["said_at"] < one["delivered_at"] < one["first_text_at"] < one["last_change_at"]
    assert firsts["1003"] == {
        "handed": one["delivered_at"],
        "first": one["first_text_at"],
        "last": one["last_change_at"],
        "text": one["text"],
    }
