"""Histories, threads, members, people, reactions, opening DMs, and files."""

from typing import Any

import aiohttp
import pytest
from slack_sdk.web.async_client import AsyncWebClient

from tests.sim.slack import BOT_USER, Channel, Person, SlackSim
from tests.sim.slack.conftest import Post, error_of


async def test_a_history_is_newest_first_without_replies(
    sim: SlackSim, client: AsyncWebClient, team: Channel, ann: Person
) -> None:
    said = [(await sim.say(team, ann, str(n)))["ts"] for n in range(5)]
    await sim.say(team, ann, "reply", thread=said[0])
    await client.chat_postMessage(channel=team.id, text="broadcast", thread_ts=said[0], reply_broadcast=True)
    answer = await client.conversations_history(channel=team.id)
    assert [message["text"] for message in answer["messages"]] == ["broadcast", "4", "3", "2", "1", "0"]
    root = answer["messages"][-1]
    assert (root["reply_count"], root["thread_ts"], root["reply_users"]) == (2, said[0], [ann.id, BOT_USER])
    assert (answer["has_more"], answer["messages"][1].get("channel")) == (False, None)


async def test_a_history_is_bounded_and_paged(
    sim: SlackSim, client: AsyncWebClient, team: Channel, ann: Person
) -> None:
    said = [(await sim.say(team, ann, str(n)))["ts"] for n in range(5)]

    async def texts(**bounds: Any) -> list[str]:
        answer = await client.conversations_history(channel=team.id, **bounds)
        return [message["text"] for message in answer["messages"]]

    assert await texts(oldest=said[1]) == ["4", "3", "2"]
    assert await texts(oldest=said[1], latest=said[3]) == ["2"]
    assert await texts(oldest=said[1], latest=said[3], inclusive=True) == ["3", "2", "1"]
    answer = await client.conversations_history(channel=team.id, limit=2)
    assert answer["has_more"]
    cursor = answer["response_metadata"]["next_cursor"]
    assert await texts(limit=2, cursor=cursor) == ["2", "1"]
    assert await error_of(client.conversations_history(channel=team.id, cursor="%")) == "invalid_cursor"
    assert await error_of(client.conversations_history(channel=team.id, limit=1000)) == "invalid_limit"


async def test_a_thread_is_its_root_and_its_replies_oldest_first(
    sim: SlackSim, client: AsyncWebClient, team: Channel, ann: Person
) -> None:
    root = (await sim.say(team, ann, "root"))["ts"]
    replies = [(await sim.say(team, ann, str(n), thread=root))["ts"] for n in range(3)]
    answer = await client.conversations_replies(channel=team.id, ts=root)
    assert [message["text"] for message in answer["messages"]] == ["root", "0", "1", "2"]
    answer = await client.conversations_replies(channel=team.id, ts=root, oldest=replies[0])
    assert [message["text"] for message in answer["messages"]] == ["root", "1", "2"]
    assert await error_of(client.conversations_replies(channel=team.id, ts="1.0")) == "thread_not_found"
    sim.kick(team)
    assert await error_of(client.conversations_replies(channel=team.id, ts=root)) == "not_in_channel"


async def test_a_stream_tells_its_state_in_a_history(
    sim: SlackSim, client: AsyncWebClient, dm: Channel, ann: Person
) -> None:
    root = (await sim.say(dm, ann, "?"))["ts"]
    ts = (await client.chat_startStream(channel=dm.id, thread_ts=root, markdown_text="**a**"))["ts"]
    message = (await client.conversations_replies(channel=dm.id, ts=root))["messages"][1]
    assert (message["streaming_state"], message["text"]) == ("in_progress", "a")
    await client.chat_stopStream(channel=dm.id, ts=ts)
    message = (await client.conversations_replies(channel=dm.id, ts=root))["messages"][1]
    assert message["streaming_state"] == "completed"


async def test_channels_tell_what_they_are(sim: SlackSim, client: AsyncWebClient, dm: Channel, team: Channel) -> None:
    im = (await client.conversations_info(channel=dm.id))["channel"]
    assert (im["is_im"], im["user"], im["id"]) == (True, "U0ANN", dm.id)
    public = (await client.conversations_info(channel=team.id, include_num_members=True))["channel"]
    assert (public["is_channel"], public["is_member"], public["name"], public["num_members"]) == (True, True, "team", 2)
    assert (await client.conversations_members(channel=team.id))["members"] == ["U0ANN", BOT_USER]


async def test_a_dm_is_opened_by_a_persons_id(sim: SlackSim, client: AsyncWebClient, ann: Person) -> None:
    bob = sim.person("U0BOB", "Bob")
    sim.person("U0ROBO", "Robo", bot=True)
    assert (await client.conversations_open(users=bob.id))["channel"] == {"id": sim.dm(bob).id}
    assert (await client.conversations_open(users=bob.id, return_im=True))["channel"]["is_im"]
    group = (await client.conversations_open(users=[ann.id, bob.id]))["channel"]["id"]
    assert sim.place(group).kind == "mpim"
    for wrong, error in (("U404", "user_not_found"), (BOT_USER, "user_not_found"), ("U0ROBO", "cannot_dm_bot")):
        assert await error_of(client.conversations_open(users=wrong)) == error
    sim.missing_scope("mpim:write")
    assert await error_of(client.conversations_open(users=[ann.id, bob.id])) == "missing_scope"


async def test_people_tell_their_language_when_asked(sim: SlackSim, client: AsyncWebClient) -> None:
    sim.person("U0LI", "Li", language="zh-CN")
    user = (await client.users_info(user="U0LI", include_locale=True))["user"]
    assert (user["locale"], user["real_name"], user["is_bot"]) == ("zh-CN", "Li", False)
    assert "locale" not in (await client.users_info(user="U0LI"))["user"]
    assert await error_of(client.users_info(user="U404")) == "user_not_found"


async def test_the_bot_reacts_once(sim: SlackSim, client: AsyncWebClient, post: Post, dm: Channel, ann: Person) -> None:
    ts = (await sim.say(dm, ann, "x"))["ts"]
    item = {"channel": dm.id, "timestamp": ts, "name": "eyes"}
    assert await error_of(client.reactions_remove(**item)) == "no_reaction"
    assert await error_of(client.reactions_add(**item)) == ""
    assert await error_of(client.reactions_add(**item)) == "already_reacted"
    assert (await client.reactions_get(channel=dm.id, timestamp=ts))["message"]["reactions"] == [
        {"name": "eyes", "users": [BOT_USER], "count": 1}
    ]
    assert await error_of(client.reactions_remove(**item)) == ""
    assert await error_of(client.reactions_add(channel=dm.id, timestamp=ts, name="👀")) == "invalid_name"
    assert await error_of(client.reactions_add(channel=dm.id, timestamp="1.0", name="eyes")) == "message_not_found"
    assert (await post("reactions.add", name="eyes"))["error"] == "no_item_specified"


# files


async def test_a_download_needs_the_token_and_the_scope(sim: SlackSim, dm: Channel, ann: Person, post: Post) -> None:
    file = (await sim.say(dm, ann, "x", files=[("a.txt", "text/plain", b"abc")]))["files"][0]

    async def fetch(token: str) -> tuple[int, str, bytes]:
        async with (
            aiohttp.ClientSession(headers={"Authorization": token}) as session,
            session.get(file["url_private_download"]) as answer,
        ):
            return answer.status, answer.content_type, (await answer.read())[:3]

    assert await fetch("Bearer xoxb-sim") == (200, "application/octet-stream", b"abc")
    assert await fetch("Bearer xoxb-other") == (200, "text/html", b"<!D")
    sim.world.files.by_id[file["id"]].gone = True
    assert (await fetch("Bearer xoxb-sim"))[0] == 404
    assert (await post("files.info", file=file["id"]))["error"] == "file_deleted"
    assert (await post("files.info", file="F404"))["error"] == "file_not_found"
    sim.missing_scope("files:read")
    assert (await fetch("Bearer xoxb-sim"))[1] == "text/html"


@pytest.mark.parametrize("path", ["", "nowhere/at/all", "files-pri/x"])
async def test_elsewhere_is_nothing(sim: SlackSim, path: str) -> None:
    async with aiohttp.ClientSession() as session, session.get(f"{sim.url}/{path}") as answer:
        assert answer.content_type == "text/html"
