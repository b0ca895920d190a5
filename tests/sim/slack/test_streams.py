"""Streams: how they begin, grow, end and die, and what they refuse meanwhile."""

from typing import Any

import pytest
import pytest_asyncio
from slack_sdk.models.messages.chunk import MarkdownTextChunk, PlanUpdateChunk, TaskUpdateChunk
from slack_sdk.web.async_client import AsyncWebClient

from tests.sim.slack import BOT_USER, TEAM, Channel, Person, SlackSim
from tests.sim.slack.conftest import Post, Timed, error_of

BUTTONS = [
    {
        "type": "actions",
        "elements": [{"type": "button", "action_id": "ok", "value": "1", "text": {"type": "plain_text", "text": "OK"}}],
    }
]


@pytest_asyncio.fixture
async def root(sim: SlackSim, dm: Channel, ann: Person) -> str:
    return str((await sim.say(dm, ann, "question"))["ts"])


@pytest_asyncio.fixture
async def stream(client: AsyncWebClient, dm: Channel, root: str) -> str:
    return str((await client.chat_startStream(channel=dm.id, thread_ts=root, markdown_text="**He"))["ts"])


async def test_a_stream_grows_and_becomes_a_message_with_buttons(
    sim: SlackSim, client: AsyncWebClient, dm: Channel, root: str, stream: str
) -> None:
    (shown,) = sim.visible(dm, root)[1:]
    assert (shown.streaming, shown.text, shown.raw, shown.thread_ts) == (True, "**He", "**He", root)
    answer = await client.chat_appendStream(channel=dm.id, ts=stream, markdown_text="llo**\n\n- one")
    assert (answer["channel"], answer["ts"]) == (dm.id, stream)
    assert sim.bot_texts(dm) == ["Hello\n\n• one"]
    answer = await client.chat_stopStream(channel=dm.id, ts=stream, markdown_text="\n- two", blocks=BUTTONS)
    assert answer["message"]["streaming_state"] == "completed"
    (shown,) = sim.visible(dm, root)[1:]
    assert (shown.streaming, shown.broken, shown.text) == (False, False, "Hello\n\n• one\n• two")
    assert [button.value for button in shown.buttons] == ["1"]
    assert sim.violations == []


async def test_the_librarys_streamer_works_in_a_channel(
    sim: SlackSim, client: AsyncWebClient, team: Channel, ann: Person
) -> None:
    root = (await sim.say(team, ann, "question"))["ts"]
    streamer = await client.chat_stream(
        channel=team.id, thread_ts=root, recipient_team_id=TEAM, recipient_user_id=ann.id, buffer_size=4
    )
    await streamer.append(markdown_text="Hello ")
    await streamer.append(chunks=[TaskUpdateChunk(id="1", title="look", status="in_progress", details="a")])
    await streamer.append(chunks=[TaskUpdateChunk(id="1", title="looked", status="complete", details="b", output="c")])
    await streamer.append(chunks=[PlanUpdateChunk(title="Done"), MarkdownTextChunk(text="there")])
    await streamer.stop(markdown_text=".")
    (shown,) = [shown for shown in sim.visible(team) if shown.from_bot]
    assert (shown.text, shown.plan_title) == ("Hello there.", "Done")
    assert [(card.title, card.status, card.details, card.output) for card in shown.cards] == [
        ("looked", "complete", "ab", "c")
    ]
    assert sim.violations == []


async def test_a_channel_needs_to_know_the_recipient(sim: SlackSim, post: Post, team: Channel, ann: Person) -> None:
    root = (await sim.say(team, ann, "question"))["ts"]

    async def start(**fields: Any) -> Any:
        return (await post("chat.startStream", channel=team.id, thread_ts=root, **fields)).get("error")

    assert await start() == "missing_recipient_team_id"
    assert await start(recipient_team_id=TEAM) == "missing_recipient_user_id"
    assert await start(recipient_team_id={"id": TEAM}, recipient_user_id=ann.id) == "team_not_found"
    assert await start(recipient_team_id=TEAM, recipient_user_id="U404") == "user_not_found"
    assert await start(recipient_team_id=TEAM, recipient_user_id=BOT_USER) == "user_not_found"
    assert await start(recipient_team_id=TEAM, recipient_user_id=ann.id) is None
    assert (await post("chat.startStream", channel=team.id, recipient_team_id=TEAM, recipient_user_id=ann.id))["ok"]
    assert sim.violations[:2] == [
        f"chat.startStream in {team.id}: missing_recipient_team_id",
        f"chat.startStream in {team.id}: missing_recipient_user_id",
    ]


async def test_a_dm_needs_a_thread(sim: SlackSim, post: Post, dm: Channel) -> None:
    answer = await post("chat.startStream", channel=dm.id)
    assert answer["response_metadata"]["messages"] == ["[ERROR] missing required field: thread_ts"]
    assert (await post("chat.startStream", channel=dm.id, thread_ts="1.0"))["error"] == "thread_not_found"
    assert len(sim.violations) == 1


async def test_the_display_mode_is_one_of_two(sim: SlackSim, post: Post, dm: Channel, root: str) -> None:
    fields = {"channel": dm.id, "thread_ts": root}
    assert (await post("chat.startStream", **fields, task_display_mode="grid"))["error"] == "invalid_arguments"
    assert (await post("chat.startStream", **fields, task_display_mode="plan"))["ok"]


async def test_twelve_thousand_characters_a_call(
    sim: SlackSim, post: Post, dm: Channel, root: str, stream: str
) -> None:
    async def append(**fields: Any) -> Any:
        return (await post("chat.appendStream", channel=dm.id, ts=stream, **fields)).get("error")

    assert await append(markdown_text="x" * 12_000) is None
    assert await append(markdown_text="x" * 12_000) is None
    assert await append(markdown_text="x" * 12_001) == "msg_too_long"
    chunked = (await post("chat.startStream", channel=dm.id, thread_ts=root, chunks=[]))["ts"]
    chunks = [{"type": "markdown_text", "text": "x" * 6001}] * 2
    assert (await post("chat.appendStream", channel=dm.id, ts=chunked, chunks=chunks))["error"] == "msg_too_long"
    assert (await post("chat.appendStream", channel=dm.id, ts=chunked, chunks=chunks[:1]))["ok"]
    assert len(sim.bot_texts(dm)[1]) == 6001


async def test_an_append_brings_something(sim: SlackSim, post: Post, dm: Channel, stream: str) -> None:
    nothing: list[dict[str, Any]] = [{}, {"markdown_text": ""}, {"chunks": []}]
    for fields in nothing:
        assert (await post("chat.appendStream", channel=dm.id, ts=stream, **fields))["error"] == "no_text"
    assert len(sim.violations) == 3
    assert (await post("chat.stopStream", channel=dm.id, ts=stream))["ok"]


async def test_a_stream_keeps_the_kind_of_content_it_began_with(
    sim: SlackSim, post: Post, dm: Channel, root: str, stream: str
) -> None:
    chunks = [{"type": "markdown_text", "text": "x"}]
    assert (await post("chat.appendStream", channel=dm.id, ts=stream, chunks=chunks))[
        "error"
    ] == "streaming_mode_mismatch"
    assert (await post("chat.stopStream", channel=dm.id, ts=stream, chunks=chunks))[
        "error"
    ] == "streaming_mode_mismatch"
    bare = (await post("chat.startStream", channel=dm.id, thread_ts=root))["ts"]
    assert (await post("chat.appendStream", channel=dm.id, ts=bare, chunks=chunks))["ok"]
    answer = await post("chat.appendStream", channel=dm.id, ts=bare, markdown_text="x")
    assert answer["error"] == "streaming_mode_mismatch"
    both = await post("chat.appendStream", channel=dm.id, ts=bare, markdown_text="x", chunks=chunks)
    assert both["error"] == "cannot_provide_both_markdown_text_and_chunks"
    assert len(sim.violations) == 4
    assert sim.bot_texts(dm) == ["**He", "x"]


TASK = {"type": "task_update", "id": "1", "title": "t", "status": "pending"}


@pytest.mark.parametrize(
    "chunk",
    [
        "x",
        {"type": "task"},
        {"type": "markdown_text"},
        {**TASK, "status": "done"},
        {**TASK, "id": ""},
        {**TASK, "title": "x" * 257},
        {**TASK, "details": "x" * 257},
        {**TASK, "output": 7},
        {**TASK, "sources": [{"type": "file"}]},
        {"type": "plan_update"},
        {"type": "plan_update", "title": "x" * 257},
        {"type": "blocks", "blocks": "x"},
    ],
)
async def test_a_wrong_chunk_is_refused_and_nothing_of_its_call_is_shown(
    sim: SlackSim, post: Post, dm: Channel, root: str, chunk: Any
) -> None:
    ts = (await post("chat.startStream", channel=dm.id, thread_ts=root))["ts"]
    chunks = [{"type": "markdown_text", "text": "x"}, chunk]
    assert (await post("chat.appendStream", channel=dm.id, ts=ts, chunks=chunks))["error"] == "invalid_chunks"
    assert sim.bot_texts(dm) == [""]
    assert len(sim.violations) == 1


async def test_blocks_come_by_chunks_and_are_checked(sim: SlackSim, post: Post, dm: Channel, root: str) -> None:
    ts = (await post("chat.startStream", channel=dm.id, thread_ts=root))["ts"]
    section = {"type": "section", "text": {"type": "mrkdwn", "text": "*in* a block"}}
    for _ in range(2):
        assert (
            await post("chat.appendStream", channel=dm.id, ts=ts, chunks=[{"type": "blocks", "blocks": [section]}])
        )["ok"]
    wrong = [{"type": "blocks", "blocks": [{"type": "section"}]}]
    assert (await post("chat.appendStream", channel=dm.id, ts=ts, chunks=wrong))["error"] == "invalid_blocks"
    many = [{"type": "blocks", "blocks": [{"type": "divider"}] * 49}]
    assert (await post("chat.appendStream", channel=dm.id, ts=ts, chunks=many))["error"] == "invalid_blocks"
    assert (await post("chat.stopStream", channel=dm.id, ts=ts, blocks=[{"type": "divider"}] * 50))["ok"]
    assert sim.bot_texts(dm) == ["in a block\nin a block"]


async def test_an_open_stream_takes_neither_update_nor_delete(
    sim: SlackSim, client: AsyncWebClient, dm: Channel, stream: str
) -> None:
    assert await error_of(client.chat_update(channel=dm.id, ts=stream, text="x")) == "streaming_state_conflict"
    assert await error_of(client.chat_delete(channel=dm.id, ts=stream)) == "cant_delete_message"
    assert len(sim.violations) == 2
    await client.chat_stopStream(channel=dm.id, ts=stream)
    assert await error_of(client.chat_update(channel=dm.id, ts=stream, text="x")) == ""
    assert sim.bot_texts(dm) == ["x"]


async def test_a_stopped_stream_takes_no_more(sim: SlackSim, client: AsyncWebClient, dm: Channel, stream: str) -> None:
    await client.chat_stopStream(channel=dm.id, ts=stream)
    closed = "message_not_in_streaming_state"
    assert await error_of(client.chat_appendStream(channel=dm.id, ts=stream, markdown_text="x")) == closed
    assert await error_of(client.chat_stopStream(channel=dm.id, ts=stream)) == closed
    plain = (await client.chat_postMessage(channel=dm.id, text="x"))["ts"]
    assert await error_of(client.chat_appendStream(channel=dm.id, ts=plain, markdown_text="x")) == closed


async def test_only_its_own_streams(sim: SlackSim, client: AsyncWebClient, dm: Channel, root: str) -> None:
    own, known = "message_not_owned_by_app", "message_not_found"
    assert await error_of(client.chat_appendStream(channel=dm.id, ts=root, markdown_text="x")) == own
    assert await error_of(client.chat_stopStream(channel=dm.id, ts="1.0")) == known


async def test_a_ping_across_two_appends_is_found(
    sim: SlackSim, client: AsyncWebClient, dm: Channel, stream: str
) -> None:
    await client.chat_appendStream(channel=dm.id, ts=stream, markdown_text=" <@U0A")
    assert sim.pings == []
    await client.chat_appendStream(channel=dm.id, ts=stream, markdown_text="NN> <!here>")
    await client.chat_appendStream(channel=dm.id, ts=stream, markdown_text=" more")
    assert [(ping.method, ping.what) for ping in sim.pings] == [
        ("chat.appendStream", "<@U0ANN>"),
        ("chat.appendStream", "<!here>"),
    ]


# a stream's end of life, on a driven clock


async def test_a_stream_dies_after_five_minutes_whatever_is_appended(
    timed: Timed,
) -> None:
    sim, clock, client = timed
    ann = sim.person("U0ANN", "Ann")
    dm = sim.dm(ann)
    root = (await sim.say(dm, ann, "question"))["ts"]
    ts = (await client.chat_startStream(channel=dm.id, thread_ts=root, markdown_text="a"))["ts"]
    await clock.advance(299)
    await client.chat_appendStream(channel=dm.id, ts=ts, markdown_text="b")
    assert (sim.visible(dm)[1].streaming, sim.visible(dm)[1].broken) == (True, False)
    await clock.advance(1)
    (shown,) = sim.visible(dm)[1:]
    assert (shown.streaming, shown.broken, shown.text) == (False, True, "ab")
    closed = "message_not_in_streaming_state"
    assert await error_of(client.chat_appendStream(channel=dm.id, ts=ts, markdown_text="c")) == closed
    assert await error_of(client.chat_stopStream(channel=dm.id, ts=ts)) == closed
    assert sim.visible(dm)[1].broken
    await client.chat_update(channel=dm.id, ts=ts, text="abc")
    assert (sim.visible(dm)[1].broken, sim.bot_texts(dm)) == (False, ["abc"])
    assert sim.violations == []


async def test_the_life_of_a_stream_can_be_set(timed: Timed) -> None:
    sim, clock, client = timed
    sim.stream_seconds = 30
    ann = sim.person("U0ANN", "Ann")
    dm = sim.dm(ann)
    root = (await sim.say(dm, ann, "question"))["ts"]
    await client.chat_startStream(channel=dm.id, thread_ts=root)
    await clock.advance(30)
    assert sim.visible(dm)[1].broken
