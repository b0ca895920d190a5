"""The simulator as a process of its own: what a bench or a crash test does over HTTP."""

import asyncio
import base64
import json
import os
import signal
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import aiohttp
import pytest_asyncio
from slack_sdk.web.async_client import AsyncWebClient

from tests.sim.slack.conftest import BOT_TOKEN, Bolt, error_of

ROOT = Path(__file__).resolve().parents[3]


class Remote:
    """The control API of a running process."""

    def __init__(self, urls: dict[str, str], session: aiohttp.ClientSession) -> None:
        self.urls, self._session = urls, session

    async def post(self, deed: str, **body: Any) -> Any:
        async with self._session.post(f"{self.urls['control']}{deed}", json=body) as answer:
            return await answer.json()

    async def get(self, view: str, **query: Any) -> Any:
        async with self._session.get(f"{self.urls['control']}{view}", params=query) as answer:
            assert answer.status == 200, await answer.text()
            return await answer.json()

    async def status(self, deed: str, **body: Any) -> int:
        async with self._session.post(f"{self.urls['control']}{deed}", json=body) as answer:
            return answer.status


@pytest_asyncio.fixture
async def remote() -> AsyncIterator[Remote]:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tests.sim.slack", "--lenient-rates", "--latency", "0", "--agent",
        stdout=asyncio.subprocess.PIPE, cwd=ROOT, env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )  # fmt: skip
    assert process.stdout is not None
    urls = json.loads(await process.stdout.readline())
    async with aiohttp.ClientSession() as session:
        yield Remote(urls, session)
    process.send_signal(signal.SIGTERM)
    assert await process.wait() == 0


@pytest_asyncio.fixture
async def web(remote: Remote) -> AsyncIterator[AsyncWebClient]:
    async with aiohttp.ClientSession() as session:
        yield AsyncWebClient(BOT_TOKEN, base_url=remote.urls["api_base"], session=session)


@pytest_asyncio.fixture
async def app(remote: Remote, web: AsyncWebClient) -> AsyncIterator[Bolt]:
    running = Bolt(web)
    await running.connect()
    assert await remote.status("until", sockets=1, timeout=5) == 200
    yield running
    await running.close()


BUTTON = {"type": "button", "action_id": "yes", "value": "v1", "text": {"type": "plain_text", "text": "Yes"}}
BLOCKS = [{"type": "actions", "elements": [BUTTON]}]


async def test_a_dialogue_over_the_control_api(remote: Remote, web: AsyncWebClient, app: Bolt) -> None:
    pressed: list[str] = []

    @app.app.action("yes")
    async def press(ack: Any, body: Any) -> None:
        await ack()
        pressed.append(body["actions"][0]["value"])

    @app.app.command("/bowerbird")
    async def command(ack: Any) -> None:
        await ack("well")

    assert (await remote.post("person", id="U0ANN", name="Ann", language="en-GB"))["id"] == "U0ANN"
    dm = (await remote.post("dm", person="U0ANN"))["id"]
    file = ["a.txt", "text/plain", base64.b64encode(b"abc").decode()]
    said = await remote.post("say", channel=dm, person="U0ANN", text="May you?", files=[file])
    assert (said["files"][0]["name"], said["files"][0]["size"]) == ("a.txt", 3)
    sent = await web.chat_postMessage(channel=dm, text="Shall I?", blocks=BLOCKS, thread_ts=said["ts"])
    delivery = await remote.post("press", channel=dm, person="U0ANN", ts=sent["ts"], key="Yes")
    assert (delivery["kind"], delivery["state"]) == ("interactive", "waiting")
    await remote.post("command", channel=dm, person="U0ANN", command="/bowerbird", text="status")
    assert await remote.status("until", channel=dm, contains="well", unacked=0, timeout=5) == 200
    await remote.post("edit", channel=dm, ts=said["ts"], text="Can you?")
    await remote.post("react", channel=dm, ts=sent["ts"], person="U0ANN", name="thumbsdown")
    assert await remote.status("until", unacked=0, timeout=5) == 200
    visible = await remote.get("visible", channel=dm, thread=said["ts"])
    assert [(shown["raw"], shown["from_bot"], shown["reactions"]) for shown in visible] == [
        ("Can you?", False, []),
        ("Shall I?", True, [["thumbsdown", "U0ANN"]]),
    ]
    assert visible[1]["buttons"][0]["action_id"] == "yes"
    assert (pressed, await remote.get("bot_texts", channel=dm)) == (["v1"], ["", "well"])
    assert sorted(app.kinds) == ["file_share", "message_changed", "reaction_added"]
    assert await remote.get("calls", method="chat.postMessage", channel=dm, count=1) == 1
    assert (await remote.get("calls", method="chat.postMessage"))[0]["params"]["text"] == "Shall I?"
    assert len(await remote.get("acks")) == 6
    assert await remote.get("violations") == []


async def test_channels_trouble_and_stop_over_the_control_api(remote: Remote, web: AsyncWebClient, app: Bolt) -> None:
    for id in ("U0ANN", "U0BOB"):
        await remote.post("person", id=id, name=id)
    assert (await remote.post("group_dm", people=["U0ANN", "U0BOB"]))["id"].startswith("G")
    await remote.post("channel", id="C0TEAM", name="team", members=["U0ANN"], private=True)
    root = (await remote.post("say", channel="C0TEAM", person="U0ANN", text="<@BOT> hello"))["ts"]
    await web.agents_sessions_setStatus(channel_id="C0TEAM", thread_ts=root, status="processing")
    assert await remote.get("session", channel="C0TEAM", thread=root) == "processing"
    assert await remote.get("status", channel="C0TEAM", thread=root) == "processing"
    assert await remote.post("stop_session", channel="C0TEAM", thread=root, person="U0ANN") == []
    await remote.post("feed", raw={"type": "events_api", "envelope_id": "E1", "payload": {"odd": True}})
    await remote.post("event", event={"type": "message", "channel": "C1", "ts": "1.0", "user": "U1", "text": "x"})
    assert await remote.status("until", unacked=1, timeout=5) == 200
    await remote.post(
        "fail", faults=[{"method": "auth.test", "status": 500}, {"method": "users.info", "error": "fatal_error"}]
    )
    assert await error_of(web.users_info(user="U0ANN")) == "fatal_error"
    assert await remote.post("latency", seconds=0.01, methods={"auth.test": 0}) == {
        "seconds": 0.01,
        "methods": {"auth.test": 0},
    }
    settings = await remote.post("settings", stream_seconds=9, shuffle=True)
    assert (settings["stream_seconds"], settings["shuffle"], settings["agent"]) == (9, True, True)
    await remote.post("disconnect", reason="refresh_requested")
    assert await remote.status("until", sockets=1, timeout=5) == 200
    await remote.post("archive", channel="C0TEAM")
    assert await error_of(web.chat_postMessage(channel="C0TEAM", text="x")) == "is_archived"
    await remote.post("revoke_token")
    assert await error_of(web.users_info(user="U0ANN")) == "token_revoked"
    stats = await remote.get("stats")
    assert (stats["errors"]["is_archived"], stats["errors"]["token_revoked"]) == (1, 1)
    await remote.post("reset")
    assert await remote.get("calls") == []
    assert await remote.status("say", channel="C404", person="U0ANN", text="x") == 400
    assert await remote.status("dance") == 404


async def test_many_people_at_once_and_when_each_was_answered(remote: Remote, web: AsyncWebClient, app: Bolt) -> None:
    said = await remote.post("say_many", count=30, text="question {n}", first_id=1000)
    assert len(said["said"]) == 30
    assert await remote.status("until", unacked=0, timeout=10) == 200
    for event in app.events:
        channel, ts = event["channel"], event["ts"]
        stream = (await web.chat_startStream(channel=channel, thread_ts=ts, markdown_text="END of "))["ts"]
        await web.chat_appendStream(channel=channel, ts=stream, markdown_text=event["text"])
        await web.chat_stopStream(channel=channel, ts=stream)
    assert await remote.status("until", contains="END of question", channels=30, answered=30, timeout=5) == 200
    assert await remote.status("until", contains="never", timeout=0.05) == 408
    report, firsts = await remote.get("report"), await remote.get("firsts")
    assert len(report) == len(firsts) == 30
    one = report["D1003"]
    assert (one["text"], one["sends"], one["edits"]) == ("END of question 3", 1, 2)
    assert said["at"] > one["said_at"]
    assert one["said_at"] < one["delivered_at"] < one["first_text_at"] < one["last_change_at"]
    assert firsts["D1003"] == {
        "handed": one["delivered_at"],
        "first": one["first_text_at"],
        "last": one["last_change_at"],
        "text": one["text"],
    }
    assert await remote.get("violations") == []
