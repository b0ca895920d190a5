"""What comes in over the socket: stored before it is acknowledged, once, in order, and whatever breaks on the way."""

from __future__ import annotations

import asyncio
import json
import logging
from itertools import pairwise
from typing import Any

import pytest

from bot.core.errors import StoreError
from bot.core.inbound import Inbound, MessageDeleted, MessageEdited, Reaction, Receipt, UserMessage
from channels.slack.order import Order
from tests.channels.slack.stage import Stage, stage
from tests.fakes.clock import FakeClock


def messages(house: Stage) -> list[UserMessage]:
    return [one for one in house.received if isinstance(one, UserMessage)]


async def quiet(house: Stage, seconds: float = 1.0) -> None:
    await house.clock.advance(seconds)
    assert house.sim.unacked == [] and house.sim.violations == []


async def test_a_message_is_stored_before_it_is_acknowledged() -> None:
    stored = asyncio.Event()

    class Slow(Stage):
        async def receive(self, inbound: Inbound) -> Receipt:
            await stored.wait()
            return await super().receive(inbound)

    async with stage(kind=Slow) as house:
        dm = house.dm()
        await house.sim.say(dm, house.sim.person("U0001", "P1"), "hello")
        await house.clock.advance(0.5)
        assert house.sim.acks == [] and len(house.sim.unacked) == 1
        stored.set()
        await quiet(house)
        assert [one.text for one in messages(house)] == ["hello"]


async def test_b052_what_could_not_be_stored_is_not_acknowledged_and_comes_again() -> None:
    class Full(Stage):
        failures = 2

        async def receive(self, inbound: Inbound) -> Receipt:
            if self.failures:
                self.failures -= 1
                raise StoreError("the disk is full")
            return await super().receive(inbound)

    async with stage(kind=Full) as house:
        await house.sim.say(house.dm(), house.sim.person("U0001", "P1"), "hello")
        await house.clock.advance(10)
        assert messages(house) == [] and len(house.sim.unacked) == 1
        await house.clock.advance(60)
        assert [one.text for one in messages(house)] == ["hello"]
        await quiet(house)


async def test_b053_b055_twins_and_redeliveries_are_one_message() -> None:
    async with stage() as house:
        room = house.room()
        said = await house.sim.say(room, house.sim.person("U0001", "P1"), "<@BOT> hello")
        await quiet(house)
        assert [(one.id, one.address.thread) for one in messages(house)] == [(said["ts"], said["ts"])]
        for delivery in list(house.sim.deliveries.all.values()):
            house.sim.redeliver_now(delivery.name)
        await quiet(house)
        assert len(messages(house)) == 1 and len(house.sim.acks) == 4


async def test_two_edits_within_a_second_are_two_and_each_is_told_once() -> None:
    """What the message itself says of its last edit is a whole second."""
    async with stage() as house:
        room, person = house.room(), house.sim.person("U0001", "P1")
        said = await house.sim.say(room, person, "<@BOT> hello")
        for words in ("hello one", "hello two"):
            await house.sim.edit(room, said["ts"], f"<@BOT> {words}")
        events = [one.payload["event"] for one in house.sim.deliveries.all.values() if "event" in one.payload]
        told = [event["message"]["edited"]["ts"] for event in events if event.get("subtype") == "message_changed"]
        assert len(told) == 2 and len(set(told)) == 1 and told[0].endswith(".000000")
        await quiet(house)
        for delivery in list(house.sim.deliveries.all.values()):
            house.sim.redeliver_now(delivery.name)
        await quiet(house)
        edits = [one for one in house.received if isinstance(one, MessageEdited)]
        assert [one.text for one in edits] == ["hello one", "hello two"]
        assert all(one.message_id == said["ts"] and one.id.startswith(f"{said['ts']}.") for one in edits)


@pytest.mark.parametrize("seed", [1, 2, 3])
async def test_a_conversation_is_told_in_the_order_in_which_it_was_written(seed: int) -> None:
    async with stage(shuffle=True, seed=seed) as house:
        ann, bob = house.sim.person("U0001", "Ann"), house.sim.person("U0002", "Bob")
        here, there = house.sim.dm(ann), house.sim.dm(bob)
        for number in range(20):
            await house.sim.say(here, ann, f"{number}")
            await house.sim.say(there, bob, f"{number}")
        await quiet(house, 5)
        for place in (here, there):
            told = [one.text for one in messages(house) if one.address.chat == place.id]
            assert told == [f"{number}" for number in range(20)]


async def test_the_older_one_goes_first_and_nobody_waits_for_long() -> None:
    clock, done = FakeClock(), list[int]()
    order = Order(clock, hold=0.05)

    async def take(number: int) -> None:
        async with order.turn("C1", (number, 0, 0)):
            done.append(number)
            await asyncio.sleep(0)

    async with asyncio.TaskGroup() as group:
        for number in (3, 1, 2):
            group.create_task(take(number))
        given_up = group.create_task(take(0))
        await clock.settle()
        given_up.cancel()
        await clock.advance(0.06)
    assert done == [1, 2, 3] and order._lines == {}


async def test_edits_deletions_and_reactions_arrive_with_the_address_of_their_message() -> None:
    async with stage() as house:
        room, ann = house.room(), house.sim.person("U0001", "P1")
        turn = await house.ask(room)
        turn.say("An answer that is long enough to be shown.")
        turn.end()
        await turn.delivered(within=4)
        asked = messages(house)[0].id
        await house.sim.edit(room, asked, "<@BOT> another question")
        await house.sim.react(room, turn.shown[0].ts, ann, "thumbsdown")
        await house.sim.delete(room, asked)
        await quiet(house, 2)
        edited = [one for one in house.received if isinstance(one, MessageEdited)]
        deleted = [one for one in house.received if isinstance(one, MessageDeleted)]
        reacted = [one for one in house.received if isinstance(one, Reaction)]
        assert [(one.text, one.address, one.message_id) for one in edited] == [("another question", turn.to, asked)]
        assert [(one.address, one.message_id) for one in deleted] == [(turn.to, asked)]
        assert [(one.address, one.emoji) for one in reacted] == [(turn.to, "thumbsdown")]


async def test_people_have_names_and_languages_and_are_asked_for_once() -> None:
    async with stage() as house:
        ann = house.sim.person("U0001", "Ann", language="zh-CN")
        house.sim.person("U0002", "Bob")
        dm = house.sim.dm(ann)
        for text in ("one", "two <@U0002>", "three"):
            await house.sim.say(dm, ann, text)
        await quiet(house)
        assert [(one.sender.name, one.sender.language) for one in messages(house)] == [("Ann", "zh-CN")] * 3
        assert messages(house)[1].text == "two @Bob"
        assert len(house.sim.called("users.info")) == 2


async def test_without_the_scope_people_stay_nameless_and_are_not_asked_for_again(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with stage() as house:
        house.sim.missing_scope("users:read")
        dm = house.dm()
        for text in ("one", "two"):
            await house.sim.say(dm, house.sim.world.people["U0001"], text)
            await quiet(house)
        assert [one.sender.name for one in messages(house)] == ["", ""]
        assert len(house.sim.called("users.info")) == 1
    assert [record.getMessage() for record in caplog.records if "users:read" in record.getMessage()]


async def test_in_a_thread_that_an_answer_opened_no_mention_is_needed_also_after_a_restart() -> None:
    async with stage() as house:
        room, ann = house.room(), house.sim.person("U0001", "P1")
        opened = await house.ask(room)
        opened.end()
        foreign = await house.sim.say(room, ann, "a thread of people")
        await house.sim.say(room, ann, "nobody asked", thread=foreign["ts"])
        await house.sim.say(room, ann, "<@BOT> but now", thread=foreign["ts"])
        await house.sim.say(room, ann, "and on", thread=foreign["ts"])
        await house.sim.say(room, ann, "and then?", thread=opened.to.thread)
        await quiet(house, 2)
        meant = {one.text: one.addressed for one in messages(house)}
        assert (meant["nobody asked"], meant["but now"], meant["and on"], meant["and then?"]) == (
            False,
            True,
            False,
            True,
        )
    async with stage(notes=house.notes) as later:
        room = later.room()
        await later.clock.advance(60)
        await later.sim.say(room, later.sim.person("U0001", "P1"), "still there?", thread=opened.to.thread)
        await quiet(later)
        assert [one.addressed for one in messages(later)] == [True]


STRANGE: list[Any] = [
    {"type": "event_callback", "event": {"type": "message", "channel": "D1", "text": "s3cret words"}},
    {"type": "event_callback", "event": {"type": "a_kind_of_next_year", "channel": {"id": 1}}},
    {"type": "event_callback", "event": "s3cret words"},
    {"type": "event_callback", "event": {"type": "message", "channel": ["x"], "user": {"id": 3}, "ts": 5}},
    {"type": "block_actions", "user": "x", "channel": "s3cret words", "actions": [{}]},
    {"type": "view_submission", "view": None, "team": "T1"},
    ["s3cret words"],
    None,
]


async def test_what_cannot_be_read_is_acknowledged_kept_and_never_quoted(caplog: pytest.LogCaptureFixture) -> None:
    async with stage() as house:
        with caplog.at_level(logging.DEBUG, "channels"):
            for number, payload in enumerate(STRANGE):
                await house.sim.feed({"type": "events_api", "envelope_id": f"e{number}", "payload": payload})
            await house.sim.feed("no json at all")
            await house.sim.feed('["a list"]')
            await house.clock.advance(1)
            await house.sim.say(house.dm(), house.sim.world.people["U0001"], "hello")
            await quiet(house)
        assert {ack.envelope_id for ack in house.sim.acks} >= {f"e{number}" for number in range(len(STRANGE))}
        assert [one.text for one in messages(house)] == ["hello"]
        assert "s3cret" not in caplog.text and "Traceback" not in caplog.text
        kept = [value for key, value in house.notes.values.items() if key.startswith("set aside")]
        assert any("s3cret words" in json.loads(value)["raw"] for value in kept)


async def test_a_defect_behind_the_adapter_sets_one_message_aside_and_the_next_is_taken() -> None:
    class Broken(Stage):
        async def receive(self, inbound: Inbound) -> Receipt:
            if isinstance(inbound, UserMessage) and inbound.text == "poison":
                raise ZeroDivisionError
            return await super().receive(inbound)

    async with stage(kind=Broken) as house:
        dm = house.dm()
        for text in ("poison", "cure"):
            await house.sim.say(dm, house.sim.world.people["U0001"], text)
        await quiet(house)
        assert [one.text for one in messages(house)] == ["cure"]
        assert any("ZeroDivisionError" in value for value in house.notes.values.values())


async def test_history_tells_the_newest_messages_oldest_first_the_bots_own_among_them() -> None:
    async with stage() as house:
        room, ann = house.room(), house.sim.world.people["U0001"]
        root = await house.sim.say(room, ann, "a root")
        for number in range(30):
            await house.sim.say(room, ann, f"reply {number} &amp; <@U0001>", thread=root["ts"])
        turn = await house.ask(room, thread=root["ts"])
        turn.say("An answer that is long enough to be shown.")
        turn.end()
        await turn.delivered(within=4)
        told = [one for one in await house.done(house.channel.history(turn.to, 20)) if isinstance(one, UserMessage)]
        assert [one.text for one in told[-3:]] == [
            "reply 29 & @P1",
            "a question",
            "An answer that is long enough to be shown.",
        ]
        assert len(told) == 20 and told[-1].sender.is_bot
        assert all(float(one.id) < float(other.id) for one, other in pairwise(told))
        fresh = await house.ask(room)
        fresh.end()
        assert list(await house.done(house.channel.history(fresh.to, 20))) == []
        assert {call.params["ts"] for call in house.sim.called("conversations.replies")} == {root["ts"]}
        alone = await house.done(house.channel.history(house.at(room), 2))
        assert [one.text for one in alone if isinstance(one, UserMessage)] == ["a root", "a question"]
        house.sim.missing_scope("channels:history")
        assert list(await house.done(house.channel.history(turn.to, 20))) == []


@pytest.mark.parametrize("shape", ["even", "a burst at its end", "a burst at its beginning"])
async def test_of_a_thread_with_thousands_of_replies_the_newest_are_read_in_a_few_calls(shape: str) -> None:
    async with stage() as house:
        room, ann = house.room(), house.sim.world.people["U0001"]
        root = await house.sim.say(room, ann, "a root")
        wall = house.clock.now()
        house.sim.world.now = lambda: wall
        for number in range(2300):
            reply = house.sim.world.add(room, ann, text=f"reply {number}")
            reply.thread_ts = root["ts"]
            pause = {"even": 7, "a burst at its end": 3600 if number < 1000 else 0.1}.get(
                shape, 0 if number < 2290 else 9
            )
            wall += pause
        told = await house.done(house.channel.history(house.at(room, root["ts"]), 20))
        texts = [one.text for one in told if isinstance(one, UserMessage)]
        assert texts == [f"reply {number}" for number in range(2300 - len(texts), 2300)]
        assert len(texts) == 20 or (shape == "a burst at its beginning" and len(texts) >= 8)
        assert len(house.sim.called("conversations.replies")) <= (2 if shape == "even" else 6)
        assert house.sim.violations == []


async def test_files_are_fetched_with_the_token_within_limits_and_from_slack_alone() -> None:
    async with stage() as house:
        dm, ann = house.dm(), house.sim.world.people["U0001"]
        await house.sim.say(dm, ann, "look", files=[("a.txt", "text/plain", b"the content")])
        await quiet(house)
        [file] = messages(house)[0].files
        assert (file.name, file.media_type, file.size_bytes) == ("a.txt", "text/plain", 11)
        assert await house.done(house.channel.fetch(file)) == b"the content"
