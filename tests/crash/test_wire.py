"""Killed while a call is on its way: it has left the process, and what comes of it comes after the death."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest

from tests.crash.person import go_on, press
from tests.crash.story import LAST, PROMPT, script
from tests.crash.telegram import TelegramPlatform
from tests.crash.vendor import Vendor
from tests.crash.verdict import holds
from tests.crash.world import open_world
from tests.crash.wreck import Wreck

SLOW_SECONDS: Final = 0.4
SLOWER_SECONDS: Final = 1.2
"""Longer than a start takes: the dead process's call comes between those of the living one."""

COMES: Final[dict[str, Callable[[TelegramPlatform], object]]] = {
    "sendMessage-text": lambda platform: platform.standing,
    "editMessageText-card": lambda platform: platform.standing[-1].label("once"),
    "editMessageText-final": lambda platform: (
        platform.rendered(LAST) in platform.standing[-1].text and not platform.standing[-1].buttons
    ),
    "answerCallbackQuery": lambda platform: platform.notices,
}
"""How it is seen that the call has had its effect."""


@pytest.mark.parametrize(
    "deed", [pytest.param(deed, marks=() if "send" in deed else pytest.mark.prove) for deed in COMES]
)
async def test_a_call_that_outlives_its_process(deed: str, vendor: Vendor, tmp_path: Path) -> None:
    async with open_world(tmp_path, vendor, script()) as world, asyncio.TaskGroup() as group:
        platform, wreck = world.platform, Wreck()
        platform.sim.latencies[deed.partition("-")[0]] = SLOW_SECONDS
        await platform.say(PROMPT)
        life = world.start()
        group.create_task(press(world))
        await platform.until(lambda: platform.under_way(deed))
        life.kill()
        await platform.until(lambda: COMES[deed](platform))
        platform.sim.latencies.clear()
        wreck.look_at(world)
        assert len(wreck.unknown) == (deed == "sendMessage-text")
        await go_on(world)
        await holds(world, wreck)


@pytest.mark.prove
@pytest.mark.parametrize("deed", COMES)
async def test_a_call_that_comes_between_those_of_the_next_life(deed: str, vendor: Vendor, tmp_path: Path) -> None:
    async with open_world(tmp_path, vendor, script()) as world, asyncio.TaskGroup() as group:
        platform = world.platform
        platform.sim.latencies[deed.partition("-")[0]] = SLOWER_SECONDS
        await platform.say(PROMPT)
        life = world.start()
        group.create_task(press(world))
        await platform.until(lambda: platform.under_way(deed))
        life.kill()
        wreck = Wreck()
        wreck.look_at(world)
        await go_on(world)
        await world.finished()
        ours = {ref for (ref,) in world.rows("SELECT ref FROM parts")}
        wreck.unknown = {message.id for message in platform.standing} - ours
        assert len(wreck.unknown) <= (deed == "sendMessage-text")
        await holds(world, wreck)


@pytest.mark.prove
@pytest.mark.parametrize("effect", ["none", "done"])
@pytest.mark.parametrize("method", ["sendMessage", "editMessageText", "answerCallbackQuery", "getUpdates"])
async def test_killed_while_it_waits_for_an_answer_that_never_comes(
    method: str, effect: str, vendor: Vendor, tmp_path: Path
) -> None:
    async with open_world(tmp_path, vendor, script()) as world, asyncio.TaskGroup() as group:
        platform, wreck = world.platform, Wreck()
        silence = platform.sim.fail(method, effect=effect, action="hang")  # type: ignore[arg-type]
        await platform.say(PROMPT)
        life = world.start()
        pressed = group.create_task(press(world))
        await platform.until(lambda: silence.hits)
        life.kill()
        wreck.look_at(world)
        assert len(wreck.unknown) == (method == "sendMessage" and effect == "done")
        life = await go_on(world)
        await pressed
        await holds(world, wreck)
        told = [notice for notice in platform.notices if notice]
        assert told in ([], ["Approved once."])
        assert len(platform.notices) == 1, "a press that came again was left without an answer"
