"""What a death does to the messages around the one that was being answered: nothing."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from tests.crash.death import Death
from tests.crash.person import go_on, press, suffer
from tests.crash.points import THE_OTHERS_PROVEN, at, everywhere, on_each
from tests.crash.story import CARDS, FIRST, PROMPT, WHOLE, script
from tests.crash.vendor import Vendor
from tests.crash.verdict import holds, told_by
from tests.crash.world import eventually, open_world
from tests.crash.wreck import Wreck
from tests.sim.llm import When, answer, call, gate, text

NEXT = "And 17+23?"
SUM = answer(text("That is 40."), when=When(user=NEXT))


@pytest.mark.parametrize("on", THE_OTHERS_PROVEN)
async def test_a_message_that_waited_is_answered_after_the_one_that_died(
    on: str, vendor: Vendor, tmp_path: Path
) -> None:
    async with (
        open_world(tmp_path, vendor, script("half"), on=on, when_busy="queue") as world,
        asyncio.TaskGroup() as group,
    ):
        await world.platform.say(PROMPT)
        life = world.start()
        group.create_task(press(world))
        await vendor.at("half")
        await world.platform.say(NEXT)
        await eventually(lambda: world.rows("SELECT count(*) FROM inbox WHERE kind = 'message'") == [(2,)])
        life.kill()
        await vendor.set([SUM, *script()])
        await go_on(world)
        await world.finished()
        whole = world.platform.rendered(f"{WHOLE}\n\n{CARDS['once']}")
        assert [message.text for message in world.platform.standing] == [whole, "That is 40."]
        assert world.rows("SELECT outcome FROM inbox WHERE kind = 'message'") == [("answered",), ("answered",)]
        assert await vendor.violations() == []


STEERED = (
    "commit:TranscriptRows.steer:1:before",
    "commit:TranscriptRows.steer:1:after",
    "commit:UsageRows.add:2:after",
)


@pytest.mark.parametrize(("on", "death"), on_each(everywhere(*map(at, STEERED))))
async def test_a_message_that_joined_the_turn_is_heard_once(
    on: str, death: Death, vendor: Vendor, tmp_path: Path
) -> None:
    """It is answered within the turn, or, where that died before it was written, in its own."""
    first = answer(
        gate("asked"), text(FIRST), call("c", "calculate", ['{"expression": "17*23"}']), when=When(turn=1, step=1)
    )
    alone = answer(text("That is 391."), when=When(turn=1, step=2))
    async with open_world(tmp_path, vendor, [SUM, first, alone], on=on) as world:
        await world.platform.say(PROMPT)
        life = world.start(death)
        await vendor.at("asked")
        await world.platform.say(NEXT)
        await eventually(lambda: world.rows("SELECT count(*) FROM inbox WHERE kind = 'message'") == [(2,)])
        await vendor.release("asked")
        await life.dies()
        wreck = Wreck()
        wreck.look_at(world)
        world.start()
        await world.finished()
        apart = [f"{FIRST}\n\nThat is 391.", "That is 40."]
        assert told_by(world, wreck) in (apart, [f"{FIRST}\n\nThat is 40."])
        assert world.rows("SELECT json_extract(body, '$.text') FROM transcript WHERE kind = 'user'") == [
            (PROMPT,),
            (NEXT,),
        ]
        assert world.rows("SELECT outcome FROM inbox") == [("answered",), ("answered",)]
        assert await vendor.violations() == []


@pytest.mark.parametrize("on", THE_OTHERS_PROVEN)
async def test_a_turn_that_is_over_is_not_touched_by_the_next_start(on: str, vendor: Vendor, tmp_path: Path) -> None:
    async with open_world(tmp_path, vendor, script(), on=on) as world:
        await holds(world, await suffer(world, at("commit:InboxRows.finish_turn:1:after")))
        looks = world.platform.looks
        await world.platform.again()
        life = world.start()
        await life.ready()
        await world.platform.until(lambda: not world.platform.unheard)
        assert await life.stops() == 0
        assert world.platform.looks == looks
        assert "commit:TranscriptRows.begin:1" not in life.actions
