"""What a death means on Discord: a bot that comes back is told nothing, but can read what stands in its channels."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final, cast

import pytest

from channels.discord.past import TRIES
from tests.crash.death import Death
from tests.crash.discord import DiscordPlatform
from tests.crash.person import press
from tests.crash.points import at
from tests.crash.story import PROMPT, script
from tests.crash.vendor import Vendor
from tests.crash.verdict import holds
from tests.crash.world import Process, World, eventually, open_world
from tests.crash.wreck import Wreck
from tests.sim.llm import When, answer, text
from tests.sim.llm.script import Answer

HEARD: Final = (
    "hear:UserMessage:1:before",
    "hear:UserMessage:1:after",
    "commit:InboxRows.record:1:before",
    "commit:InboxRows.record:1:after",
)
CHANNEL_NOTED: Final = "commit:NoteRows.write:3:before"
"""After the first start has noted since when it listens, and which menu it has told."""
COUNTS: Final = [answer(text(f"That is {n}."), when=When(user=f"Number {n}")) for n in range(3)]


@asynccontextmanager
async def on_discord(
    folder: Path, vendor: Vendor, answers: Sequence[Answer], **more: Any
) -> AsyncIterator[World[DiscordPlatform]]:
    async with open_world(folder, vendor, answers, on="discord", **more) as world:
        yield cast(World[DiscordPlatform], world)


async def first_start(world: World[DiscordPlatform], death: Death) -> Process:
    """A life that hears, and has noted all that a start notes."""
    life = world.start(death)
    await world.platform.until(lambda: world.platform.sim.connections.ready)
    await eventually(lambda: world.rows("SELECT count(*) FROM notes") == [(2,)])
    return life


@pytest.mark.parametrize("in_group", [False, pytest.param(True, marks=pytest.mark.prove)])
@pytest.mark.parametrize(
    "death", [pytest.param(one, marks=() if one == HEARD[0] else pytest.mark.prove) for one in HEARD]
)
async def test_the_first_words_ever_that_were_told_and_not_stored_are_read_in_the_history(
    death: str, in_group: bool, vendor: Vendor, tmp_path: Path
) -> None:
    async with (
        on_discord(tmp_path, vendor, script(), in_group=in_group, strangers=True) as world,
        asyncio.TaskGroup() as group,
    ):
        life = await first_start(world, at(death))
        await world.platform.say(PROMPT)
        group.create_task(press(world))
        await life.dies()
        wreck = Wreck()
        wreck.look_at(world)
        world.start()
        await holds(world, wreck)


@pytest.mark.prove
@pytest.mark.parametrize("in_group", [False, True])
async def test_only_the_first_words_in_a_direct_chat_that_nobody_noted_must_be_said_again(
    in_group: bool, vendor: Vendor, tmp_path: Path
) -> None:
    """No bot is told which direct chats it has. A guild tells its channels."""
    async with (
        on_discord(tmp_path, vendor, script(), in_group=in_group, strangers=True) as world,
        asyncio.TaskGroup() as group,
    ):
        life = await first_start(world, at(CHANNEL_NOTED))
        await world.platform.say(PROMPT)
        await life.dies()
        world.start()
        await world.platform.until(lambda: world.platform.sim.connections.ready)
        if not in_group:
            await world.platform.say(PROMPT)
        group.create_task(press(world))
        await holds(world)


@pytest.mark.parametrize("in_group", [pytest.param(False, marks=pytest.mark.prove), True])
async def test_what_was_said_to_nobody_is_answered_in_order_although_the_reading_of_it_dies(
    in_group: bool, vendor: Vendor, tmp_path: Path
) -> None:
    async with on_discord(tmp_path, vendor, COUNTS, in_group=in_group, when_busy="queue") as world:
        for n in range(3):
            await world.platform.say(f"Number {n}")
        await world.start(at("hear:UserMessage:2:before")).dies()
        world.start()
        told = [f"That is {n}." for n in range(3)]
        await world.platform.until(lambda: [message.text for message in world.platform.standing] == told)
        await world.finished()
        assert await world.lives[-1].stops() == 0
        assert world.rows("SELECT outcome FROM inbox WHERE kind = 'message'") == [("answered",)] * 3
        assert world.platform.violations == []
        assert await vendor.violations() == []


@pytest.mark.prove
async def test_what_a_resumed_session_has_told_is_not_heard_again_in_the_history(
    vendor: Vendor, tmp_path: Path
) -> None:
    async with on_discord(tmp_path, vendor, script()) as world, asyncio.TaskGroup() as group:
        life = world.start(at("commit:InboxRows.finish_turn:1:before"))
        await world.platform.until(lambda: world.platform.sim.connections.ready)
        await world.platform.sim.drop()
        await world.platform.say(PROMPT)
        group.create_task(press(world))
        await life.dies()
        assert len(world.platform.sim.connections.resumes) == 1
        wreck = Wreck()
        wreck.look_at(world)
        world.start()
        await holds(world, wreck)


FILLED: Final = "wire:edit-final:1:after"
COMMAND: Final = (
    "hear:UserMessage:1:before",
    "commit:InboxRows.record:1:after",
    "wire:edit-final:1:before",
    FILLED,
    "commit:PartRows.record:1:before",
    "commit:InboxRows.finish_turn:1:before",
)


@pytest.mark.parametrize("in_group", [False, pytest.param(True, marks=pytest.mark.prove)])
@pytest.mark.parametrize(
    "death", [pytest.param(one, marks=() if one == FILLED else pytest.mark.prove) for one in COMMAND]
)
async def test_a_command_of_the_menu_is_answered_once_in_its_place(
    death: str, in_group: bool, vendor: Vendor, tmp_path: Path
) -> None:
    async with on_discord(tmp_path, vendor, [], in_group=in_group) as world:
        platform, sim = world.platform, world.platform.sim
        life = world.start(at(death))
        await platform.until(lambda: sim.connections.ready and sim.commands.syncs)
        await sim.slash(platform.chat, platform.ann, "usage")
        await life.dies()
        world.start()
        await world.finished()
        assert await world.lives[-1].stops() == 0
        [shown] = sim.visible(platform.chat)
        assert (shown.type, shown.thinking, shown.text[:4]) == (20, False, "You ")
        assert platform.violations == []


@pytest.mark.prove
async def test_a_history_that_cannot_be_read_at_the_start_is_read_later(vendor: Vendor, tmp_path: Path) -> None:
    async with on_discord(tmp_path, vendor, COUNTS) as world:
        platform = world.platform
        await platform.say("Number 0")
        fault = platform.fail("history", every=True, status=503)
        world.start()
        await platform.until(lambda: fault.hits > TRIES, timeout=25)
        platform.heal()
        await platform.until(lambda: platform.standing)
