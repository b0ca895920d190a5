"""SIGTERM and SIGINT at every moment of a daemon's life: out in time, nothing lost, nothing left behind."""

from __future__ import annotations

import asyncio
import signal
import socket
from pathlib import Path
from typing import Final

import pytest

from bot.core.texts import say
from tests.crash.page import Page, open_page
from tests.crash.person import press
from tests.crash.program import Program, a_free_port, running
from tests.crash.story import LAST, NOTE, PROMPT, WHOLE, script
from tests.crash.verdict import holds, outlived
from tests.crash.world import Vendor, World, eventually, open_world
from tests.sim.llm import When, answer, text

SIGNALS: Final = (signal.SIGTERM, pytest.param(signal.SIGINT, marks=pytest.mark.prove))
INTERRUPTED: Final = say("end_interrupted")
NEXT: Final = "And 17+23?"


def clean(program: Program) -> bool:
    """Nothing that a person would have to worry about was written, and it did not have to be forced."""
    return "Traceback" not in program.said and " ERROR " not in program.said


async def one_turn(page: Page, turn: str) -> None:
    """The page has seen one turn, and all of its answer."""
    await eventually(lambda: turn in page.turns and page.turns[turn].stop)
    assert page.wrong == []
    assert (page.turns[turn].text, page.turns[turn].stop) == (WHOLE, "answered")


@pytest.mark.parametrize("number", SIGNALS)
async def test_b249_an_idle_daemon_leaves_at_once(number: signal.Signals, vendor: Vendor, tmp_path: Path) -> None:
    async with open_world(tmp_path, vendor, script(), web_port=a_free_port()) as world:
        async with running(world.config(), world.web_port) as program, open_page(program.url):
            await program.ready()
            assert await program.stops(number) == 0
        assert clean(program)
        assert sorted(path.name for path in world.data.iterdir()) == ["bowerbird.born", "bowerbird.db", "daemon.lock"]


@pytest.mark.parametrize("number", SIGNALS)
async def test_b253_a_stop_in_mid_answer_says_so_and_goes_on_in_the_same_place(
    number: signal.Signals, vendor: Vendor, tmp_path: Path
) -> None:
    async with open_world(tmp_path, vendor, script("half"), web_port=a_free_port()) as world:
        async with open_page(f"http://127.0.0.1:{world.web_port}") as page:
            async with running(world.config(), world.web_port) as program:
                turn = await page.say()
                await page.press()
                await vendor.at("half")
                await eventually(lambda: len(page.turns[turn].text) > 200)
                stopping = asyncio.ensure_future(program.stops(number))
                await eventually(lambda: "stopping: new messages" in program.said)
                later = await page.say("u2", NEXT)
                assert await stopping == 0
            assert clean(program)
            shown = page.turns[turn]
            assert (shown.notices, shown.stop) == ([INTERRUPTED], "")
            assert WHOLE.startswith(shown.text) and len(shown.text) > 200
            assert len(await vendor.requests()) == 3
            assert world.rows("SELECT count(*), max(attempts) FROM inbox WHERE finished_at IS NULL") == [(2, 0)]

            await vendor.set([answer(text("That is 40."), when=When(user=NEXT)), *script()])
            async with running(world.config(), world.web_port) as program:
                await eventually(lambda: later in page.turns and page.turns[later].stop)
                ...
