"""The simulator as a process, driven over HTTP, and the same control API in process."""

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import aiohttp
import pytest
import pytest_asyncio

from tests.sim.discord import Channel, DiscordSim, Person
from tests.sim.discord.conftest import MESSAGES, Ask, Library
from tests.sim.discord.control import DEEDS


class Remote:
    def __init__(self, url: str, session: aiohttp.ClientSession) -> None:
        self._url, self._session = url, session

    async def do(self, deed: str, /, **body: Any) -> Any:
        async with self._session.post(f"{self._url}/_sim/{deed}", json=body) as answer:
            data = await answer.json()
            assert answer.status == 200, data
            return data

    async def see(self, name: str, **query: Any) -> Any:
        params = {key: str(value) for key, value in query.items()}
        async with self._session.get(f"{self._url}/_sim/{name}", params=params) as answer:
            assert answer.status == 200
            return await answer.json()

    async def status(self, method: str, name: str, raw: bytes = b"{}") -> int:
        async with self._session.request(method, f"{self._url}/_sim/{name}", data=raw) as answer:
            return answer.status


@pytest_asyncio.fixture
async def remote(sim: DiscordSim) -> AsyncIterator[Remote]:
    async with aiohttp.ClientSession() as session:
        yield Remote(sim.url, session)


async def test_the_process_tells_its_urls_serves_and_stops() -> None:
    command = [sys.executable, "-m", "tests.sim.discord", "--lenient-rates", "--token", "other"]
    root = Path(__file__).parents[3]
    process = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE, cwd=root)
    try:
        assert process.stdout is not None
        urls = json.loads(await process.stdout.readline())
        assert urls["api_base"] == f"{urls['url']}/api/v10"
        assert urls["gateway_url"].startswith("ws://127.0.0.1:")
        async with aiohttp.ClientSession() as session:
            remote = Remote(urls["url"], session)
            ann = await remote.do("person", id=7001, name="Ann")
            assert (await remote.do("dm", person=int(ann["id"])))["type"] == 1
            headers = {"Authorization": f"Bot {urls['token']}"}
            async with session.get(f"{urls['api_base']}/users/@me", headers=headers) as answer:
                assert (await answer.json())["id"] == urls["bot"]
    finally:
        process.terminate()
        assert await process.wait() == 0


async def test_people_act_over_http_as_in_process(sim: DiscordSim, remote: Remote, bot: Library) -> None:
    await remote.do("person", id=8, name="Bob", language="zh")
    guild = await remote.do("guild", id=9002, name="Club", members=[8])
    general = int(guild["channels"][0]["id"])
    extra = await remote.do("channel", guild=9002, name="extra")
    said = await remote.do("say", channel=general, person=8, text="<@BOT> hi", files=[{"name": "a.txt", "text": "x"}])
    await remote.do("edit", channel=general, message_id=said["id"], text="<@BOT> hello")
    await remote.do("react", channel=general, message_id=said["id"], person=8, emoji="👍")
    thread = await remote.do("thread", channel=int(extra["id"]), name="topic", owner=8)
    forum = await remote.do("forum", guild=9002, name="help")
    post = await remote.do("forum_post", forum=int(forum["id"]), person=8, title="t", text="first")
    await bot.until(sim, lambda: len(bot.texts) == 3)
    assert (thread["parent_id"], post["parent_id"]) == (extra["id"], forum["id"])
    visible = await remote.see("visible", channel=general)
    assert (visible[0]["content"], visible[0]["attachments"][0]["size"]) == (f"<@{sim.bot.id}> hello", 1)
    assert (await remote.see("history", channel=post["id"]))[0]["content"] == "first"
    await remote.do("forbid", channel=general, permissions=["send_messages"])
    await remote.do("allow", channel=general)
    await remote.do("close_dm", person=8)
    await remote.do("delete", channel=general, message_id=said["id"])
    assert await remote.see("visible", channel=general) == []


async def test_presses_commands_and_answers_over_http(
    sim: DiscordSim, remote: Remote, dm: Channel, ann: Person, ask: Ask
) -> None:
    row = {"type": 1, "components": [{"type": 2, "style": 1, "label": "Yes", "custom_id": "y"}]}
    _, sent, _ = await ask("POST", f"/channels/{dm.id}/messages", content="x", components=[row])
    press = await remote.do("press", channel=dm.id, person=7001, message_id=sent["id"], key="Yes")
    token = sim.world.interactions.by_id[int(press)].token
    await ask("POST", f"/interactions/{press}/{token}/callback", type=4, data={"content": "hush", "flags": 64})
    assert (await remote.see("interaction_answers"))[0]["ephemeral"]
    assert len(await remote.see("visible", channel=dm.id, person=7001)) == 2
    assert len(await remote.see("visible", channel=dm.id)) == 1
    await ask("POST", f"/applications/{sim.bot.id}/commands", name="status", description="x")
    assert await remote.do("slash", channel=dm.id, person=7001, name="status")
    assert (await remote.see("commands"))["commands"][0]["name"] == "status"
    assert await remote.see("notice", interaction=press) == ""


async def test_trouble_over_http(sim: DiscordSim, remote: Remote, bot: Library, dm: Channel, ask: Ask) -> None:
    await remote.do("fail", faults=[{"route": MESSAGES, "status": 500}, {"route": MESSAGES, "nth": 2, "code": 50007}])
    path = f"/channels/{dm.id}/messages"
    assert [(await ask("POST", path, content="x"))[0] for _ in range(3)] == [500, 403, 200]
    assert await remote.see("calls", route=MESSAGES, channel=dm.id, count=1) == 3
    assert (await remote.see("calls", route=MESSAGES))[1]["answer"] == "Cannot send messages to this user"
    await remote.do("drop", code=4000)
    await remote.do("until", ready=1)
    await remote.do("reconnect")
    await sim.until(lambda sim: len(sim.connections.resumes) == 2)
    await remote.do("zombie", on=True)
    await remote.do("zombie", on=False)
    assert (await remote.see("connections"))["resumes"] == 2
    await remote.do("latency", seconds=0.001, routes={MESSAGES: 0.002})
    assert (sim.latency, sim.latencies) == (0.001, {MESSAGES: 0.002})
    assert await remote.do("intents_refused", on=True) == {"on": True}
    assert await remote.do("heartbeat_interval", seconds=5) == {"seconds": 5}
    await remote.do("reset")
    assert await remote.see("violations") == []


async def test_many_people_at_once_and_when_they_were_answered(sim: DiscordSim, remote: Remote, bot: Library) -> None:
    many = await remote.do("say_many", count=20, text="hello {n}")
    await bot.until(sim, lambda: len(bot.texts) == 20)
    assert sorted(bot.texts) == sorted(f"hello {n}" for n in range(20))
    for message in bot.told("message"):
        await message.channel.send(f"echo {message.content}")
    await remote.do("until", answered=20, chats=20, contains="echo")
    report, firsts = await remote.see("report"), await remote.see("firsts")
    channel = many["channels"]["1003"]
    assert (report[channel]["text"], report[channel]["sends"]) == ("echo hello 3", 1)
    assert many["at"] - 5 < report[channel]["said_at"] <= firsts[channel]["handed"] <= firsts[channel]["first"]
    assert (await remote.see("stats"))["answered"] == 20
    again = await remote.do("say_many", messages=[{"person": 1003, "text": "more"}])
    assert again["channels"]["1003"] == channel
    assert sim.report.earlier[int(channel)][0].text == "echo hello 3"


async def test_wrong_arguments_are_told(sim: DiscordSim, remote: Remote) -> None:
    assert await remote.status("GET", "nothing") == 404
    assert await remote.status("POST", "nothing") == 404
    assert await remote.status("POST", "say", b'{"channel": 1}') == 400
    assert await remote.status("POST", "person", b"{}") == 400
    assert await remote.status("POST", "fail", b'{"route": "POST /x", "status": 500}') == 400
    assert await remote.status("POST", "until", b'{"ready": 1, "timeout": 0.01}') == 408


@pytest.mark.parametrize("name", sorted(DEEDS))
def test_every_deed_is_a_method(name: str) -> None:
    assert callable(getattr(DiscordSim, name))
