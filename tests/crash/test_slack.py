"""Killed while a message of Slack's grows as a stream, which nobody but its own process can go on with."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from tests.crash.person import go_on
from tests.crash.points import at
from tests.crash.slack import SlackPlatform
from tests.crash.story import LAST, PIECE_SECONDS, PIECES
from tests.crash.vendor import Vendor
from tests.crash.world import open_world
from tests.sim.llm import answer, sleep, text

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
