"""A death around the opening of a thread: the question is stored before there is one, and it gets one thread, ever."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from tests.crash.discord import DiscordPlatform
from tests.crash.person import suffer
from tests.crash.points import at
from tests.crash.story import script
from tests.crash.vendor import Vendor
from tests.crash.verdict import holds
from tests.crash.world import PACE, World, told
from tests.sim.discord import Channel, DiscordSim
from tests.sim.discord.nouns import PUBLIC_THREAD

OPENED: Final = "wire:threads:1:after"
DEATHS: Final = (
    "hear:UserMessage:1:before",
    "commit:NoteRows.write:2:before",
    "commit:NoteRows.write:2:after",
    "commit:NoteRows.write:3:before",
    "commit:NoteRows.write:3:after",
    "commit:InboxRows.record:1:before",
    "commit:InboxRows.record:1:after",
    "commit:TranscriptRows.begin:1:after",
    "wire:threads:1:before",
    OPENED,
    "show:send-text:1:before",
    "wire:send-text:1:before",
    "wire:send-text:1:after",
    "commit:PartRows.record:1:before",
    "show:edit-card:1:after",
    "show:answer:1:before",
    "show:edit-final:1:after",
    "commit:InboxRows.finish_turn:1:before",
)


class Threaded(DiscordPlatform):
    """A channel in which each question of Ann's gets a thread."""

    @property
    def section(self) -> str:
        return super().section.replace("access:", "threads: auto, access:")

    @property
    def threads(self) -> list[Channel]:
        return [one for one in self.sim.world.channels.values() if one.type == PUBLIC_THREAD]

    @property
    def place(self) -> Channel:
        return next(iter(self.threads), self.chat)


@pytest.mark.parametrize("death", [pytest.param(d, marks=() if d == OPENED else pytest.mark.prove) for d in DEATHS])
async def test_a_question_whose_thread_was_opening_is_answered_once_in_one_thread(
    death: str, vendor: Vendor, tmp_path: Path
) -> None:
    await vendor.set(script())
    async with (
        DiscordSim(strict_rates=False) as sim,
        told(World(tmp_path, vendor, Threaded(sim, in_group=True), pace=PACE)) as world,
    ):
        await world.platform.befriend(world.data)
        wreck = await suffer(world, at(death))
        await holds(world, wreck)
        [thread] = world.platform.threads
        assert (str(thread.id), thread.owner_id) == (world.platform.says, sim.bot.id)
        assert sim.bot_texts(world.platform.chat) == []
