"""Killed from outside while the model speaks, and while a person is waited for."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from tests.crash.person import go_on, press
from tests.crash.points import THE_OTHERS_PROVEN
from tests.crash.story import GATES, PROMPT, script
from tests.crash.vendor import Vendor
from tests.crash.verdict import holds
from tests.crash.world import eventually, open_world
from tests.crash.wreck import Wreck


@pytest.mark.parametrize("on", THE_OTHERS_PROVEN)
@pytest.mark.parametrize(
    "gate", [pytest.param(gate, marks=() if gate == "half" else pytest.mark.prove) for gate in GATES]
)
async def test_killed_while_the_model_is_at(on: str, gate: str, vendor: Vendor, tmp_path: Path) -> None:
    async with open_world(tmp_path, vendor, script(gate), on=on) as world, asyncio.TaskGroup() as group:
        await world.platform.say(PROMPT)
        life = world.start()
        group.create_task(press(world))
        await vendor.at(gate)
        life.kill()
        wreck = Wreck()
        wreck.look_at(world)
        assert await vendor.violations() == []
        await vendor.set(script())
        await go_on(world)
        await holds(world, wreck)


@pytest.mark.parametrize("on", THE_OTHERS_PROVEN)
@pytest.mark.parametrize("kills", [1, pytest.param(2, marks=pytest.mark.prove)])
async def test_b091_a_card_from_before_a_kill_can_still_be_pressed(
    on: str, kills: int, vendor: Vendor, tmp_path: Path
) -> None:
    """The turn waits for the person and does nothing: it may die so as often as it likes within the rule for crashes."""
    async with open_world(tmp_path, vendor, script(), on=on) as world:
        platform = world.platform
        await platform.say(PROMPT)
        life = world.start()
        await platform.until(lambda: any(message.label("once") for message in platform.standing))
        await eventually(lambda: world.rows("SELECT 1 FROM parts WHERE ref IS NOT NULL"))
        [card] = platform.standing
        for _ in range(kills):
            life.kill()
            life = await go_on(world)
            await life.ready()
            await platform.until(lambda: not platform.unheard)
        assert [message.buttons for message in platform.standing] == [card.buttons]
        await platform.press("once")
        await holds(world)
        assert platform.notices == ["Approved once."]
