"""More than one death in one turn: it goes on as long as it gets further, and is set aside when it does not."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from bot.core.texts import say
from tests.crash.death import Death
from tests.crash.person import press, suffer
from tests.crash.points import EACH, THE_OTHERS_PROVEN, at
from tests.crash.story import FIRST, PIECE_SECONDS, PIECES, PROMPT, SECOND, script
from tests.crash.vendor import Vendor
from tests.crash.verdict import answer_of, holds
from tests.crash.world import open_world
from tests.sim.llm import When, answer, sleep, text

TWICE = [
    ("commit:InboxRows.record:1:after", "commit:TranscriptRows.begin:1:before"),
    ("commit:TranscriptRows.begin:1:after", "commit:TranscriptRows.append:1:after"),
    ("commit:TranscriptRows.append:1:after", "commit:TranscriptRows.append:1:before"),
    ("commit:ApprovalRows.ask:1:after", "commit:ApprovalRows.decide:1:after"),
    ("show:edit-card:1:after", "commit:CallRows.start:1:after"),
    ("commit:TranscriptRows.result:2:before", "commit:TranscriptRows.result:1:before"),
    ("commit:TranscriptRows.write_draft:5:after", "commit:TranscriptRows.write_draft:3:after"),
    ("commit:TranscriptRows.append:3:after", "show:edit-final:1:after"),
    ("show:edit-final:1:before", "commit:InboxRows.finish_turn:1:before"),
    ("wire:send-text:1:after", "commit:PartRows.record:1:before"),
    ("commit:TranscriptRows.write_draft:5:after", "commit:TranscriptRows.replace_draft:1:before"),
    ("commit:TranscriptRows.write_draft:5:after", "commit:TranscriptRows.replace_draft:1:after"),
    ("hear:UserMessage:1:before", "hear:UserMessage:1:after"),
    ("commit:InboxRows.record:2:after", "wire:answer:1:before"),
    ("wire:edit-card:1:before", "wire:edit-card:1:after"),
    ("wire:edit-final:1:before", "wire:edit-final:1:after"),
]
"""Where the first and where the second life ends."""
ON_EACH = [("telegram", "wire:getUpdates:1:after", "wire:getUpdates:2:before")]
ON_EACH += [(on, *case) for on in EACH for case in TWICE]
SAMPLE = {("telegram", *TWICE[4]), ("telegram", *TWICE[6]), ("discord", *TWICE[9])}


@pytest.mark.parametrize(
    ("on", "first", "second"),
    [pytest.param(*case, marks=() if case in SAMPLE else pytest.mark.prove) for case in ON_EACH],
)
async def test_a_turn_that_dies_twice_is_answered_once(
    on: str, first: str, second: str, vendor: Vendor, tmp_path: Path
) -> None:
    async with open_world(tmp_path, vendor, script(), on=on) as world:
        await holds(world, await suffer(world, at(first), at(second)))


EARLY = at("commit:TranscriptRows.begin:1:after")
WRITTEN = at("commit:TranscriptRows.write_draft:1:after")
WRITTEN_ANEW = at("commit:TranscriptRows.replace_draft:1:after")
SORRY = say("end_parked")


@pytest.mark.parametrize("on", THE_OTHERS_PROVEN)
@pytest.mark.parametrize(
    ("deaths", "left"),
    [
        pytest.param((EARLY, EARLY), SORRY, id="at its start"),
        pytest.param(
            (WRITTEN, WRITTEN_ANEW, WRITTEN_ANEW),
            f"{FIRST}\n\n{SORRY}",
            id="after its first words, and twice before any new ones",
            marks=pytest.mark.prove,
        ),
    ],
)
async def test_a_message_that_kills_twice_and_gets_no_further_is_set_aside_and_the_chat_goes_on(
    on: str, deaths: tuple[Death, ...], left: str, vendor: Vendor, tmp_path: Path
) -> None:
    async with open_world(tmp_path, vendor, script(), on=on) as world:
        await world.platform.say("poison")
        for death in deaths:
            await world.start(death).dies()
        world.start()
        await world.finished()
        assert world.rows("SELECT outcome FROM inbox WHERE kind = 'message'") == [("parked",)]
        assert [message.text for message in world.platform.standing] == [left]
        assert world.rows("SELECT * FROM drafts") == []
        await vendor.set([answer(text("At your service."), when=When(user="hello"))])
        await world.platform.say("hello")
        await world.platform.until(lambda: world.platform.standing[-1].text == "At your service.")
        assert await vendor.violations() == []


@pytest.mark.parametrize("on", THE_OTHERS_PROVEN)
async def test_an_answer_that_grows_in_every_life_is_not_set_aside(on: str, vendor: Vendor, tmp_path: Path) -> None:
    spoken = [step for piece in PIECES for step in (text(piece), sleep(PIECE_SECONDS))]
    async with open_world(tmp_path, vendor, [answer(*spoken)], on=on) as world:
        await world.platform.say("hello")
        for pieces in (2, 3, 4):
            await world.start(at(f"commit:TranscriptRows.write_draft:{pieces}:after")).dies()
        world.start()
        await world.finished()
        assert world.rows("SELECT outcome FROM inbox WHERE kind = 'message'") == [("answered",)]
        assert [message.text for message in world.platform.standing] == [world.platform.rendered("".join(PIECES))]


@pytest.mark.parametrize("on", THE_OTHERS_PROVEN)
async def test_an_answer_that_is_written_anew_is_not_mixed_with_the_old_one(
    on: str, vendor: Vendor, tmp_path: Path
) -> None:
    """A model does not say the same thing twice; a third life must not join what the first two had stored."""
    other = tuple(f"In other words, number {n}. " for n in range(8))
    async with open_world(tmp_path, vendor, script(), on=on) as world, asyncio.TaskGroup() as group:
        group.create_task(press(world))
        await world.platform.say(PROMPT)
        await world.start(at("commit:TranscriptRows.write_draft:7:after")).dies()
        await vendor.set(script(pieces=other))
        await world.start(at("commit:TranscriptRows.write_draft:2:after")).dies()
        drafted = "".join(piece for (piece,) in world.rows("SELECT text FROM drafts ORDER BY seq"))
        assert drafted and "".join(other).startswith(drafted)
        world.start()
        await world.finished()
        [message] = world.platform.standing
        wholes = [world.platform.rendered(f"{FIRST}\n\n{SECOND}\n\n{''.join(last)}") for last in (PIECES, other)]
        assert answer_of(message.text) == wholes[1]
        shown = [answer_of(look.text) for look in world.platform.looks]
        assert all(any(whole.startswith(text) for whole in wholes) for text in shown)
