"""Killed while a message of Slack's grows as a stream, which nobody but its own process can go on with; and between the
steps of an upload, of which only the last is seen."""

from __future__ import annotations

import multiprocessing
from pathlib import Path
from typing import Final

import pytest

import bot.tools
from tests.crash import victim
from tests.crash.death import Death
from tests.crash.exports.export_tables import TABLES
from tests.crash.person import go_on
from tests.crash.platform import Platform
from tests.crash.points import at
from tests.crash.slack import SlackPlatform
from tests.crash.story import LAST, PIECE_SECONDS, PIECES
from tests.crash.vendor import Vendor
from tests.crash.victim import Orders
from tests.crash.world import Process, World, open_world
from tests.sim.llm import answer, call, sleep, text
from tests.sim.llm.script import When

DEATHS: Final = (
    "hear:UserMessage:1:before",
    "show:send-text:1:before",
    "wire:chat.startStream:1:before",
    "wire:chat.startStream:1:after",
    "commit:PartRows.record:1:before",
    "commit:PartRows.record:1:after",
    "wire:chat.appendStream:2:before",
    "wire:chat.appendStream:2:after",
    "wire:chat.stopStream:1:before",
    "wire:chat.stopStream:1:after",
    "show:edit-final:1:after",
    "commit:InboxRows.finish_turn:1:before",
)
SAMPLE: Final = "wire:chat.appendStream:2:after"


@pytest.mark.parametrize(
    "death", [pytest.param(one, marks=() if one == SAMPLE else pytest.mark.prove) for one in DEATHS]
)
async def test_a_stream_that_dies_is_gone_on_with_in_its_message(death: str, vendor: Vendor, tmp_path: Path) -> None:
    spoken = answer(*(step for piece in PIECES for step in (text(piece), sleep(PIECE_SECONDS))))
    async with open_world(tmp_path, vendor, [spoken], on="slack-native", in_group=True) as world:
        platform = world.platform
        assert isinstance(platform, SlackPlatform)
        await platform.say("Tell me about 391.")
        await world.start(at(death)).dies()
        life = await go_on(world)
        await world.finished()
        assert await life.stops() == 0
        [shown] = [shown for shown in platform.sim.visible(platform.chat) if shown.from_bot]
        assert "".join(shown.text.split()) == "".join(platform.rendered(LAST).split())
        assert (shown.streaming, shown.broken, shown.buttons) == (False, False, ())
        assert world.rows("SELECT outcome FROM inbox WHERE kind = 'message'") == [("answered",)]
        assert platform.violations == []
        assert await vendor.violations() == []


FILE_DEATHS: Final = (
    "wire:files.getUploadURLExternal:1:before",
    "wire:files.getUploadURLExternal:1:after",
    "wire:files.completeUploadExternal:1:before",
    "wire:files.completeUploadExternal:1:after",
    "wire:files.getUploadURLExternal:2:after",
    "commit:PartRows.record:3:before",
    "commit:PartRows.record:3:after",
    "commit:InboxRows.finish_turn:1:before",
)
FILE_SAMPLE: Final = ("wire:files.completeUploadExternal:1:before", "wire:files.completeUploadExternal:1:after")
"""Between the upload and what shows it, and between its effect and our record of it."""
TOLD: Final = "Here are the two tables that you wanted."


def exporting(orders: Orders) -> None:
    """A victim that has one more tool."""
    bot.tools.__path__.append(str(Path(__file__).parent / "exports"))
    victim.run(orders)


def exporter(world: World[Platform], death: Death | None = None) -> Process:
    """Its next life."""
    orders = world.orders(death, f"life-{len(world.lives) + 1}")
    process = multiprocessing.get_context("forkserver").Process(target=exporting, args=(orders,), daemon=True)
    process.start()
    world.lives.append(Process(process, Path(orders.folder)))
    return world.lives[-1]


@pytest.mark.parametrize(
    "death", [pytest.param(one, marks=() if one in FILE_SAMPLE else pytest.mark.prove) for one in FILE_DEATHS]
)
async def test_a_death_on_the_way_of_a_file_leaves_it_there_once(death: str, vendor: Vendor, tmp_path: Path) -> None:
    answers = [
        answer(call("c1", "export_tables", ("{}",)), when=When(step=1)),
        answer(text(TOLD), when=When(step=2)),
    ]
    async with open_world(tmp_path, vendor, answers, on="slack", in_group=True) as world:
        platform = world.platform
        assert isinstance(platform, SlackPlatform)
        await platform.say("Export the tables.")
        await exporter(world, at(death)).dies()
        await platform.again()
        life = exporter(world)
        await world.finished()
        assert await life.stops() == 0
        shown = [message for message in platform.sim.visible(platform.chat) if message.from_bot]
        assert [list(message.files) or message.text for message in shown] == [TOLD, list(TABLES)]
        assert {message.thread_ts for message in shown} == {platform.says}
        sent = {one.name: one.content for one in platform.sim.world.files.by_id.values() if one.complete}
        assert sent == {name: content.encode() for name, content in TABLES.items()}
        assert world.rows("SELECT outcome FROM inbox WHERE kind = 'message'") == [("answered",)]
        assert world.rows("SELECT count(*) FROM parts WHERE ref IS NULL") == [(0,)]
        assert platform.violations == []
        assert await vendor.violations() == []
