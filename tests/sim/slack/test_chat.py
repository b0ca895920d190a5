"""Posting, changing and removing messages: what is taken, what is refused, and what people see of it."""

import json
from typing import Any

import aiohttp
import pytest
from slack_sdk.web.async_client import AsyncWebClient

from tests.sim.slack import BOT_ID, BOT_USER, Channel, Person, SlackSim
from tests.sim.slack.conftest import BOT_TOKEN, Post, error_of

SECTION = [{"type": "section", "text": {"type": "mrkdwn", "text": "in a *block*"}}]


async def test_a_post_is_answered_as_by_slack_and_is_seen(sim: SlackSim, client: AsyncWebClient, dm: Channel) -> None:
    answer = await client.chat_postMessage(channel=dm.id, text="*hello* &lt;you&gt;")
    message = answer["message"]
    assert (answer["ok"], answer["channel"], message["ts"]) == (True, dm.id, answer["ts"])
    assert (message["user"], message["bot_id"], message["text"]) == (BOT_USER, BOT_ID, "*hello* &lt;you&gt;")
    (shown,) = sim.visible(dm)
    assert (shown.text, shown.raw, shown.from_bot) == ("hello <you>", "*hello* &lt;you&gt;", True)
    assert sim.bot_texts(dm) == ["hello <you>"]
    (call,) = sim.called("chat.postMessage", dm)
    assert (call.status, call.ok, call.error, call.params["text"]) == (200, True, "", "*hello* &lt;you&gt;")
    assert sim.violations == []


async def test_json_forms_and_queries_are_read_alike(sim: SlackSim, dm: Channel) -> None:
    headers = {"Authorization": f"Bearer {BOT_TOKEN}"}
    fields = {"channel": dm.id, "text": "é", "blocks": json.dumps(SECTION)}
    url = f"{sim.api_base}chat.postMessage"
    ways: list[dict[str, Any]] = [
        {"data": fields, "headers": headers},
        {"params": fields, "headers": headers},
        {"json": fields, "headers": headers},
        {"data": {**fields, "token": BOT_TOKEN}},
    ]
    async with aiohttp.ClientSession() as session:
        for way in ways:
            async with session.post(url, **way) as answer:
                assert (await answer.json())["ok"], way
        async with session.post(url, headers=headers, data=b"{") as answer:
            assert (await answer.json())["error"] == "invalid_post_type"
        json_headers = {**headers, "Content-Type": "application/json"}
        for body, error in ((b"{", "invalid_json"), (b"[1]", "json_not_object")):
            async with session.post(url, headers=json_headers, data=body) as answer:
                assert (answer.status, (await answer.json())["error"]) == (200, error)
    assert sim.bot_texts(dm) == ["in a block"] * 4


@pytest.mark.parametrize(
    ("token", "error"),
    [("", "not_authed"), ("xoxb-other", "invalid_auth"), ("xapp-sim", "not_allowed_token_type")],
)
async def test_a_wrong_token_is_refused(sim: SlackSim, post: Post, token: str, error: str) -> None:
    assert await post("auth.test", token) == {"ok": False, "error": error}


async def test_the_right_token_tells_who_the_bot_is(sim: SlackSim, client: AsyncWebClient) -> None:
    who = await client.auth_test()
    assert (who["user_id"], who["bot_id"], who["team_id"]) == (BOT_USER, BOT_ID, "T0SIM")
    assert "chat:write" in who.headers["X-OAuth-Scopes"]
    sim.revoke_token()
    assert await error_of(client.auth_test()) == "token_revoked"
    sim.restore_token()
    assert await error_of(client.auth_test()) == ""


async def test_an_unknown_method_is_a_violation(sim: SlackSim, post: Post) -> None:
    assert await post("chat.shout", channel="C1") == {
        "ok": False,
        "error": "unknown_method",
        "req_method": "chat.shout",
    }
    assert sim.violations == ["chat.shout in None: unknown_method"]


async def test_a_missing_scope_names_what_is_needed(
    sim: SlackSim, client: AsyncWebClient, post: Post, dm: Channel
) -> None:
    sim.missing_scope("im:history")
    answer = await post("conversations.history", channel=dm.id)
    assert (answer["error"], answer["needed"]) == ("missing_scope", "im:history")
    assert "im:history" not in answer["provided"].split(",") and "chat:write" in answer["provided"].split(",")
    assert await error_of(client.chat_postMessage(channel=dm.id, text="x")) == ""
    sim.missing_scope("chat:write")
    assert await error_of(client.chat_postMessage(channel=dm.id, text="x")) == "missing_scope"
    assert await error_of(client.users_info(user="U0ANN")) == ""


async def test_a_post_needs_a_text(sim: SlackSim, client: AsyncWebClient, post: Post, dm: Channel) -> None:
    nothing: list[dict[str, Any]] = [{}, {"text": ""}, {"text": " \n"}, {"blocks": []}, {"markdown_text": ""}]
    for fields in nothing:
        assert (await post("chat.postMessage", channel=dm.id, **fields))["error"] == "no_text"
    assert (await post("chat.postMessage", text="x"))["response_metadata"] == {
        "messages": ["[ERROR] missing required field: channel"]
    }
    assert len(sim.violations) == 6
    assert sim.visible(dm) == []


async def test_a_long_post_is_cut_and_noted(sim: SlackSim, post: Post, dm: Channel) -> None:
    assert (await post("chat.postMessage", channel=dm.id, text="x" * 40_000))["ok"]
    assert sim.violations == []
    assert (await post("chat.postMessage", channel=dm.id, text="x" * 40_001))["ok"]
    assert [len(text) for text in sim.bot_texts(dm)] == [40_000, 40_000]
    assert sim.violations == [f"a text of 40001 characters is cut in {dm.id}"]


async def test_the_text_of_an_update_is_counted_in_bytes(sim: SlackSim, client: AsyncWebClient, dm: Channel) -> None:
    ts = (await client.chat_postMessage(channel=dm.id, text="x"))["ts"]
    assert await error_of(client.chat_update(channel=dm.id, ts=ts, text="é" * 2000)) == ""
    assert await error_of(client.chat_update(channel=dm.id, ts=ts, text="é" * 2000 + "x")) == "msg_too_long"
    assert sim.violations == [f"chat.update in {dm.id}: msg_too_long"]
    assert sim.bot_texts(dm) == ["é" * 2000]


async def test_markdown_stands_alone_and_has_its_limit(sim: SlackSim, post: Post, dm: Channel) -> None:
    for beside in ({"text": "x"}, {"blocks": SECTION}):
        answer = await post("chat.postMessage", channel=dm.id, markdown_text="**x**", **beside)
        assert answer["error"] == "markdown_text_conflict"
    assert (await post("chat.postMessage", channel=dm.id, markdown_text="x" * 12_001))["error"] == "msg_too_long"
    assert (await post("chat.postMessage", channel=dm.id, markdown_text="# Title\n\n- **one**"))["ok"]
    assert (await post("chat.postMessage", channel=dm.id, markdown_text="# x\n\n" * 51))[
        "error"
    ] == "msg_blocks_too_long"
    assert sim.bot_texts(dm) == ["Title\n\n• one"]
    assert len(sim.violations) == 4


async def test_blocks_hide_the_text_and_a_text_alone_removes_blocks(
    sim: SlackSim, client: AsyncWebClient, post: Post, dm: Channel
) -> None:
    ts = (await client.chat_postMessage(channel=dm.id, text="fallback", blocks=SECTION))["ts"]
    assert sim.visible(dm)[0].text == "in a block"
    assert (await post("chat.update", channel=dm.id, ts=ts, blocks=[{"type": "divider"}, *SECTION]))["ok"]
    (shown,) = sim.visible(dm)
    assert (shown.raw, len(shown.blocks), shown.edits, shown.edited_flag) == ("fallback", 2, 1, False)
    await client.chat_update(channel=dm.id, ts=ts, text="only text")
    (shown,) = sim.visible(dm)
    assert (shown.text, shown.blocks, shown.edits, shown.edited_flag) == ("only text", (), 2, True)


async def test_only_its_own_messages_may_the_bot_change(
    sim: SlackSim, client: AsyncWebClient, dm: Channel, ann: Person
) -> None:
    ts = (await sim.say(dm, ann, "mine"))["ts"]
    assert await error_of(client.chat_update(channel=dm.id, ts=ts, text="x")) == "cant_update_message"
    assert await error_of(client.chat_delete(channel=dm.id, ts=ts)) == "cant_delete_message"
    assert await error_of(client.chat_update(channel=dm.id, ts="1.000001", text="x")) == "message_not_found"
    assert [text.split(": ")[1] for text in sim.violations] == ["cant_update_message", "cant_delete_message"]


async def test_a_deleted_message_is_gone_and_a_thread_keeps_a_tombstone(
    sim: SlackSim, client: AsyncWebClient, dm: Channel
) -> None:
    root = (await client.chat_postMessage(channel=dm.id, text="root"))["ts"]
    reply = (await client.chat_postMessage(channel=dm.id, text="reply", thread_ts=root))["ts"]
    await client.chat_delete(channel=dm.id, ts=root)
    assert sim.bot_texts(dm) == ["This message was deleted.", "reply"]
    assert await error_of(client.chat_update(channel=dm.id, ts=root, text="x")) == "message_not_found"
    await client.chat_delete(channel=dm.id, ts=reply)
    assert sim.bot_texts(dm) == ["This message was deleted."]
    assert await error_of(client.chat_update(channel=dm.id, ts=reply, text="x")) == "message_not_found"


async def test_a_thread_is_named_by_its_first_message(
    sim: SlackSim, client: AsyncWebClient, team: Channel, ann: Person
) -> None:
    root = (await sim.say(team, ann, "root"))["ts"]
    reply = (await sim.say(team, ann, "reply", thread=root))["ts"]
    await client.chat_postMessage(channel=team.id, text="one", thread_ts=root)
    assert sim.violations == []
    await client.chat_postMessage(channel=team.id, text="two", thread_ts=reply)
    assert sim.violations == [f"thread_ts {reply} in {team.id} is a reply, not its thread's first message"]
    assert sim.bot_texts(team, root) == ["one", "two"]
    assert await error_of(client.chat_postMessage(channel=team.id, text="x", thread_ts="1.0")) == "thread_not_found"


async def test_where_the_bot_is_not_it_may_not_write(sim: SlackSim, client: AsyncWebClient, ann: Person) -> None:
    public = sim.channel("C0PUB", "pub", members=[ann], bot_in=False)
    private = sim.channel("C0PRIV", "priv", members=[ann], private=True)
    sim.kick(private)
    assert await error_of(client.chat_postMessage(channel=public.id, text="x")) == "not_in_channel"
    assert await error_of(client.chat_postMessage(channel=private.id, text="x")) == "channel_not_found"
    assert await error_of(client.chat_postMessage(channel="C404", text="x")) == "channel_not_found"
    assert (await client.conversations_info(channel=public.id))["channel"]["is_member"] is False
    sim.invite(public)
    assert await error_of(client.chat_postMessage(channel=public.id, text="x")) == ""
    sim.archive(public)
    assert await error_of(client.chat_postMessage(channel=public.id, text="x")) == "is_archived"


async def test_a_persons_id_means_their_dm_for_a_post(sim: SlackSim, client: AsyncWebClient, ann: Person) -> None:
    assert (await client.chat_postMessage(channel=ann.id, text="x"))["channel"] == sim.dm(ann).id
    assert sim.bot_texts(sim.dm(ann)) == ["x"]


async def test_ephemeral_messages_are_for_one_and_cannot_be_changed(
    sim: SlackSim, client: AsyncWebClient, team: Channel, ann: Person
) -> None:
    ts = (await client.chat_postEphemeral(channel=team.id, user=ann.id, text="psst"))["message_ts"]
    assert [(shown.text, shown.ephemeral_to) for shown in sim.visible(team)] == [("psst", ann.id)]
    assert await error_of(client.chat_update(channel=team.id, ts=ts, text="x")) == "message_not_found"
    assert (await client.conversations_history(channel=team.id))["messages"] == []
    sim.person("U0BOB", "Bob")
    assert await error_of(client.chat_postEphemeral(channel=team.id, user="U0BOB", text="x")) == "user_not_in_channel"


@pytest.mark.parametrize(
    ("fields", "what"),
    [
        ({"text": "hey <!channel>"}, ["<!channel>"]),
        ({"text": "<!here> and <!everyone|all> `<@U0ANN>`"}, ["<!here>", "<!everyone>", "<@U0ANN>"]),
        ({"text": "<!subteam^S1> &lt;!channel&gt;"}, ["<!subteam^S1>"]),
        ({"markdown_text": "**<@U0ANN|ann>**"}, ["<@U0ANN>"]),
        ({"blocks": [*SECTION, {"type": "section", "text": {"type": "mrkdwn", "text": "<!here>"}}]}, ["<!here>"]),
        ({"blocks": [{"type": "header", "text": {"type": "plain_text", "text": "<!here>"}}]}, []),
        ({"blocks": [{"type": "markdown", "text": "<!channel>"}]}, ["<!channel>"]),
    ],
)
async def test_what_would_ping_is_recorded(
    sim: SlackSim, post: Post, dm: Channel, fields: dict[str, Any], what: list[str]
) -> None:
    assert (await post("chat.postMessage", channel=dm.id, **fields))["ok"]
    assert [ping.what for ping in sim.pings] == what
    assert list(sim.visible(dm)[0].pings) == what


async def test_rich_text_pings_by_its_elements_only(sim: SlackSim, post: Post, dm: Channel) -> None:
    parts = [{"type": "text", "text": "<!here>"}, {"type": "user", "user_id": "U0ANN"}]
    parts += [{"type": "broadcast", "range": "channel"}, {"type": "usergroup", "usergroup_id": "S1"}]
    blocks = [{"type": "rich_text", "elements": [{"type": "rich_text_section", "elements": parts}]}]
    assert (await post("chat.postMessage", channel=dm.id, blocks=blocks))["ok"]
    assert [ping.what for ping in sim.pings] == ["<@U0ANN>", "<!channel>", "<!subteam^S1>"]
    ts = sim.visible(dm)[0].ts
    await post("chat.update", channel=dm.id, ts=ts, text="<@U0ANN>")
    assert [(ping.method, ping.what) for ping in sim.pings[3:]] == [("chat.update", "<@U0ANN>")]


async def test_a_link_that_may_unfurl_is_a_violation(sim: SlackSim, client: AsyncWebClient, dm: Channel) -> None:
    link = "see https://example.org"
    await client.chat_postMessage(channel=dm.id, text=link, unfurl_links=False, unfurl_media=False)
    await client.chat_postMessage(channel=dm.id, text="no link")
    assert sim.violations == []
    await client.chat_postMessage(channel=dm.id, text=link, unfurl_links=False)
    await client.chat_postMessage(channel=dm.id, markdown_text="[x](https://example.org)")
    assert sim.violations == [f"a link may unfurl: chat.postMessage in {dm.id}"] * 2
    assert [shown.unfurl for shown in sim.visible(dm)] == [False, True, True, True]


async def test_metadata_is_kept_and_checked(sim: SlackSim, client: AsyncWebClient, post: Post, dm: Channel) -> None:
    metadata = {"event_type": "turn", "event_payload": {"id": "7"}}
    await client.chat_postMessage(channel=dm.id, text="x", metadata=metadata)
    (message,) = (await client.conversations_history(channel=dm.id, include_all_metadata=True))["messages"]
    assert message["metadata"] == metadata
    assert "metadata" not in (await client.conversations_history(channel=dm.id))["messages"][0]
    assert (await post("chat.postMessage", channel=dm.id, text="x", metadata={}))["error"] == "invalid_metadata_format"
