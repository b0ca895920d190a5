"""The person at the platform, and whole runs of one turn through deaths and restarts."""

from __future__ import annotations

import asyncio

from tests.crash.death import Death
from tests.crash.platform import Platform
from tests.crash.story import LAST, PROMPT, continued
from tests.crash.world import Process, World
from tests.crash.wreck import Wreck


async def press(world: World[Platform], verb: str = "once") -> None:
    """Wait for a card that can be decided, and press its button, whether or not anybody is alive to hear it; once more
    where the platform says that it was in vain."""

    def card() -> bool:
        return any(message.label(verb) for message in world.platform.standing)

    await world.platform.until(card)
    while not await world.platform.press(verb) and card():
        pass


async def go_on(world: World[Platform]) -> Process:
    """Start again. The platform delivers once more what was confirmed too, and a model that has to continue knows how."""
    draft = "".join(text for (text,) in world.rows("SELECT text FROM drafts ORDER BY seq"))
    if draft and LAST.startswith(draft):
        await world.vendor.add([continued(LAST[len(draft) :])])
    await world.platform.again()
    return world.start()


async def suffer(world: World[Platform], *deaths: Death, late: bool = False, verb: str = "once") -> Wreck:
    """One turn that dies at each of ``deaths`` in turn and is started again. ``late``: nobody presses before the last
    start."""
    wreck = Wreck()
    restarted = asyncio.Event()

    async def decide() -> None:
        if late:
            await restarted.wait()
        await press(world, verb)

    async with asyncio.TaskGroup() as group:
        group.create_task(decide())
        await world.platform.say(PROMPT)
        for death in deaths:
            life = world.start(death)
            await life.dies()
            wreck.look_at(world)
        life = await go_on(world)
        await life.ready()
        restarted.set()
    return wreck
