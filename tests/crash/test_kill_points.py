"""A turn with a tool and an approval, killed at each of its actions and started again."""

from __future__ import annotations

import asyncio
import signal
import sys
from pathlib import Path

import pytest

from bot.brain.prompt import CONTINUE
from tests.cli.programs import ROOT
from tests.crash.death import Death
from tests.crash.person import press, suffer
from tests.crash.points import (
    ACTIONS,
    EACH,
    LONG_ACTIONS,
    THE_OTHERS_PROVEN,
    TYPING,
    Action,
    at,
    counted,
    deaths,
    everywhere,
    on_each,
)
from tests.crash.story import PROMPT, script
from tests.crash.vendor import Vendor
from tests.crash.verdict import holds
from tests.crash.world import open_world
from tests.crash.wreck import Wreck

EVERY = {on: deaths(actions) for on, actions in ACTIONS.items()}
EVERY["telegram"].append(at("wire:getUpdates:3:before"))
SAMPLE = {
    "telegram-commit:TranscriptRows.append:1:before",
    "telegram-commit:ApprovalRows.decide:1:after",
    "telegram-commit:CallRows.start:2:after",
    "telegram-commit:TranscriptRows.result:2:before",
    "telegram-commit:TranscriptRows.write_draft:6:after",
    "telegram-wire:getUpdates:1:after",
    "telegram-wire:send-text:1:after",
    "telegram-wire:edit-card:1:after",
    "telegram-wire:edit-final:1:after",
    "discord-hear:UserMessage:1:before",
    "discord-hear:ButtonPress:1:before",
    "discord-commit:ApprovalRows.decide:1:after",
    "discord-wire:send-text:1:after",
    "discord-wire:edit-final:1:after",
    "slack-hear:UserMessage:1:before",
    "slack-commit:TranscriptRows.write_draft:6:after",
    "slack-wire:edit-final:1:after",
}
"""In the ordinary test run; the others are for ``make prove``."""

SENT_BUT_NOT_RECORDED = {
    "wire:send-text:1:after",
    "show:send-text:1:after",
    "commit:PartRows.record:1:before",
}
"""The one window in which only the platform can know: it has the message, and its id died with the process."""

CALL_INTERRUPTED = {
    "commit:CallRows.start:2:after": 0,
    "tool:opens:1:before": 0,
    "commit:TranscriptRows.result:2:before": 1,
}
"""From its intent to its result a call that must not run twice is not repeated; how many notes it has written then."""

SMALL = 330
"""Characters of a message: the answer takes three."""


@pytest.mark.parametrize("on", EACH)
async def test_the_list_of_actions_is_what_the_turn_does(on: str, vendor: Vendor, tmp_path: Path) -> None:
    async with open_world(tmp_path, vendor, script(), on=on) as world:
        await world.platform.say(PROMPT)
        life = world.start()
        await press(world)
        await holds(world)
        done = counted(life.actions)
        assert set(done) - {(TYPING.kind, TYPING.name)} == {(action.kind, action.name) for action in ACTIONS[on]}
        for action in ACTIONS[on]:
            times = done[action.kind, action.name]
            assert times >= action.times if action.paced else times == action.times, action


@pytest.mark.parametrize(("on", "death"), on_each(EVERY, SAMPLE))
async def test_after_a_kill_there_is_one_whole_answer(on: str, death: Death, vendor: Vendor, tmp_path: Path) -> None:
    async with open_world(tmp_path, vendor, script(), on=on) as world:
        wreck = await suffer(world, death)
        if str(death) in SENT_BUT_NOT_RECORDED:
            assert bool(wreck.unknown) is not world.platform.idempotent
        if str(death) in CALL_INTERRUPTED:
            assert (wreck.interrupted, wreck.notes) == (True, CALL_INTERRUPTED[str(death)])
        await holds(world, wreck)


LATE = deaths((Action("commit", "ApprovalRows.ask"), Action("show", "edit-card")))


@pytest.mark.parametrize(("on", "death"), on_each(everywhere(*LATE)))
async def test_the_card_can_be_pressed_after_the_restart(on: str, death: Death, vendor: Vendor, tmp_path: Path) -> None:
    async with open_world(tmp_path, vendor, script(), on=on) as world:
        await holds(world, await suffer(world, death, late=True))


IN_GROUP = (
    "hear:UserMessage:1:before",
    "hear:UserMessage:1:after",
    "hear:ButtonPress:1:before",
    "wire:send-text:1:before",
    "wire:send-text:1:after",
    "wire:edit-card:1:after",
    "wire:edit-final:1:before",
    "commit:InboxRows.finish_turn:1:before",
)


@pytest.mark.parametrize(("on", "death"), on_each(everywhere(*map(at, IN_GROUP))))
async def test_after_a_kill_in_a_group_there_is_one_whole_answer(
    on: str, death: Death, vendor: Vendor, tmp_path: Path
) -> None:
    async with open_world(tmp_path, vendor, script(), on=on, in_group=True) as world:
        await holds(world, await suffer(world, death))


LONG = deaths(LONG_ACTIONS)
LONG_SAMPLE = ("telegram-commit:PartRows.seal:1:after", "discord-wire:send-text:2:after")
SEALED_ALREADY = {"commit:PartRows.seal:1:after", "commit:PartRows.seal:2:before", "commit:PartRows.seal:2:after"}
"""The text in a sealed message cannot be taken back: the model is asked to go on from its break."""


@pytest.mark.parametrize(("on", "death"), on_each(everywhere(*LONG), LONG_SAMPLE))
async def test_an_answer_of_several_messages_repeats_none_of_them(
    on: str, death: Death, vendor: Vendor, tmp_path: Path
) -> None:
    async with open_world(tmp_path, vendor, script(), on=on, size=SMALL) as world:
        await holds(world, await suffer(world, death))
        if str(death) in SEALED_ALREADY:
            assert any(CONTINUE in str(request["body"]) for request in await vendor.requests())


DECIDED = at("commit:ApprovalRows.decide:1:after")


@pytest.mark.parametrize("on", THE_OTHERS_PROVEN)
async def test_a_permission_for_the_chat_is_kept_with_the_decision_that_gives_it(
    on: str, vendor: Vendor, tmp_path: Path
) -> None:
    async with open_world(tmp_path, vendor, script(), on=on) as world:
        await holds(world, await suffer(world, DECIDED, verb="chat"), verb="chat")
        assert world.rows("SELECT tool, scope, granted_by FROM permissions") == [
            ("note_write", "chat", f"{on}:{world.platform.ann_id}")
        ]


@pytest.mark.prove
async def test_a_process_that_was_started_and_not_forked_dies_the_same(vendor: Vendor, tmp_path: Path) -> None:
    async with open_world(tmp_path, vendor, script()) as world, asyncio.TaskGroup() as group:
        group.create_task(press(world))
        await world.platform.say(PROMPT)
        orders = world.orders(DECIDED, "alone").written(tmp_path / "orders.json")
        process = await asyncio.create_subprocess_exec(sys.executable, "-m", "tests.crash.victim", orders, cwd=ROOT)
        assert await process.wait() == -signal.SIGKILL
        wreck = Wreck()
        wreck.look_at(world)
        world.start()
        await holds(world, wreck)
