"""The same turn on the web page's API: what a page shows is the one answer at every moment, across deaths."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from tests.crash.death import Death
from tests.crash.page import Page, open_page
from tests.crash.points import at
from tests.crash.program import a_free_port
from tests.crash.story import WHOLE, script
from tests.crash.vendor import Vendor
from tests.crash.verdict import outlived
from tests.crash.world import open_world
from tests.crash.wreck import Wreck

DEATHS = (
    "commit:InboxRows.record:1:before",
    "commit:InboxRows.record:1:after",
    "commit:TranscriptRows.begin:1:after",
    "commit:PartRows.intend:1:after",
    "show:send-text:1:after",
    "commit:TranscriptRows.append:1:after",
    "commit:ApprovalRows.ask:1:after",
    "show:edit-card:1:after",
    "commit:InboxRows.record:2:before",
    "commit:ApprovalRows.decide:1:before",
    "commit:ApprovalRows.decide:1:after",
    "show:answer:1:before",
    "commit:CallRows.start:2:after",
    "commit:TranscriptRows.result:2:before",
    "commit:TranscriptRows.write_draft:5:after",
    "commit:TranscriptRows.append:3:before",
    "commit:TranscriptRows.append:4:after",
    "show:edit-final:1:before",
    "show:edit-final:1:after",
    "commit:InboxRows.finish_turn:1:before",
)
SAMPLE = ("commit:ApprovalRows.decide:1:after", "commit:TranscriptRows.write_draft:5:after")


@pytest.mark.parametrize(
    "death",
    [pytest.param(at(one), id=one, marks=() if one in SAMPLE else pytest.mark.prove) for one in DEATHS],
)
async def test_a_page_that_comes_back_sees_one_whole_answer(death: Death, vendor: Vendor, tmp_path: Path) -> None:
    port = a_free_port()
    async with open_world(tmp_path, vendor, script(), web_port=port) as world:
        async with open_page(port) as page, asyncio.TaskGroup() as group:
            life = world.start(death)
            said = group.create_task(page.say())
            pressed = group.create_task(page.press())
            await life.dies()
            wreck = Wreck()
            wreck.look_at(world)
            life = world.start()
            await life.ready()
            again = await page.say()
            await world.finished()
            assert await said == again
            assert await pressed in ("Approved once.", "Already decided: Approved once.")
            await shows_one_answer(page, again)
        await outlived(world, wreck)


async def shows_one_answer(page: Page, turn: str) -> None:
    """On the page that has followed all along, and on one that is opened now."""
    shown = await page.over(turn)
    assert page.wrong == []
    assert page.visits >= 2
    assert list(page.turns) == [turn]
    assert (shown.text, shown.stop) == (WHOLE, "answered")
    assert [line["name"] for line in shown.tools.values()] == ["calculate", "note_write"]
    token, done = await page.history()
    assert (token["turn"], token["text"], done["stop"]) == (turn, WHOLE, "answered")
