"""Killed from outside while the model speaks, and while a person is waited for."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from tests.crash.person import go_on, press
from tests.crash.story import GATES, PROMPT, script
from tests.crash.verdict import holds
from tests.crash.world import Vendor, eventually, open_world
from tests.crash.wreck import Wreck


@pytest.mark.parametrize(
    "gate", [pytest.param(gate, marks=() if gate == "half" else pytest.mark.prove) for gate in GATES]
)
async def test_killed_while_the_model_is_at(gate: str, vendor: Vendor, tmp_path: Path) -> None:
    async with open_world(tmp_path, vendor, script(gate)) as world, asyncio.TaskGroup() as group:
        life = world.start()
        await world.platform.say(PROMPT, "u1")
        group.create_task(press(world))
        await vendor.at(gate)
        life.kill()
        wreck = Wreck()
        wreck.look_at(world)
        assert await vendor.violations() == []
        await vendor.set(script())
        await go_on(world)
        await holds(world, wreck)


@pytest.mark.parametrize("kills", [1, pytest.param(2, marks=pytest.mark.prove)])
async def test_b091_a_card_from_before_a_kill_can_still_be_pressed(kills: int, vendor: Vendor, tmp_path: Path) -> None:
    """The turn waits for the person and does nothing: it may die so as often as it likes within the rule for crashes."""
    async with open_world(tmp_path, vendor, script()) as world:
        life = world.start()
        await world.platform.say(PROMPT, "u1")
        await world.platform.until(lambda platform: any(message.payload("once") for message in platform.standing))
        await eventually(lambda: world.rows("SELECT 1 FROM parts WHERE ref IS NOT NULL"))
        [card] = world.platform.standing
        payload = card.payload("once")
        for _ in range(kills):
            life.kill()
            life = await go_on(world)
            await life.ready()
            await world.platform.until(lambda platform: not platform.unheard)
        assert [message.payload("once") for message in world.platform.standing] == [payload]
        await world.platform.press(payload)
        await holds(world)
        assert [notice for _, notice in world.platform.answers] == ["Approved once."]
