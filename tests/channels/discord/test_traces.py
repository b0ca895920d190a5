"""A send whose answer was lost, and an outage that is longer than Discord knows a nonce: still one message."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Literal

import pytest

from bot.core.events import Enclosed
from bot.core.view import OutFile
from channels.discord.traces import KEPT, LOOKS_KEPT, NOTE, Traces
from tests.channels.discord.stage import Stage, Turn, stage
from tests.channels.discord.test_floods import EDIT, SEND
from tests.fakes.notes import MemoryNotes
from tests.sim.discord import Channel

LOOK = "GET /channels/{id}/messages"
WORDS = "The sea is salty, and deep, and blue, as everybody knows."


async def lost(house: Stage, turn: Turn, effect: Literal["none", "done"], seconds: float = 400) -> None:
    """The first send is not answered, and for a while after that nothing of this chat is. What Discord tells of a message
    later has no nonce: that is only said to be there when it is sent."""
    house.sim.fail(SEND, action="drop", effect=effect, channel=turn.chat)
    turn.say(WORDS)
    await house.passed(lambda: house.sim.called(SEND, turn.chat))
    faults = [house.sim.fail(route, status=503, every=True, channel=turn.chat) for route in (SEND, EDIT, LOOK)]
    turn.end()
    await house.clock.advance(seconds)
    forget_nonces(turn.chat)
    for fault in faults:
        house.sim.api.faults.script.remove(fault)


@pytest.mark.parametrize("effect", ["none", "done"])
async def test_what_was_perhaps_sent_long_ago_is_looked_for_and_is_one_message(effect: Literal["none", "done"]) -> None:
    async with stage() as house:
        turn = house.turn(house.dm(7))
        await lost(house, turn, effect)
        await turn.delivered(within=120)
        assert turn.texts == [WORDS]
        assert [call.status for call in house.sim.called(LOOK, turn.chat)][-1] == 200


async def test_within_the_nonces_time_nothing_is_looked_for() -> None:
    async with stage() as house:
        turn = house.turn(house.dm(7))
        await lost(house, turn, "done", seconds=60)
        await turn.delivered(within=60)
        assert turn.texts == [WORDS] and house.sim.called(LOOK) == []


@pytest.mark.parametrize("effect", ["none", "done"])
async def test_the_next_process_looks_as_well(effect: Literal["none", "done"]) -> None:
    async with stage() as house:
        turn = house.turn(house.dm(7), "t1")
        await lost(house, turn, effect, seconds=2)
        turn.task.cancel()
        await house.clock.advance(600)
        again = house.reborn().turn(turn.chat, "t1")
        again.say(WORDS)
        again.end()
        await again.delivered(within=60)
        assert again.texts == [WORDS]


async def test_an_equal_answer_to_another_question_is_not_taken_for_it() -> None:
    async with stage() as house:
        chat = house.dm(7)
        before = house.turn(chat, "before")
        before.say(WORDS)
        before.end()
        await before.delivered(within=10)
        await house.clock.advance(1)
        turn = house.turn(chat, "t1")
        await lost(house, turn, "none")
        await turn.delivered(within=120)
        assert turn.texts == [WORDS, WORDS]
        later = house.turn(chat, "t2")
        await lost(house, later, "none", seconds=2)
        later.task.cancel()
        await house.clock.advance(600)
        again = house.reborn().turn(chat, "t2")
        again.say(WORDS)
        again.end()
        await again.delivered(within=60)
        assert again.texts == [WORDS] * 3, "nor by the next process"


@pytest.mark.parametrize("effect", ["none", "done"])
async def test_a_file_is_looked_for_too(tmp_path: Path, effect: Literal["none", "done"]) -> None:
    path = tmp_path / "kept"
    path.write_bytes(b"a,b\n1,2\n")
    async with stage() as house:
        turn = house.turn(house.dm(7))
        turn.say(WORDS)
        turn.publisher.emit(Enclosed((OutFile("table.csv", "text/csv", str(path)),)))
        await house.passed(lambda: turn.texts)
        house.sim.fail(SEND, action="drop", effect=effect, channel=turn.chat)
        turn.end()
        await house.passed(lambda: len(house.sim.called(SEND, turn.chat)) == 2, within=5)
        fault = house.sim.fail(SEND, status=503, every=True, channel=turn.chat)
        await house.clock.advance(400)
        forget_nonces(turn.chat)
        house.sim.api.faults.script.remove(fault)
        await turn.delivered(within=120)
        shown = [[one["filename"] for one in message.attachments] for message in turn.chat.messages.values()]
        assert shown == [[], ["table.csv"]]


async def test_where_the_bot_may_not_read_it_sends_again_rather_than_never() -> None:
    async with stage() as house:
        turn = house.turn(house.dm(7))
        house.sim.fail(LOOK, code=50001, every=True)
        await lost(house, turn, "none")
        await turn.delivered(within=120)
        assert turn.texts == [WORDS]


async def test_what_is_noted_stays_small_and_an_unreadable_note_is_none() -> None:
    async with stage() as house:
        notes = MemoryNotes()
        notes.values[NOTE] = "[1]"
        traces = Traces(house.channel._rest, notes, house.clock)
        for number in range(KEPT + 50):
            assert not await traces.begin(f"n{number}", "look")
            await house.clock.advance(0.001)
        for _ in range(2 * LOOKS_KEPT):
            assert await traces.begin(f"n{KEPT}", "look")
        kept = json.loads(notes.values[NOTE])
        assert len(kept) == KEPT and max(map(len, kept.values())) == LOOKS_KEPT + 2


def forget_nonces(chat: Channel) -> None:
    for message in chat.messages.values():
        message.nonce = None


async def test_an_answer_that_arrives_costs_no_look_and_leaves_no_doubt() -> None:
    async with stage() as house:
        turn = house.turn(house.dm(7))
        turn.say(WORDS)
        turn.end()
        await turn.delivered(within=10)
        assert house.sim.called(LOOK) == [] and house.sim.called("GET /users/@me") == []
