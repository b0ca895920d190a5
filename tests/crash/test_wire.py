"""Killed while a call is on its way: it has left the process, and what comes of it comes after the death."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest

from tests.crash.person import go_on, press
from tests.crash.platform import Simulated
from tests.crash.points import EACH
from tests.crash.story import LAST, PROMPT, script
from tests.crash.vendor import Vendor
from tests.crash.verdict import holds
from tests.crash.world import open_world
from tests.crash.wreck import Wreck

SLOW_SECONDS: Final = 0.4
SLOWER_SECONDS: Final = 1.2
"""Longer than a start takes: the dead process's call comes between those of the living one."""

COMES: Final[dict[str, Callable[[Simulated], object]]] = {
    "send-text": lambda platform: platform.standing,
    "edit-card": lambda platform: platform.standing[-1].label("once"),
    "edit-final": lambda platform: (
        platform.rendered(LAST) in platform.standing[-1].text and not platform.standing[-1].buttons
    ),
    "answer": lambda platform: platform.notices,
}
"""How it is seen that the call has had its effect."""
CASES: Final = [(on, deed) for on in EACH for deed in COMES if (on, deed) != ("slack", "answer")]
"""A response URL is no call of Slack's API: the simulator answers it at once or never."""

SAMPLE: Final = [("telegram", "send-text"), ("discord", "send-text")]
SLACK_DOUBLE: Final = ("slack", "send-text")
"""What comes after the bot has looked for it stands there beside what it sent then, and nobody knows."""


@pytest.mark.parametrize(
    ("on", "deed"), [pytest.param(*case, marks=() if case in SAMPLE else pytest.mark.prove) for case in CASES]
)
async def test_a_call_that_outlives_its_process(on: str, deed: str, vendor: Vendor, tmp_path: Path) -> None:
    async with open_world(tmp_path, vendor, script(), on=on) as world, asyncio.TaskGroup() as group:
        platform, wreck = world.platform, Wreck()
        platform.delay(deed.partition("-")[0], SLOW_SECONDS)
        await platform.say(PROMPT)
        life = world.start()
        group.create_task(press(world))
        await platform.until(lambda: platform.under_way(deed))
        life.kill()
        await platform.until(lambda: COMES[deed](platform))
        platform.heal()
        wreck.look_at(world)
        assert len(wreck.unknown) == (deed == "send-text" and not platform.idempotent)
        await go_on(world)
        await holds(world, wreck)


@pytest.mark.prove
@pytest.mark.parametrize(("on", "deed"), [case for case in CASES if case != SLACK_DOUBLE])
async def test_a_call_that_comes_between_those_of_the_next_life(
    on: str, deed: str, vendor: Vendor, tmp_path: Path
) -> None:
    async with open_world(tmp_path, vendor, script(), on=on) as world, asyncio.TaskGroup() as group:
        platform = world.platform
        platform.delay(deed.partition("-")[0], SLOWER_SECONDS)
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
        assert len(wreck.unknown) <= (deed == "send-text" and not platform.idempotent)
        await holds(world, wreck)


@pytest.mark.prove
@pytest.mark.parametrize("effect", ["none", "done"])
@pytest.mark.parametrize(
    ("on", "deed"), [*((on, deed) for on in EACH for deed in ("send", "edit", "answer")), ("telegram", "getUpdates")]
)
async def test_killed_while_it_waits_for_an_answer_that_never_comes(
    on: str, deed: str, effect: str, vendor: Vendor, tmp_path: Path
) -> None:
    async with open_world(tmp_path, vendor, script(), on=on) as world, asyncio.TaskGroup() as group:
        platform, wreck = world.platform, Wreck()
        silence = platform.fail(deed, effect=effect, action="hang")
        await platform.say(PROMPT)
        life = world.start()
        pressed = group.create_task(press(world))
        await platform.until(lambda: silence.hits)
        life.kill()
        wreck.look_at(world)
        assert len(wreck.unknown) == (deed == "send" and effect == "done" and not platform.idempotent)
        life = await go_on(world)
        await pressed
        await holds(world, wreck)
        told = [notice for notice in platform.notices if notice]
        assert told in ([], ["Approved once."])
        if on == "telegram":  # it tells a press again
            assert len(platform.notices) == 1, "a press that came again was left without an answer"
