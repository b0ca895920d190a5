"""A turn with a tool and an approval, killed at each of its actions and started again."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.crash.death import Death
from tests.crash.person import press, suffer
from tests.crash.points import ACTIONS, LONG_ACTIONS, at, counted, deaths
from tests.crash.story import PROMPT, script
from tests.crash.verdict import Noted, holds
from tests.crash.world import Vendor, World, open_world

EVERY = deaths(ACTIONS)
SAMPLE = {
    "commit:InboxRows.record:1:after",
    "commit:TranscriptRows.begin:1:after",
    "commit:TranscriptRows.append:1:before",
    "commit:ApprovalRows.ask:1:after",
    "commit:ApprovalRows.decide:1:after",
    "commit:CallRows.start:2:after",
    "commit:TranscriptRows.result:2:before",
    "commit:TranscriptRows.write_draft:6:after",
    "commit:InboxRows.finish_turn:1:before",
    "show:send-text:1:after",
    "show:edit-card:1:after",
    "show:edit-final:1:after",
}
"""In the ordinary test run; the others are for ``make prove``."""

SENT_BUT_NOT_RECORDED = {"show:send-text:1:after", "commit:PartRows.record:1:before"}
"""The one window in which nobody can know: the platform has the message, and its id died with the process."""

NOTED = {
    "commit:CallRows.start:2:after": Noted.NOT_DONE_BUT_UNKNOWN,
    "tool:opens:1:before": Noted.NOT_DONE_BUT_UNKNOWN,
    "commit:TranscriptRows.result:2:before": Noted.DONE_BUT_UNKNOWN,
}
"""From the intent to its result a call is not repeated."""


def sampled(death: Death) -> object:
    return pytest.param(death, id=str(death), marks=() if str(death) in SAMPLE else pytest.mark.prove)


async def test_the_list_of_actions_is_what_the_turn_does(vendor: Vendor, tmp_path: Path) -> None:
    async with open_world(tmp_path, vendor, script()) as world:
        life = world.start()
        await world.platform.say(PROMPT, "u1")
        await press(world)
        await holds(world)
        done = counted(life.actions)
        assert set(done) == {(action.kind, action.name) for action in ACTIONS}
        for action in ACTIONS:
            times = done[action.kind, action.name]
            assert times >= action.times if action.paced else times == action.times, action


@pytest.mark.parametrize("death", [sampled(death) for death in EVERY])
async def test_after_a_kill_there_is_one_whole_answer(death: Death, vendor: Vendor, tmp_path: Path) -> None:
    async with open_world(tmp_path, vendor, script()) as world:
        unknown = await suffer(world, death)
        assert len(unknown) <= 1
        assert unknown or str(death) not in SENT_BUT_NOT_RECORDED
        await holds(world, unknown=unknown, noted=NOTED.get(str(death), Noted.ONCE))
