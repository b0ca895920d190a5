"""What Slack delivers, as the house reads it: every kind taken or left on purpose, and nothing breaks."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.core.address import Address
from bot.core.inbound import ButtonPress, MessageDeleted, MessageEdited, Reaction, StopPressed, UserMessage
from channels.slack.escapes import escaped, people_in, readable, without_me
from channels.slack.events import Known, Left, Persona, Unreadable, inbound_of, people_of, place_of, written_at
from channels.slack.wire import Me

ME = Me("U0BOT", "B0BOT", "T1")
PEOPLE = {"U0ANN": Persona("Ann Lee", "zh-CN"), "U0BOB": Persona("Bob")}
TS, LATER = "1800000000.000100", "1800000009.000200"


def read(payload: dict[str, Any], *, follows: bool = False) -> Any:
    return inbound_of(payload, ME, "slack", "main", Known(PEOPLE, follows, now=1_800_000_100.0))


def event(**fields: Any) -> dict[str, Any]:
    return {"type": "event_callback", "team_id": "T1", "event": {"event_ts": fields.get("ts", LATER), **fields}}


def message(text: str = "hello", channel: str = "D1", **fields: Any) -> dict[str, Any]:
    return event(**{"type": "message", "user": "U0ANN", "ts": TS, "channel": channel, "text": text, **fields})


def test_a_direct_message() -> None:
    said = read(message())
    assert isinstance(said, UserMessage)
    assert (said.id, said.text, said.address) == (TS, "hello", Address("slack", "main", "D1"))
    assert (said.sender.identity, said.sender.name, said.sender.language) == ("slack:U0ANN", "Ann Lee", "zh-CN")
    assert said.direct and said.addressed and said.sent_at == 1_800_000_000.0001 and said.places == ("T1",)


@pytest.mark.parametrize(
    ("channel", "fields", "thread"),
    [
        ("D1", {}, ""),
        ("D1", {"thread_ts": TS}, ""),
        ("D1", {"thread_ts": "1700000000.000001"}, "1700000000.000001"),
        ("C1", {}, TS),
        ("C1", {"thread_ts": TS}, TS),
        ("C1", {"thread_ts": "1700000000.000001"}, "1700000000.000001"),
        ("G1", {}, TS),
    ],
)
def test_b073_b075_b081_an_answer_in_a_channel_opens_a_thread_and_one_in_a_thread_stays_there(
    channel: str, fields: dict[str, str], thread: str
) -> None:
    for text in ("<@U0BOT> hi", "hi"):
        assert read(message(text, channel, **fields)).address == Address("slack", "main", channel, thread)
    edited = event(
        type="message",
        subtype="message_changed",
        channel=channel,
        ts=LATER,
        message={"type": "message", "user": "U0ANN", "ts": TS, "text": "<@U0BOT> ho", **fields},
        previous_message={"text": "<@U0BOT> hi"},
    )
    assert read(edited).address.thread == thread


@pytest.mark.parametrize(
    ("text", "shown", "addressed"),
    [
        ("hello all", "hello all", False),
        ("<@U0BOT> what is this?", "what is this?", True),
        ("<@U0BOT|bower>, what is this?", "what is this?", True),
        ("what is this, <@U0BOT>", "what is this,", True),
        ("ask <@U0BOT> about it", "ask @U0BOT about it", True),
        ("<@U0BOT> <@U0BOT> hi <@U0BOT>", "hi", True),
        ("<@U0ANN> hi", "@Ann Lee hi", False),
        ("<@U0BOT>", "", True),
        ("<@U0BOT> stop", "/stop", True),
        ("<@U0BOT> Help", "/help", True),
        ("<@U0BOT> pair ABCD2345", "/pair ABCD2345", True),
        ("<@U0BOT> help me with this", "help me with this", True),
        ("stop <@U0BOT>", "stop", True),
        ("stop", "stop", False),
    ],
)
def test_a_mention_at_the_edge_is_not_part_of_the_question(text: str, shown: str, addressed: bool) -> None:
    said = read(message(text, "C1"))
    assert (said.text, said.addressed, said.direct) == (shown, addressed, False)


def test_in_a_thread_that_an_answer_opened_no_mention_is_needed() -> None:
    reply = message("and then?", "C1", thread_ts="1700000000.000001")
    assert not read(reply).addressed and read(reply, follows=True).addressed
    assert not read(message("a new subject", "C1"), follows=True).addressed


def test_the_twin_of_a_mention_is_the_same_message() -> None:
    one, other = message("<@U0BOT> hi", "C1", channel_type="channel"), message("<@U0BOT> hi", "C1", type="app_mention")
    assert (read(one).id, read(one).address) == (read(other).id, read(other).address)
    assert read(other).addressed


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a &lt;b&gt; &amp; c &amp;lt;", "a <b> & c &lt;"),
        ("see <https://a.example/x?y=1&amp;z=2>", "see https://a.example/x?y=1&z=2"),
        ("see <https://a.example/|a.example>", "see https://a.example/"),
        ("see <https://a.example/x|the page>", "see the page (https://a.example/x)"),
        ("<mailto:a@b.example|a@b.example>", "a@b.example"),
        ("in <#C123|general> and <#C124>", "in #general and #C124"),
        ("<!here> <!channel|@channel> <!subteam^S1|@team> <!date^1^{date}|today>", "@here @channel @team today"),
        ("<@U0BOB> and <@U0EVE|eve>, <@U0ZED>", "@Bob and @eve, @U0ZED"),
        ("1 < 2 and 3 > 2", "1 < 2 and 3 > 2"),
    ],
)
def test_slacks_own_writing_becomes_what_people_see(text: str, shown: str) -> None:
    assert read(message(text)).text == shown


def test_an_edit_a_deletion_and_what_is_neither() -> None:
    changed: dict[str, Any] = {
        "type": "message",
        "subtype": "message_changed",
        "channel": "D1",
        "ts": LATER,
        "message": {"type": "message", "user": "U0ANN", "ts": TS, "text": "ho", "edited": {"ts": "1800000008.000000"}},
        "previous_message": {"text": "hi", "ts": TS, "user": "U0ANN"},
    }
    edited = read(event(**changed))
    assert isinstance(edited, MessageEdited)
    assert (edited.id, edited.message_id, edited.text) == (f"{TS}.{LATER}", TS, "ho")
    same = {**changed, "previous_message": {"text": "ho"}}
    assert isinstance(read(event(**same)), Left), "a link was unfurled"
    mine = {**changed, "message": {**changed["message"], "user": "U0BOT"}}
    assert isinstance(read(event(**mine)), Left)
    tombstone = {**changed, "message": {"subtype": "tombstone", "ts": TS, "user": "USLACKBOT", "text": "gone"}}
    removed = {**changed, "subtype": "message_deleted", "deleted_ts": TS}
    for deleted in (read(event(**tombstone)), read(event(**removed))):
        assert isinstance(deleted, MessageDeleted) and deleted.message_id == TS


def test_bots_are_named_as_such_and_the_bot_itself_is_left() -> None:
    other = read(message(bot_id="B9", user="U9", bot_profile={"name": "Other"}, subtype="bot_message"))
    assert other.sender.is_bot and other.sender.name == "Other"
    assert isinstance(read(message(user="U0BOT")), Left) and isinstance(read(message(bot_id="B0BOT")), Left)


@pytest.mark.parametrize(
    "subtype", ["channel_join", "channel_topic", "pinned_item", "message_replied", "assistant_app_thread"]
)
def test_notes_of_the_service_are_left(subtype: str) -> None:
    assert isinstance(read(message(subtype=subtype)), Left)


@pytest.mark.parametrize(
    ("subtype", "kind", "media_type", "spoken"),
    [
        ("slack_audio", "audio/webm", "audio/webm", True),
        ("slack_audio", "video/mp4", "audio/mp4", True),
        ("slack_audio", "video/webm", "audio/webm", True),
        ("slack_video", "video/mp4", "video/mp4", False),
        (None, "audio/mpeg", "audio/mpeg", False),
    ],
)
def test_a_clip_is_told_from_a_film_and_from_music(
    subtype: str | None, kind: str, media_type: str, spoken: bool
) -> None:
    file = {"id": "F1", "name": "audio_message.mp4", "mimetype": kind, "size": 9, "subtype": subtype}
    [one] = read(message("", subtype="file_share", files=[file])).files
    assert (one.media_type, one.spoken) == (media_type, spoken)


def test_files_and_what_was_passed_on() -> None:
    file = {"id": "F1", "name": "a.txt", "mimetype": "text/plain", "size": 3}
    said = read(message("", subtype="file_share", files=[file, {"id": "F2", "mode": "tombstone"}]))
    assert [(one.id, one.name, one.media_type, one.size_bytes) for one in said.files] == [
        ("F1", "a.txt", "text/plain", 3)
    ]
    shared = {"is_share": True, "text": "a &lt;b&gt;", "author_name": "Eve", "ts": "1700000000.000001"}
    quote = read(message("", attachments=[{"fallback": "a link"}, shared])).quote
    assert (quote.text, quote.author, quote.forwarded) == ("a <b>", "Eve", True)


def test_a_press_a_reaction_a_stop_and_a_command() -> None:
    press = {
        "type": "block_actions",
        "user": {"id": "U0ANN"},
        "container": {"message_ts": TS, "channel_id": "C1", "thread_ts": "1700000000.000001"},
        "actions": [{"action_id": "b:x:once", "value": "b:x:once", "action_ts": LATER}],
        "response_url": "https://hooks.slack.com/actions/x",
    }
    pressed = read(press)
    assert isinstance(pressed, ButtonPress)
    assert (pressed.payload, pressed.address.thread) == ("b:x:once", "1700000000.000001")
    assert pressed.token.endswith("/x") and pressed.sender.name == "Ann Lee"
    item = {"type": "message", "channel": "D1", "ts": TS}
    reaction = read(event(type="reaction_removed", user="U0ANN", reaction="thumbsdown", item=item))
    assert isinstance(reaction, Reaction) and (reaction.emoji, reaction.added) == ("thumbsdown", False)
    stop = read(event(type="agent_session_stopped", channel="C1", thread_ts=TS, user="U0ANN"))
    assert isinstance(stop, StopPressed) and stop.address == Address("slack", "main", "C1", TS)
    command = {"command": "/bowerbird", "channel_id": "C1", "user_id": "U0ANN", "trigger_id": "1.2.3", "team_id": "T1"}
    assert [read(command | {"text": text}).text for text in ("status", " pair X ", "", "/new")] == [
        "/status",
        "/pair X",
        "/help",
        "/new",
    ]
    assert read(command | {"text": "status"}).sent_at == 1_800_000_100.0


@pytest.mark.parametrize(
    "payload",
    [
        {},
        {"type": "event_callback"},
        {"type": "event_callback", "event": None},
        {"type": "event_callback", "event": {"type": "message", "channel": "D1"}},
        {"type": "event_callback", "event": {"type": "message", "channel": 5, "ts": "x", "user": "U"}},
        {"type": "event_callback", "event": {"type": "reaction_added", "item": None}},
        {"type": "event_callback", "event": {"type": "message", "subtype": "message_changed", "channel": "D1"}},
        {"type": "block_actions", "actions": []},
        {"command": "/bowerbird"},
        {"type": "view_submission"},
    ],
)
def test_what_is_not_as_documented_is_left_or_named_without_a_quote(payload: dict[str, Any]) -> None:
    try:
        assert isinstance(read(payload), Left)
    except Unreadable as error:
        assert "in a" in str(error)
    assert isinstance(people_of(payload), tuple) and len(place_of(payload)) == 2
    assert written_at(payload) == (0, 0) or payload


@settings(deadline=None)
@given(
    st.dictionaries(
        st.sampled_from(["type", "event", "user", "text", "channel", "ts", "message", "actions", "command"]),
        st.recursive(
            st.none() | st.text(max_size=5) | st.integers(),
            lambda inner: (
                st.lists(inner, max_size=2)
                | st.dictionaries(st.sampled_from(["type", "user", "ts", "text", "channel"]), inner, max_size=3)
            ),
            max_leaves=6,
        ),
    )
)
def test_nothing_that_can_be_sent_breaks_the_reader(payload: dict[str, Any]) -> None:
    people_of(payload), place_of(payload), written_at(payload)
    try:
        read(payload)
    except Unreadable:
        pass


@given(st.text(max_size=60))
def test_plain_text_survives_being_escaped_and_read(text: str) -> None:
    assert readable(escaped(text), {}) == text
    assert without_me(escaped(text), "U0BOT") == (escaped(text), False, False)
    assert people_in(escaped(text)) == ()
