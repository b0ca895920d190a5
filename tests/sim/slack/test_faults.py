"""Scripted trouble: refusals, lost answers, dead connections, garbage, slowness, and two changes at once."""

import asyncio
from typing import Any

import aiohttp
import pytest
from slack_sdk.errors import SlackApiError, SlackRequestError
from slack_sdk.web.async_client import AsyncWebClient

from tests.sim.slack import Channel, Person, SlackSim
from tests.sim.slack.conftest import BOT_TOKEN, Post, error_of


async def test_the_nth_call_or_every_nth_is_met(sim: SlackSim, post: Post, dm: Channel) -> None:
    async def four() -> list[Any]:
        return [(await post("chat.postMessage", channel=dm.id, text="x")).get("error") for _ in range(4)]

    sim.fail("chat.postMessage", 2, error="internal_error")
    assert await four() == [None, "internal_error", None, None]
    fault = sim.fail("chat.postMessage", 2, error="fatal_error", every=True)
    assert await four() == [None, "fatal_error", None, "fatal_error"]
    assert fault.hits == 2
    assert len(sim.bot_texts(dm)) == 5
    assert sim.violations == []


async def test_a_fault_can_be_meant_for_one_channel(
    sim: SlackSim, client: AsyncWebClient, dm: Channel, team: Channel
) -> None:
    sim.fail("chat.postMessage", error="restricted_action", channel=team)
    assert await error_of(client.chat_postMessage(channel=dm.id, text="x")) == ""
    assert await error_of(client.chat_postMessage(channel=team.id, text="x")) == "restricted_action"


async def test_an_edit_window_closes_only_when_scripted(sim: SlackSim, client: AsyncWebClient, dm: Channel) -> None:
    ts = (await client.chat_postMessage(channel=dm.id, text="x"))["ts"]
    sim.fail("chat.update", error="edit_window_closed")
    assert await error_of(client.chat_update(channel=dm.id, ts=ts, text="y")) == "edit_window_closed"
    assert await error_of(client.chat_update(channel=dm.id, ts=ts, text="y")) == ""


@pytest.mark.parametrize(("effect", "texts"), [("none", []), ("done", ["x"])])
async def test_an_error_with_and_without_effect(
    sim: SlackSim, client: AsyncWebClient, dm: Channel, effect: Any, texts: list[str]
) -> None:
    sim.fail("chat.postMessage", error="fatal_error", effect=effect)
    assert await error_of(client.chat_postMessage(channel=dm.id, text="x")) == "fatal_error"
    assert sim.bot_texts(dm) == texts


async def test_a_server_error_is_html_unless_it_is_named(sim: SlackSim, dm: Channel) -> None:
    sim.fail("chat.postMessage", status=503)
    sim.fail("chat.update", status=500, error="internal_error")
    sim.fail("chat.delete", action="garbage")
    headers = {"Authorization": f"Bearer {BOT_TOKEN}"}
    seen = []
    async with aiohttp.ClientSession(headers=headers) as session:
        for method in ("chat.postMessage", "chat.update", "chat.delete"):
            async with session.post(f"{sim.api_base}{method}", json={"channel": dm.id}) as answer:
                seen.append((answer.status, answer.content_type))
    assert seen == [(503, "text/html"), (500, "application/json"), (200, "text/html")]


async def test_the_library_takes_garbage_for_an_empty_answer(
    sim: SlackSim, client: AsyncWebClient, dm: Channel
) -> None:
    sim.fail("chat.postMessage", action="garbage", status=502)
    with pytest.raises(SlackApiError) as refused:
        await client.chat_postMessage(channel=dm.id, text="x")
    assert (refused.value.response.status_code, refused.value.response.data) == (502, {})


async def test_an_answer_lost_by_the_library_is_asked_for_again_and_the_post_is_seen_twice(
    sim: SlackSim, client: AsyncWebClient, dm: Channel
) -> None:
    sim.fail("chat.postMessage", action="drop", effect="done")
    await client.chat_postMessage(channel=dm.id, text="once?")
    assert sim.bot_texts(dm) == ["once?", "once?"]
    assert [call.error for call in sim.called("chat.postMessage")] == ["fault: drop", ""]


@pytest.mark.parametrize("action", ["drop", "reset"])
async def test_a_lost_connection_without_effect(sim: SlackSim, dm: Channel, action: Any) -> None:
    sim.fail("chat.postMessage", action=action, every=True)
    async with aiohttp.ClientSession() as session:
        client = AsyncWebClient(BOT_TOKEN, base_url=sim.api_base, session=session, retry_handlers=[])
        with pytest.raises(aiohttp.ClientError):
            await client.chat_postMessage(channel=dm.id, text="x")
    assert sim.bot_texts(dm) == []


async def test_an_update_that_hangs_is_still_under_way(sim: SlackSim, client: AsyncWebClient, dm: Channel) -> None:
    ts = (await client.chat_postMessage(channel=dm.id, text="x"))["ts"]
    sim.fail("chat.update", action="hang")
    async with asyncio.TaskGroup() as group:
        hanging = group.create_task(client.chat_update(channel=dm.id, ts=ts, text="a"))
        await sim.until(lambda sim: sim.calls[-1].error == "fault: hang")
        await client.chat_update(channel=dm.id, ts=ts, text="b")
        assert sim.violations == [f"two changes at once of message {ts} in {dm.id}"]
        hanging.cancel()
    await asyncio.sleep(0.05)
    await client.chat_update(channel=dm.id, ts=ts, text="c")
    assert len(sim.violations) == 1


async def test_two_appends_at_once_are_a_violation_and_two_messages_are_not(
    sim: SlackSim, client: AsyncWebClient, dm: Channel, ann: Person
) -> None:
    root = (await sim.say(dm, ann, "?"))["ts"]
    first, second = [
        (await client.chat_startStream(channel=dm.id, thread_ts=root, markdown_text="x"))["ts"] for _ in range(2)
    ]
    append = client.chat_appendStream
    sim.latencies["chat.appendStream"] = 0.1
    await asyncio.gather(*(append(channel=dm.id, ts=ts, markdown_text="y") for ts in (first, second)))
    assert sim.violations == []
    await asyncio.gather(*(append(channel=dm.id, ts=first, markdown_text="z") for _ in range(2)))
    assert sim.violations == [f"two changes at once of message {first} in {dm.id}"]


async def test_a_call_takes_effect_though_its_client_left(sim: SlackSim, client: AsyncWebClient, dm: Channel) -> None:
    sim.latencies["chat.postMessage"] = 0.1
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.05):
            await client.chat_postMessage(channel=dm.id, text="x")
    await sim.until(lambda sim: sim.bot_texts(dm) == ["x"])


async def test_latency_is_per_method_and_calls_run_side_by_side(
    sim: SlackSim, client: AsyncWebClient, dm: Channel
) -> None:
    sim.latencies["chat.postMessage"] = 0.2
    loop = asyncio.get_running_loop()
    started = loop.time()
    await client.auth_test()
    assert loop.time() - started < 0.15
    await asyncio.gather(*(client.chat_postMessage(channel=dm.id, text=str(n)) for n in range(5)))
    assert 0.2 <= loop.time() - started < 0.9


async def test_connections_uploads_and_downloads_can_fail_too(
    sim: SlackSim, client: AsyncWebClient, dm: Channel, ann: Person
) -> None:
    url = (await AsyncWebClient(base_url=sim.api_base).apps_connections_open(app_token="xapp-sim"))["url"]
    file = (await sim.say(dm, ann, "x", files=[("a.txt", "text/plain", b"abc")]))["files"][0]
    sim.fail("link", status=503)
    sim.fail("download", status=500)
    sim.fail("upload", status=500)
    async with aiohttp.ClientSession(headers={"Authorization": f"Bearer {BOT_TOKEN}"}) as session:
        with pytest.raises(aiohttp.WSServerHandshakeError) as refused:
            await session.ws_connect(url)
        assert refused.value.status == 503
        async with session.get(file["url_private"]) as answer:
            assert answer.status == 500
        async with session.get(file["url_private"]) as answer:
            assert await answer.read() == b"abc"
    with pytest.raises(SlackRequestError, match="Failed to upload a file"):
        await client.files_upload_v2(channel=dm.id, filename="b.txt", content="x")


async def test_waiting_for_what_does_not_come_tells_what_was_seen(
    sim: SlackSim, client: AsyncWebClient, dm: Channel
) -> None:
    await client.chat_postMessage(channel=dm.id, text="x")
    seen = rf"calls \['chat.postMessage {dm.id} 200'\], sockets SocketCount\(open=0, opened=0\), 1 not acknowledged"
    with pytest.raises(TimeoutError, match=seen):
        await sim.until(lambda sim: sim.bot_texts(dm) == ["y"], timeout=0.05)


def test_a_fault_that_says_nothing_is_a_mistake_of_the_test() -> None:
    sim = SlackSim()
    with pytest.raises(ValueError, match="an answer needs a status"):
        sim.fail("chat.update")
    with pytest.raises(ValueError, match="a 200 needs an error"):
        sim.fail("chat.update", status=200)
    with pytest.raises(ValueError, match="nth counts from 1"):
        sim.fail("chat.update", 0, status=500)
