"""SIGTERM to ``bowerbird run`` on a platform at its own pace: out in time, and every message goes on in its place."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

import pytest

from tests.crash.crowd import PIECE_SECONDS, Crowd
from tests.crash.person import press
from tests.crash.platform import Simulated
from tests.crash.points import EACH, THE_OTHERS_PROVEN
from tests.crash.program import Program, a_free_port, running
from tests.crash.story import INTERRUPTED, PROMPT, script
from tests.crash.vendor import Vendor
from tests.crash.verdict import holds
from tests.crash.world import World, eventually, open_world

PEOPLE: Final = {"telegram": 50, "discord": 50, "slack": 8}
"""Slack bears fifty edits a minute over all its conversations: no answer can be whole so soon."""
PATIENCE: Final = 60.0


@asynccontextmanager
async def at_its_pace(on: str, folder: Path, vendor: Vendor, *gates: str) -> AsyncIterator[World[Simulated]]:
    async with open_world(folder, vendor, script(*gates), on=on, pace=0, web_port=a_free_port(), on_both=True) as world:
        yield world


@asynccontextmanager
async def half_told(world: World[Simulated], *, half_open: bool = False) -> AsyncIterator[Program]:
    """``bowerbird run``, with the model at a gate in the middle of the answer and half of it on the screen. ``half_open``:
    nothing is heard any more after the press."""
    async with running(world.config(), world.web_port) as program:
        await program.ready()
        await world.platform.say(PROMPT)
        await world.platform.until(lambda: any(message.label("once") for message in world.platform.standing))
        if half_open:
            world.platform.deafen()
        await world.platform.press("once")
        await world.vendor.at("half")
        await world.platform.until(lambda: "Both factors are prime" in shown(world))
        yield program


def shown(world: World[Simulated]) -> str:
    [message] = world.platform.standing
    return message.text


async def goes_on(world: World[Simulated]) -> None:
    """Start again; the answer is completed in the message in which it was begun."""
    [before] = world.platform.standing
    await world.vendor.set(script())
    await world.platform.again()
    world.start()
    await world.finished(PATIENCE)
    await holds(world)
    assert [message.id for message in world.platform.standing] == [before.id]


@pytest.mark.prove
@pytest.mark.timeout(120)
@pytest.mark.parametrize("on", EACH)
async def test_a_stop_amid_many_answers_leaves_each_to_be_told_once_and_whole(
    on: str, vendor: Vendor, tmp_path: Path
) -> None:
    async with at_its_pace(on, tmp_path, vendor) as world:
        crowd = Crowd(world.platform, people := PEOPLE[on])
        await vendor.set(crowd.answers(PIECE_SECONDS))
        async with running(world.config(), world.web_port) as program:
            await program.ready()
            await crowd.ask()
            await world.platform.until(lambda: not crowd.states()["nothing"])
            assert crowd.states()["begun"] > people / 2
            assert await program.stops() == 0
            assert program.clean
        left = crowd.states()
        assert set(left) <= {"whole", "marked", "begun"}, left
        assert left["marked"] and (left["whole"] or on == "slack"), left
        first = crowd.first_messages()

        await vendor.set(crowd.answers(0))
        async with running(world.config(), world.web_port) as program:
            await world.finished(PATIENCE)
            assert await program.stops() == 0
            assert program.clean
        assert crowd.states() == {"whole": people}
        assert crowd.first_messages() == first
        assert not any(message.buttons for chat in crowd.chats for message in chat.standing)
        assert world.rows(
            "SELECT count(*), count(DISTINCT turn), max(attempts) <= 1 FROM inbox WHERE outcome = 'answered'"
        ) == [(people, people, 1)]
        assert world.platform.violations == []
        assert await vendor.violations() == []


@pytest.mark.parametrize("on", THE_OTHERS_PROVEN)
async def test_b253_a_message_is_closed_with_a_note_and_then_completed(on: str, vendor: Vendor, tmp_path: Path) -> None:
    async with at_its_pace(on, tmp_path, vendor, "half") as world:
        async with half_told(world) as program:
            assert await program.stops() == 0
            assert program.clean
        [message] = world.platform.standing
        assert message.text.endswith(INTERRUPTED)
        assert message.buttons == {}
        await goes_on(world)


@pytest.mark.prove
@pytest.mark.timeout(120)
@pytest.mark.parametrize("on", EACH)
async def test_a_stop_while_a_flood_wait_holds_the_chat(on: str, vendor: Vendor, tmp_path: Path) -> None:
    """Nothing is called there until the wait is over, not by the next process either."""
    async with at_its_pace(on, tmp_path, vendor, "first", "half") as world, asyncio.TaskGroup() as group:
        platform = world.platform
        async with running(world.config(), world.web_port) as program:
            await program.ready()
            await platform.say(PROMPT)
            group.create_task(press(world))
            await vendor.at("first")
            flood = platform.fail("edit", retry_after=30)
            await vendor.release("first")
            await platform.until(lambda: flood.hits)
            begun = asyncio.get_running_loop().time()
            assert await program.stops() == 0
            assert program.clean
        assert INTERRUPTED not in shown(world)
        await goes_on(world)
        assert asyncio.get_running_loop().time() - begun >= 30


@pytest.mark.prove
@pytest.mark.parametrize("on", EACH)
@pytest.mark.parametrize("deed", ["*", "", "edit"])
async def test_a_stop_while_the_line_is_silent(on: str, deed: str, vendor: Vendor, tmp_path: Path) -> None:
    """All calls, or only that by which the bot hears, which then is half open, or what would close the message."""
    async with at_its_pace(on, tmp_path, vendor, "half") as world:
        async with half_told(world, half_open=not deed) as program:
            if deed:
                world.platform.fail(deed, every=True, action="hang")
            assert await program.stops() == 0
            assert program.clean
        assert (INTERRUPTED in shown(world)) is (not deed)
        world.platform.heal()
        await goes_on(world)


@pytest.mark.prove
@pytest.mark.parametrize("on", EACH)
@pytest.mark.parametrize("seconds", [0.0, 3.0])
async def test_a_stop_while_the_network_is_down(on: str, seconds: float, vendor: Vendor, tmp_path: Path) -> None:
    async with at_its_pace(on, tmp_path, vendor, "half") as world:
        async with half_told(world) as program:
            await world.platform.cut()
            await asyncio.sleep(seconds)
            assert await program.stops() == 0
            assert program.clean
        assert INTERRUPTED not in shown(world)
        world.platform.heal()
        await goes_on(world)


@pytest.mark.prove
@pytest.mark.parametrize("on", EACH)
async def test_a_stop_while_a_person_is_waited_for_leaves_the_card_to_be_pressed(
    on: str, vendor: Vendor, tmp_path: Path
) -> None:
    async with at_its_pace(on, tmp_path, vendor) as world:
        async with running(world.config(), world.web_port) as program:
            await program.ready()
            await world.platform.say(PROMPT)
            await world.platform.until(lambda: any(message.label("once") for message in world.platform.standing))
            await eventually(lambda: world.rows("SELECT 1 FROM parts WHERE ref IS NOT NULL"))
            assert await program.stops() == 0
            assert program.clean
        [message] = world.platform.standing
        assert message.text.endswith(INTERRUPTED)
        async with asyncio.TaskGroup() as group:
            group.create_task(press(world))
            await goes_on(world)
        assert world.platform.notices == ["Approved once."]
