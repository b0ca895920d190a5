"""What people do and what reaches the app of it: messages and their twins, edits, reactions."""

from typing import Any

import aiohttp
import pytest
from slack_sdk.web.async_client import AsyncWebClient

from tests.sim.slack import BOT_USER, Channel, Person, SlackSim
from tests.sim.slack.conftest import BOT_TOKEN, Bolt

Json = dict[str, Any]


async def heard(sim: SlackSim, bolt: Bolt, count: int) -> list[Json]:
    await sim.until(lambda sim: len(bolt.heard) >= count and not sim.unacked)
    return bolt.events


# messages


async def test_a_message_in_a_dm(sim: SlackSim, bolt: Bolt, dm: Channel, ann: Person) -> None:
    said = await sim.say(dm, ann, "hello <https://x.org|there>")
    (event,) = await heard(sim, bolt, 1)
    assert {name: event[name] for name in ("type", "user", "text", "channel", "channel_type", "ts", "event_ts", "team")} == {
        "type": "message", "user": ann.id, "text": "hello <https://x.org|there>", "channel": dm.id, "channel_type": "im",
        "ts": said["ts"], "event_ts": said["ts"], "team": "T0SIM",
    }  # fmt: skip
    (block,) = event["blocks"]
    assert block["elements"][0]["elements"] == [
        {"type": "text", "text": "hello "},
        {"type": "link", "url": "https://x.org", "text": "there"},
    ]
    assert "thread_ts" not in event


async def test_a_mention_in_a_channel_comes_twice_with_one_ts(
    sim: SlackSim, bolt: Bolt, team: Channel, ann: Person
) -> None:
    said = await sim.say(team, ann, "<@BOT> hello")
    await sim.say(team, ann, "nothing for you")
    await heard(sim, bolt, 3)
    first = [body for body in bolt.heard if body["event"]["ts"] == said["ts"]]
    assert sorted(body["event"]["type"] for body in first) == ["app_mention", "message"]
    assert len({body["event_id"] for body in first}) == 2
    assert {body["event"]["text"] for body in first} == {f"<@{BOT_USER}> hello"}
    assert sorted(body["event"].get("channel_type", "") for body in first) == ["", "channel"]
    assert len(bolt.heard) == 3


async def test_a_mention_in_a_dm_has_no_twin(sim: SlackSim, bolt: Bolt, dm: Channel, ann: Person) -> None:
    await sim.say(dm, ann, "<@BOT> hello")
    await heard(sim, bolt, 1)
    assert bolt.kinds == ["message"]


async def test_every_kind_of_channel_tells_its_kind(sim: SlackSim, bolt: Bolt, ann: Person) -> None:
    bob = sim.person("U0BOB", "Bob")
    private = sim.channel("C0PRIV", "priv", members=[ann], private=True)
    for channel in (private, sim.group_dm(ann, bob)):
        await sim.say(channel, ann, "x")
    events = await heard(sim, bolt, 2)
    assert sorted(event["channel_type"] for event in events) == ["group", "mpim"]
    assert sim.group_dm(bob, ann) is sim.group_dm(ann, bob)


async def test_a_reply_names_its_thread_and_its_parents_author(
    sim: SlackSim, bolt: Bolt, team: Channel, ann: Person
) -> None:
    root = (await sim.say(team, ann, "root"))["ts"]
    reply = await sim.say(team, ann, "reply", thread=root)
    events = await heard(sim, bolt, 2)
    event = next(event for event in events if event["ts"] == reply["ts"])
    assert (event["thread_ts"], event["parent_user_id"]) == (root, ann.id)
    assert [shown.text for shown in sim.visible(team, root)] == ["root", "reply"]


async def test_a_message_with_a_file(sim: SlackSim, bolt: Bolt, dm: Channel, ann: Person) -> None:
    await sim.say(dm, ann, "look", files=[("cat.png", "image/png", b"png")])
    (event,) = await heard(sim, bolt, 1)
    (file,) = event["files"]
    assert (event["subtype"], file["name"], file["mimetype"], file["size"]) == ("file_share", "cat.png", "image/png", 3)
    async with aiohttp.ClientSession() as session:
        headers = {"Authorization": f"Bearer {BOT_TOKEN}"}
        async with session.get(file["url_private"], headers=headers) as answer:
            assert (answer.status, await answer.read()) == (200, b"png")
        async with session.get(file["url_private_download"]) as answer:
            assert (answer.status, answer.content_type) == (200, "text/html")


async def test_other_bots_carry_their_ids(sim: SlackSim, bolt: Bolt, team: Channel) -> None:
    robot = sim.person("U0ROBO", "Robo", bot=True)
    await sim.say(team, robot, "beep", subtype="bot_message", extra={"username": "Robo"})
    (event,) = await heard(sim, bolt, 1)
    assert (event["bot_id"], event["subtype"], event["username"]) == ("B0ROBO", "bot_message", "Robo")
    assert event["bot_profile"]["name"] == "Robo"
    assert not sim.visible(team)[0].from_bot


async def test_where_the_bot_is_not_it_hears_nothing(sim: SlackSim, bolt: Bolt, team: Channel, ann: Person) -> None:
    sim.kick(team)
    await sim.say(team, ann, "<@BOT> psst")
    team.bot_in = True
    sim.missing_scope("channels:history")
    await sim.say(team, ann, "<@BOT> hello")
    sim.missing_scope("app_mentions:read")
    await sim.say(team, ann, "<@BOT> again")
    sim.subscriptions.discard("message.im")
    await sim.say(sim.dm(ann), ann, "x")
    await heard(sim, bolt, 1)
    assert [(event["type"], event["text"]) for event in bolt.events] == [("app_mention", f"<@{BOT_USER}> hello")]


async def test_an_invitation_is_told_as_an_event_and_in_the_channel(sim: SlackSim, bolt: Bolt, ann: Person) -> None:
    room = sim.channel("C0NEW", "new", members=[ann], bot_in=False, private=True)
    sim.invite(room, ann)
    (came,) = await heard(sim, bolt, 1)  # Bolt keeps from the app what the bot itself is said to write
    assert (came["type"], came["user"], came["inviter"]) == ("member_joined_channel", BOT_USER, ann.id)
    notes = [one.payload["event"] for one in sim.deliveries.all.values()][1:]
    assert [(note["subtype"], note["inviter"]) for note in notes] == [("channel_join", ann.id)]
    sim.missing_scope("groups:read")
    sim.invite(room)
    assert [one.payload["event"]["type"] for one in sim.deliveries.all.values()][2:] == ["message"]
    assert sim.visible(room) == []


async def test_an_uninstalled_app_hears_nothing(sim: SlackSim, bolt: Bolt, dm: Channel, ann: Person) -> None:
    sim.revoke_token()
    await sim.say(dm, ann, "x")
    assert sim.unacked == []


# edits, deletions, reactions


async def test_edits_and_deletions_are_events_with_what_was_before(
    sim: SlackSim, bolt: Bolt, dm: Channel, ann: Person
) -> None:
    ts = (await sim.say(dm, ann, "helo"))["ts"]
    await sim.edit(dm, ts, "hello")
    await sim.delete(dm, ts)
    events = await heard(sim, bolt, 3)
    changed = next(event for event in events if event.get("subtype") == "message_changed")
    deleted = next(event for event in events if event.get("subtype") == "message_deleted")
    assert (changed["message"]["text"], changed["previous_message"]["text"]) == ("hello", "helo")
    assert (changed["message"]["ts"], changed["message"]["edited"]["user"], changed["hidden"]) == (ts, ann.id, True)
    assert (deleted["deleted_ts"], deleted["previous_message"]["text"]) == (ts, "hello")
    assert sim.visible(dm) == []


async def test_a_deleted_root_with_replies_becomes_a_tombstone(
    sim: SlackSim, bolt: Bolt, team: Channel, ann: Person
) -> None:
    root = (await sim.say(team, ann, "root"))["ts"]
    await sim.say(team, ann, "reply", thread=root)
    await sim.delete(team, root)
    events = await heard(sim, bolt, 3)
    changed = next(event for event in events if event.get("subtype") == "message_changed")
    assert (changed["message"]["subtype"], changed["message"]["ts"]) == ("tombstone", root)


async def test_people_edit_only_what_people_wrote(sim: SlackSim, client: AsyncWebClient, dm: Channel) -> None:
    ts = (await client.chat_postMessage(channel=dm.id, text="mine"))["ts"]
    with pytest.raises(ValueError, match="only what people wrote"):
        await sim.edit(dm, ts, "yours")


async def test_reactions_come_and_go(
    sim: SlackSim, client: AsyncWebClient, bolt: Bolt, dm: Channel, ann: Person
) -> None:
    ts = (await client.chat_postMessage(channel=dm.id, text="x"))["ts"]
    await sim.react(dm, ts, ann, "thumbsdown")
    assert sim.visible(dm)[0].reactions == (("thumbsdown", ann.id),)
    await sim.react(dm, ts, ann, "thumbsdown")
    await sim.unreact(dm, ts, ann, "thumbsdown")
    events = await heard(sim, bolt, 2)
    assert sorted(event["type"] for event in events) == ["reaction_added", "reaction_removed"]
    assert {event["reaction"] for event in events} == {"thumbsdown"}
    assert events[0]["item"] == {"type": "message", "channel": dm.id, "ts": ts}
    assert events[0]["item_user"] == BOT_USER
    assert sim.visible(dm)[0].reactions == ()


async def test_the_bots_own_words_come_back_and_bolt_sorts_them_out(
    sim: SlackSim, client: AsyncWebClient, bolt: Bolt, dm: Channel
) -> None:
    ts = (await client.chat_postMessage(channel=dm.id, text="x"))["ts"]
    await client.chat_update(channel=dm.id, ts=ts, text="y")
    await sim.until(lambda sim: len(sim.acks) == 2)
    events = [delivery.payload["event"] for delivery in sim.deliveries.all.values()]
    assert (events[0]["text"], events[0]["bot_id"]) == ("x", "B0BOWER")
    assert (events[1]["subtype"], events[1]["message"]["text"]) == ("message_changed", "y")
    assert bolt.heard == []
    sim.post.echo = False
    await client.chat_postMessage(channel=dm.id, text="z")
    assert len(sim.deliveries.all) == 2


async def test_the_home_tab_is_opened(sim: SlackSim, bolt: Bolt, ann: Person) -> None:
    await sim.open_home(ann, "messages")
    (event,) = await heard(sim, bolt, 1)
    assert (event["type"], event["tab"], event["user"]) == ("app_home_opened", "messages", ann.id)


async def test_any_event_can_be_sent(sim: SlackSim, bolt: Bolt, ann: Person) -> None:
    await sim.event({"type": "message", "subtype": "channel_join", "user": ann.id, "channel": "C1", "ts": "1.0"})
    await sim.until(lambda _: bolt.heard)
    assert bolt.kinds == ["channel_join"]
