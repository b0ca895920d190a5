"""Kill -9 with everything as it is in earnest: a platform's own pace and rates, and processes that nobody prepared."""

from __future__ import annotations

import asyncio
import signal
from pathlib import Path

import pytest

from tests.crash.death import Death
from tests.crash.person import press, suffer
from tests.crash.points import at, everywhere, on_each
from tests.crash.program import a_free_port, running
from tests.crash.remote import remote_telegram
from tests.crash.story import CARDS, GATES, PROMPT, script
from tests.crash.vendor import Vendor
from tests.crash.verdict import holds, one_answer, outlived
from tests.crash.world import World, open_world, told
from tests.crash.wreck import Wreck

SLOWLY = 0.5
"""Seconds between two pieces, so that there is time for edits."""
DEATHS = (
    "hear:UserMessage:1:before",
    "wire:send-text:1:after",
    "wire:edit-card:1:before",
    "wire:edit-text:2:after",
    "wire:edit-final:1:before",
    "wire:edit-final:1:after",
    "commit:InboxRows.finish_turn:1:before",
)

pytestmark = [pytest.mark.prove, pytest.mark.timeout(90)]


@pytest.mark.parametrize(("on", "death"), on_each(everywhere(*map(at, DEATHS))))
async def test_no_rate_is_broken_over_a_death(on: str, death: Death, vendor: Vendor, tmp_path: Path) -> None:
    async with open_world(tmp_path, vendor, script(seconds=SLOWLY), on=on, pace=0) as world:
        await holds(world, await suffer(world, death))


@pytest.mark.parametrize("gate", GATES)
async def test_bowerbird_run_killed_in_front_of_a_platform_of_its_own_process(
    gate: str, vendor: Vendor, tmp_path: Path
) -> None:
    port = a_free_port()
    with remote_telegram() as platform:
        async with told(World(tmp_path, vendor, platform, pace=0, web_port=port, on_both=True)) as world:
            await vendor.set(script(gate))
            async with asyncio.TaskGroup() as group:
                async with running(world.config(), port) as program:
                    await program.ready()
                    await platform.say(PROMPT)
                    group.create_task(press(world))
                    await vendor.at(gate)
                    program.process.kill()
                    assert await program.ends() == -signal.SIGKILL
                wreck = Wreck()
                wreck.look_at(world)
                await vendor.set(script())
                await platform.again()
                async with running(world.config(), port) as program:
                    await world.finished(timeout=60)
                    await platform.until(lambda: not platform.unheard)
                    assert await program.stops() == 0
                    assert program.clean
            one_answer(world, wreck, CARDS["once"])
            await outlived(world, wreck)
