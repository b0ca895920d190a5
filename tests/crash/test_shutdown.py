"""SIGTERM and SIGINT at every moment of a daemon's life: out in time, nothing lost, nothing left behind."""

from __future__ import annotations

import asyncio
import signal
import socket
from pathlib import Path
from typing import Final

import pytest

from tests.crash.page import open_page
from tests.crash.program import a_free_port, running
from tests.crash.story import INTERRUPTED, WHOLE, script
from tests.crash.vendor import Vendor
from tests.crash.verdict import outlived
from tests.crash.world import eventually, open_world
from tests.sim.llm import When, answer, text

SIGNALS: Final = (signal.SIGTERM, pytest.param(signal.SIGINT, marks=pytest.mark.prove))
NEXT: Final = "And 17+23?"
FORTY: Final = "That is 40."
STOPPING: Final = "stopping: new messages are kept"


@pytest.mark.parametrize("number", SIGNALS)
async def test_b249_an_idle_daemon_leaves_at_once(number: signal.Signals, vendor: Vendor, tmp_path: Path) -> None:
    async with open_world(tmp_path, vendor, script(), web_port=a_free_port()) as world:
        async with running(world.config(), world.web_port) as program, open_page(world.web_port):
            await program.ready()
            assert await program.stops(number) == 0
            assert program.clean
        assert sorted(path.name for path in world.data.iterdir()) == ["bowerbird.born", "bowerbird.db", "daemon.lock"]


@pytest.mark.parametrize("number", SIGNALS)
async def test_b253_a_stop_in_mid_answer_says_so_and_the_answer_goes_on_in_its_place(
    number: signal.Signals, vendor: Vendor, tmp_path: Path
) -> None:
    port = a_free_port()
    async with (
        open_world(tmp_path, vendor, script("half"), web_port=port) as world,
        open_page(port) as page,
    ):
        async with running(world.config(), port) as program, asyncio.TaskGroup() as group:
            turn = await page.say()
            await page.press()
            await vendor.at("half")
            await eventually(lambda: len(page.turns[turn].text) > 200)
            stopped = group.create_task(program.stops(number))
            await eventually(lambda: STOPPING in program.said)
            later = await page.say("u2", NEXT, "other")
        assert stopped.result() == 0
        assert program.clean
        shown = page.turns[turn]
        assert (shown.notices, shown.stop) == ([INTERRUPTED], "")
        assert len(shown.text) > 200
        assert len(await vendor.requests()) == 3, "a new turn began while stopping"
        assert world.rows("SELECT count(*), max(attempts) FROM inbox WHERE finished_at IS NULL") == [(2, 0)]
        assert await vendor.violations() == []

        await vendor.set([answer(text(FORTY), when=When(user=NEXT)), *script()])
        world.start()
        shown = await page.over(turn)
        assert (shown.text, shown.stop, shown.notices) == (WHOLE, "answered", [])
        assert page.wrong == []
        await world.finished()
        token, done = await page.history("other")
        assert (token["turn"], token["text"], done["stop"]) == (later, FORTY, "answered")
        assert world.rows("SELECT outcome FROM inbox WHERE kind = 'message'") == [("answered",), ("answered",)]
        assert len(world.notes()) == 1
        assert await vendor.violations() == []


async def test_a_turn_that_ends_while_the_daemon_stops_is_not_interrupted(vendor: Vendor, tmp_path: Path) -> None:
    port = a_free_port()
    async with open_world(tmp_path, vendor, script("half"), web_port=port) as world, open_page(port) as page:
        async with running(world.config(), port) as program, asyncio.TaskGroup() as group:
            turn = await page.say()
            await page.press()
            await vendor.at("half")
            stopped = group.create_task(program.stops())
            await eventually(lambda: STOPPING in program.said)
            await vendor.release("half")
        assert stopped.result() == 0
        assert program.clean
        shown = page.turns[turn]
        assert (shown.text, shown.stop, shown.notices) == (WHOLE, "answered", [])
        await outlived(world)


@pytest.mark.parametrize("number", SIGNALS)
async def test_a_stop_while_a_person_is_waited_for_leaves_the_card_to_be_pressed(
    number: signal.Signals, vendor: Vendor, tmp_path: Path
) -> None:
    port = a_free_port()
    async with open_world(tmp_path, vendor, script(), web_port=port) as world, open_page(port) as page:
        async with running(world.config(), port) as program:
            turn = await page.say()
            await eventually(lambda: page.open_cards)
            assert await program.stops(number) == 0
            assert program.clean
        [card] = page.open_cards
        world.start()
        await eventually(lambda: page.visits >= 2 and page.open_cards == [card])
        assert await page.press() == "Approved once."
        assert (await page.over(turn)).text == WHOLE
        assert page.wrong == []
        await world.finished()
        await outlived(world)


@pytest.mark.parametrize(
    "seconds", [0.4, *(pytest.param(s, marks=pytest.mark.prove) for s in (0.1, 0.2, 0.6, 0.9, 1.3))]
)
async def test_a_stop_at_any_time_of_the_start_is_a_stop(seconds: float, vendor: Vendor, tmp_path: Path) -> None:
    """Until Python has come to our own code, the signal ends the process as it would end any."""
    async with open_world(tmp_path, vendor, script(), web_port=a_free_port()) as world:
        async with running(world.config(), world.web_port) as program:
            await asyncio.sleep(seconds)
            assert await program.stops() in (0, -signal.SIGTERM)
            assert program.clean
        life = world.start()
        await life.ready()
        assert await life.stops() == 0


@pytest.mark.parametrize("number", SIGNALS)
@pytest.mark.parametrize(
    "seconds", [0, pytest.param(0.03, marks=pytest.mark.prove), pytest.param(0.1, marks=pytest.mark.prove)]
)
async def test_a_stop_between_lock_and_ready_is_clean(
    number: signal.Signals, seconds: float, vendor: Vendor, tmp_path: Path
) -> None:
    async with open_world(tmp_path, vendor, script(), web_port=a_free_port()) as world:
        async with running(world.config(), world.web_port) as program:
            await eventually(lambda: (world.data / "daemon.lock").exists())
            await asyncio.sleep(seconds)
            assert await program.stops(number) == 0
            assert program.clean
        life = world.start()
        await life.ready()
        assert await life.stops() == 0


async def test_b241_a_second_daemon_is_refused_and_told_who_is_there(vendor: Vendor, tmp_path: Path) -> None:
    port = a_free_port()
    async with (
        open_world(tmp_path, vendor, script(), web_port=port) as world,
        running(world.config(), port) as first,
    ):
        await first.ready()
        async with running(world.config(), port) as second:
            assert await second.ends() == 1
            assert f"process {first.process.pid}" in second.said
            assert second.clean
        assert first.process.poll() is None
        assert await first.stops() == 0


async def test_a_port_that_is_taken_is_named_and_nothing_stays_behind(vendor: Vendor, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = int(taken.getsockname()[1])
        async with open_world(tmp_path, vendor, script(), web_port=port) as world:
            async with running(world.config(), port) as program:
                assert await program.ends() == 78
                assert f"port {port}" in program.said
                assert program.clean
            taken.close()
            async with running(world.config(), port) as program:
                await program.ready()
                assert await program.stops() == 0
