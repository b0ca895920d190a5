"""What becomes of a message that comes while another is answered, and of ``/stop``: the whole house, a vendor on the wire."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from typing import Any

import pytest

from bot.core.address import Address
from bot.core.model import CallBlock
from bot.core.transcript import EndRow, ResultRow, StepRow, UserRow
from bot.store.store import Store
from tests.app.conftest import CONFIG, Live, StartDaemon
from tests.sim.llm import LlmSim, answer, call, gate, text
from tests.sim.llm.steps import Step

HERE = Address("web", "main", "c")
FELT_SECONDS = 1.0


def config(when_busy: str) -> str:
    return CONFIG.replace("brain:\n", f"brain:\n  when_busy: {when_busy}\n")


def said(sim: LlmSim, request: int) -> list[str]:
    """What the person had said by that request, without what the house put beside it."""
    users = (message["content"] for message in sim.chats[request].body["messages"] if message["role"] == "user")
    return [words for content in users for words in str(content).split("\n\n") if not words.startswith("<")]


async def rows_of(data: Path, turn: str) -> list[Any]:
    async with Store.open(data) as store:
        return [row.body for row in await store.transcript.turn_rows(turn)]


async def test_steer_lets_messages_join_at_the_next_step_boundary_in_order(sim: LlmSim, daemon: StartDaemon) -> None:
    sim.script(answer(text("Let me look. "), gate("g"), call("c1", "now", ("{}",))), answer(text("Green and loud.")))
    async with daemon(sim.url, config("steer")) as live:
        turn = await live.say("paint it", message_id="m1")
        await sim.at("g")
        await live.say("in green", message_id="m2")
        await live.say("and loud", message_id="m3")
        sim.release("g")
        shown, done = await live.until_done(turn=turn)
        assert (shown, done["stop"]) == ("Let me look. \n\nGreen and loud.", "answered")
        assert said(sim, 1) == ["paint it", "in green", "and loud"]
        assert len(sim.chats) == 2
    rows = await rows_of(live.config.data_dir, turn)
    assert [row.text for row in rows if isinstance(row, UserRow)] == ["paint it", "in green", "and loud"]
    assert [row.because for row in rows if isinstance(row, StepRow)] == ["answer", "steering"]


async def test_steer_answers_on_its_own_what_comes_after_the_last_step(sim: LlmSim, daemon: StartDaemon) -> None:
    sim.script(answer(text("Red"), gate("g"), text(".")), answer(text("Green then.")))
    async with daemon(sim.url, config("steer")) as live:
        first = await live.say("paint it", message_id="m1")
        await sim.at("g")
        second = await live.say("in green", message_id="m2")
        sim.release("g")
        assert (await live.until_done(turn=first))[0] == "Red."
        assert (await live.until_done(turn=second))[0] == "Green then."


async def test_queue_answers_each_on_its_own_in_order(sim: LlmSim, daemon: StartDaemon) -> None:
    sim.script(
        answer(gate("g"), call("c1", "now", ("{}",))),
        answer(text("One.")),
        answer(text("Two.")),
        answer(text("Three.")),
    )
    async with daemon(sim.url, config("queue")) as live:
        turns = [await live.say("one", message_id="m1")]
        await sim.at("g")
        turns += [await live.say(words, message_id=words) for words in ("two", "three")]
        sim.release("g")
        assert [(await live.until_done(turn=turn))[0] for turn in turns] == ["One.", "Two.", "Three."]
        assert said(sim, 1) == ["one"] and said(sim, 3) == ["one", "two", "three"]


async def test_collect_answers_at_once_what_came_within_half_a_second(sim: LlmSim, daemon: StartDaemon) -> None:
    sim.script(answer(text("All three.")), answer(text("The fourth.")))
    async with daemon(sim.url, config("collect")) as live:
        first = await live.say("one", message_id="m1")
        for words in ("two", "three"):
            await asyncio.sleep(0.1)
            await live.say(words, message_id=words)
        assert (await live.until_done(turn=first))[0] == "All three."
        assert said(sim, 0) == ["one", "two", "three"]
        later = await live.say("four", message_id="m4")
        assert (await live.until_done(turn=later))[0] == "The fourth."


async def test_interrupt_stops_what_runs_and_answers_the_newest(sim: LlmSim, daemon: StartDaemon) -> None:
    sim.script(answer(text("A long story"), gate("never"), text(" and on")), answer(text("Short then.")))
    async with daemon(sim.url, config("interrupt")) as live:
        first = await live.say("tell me", message_id="m1")
        await sim.at("never")
        second = await live.say("no, in short", message_id="m2")
        shown, done = await live.until_done(turn=first)
        assert (shown, done["stop"]) == ("A long story", "stopped")
        assert (await live.until_done(turn=second))[0] == "Short then."
        assert sim.chats[0].left_early and "A long story" in str(sim.chats[1].body["messages"])


async def stopped(live: Live, turn: str) -> dict[str, Any]:
    """The end of the turn, which a person must feel at once."""
    began = time.monotonic()
    await live.say("/stop", message_id="stop")
    _, done = await live.until_done(turn=turn)
    assert time.monotonic() - began < FELT_SECONDS
    return done


@pytest.mark.parametrize("when", ["before the headers", "thinking", "in the text", "in a call"])
async def test_stop_is_felt_at_once_wherever_the_model_is(sim: LlmSim, daemon: StartDaemon, when: str) -> None:
    call_begun = call("c1", "note_write", ('{"text": "x', '"}'))
    scripts: dict[str, list[Step]] = {
        "before the headers": [gate("g")],
        "thinking": [text(""), gate("g")],
        "in the text": [text("as far as this"), gate("g")],
        "in a call": [call_begun.pieces()[0], call_begun.pieces()[1], gate("g")],
    }
    sim.script(answer(*scripts[when]))
    async with daemon(sim.url) as live:
        turn = await live.say("talk")
        await sim.at("g")
        done = await stopped(live, turn)
        assert (done["stop"], done["notice"]) == ("stopped", "Stopped.")
        await sim.until(lambda requests: requests[0].left_early, timeout=2)
        asked = len(sim.chats)
        await asyncio.sleep(0.3)
        assert len(sim.chats) == asked == 1, "nobody goes on spending"
    assert not (Path(live.config.tools.files.root) / "notes.md").exists()


async def test_stop_closes_the_calls_that_wait_for_a_press(sim: LlmSim, daemon: StartDaemon) -> None:
    sim.script(
        answer(call("c1", "note_write", ('{"text": "milk"}',)), call("c2", "note_write", ('{"text": "eggs"}',))),
        answer(text("Fine.")),
    )
    async with daemon(sim.url) as live:
        turn = await live.say("note both")
        async with asyncio.timeout(10):
            card = await anext(data async for _, event, data in live.events(last="0") if event == "approval")
        done = await stopped(live, turn)
        assert done["stop"] == "stopped"
        _, late = await live.post(f"/v1/approvals/{card['id']}", {"decision": "once"})
        assert "the turn is over" in late["notice"]
        assert (await live.until_done(turn=await live.say("go on", message_id="m2")))[0] == "Fine."
    rows = await rows_of(live.config.data_dir, turn)
    asked = [
        block.call.id
        for row in rows
        if isinstance(row, StepRow)
        for block in row.content
        if isinstance(block, CallBlock)
    ]
    given = {row.call_id: row.text for row in rows if isinstance(row, ResultRow)}
    assert asked == list(given) and all("Stopped before it ran" in told for told in given.values())
    assert isinstance(rows[-1], EndRow)
