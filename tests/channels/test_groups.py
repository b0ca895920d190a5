"""Groups on every platform: what others say is context and no question, and only the right person's first press on the right
card counts, also after a restart."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.channels.rooms import ROOM_PARAMS, ROOMS, Room
from tests.channels.stages import AGAIN, STOP, eventually, free_port, living
from tests.sim.llm import LlmSim, When, answer, call, gate, text
from tests.sim.llm.script import Answer

ONCE, DENY = "Allow once", "Deny"
REFUSED = "Only an owner can decide this."
NOT_HIS = "Only the person who asked, or an owner, can try this again."


@pytest.fixture
async def llm() -> AsyncIterator[LlmSim]:
    async with LlmSim() as running:
        yield running
        assert running.violations == []


@pytest.fixture(params=ROOM_PARAMS)
async def room(request: pytest.FixtureRequest) -> AsyncIterator[Room]:
    async with ROOMS[request.param]() as opened:
        yield opened
        assert list(opened.violations) == []


def noting(what: str) -> Answer:
    noted = call(f"c-{what}", "note_write", (f'{{"text": "{what}"}}',))
    return answer(text(f"I note the {what}."), noted, when=When(user=what))


async def test_what_others_say_is_not_answered_and_comes_along_as_context(
    room: Room, llm: LlmSim, tmp_path: Path
) -> None:
    llm.script(answer(text("At noon, as Bob says.")))
    async with living(room, llm, tmp_path, free_port()):
        for words in ("lunch is at noon today", "who is coming?"):
            await room.chat(words)
        await asyncio.sleep(0.5)
        await room.say("when is lunch?")
        await room.chat("I am hungry")
        await eventually(lambda: list(room.texts) == ["At noon, as Bob says."])
        await asyncio.sleep(0.5)
    assert list(room.texts) == ["At noon, as Bob says."]
    [request] = llm.requests
    question = str(request.body["messages"][-1]["content"])
    overheard = question.partition("<overheard>")[2].partition("</overheard>")[0]
    assert "Bob: lunch is at noon today" in overheard and "Bob: who is coming?" in overheard
    assert question.count("when is lunch?") == 1 and "when is lunch?" not in overheard


async def test_called_in_a_group_that_nobody_has_allowed_it_says_so_once_also_after_a_restart(
    room: Room, llm: LlmSim, tmp_path: Path
) -> None:
    room.section = re.sub(r", groups: \[[^]]*\]", "", room.section)
    port = free_port()
    for _ in range(2):
        async with living(room, llm, tmp_path, port):
            await room.chat("who is that?")
            for _ in range(2):
                await room.say("hello")
                await eventually(lambda: room.texts)
                await asyncio.sleep(0.5)
        await room.rest()
    [told] = room.texts
    assert told.startswith("I may not answer here yet.") and "access.groups in config.yaml" in told
    assert llm.requests == []


async def test_only_the_right_persons_first_press_on_the_right_card_counts(
    room: Room, llm: LlmSim, tmp_path: Path
) -> None:
    llm.script(
        noting("milk"),
        noting("bread"),
        answer(text("Done as you decided."), when=When(tool_result=True), repeat=True),
    )
    port, notes = free_port(), tmp_path / "workspace" / "notes.md"

    def open_cards() -> int:
        return list(room.labels).count(ONCE)

    async with living(room, llm, tmp_path, port):
        await room.say("note milk")
        await eventually(lambda: open_cards() == 1)
        await room.chat("I like milk")
        await room.say("note bread")
        await eventually(lambda: open_cards() == 2)
    await room.rest()
    async with living(room, llm, tmp_path, port):
        await eventually(lambda: open_cards() == 2)
        await room.press_nth(ONCE, 1, by_bob=True)
        await eventually(lambda: REFUSED in room.told_bob())
        assert open_cards() == 2 and not notes.exists()
        await room.press_nth(ONCE, 1)
        await room.press_nth(ONCE, 1)
        await eventually(lambda: "Done as you decided." in "".join(room.texts))
        await eventually(lambda: open_cards() == 1)
        assert notes.read_text().count("bread") == 1 and "milk" not in notes.read_text()
        await room.press_nth(ONCE, 0, by_bob=True)
        await room.press_nth(DENY, 0)
        await eventually(lambda: not room.labels)
        await asyncio.sleep(0.5)
    shown = "\n".join(room.texts)
    assert shown.count("Approved once. (Ann)") == 1 and shown.count("Denied. (Ann)") == 1
    assert notes.read_text().count("bread") == 1 and "milk" not in notes.read_text()
    assert set(filter(None, room.told_bob())) >= {REFUSED} and len(llm.requests) == 4


async def test_only_who_asked_has_a_stopped_answer_tried_again_and_once_also_after_a_restart(
    room: Room, llm: LlmSim, tmp_path: Path
) -> None:
    llm.script(
        answer(text("The sea is a large body of water, and "), gate("never"), text("No.")),
        answer(text("The sea is salty.")),
    )
    port = free_port()
    async with living(room, llm, tmp_path, port):
        await room.say("what is the sea?")
        await eventually(lambda: STOP in room.labels)
        await room.press(STOP)
        await eventually(lambda: AGAIN in room.labels)
    await room.rest()
    async with living(room, llm, tmp_path, port):
        await room.press_nth(AGAIN, 0, by_bob=True)
        await eventually(lambda: NOT_HIS in room.told_bob())
        assert len(llm.requests) == 1
        await room.press_nth(AGAIN, 0)
        await room.press_nth(AGAIN, 0)
        await eventually(lambda: "The sea is salty." in room.texts)
        await asyncio.sleep(0.5)
    assert list(room.texts).count("The sea is salty.") == 1 and len(llm.requests) == 2
    assert str(llm.requests[-1].body["messages"]).count("what is the sea?") == 1
