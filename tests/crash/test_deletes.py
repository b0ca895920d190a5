"""A question so long that it takes messages of its own, which go once it is answered: killed at their going."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from tests.crash.death import Death
from tests.crash.person import suffer
from tests.crash.points import Action, deaths, everywhere, on_each
from tests.crash.story import CARDS, FIRST, NOTE, SECOND, script
from tests.crash.vendor import Vendor
from tests.crash.world import open_world

SMALL: Final = 330
LONG_NOTE: Final = f"{'The product of 17 and 23 is worth a note, and so is all of this. ' * 12}{NOTE}"
DONE: Final = ("It is ", "noted.")
DEATHS: Final = deaths(
    (Action("show", "remove"), Action("wire", "remove"), Action("commit", "PartRows.drop")),
)
SAMPLE: Final = ("telegram-wire:remove:1:after",)


@pytest.mark.parametrize(("on", "death"), on_each(everywhere(*DEATHS), SAMPLE))
async def test_what_is_to_go_is_gone_after_a_kill(on: str, death: Death, vendor: Vendor, tmp_path: Path) -> None:
    async with open_world(tmp_path, vendor, script(pieces=DONE, noted=LONG_NOTE), on=on, size=SMALL) as world:
        wreck = await suffer(world, death)
        await world.finished()
        assert await world.lives[-1].stops() == 0
        assert not wreck.unknown
        whole = world.platform.rendered(f"{FIRST}\n\n{SECOND}\n\n{''.join(DONE)}\n\n{CARDS['once']}")
        assert [(message.text, message.buttons) for message in world.platform.standing] == [(whole, {})]
        assert sum(action.startswith("wire:remove:") for life in world.lives for action in life.actions) >= 2
        assert [line.endswith(NOTE) for line in world.notes()] == [True]
        assert world.platform.violations == []
        assert await vendor.violations() == []
