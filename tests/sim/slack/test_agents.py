"""A thread's status line, title and prompts, and the agent's session with its Stop button."""

import pytest
import pytest_asyncio
from slack_sdk.web.async_client import AsyncWebClient

from tests.sim.slack import Channel, Person, SlackSim
from tests.sim.slack.conftest import Bolt, Post, Timed, error_of


@pytest_asyncio.fixture
async def root(sim: SlackSim, dm: Channel, ann: Person) -> str:
    return str((await sim.say(dm, ann, "question"))["ts"])


async def test_a_status_goes_when_the_bot_writes_or_clears_it(
    sim: SlackSim, client: AsyncWebClient, dm: Channel, root: str
) -> None:
    async def status(text: str) -> None:
        await client.assistant_threads_setStatus(channel_id=dm.id, thread_ts=root, status=text)

    await status("is thinking...")
    assert sim.status(dm, root) == "is thinking..."
    await status("")
    assert sim.status(dm, root) == ""
    await status("is thinking...")
    await client.chat_postMessage(channel=dm.id, text="elsewhere")
    assert sim.status(dm, root) == "is thinking..."
    await client.chat_postMessage(channel=dm.id, text="here", thread_ts=root)
    assert sim.status(dm, root) == ""
    await status("is writing...")
    await client.chat_startStream(channel=dm.id, thread_ts=root)
    assert sim.status(dm, root) == ""
    assert sim.violations == []


async def test_a_status_needs_its_thread_and_short_loading_messages(
    sim: SlackSim, post: Post, dm: Channel, root: str
) -> None:
    async def error(**fields: object) -> object:
        return (await post("assistant.threads.setStatus", channel_id=dm.id, **fields)).get("error")

    assert await error(status="x") == "invalid_arguments"
    assert await error(thread_ts=root) == "invalid_arguments"
    assert await error(thread_ts="1.0", status="x") == "invalid_thread_ts"
    assert await error(thread_ts=root, status="x", loading_messages=["x" * 51]) == "invalid_arguments"
    assert await error(thread_ts=root, status="x", loading_messages=["x"] * 11) == "invalid_arguments"
    assert await error(thread_ts=root, status="x", loading_messages=["x" * 50] * 10) is None


async def test_titles_and_prompts_are_kept(
    sim: SlackSim, client: AsyncWebClient, post: Post, dm: Channel, root: str
) -> None:
    await client.assistant_threads_setTitle(channel_id=dm.id, thread_ts=root, title="Plans")
    prompts = [{"title": "Help", "message": "What can you do?"}]
    await client.assistant_threads_setSuggestedPrompts(channel_id=dm.id, thread_ts=root, prompts=prompts)
    assert (dm.titles[root], dm.prompts[root]) == ("Plans", prompts)
    for wrong in ([], prompts * 5, [{"title": "x"}]):
        answer = await post("assistant.threads.setSuggestedPrompts", channel_id=dm.id, prompts=wrong)
        assert answer["error"] == "invalid_arguments"


async def test_only_an_agent_has_sessions(sim: SlackSim, client: AsyncWebClient, dm: Channel, root: str) -> None:
    async def processing() -> str:
        return await error_of(client.agents_sessions_setStatus(channel_id=dm.id, thread_ts=root, status="processing"))

    assert await processing() == "not_allowed"
    sim.agent = True
    assert await processing() == ""
    assert (sim.session(dm, root), sim.status(dm, root)) == ("processing", "processing")
    wrong = client.agents_sessions_setStatus(channel_id=dm.id, thread_ts=root, status="thinking")
    assert await error_of(wrong) == "invalid_arguments"


async def test_stop_ends_the_stream_and_leaves_the_status_to_the_app(
    sim: SlackSim, client: AsyncWebClient, bolt: Bolt, dm: Channel, ann: Person, root: str
) -> None:
    sim.agent = True
    with pytest.raises(LookupError, match="not processing"):
        await sim.stop_session(dm, root, ann)
    await client.agents_sessions_setStatus(channel_id=dm.id, thread_ts=root, status="processing", title="Plans")
    ts = (await client.chat_startStream(channel=dm.id, thread_ts=root, markdown_text="wor"))["ts"]
    assert await sim.stop_session(dm, root, ann) == [ts]
    await sim.until(lambda _: "agent_session_stopped" in bolt.kinds)
    event = bolt.events[bolt.kinds.index("agent_session_stopped")]
    told = {key: event[key] for key in ("channel", "thread_ts", "user", "streaming_message_ts")}
    assert told == {"channel": dm.id, "thread_ts": root, "user": ann.id, "streaming_message_ts": [ts]}
    assert sim.session(dm, root) == "processing"
    assert await error_of(client.chat_appendStream(channel=dm.id, ts=ts, markdown_text="d")) == "stopped_by_user"
    assert await error_of(client.chat_stopStream(channel=dm.id, ts=ts)) == "message_not_in_streaming_state"
    assert (sim.visible(dm)[1].streaming, sim.visible(dm)[1].broken) == (False, False)
    await client.chat_update(channel=dm.id, ts=ts, text="wor (stopped)")
    await client.agents_sessions_setStatus(channel_id=dm.id, thread_ts=root, status="active")
    assert (sim.session(dm, root), sim.bot_texts(dm)) == ("active", ["wor (stopped)"])
    assert sim.violations == []


async def test_a_stream_that_stops_may_set_the_sessions_status(
    sim: SlackSim, client: AsyncWebClient, post: Post, dm: Channel, root: str
) -> None:
    sim.agent = True
    await client.agents_sessions_setStatus(channel_id=dm.id, thread_ts=root, status="processing")
    first = (await client.chat_startStream(channel=dm.id, thread_ts=root, markdown_text="a"))["ts"]
    await client.chat_stopStream(channel=dm.id, ts=first)
    assert sim.session(dm, root) == "processing"
    second = (await client.chat_startStream(channel=dm.id, thread_ts=root, markdown_text="b"))["ts"]
    wrong = await post("chat.stopStream", channel=dm.id, ts=second, session_status="done")
    assert (wrong["error"], sim.visible(dm)[2].streaming) == ("invalid_arguments", True)
    await client.chat_stopStream(channel=dm.id, ts=second, session_status="active")
    assert sim.session(dm, root) == "active"


async def test_without_the_subscription_there_is_a_warning_and_no_button(
    sim: SlackSim, client: AsyncWebClient, dm: Channel, ann: Person, root: str
) -> None:
    sim.agent = True
    sim.subscriptions.discard("agent_session_stopped")
    answer = await client.agents_sessions_setStatus(channel_id=dm.id, thread_ts=root, status="processing")
    assert answer["warning"] == "missing_agent_session_stopped_event_subscription"
    with pytest.raises(LookupError, match="does not subscribe"):
        await sim.stop_session(dm, root, ann)


async def test_a_session_is_renamed_once_it_is_there(
    sim: SlackSim, client: AsyncWebClient, dm: Channel, root: str
) -> None:
    sim.agent = True
    rename = {"channel_id": dm.id, "thread_ts": root}
    assert await error_of(client.agents_sessions_rename(**rename, title="x")) == "not_authorized"
    await client.agents_sessions_setStatus(**rename, status="active", title="first")
    await client.agents_sessions_setStatus(**rename, status="active", title="ignored")
    assert dm.titles[root] == "first"
    await client.agents_sessions_rename(**rename, title="second")
    assert dm.titles[root] == "second"
    assert await error_of(client.agents_sessions_rename(**rename, title="x" * 201)) == "invalid_arguments"


async def test_a_status_goes_by_itself_after_two_minutes_and_processing_after_an_hour(
    timed: Timed,
) -> None:
    sim, clock, client = timed
    ann = sim.person("U0ANN", "Ann")
    dm = sim.dm(ann)
    root = (await sim.say(dm, ann, "question"))["ts"]
    await client.assistant_threads_setStatus(channel_id=dm.id, thread_ts=root, status="is thinking...")
    await client.agents_sessions_setStatus(channel_id=dm.id, thread_ts=root, status="processing")
    await clock.advance(119)
    assert sim.status(dm, root) == "is thinking..."
    await clock.advance(1)
    assert (sim.status(dm, root), sim.session(dm, root)) == ("processing", "processing")
    await clock.advance(3480)
    assert (sim.status(dm, root), sim.session(dm, root)) == ("", "active")
