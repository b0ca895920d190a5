"""A question to a person that somebody deletes: it comes again, and the answer to it counts."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from bot.core.events import ApprovalAsked, TextDelta
from bot.core.view import ApprovalCard
from tests.channels.stages import STAGES, eventually, free_port, living
from tests.channels.telegram import stage as telegram
from tests.sim.llm import LlmSim, answer, call, text

CARD = ApprovalCard("c1", "1", "note_write", "write", "This tool writes.", '{"text": "milk"}', 2e9)


async def delete_last(stage: Any) -> None:
    place = getattr(stage, "place", None) or stage._dm
    shown = stage._shown[-1]
    await stage._sim.delete(place, getattr(shown, "id", None) or shown.ts)


@pytest.mark.parametrize("name", ["discord", "slack-edits", "slack-streams"])
async def test_where_the_platform_tells_of_it_the_question_comes_again_at_once(name: str, tmp_path: Path) -> None:
    port = free_port()
    async with LlmSim() as llm, STAGES[name](port) as stage:
        llm.script(
            answer(text("I note it for you, as you said."), call("c1", "note_write", ('{"text": "milk"}',))),
            answer(text("It is noted down now.")),
        )
        async with living(stage, llm, tmp_path, port):
            await stage.say("note milk")
            await eventually(lambda: "Allow once" in stage.labels)
            await delete_last(stage)
            assert "Allow once" not in stage.labels
            await eventually(lambda: "Allow once" in stage.labels, 8.0)
            await stage.press("Allow once")
            await eventually(lambda: "It is noted down now." in stage.texts[-1] and not stage.labels)
            await asyncio.sleep(0.5)
        assert len(stage.texts) == 1 and "I note it for you" in stage.texts[0]
        assert stage.violations == [] and llm.violations == []


async def test_where_it_does_not_the_question_is_looked_after() -> None:
    async with telegram.stage() as house:
        turn = house.turn(house.private(7))
        turn.publisher.emit(TextDelta("I note it for you."))
        turn.publisher.emit(ApprovalAsked(CARD))
        await house.clock.advance(2.0)
        (asked,) = house.sim.visible(turn.chat)
        await house.sim.delete(turn.chat, asked.message_id)
        await house.clock.advance(30.0)
        assert turn.texts == []
        await house.clock.advance(35.0)
        (again,) = house.sim.visible(turn.chat)
        assert again.buttons and "I note it for you." in again.text
        house.hush()
        assert house.sim.violations == []
