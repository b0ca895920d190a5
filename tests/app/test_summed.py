"""A chat of long answers in the whole house: its beginning is summed up, and where that fails ``/status`` says so."""

from __future__ import annotations

import asyncio
from typing import Final

from bot.brain.compaction import TRIES
from bot.brain.summary import LAST_TURNS
from tests.app.conftest import CONFIG, Live, StartDaemon
from tests.sim.llm import LlmSim, When, answer, text

NARROW: Final = CONFIG.replace("max_tokens: 500", "max_tokens: 500, window_tokens: 16000")
PAGE: Final = "the harbour and its ships lay still in the grey morning light. " * 100
SUMMING: Final = When(system="Sum up a conversation")


async def talked(live: Live, sim: LlmSim, count: int, enough: int) -> None:
    """``count`` long turns, or until so many summaries were asked for."""
    for number in range(count):
        await live.until_done(turn=await live.say(f"Tell me fact {number}.", message_id=f"m{number}"))
        await asyncio.sleep(0.1)  # summaries are made beside
        if len(summaries(sim)) >= enough:
            return


def summaries(sim: LlmSim) -> list[str]:
    return [str(seen.body) for seen in sim.chats if "Sum up a conversation" in str(seen.body)]


async def test_the_beginning_of_a_chat_of_long_answers_is_summed_up(sim: LlmSim, daemon: StartDaemon) -> None:
    sim.script(
        answer(text('{"summary": "They spoke of a harbour."}'), when=SUMMING, repeat=True),
        answer(text(PAGE), repeat=True),
    )
    async with daemon(sim.url, NARROW) as live:
        await talked(live, sim, 9, 1)
        await live.until_done(turn=await live.say("And now?", message_id="last"))
        prompt = sim.chats[-1].body["messages"]
        assert "They spoke of a harbour." in str(prompt[1]["content"])
        answers = [message for message in prompt if message["role"] == "assistant"]
        answered = len(sim.chats) - len(summaries(sim)) - 1
        assert LAST_TURNS <= len(answers) < answered
        shown, _ = await live.until_done(turn=await live.say("/status", message_id="s"))
        assert "summed up" not in shown


async def test_that_the_beginning_cannot_be_summed_up_is_told_by_status_in_that_chat_alone(
    sim: LlmSim, daemon: StartDaemon
) -> None:
    sim.script(answer(text("I would rather not."), when=SUMMING, repeat=True), answer(text(PAGE), repeat=True))
    async with daemon(sim.url, NARROW) as live:
        await talked(live, sim, 12, 2 * TRIES)
        shown, _ = await live.until_done(turn=await live.say("/status", message_id="s"))
        assert "⚠ The beginning of this chat could not be summed up" in shown
        other, _ = await live.until_done("other", turn=await live.say("/status", chat="other", message_id="o"))
        assert "summed up" not in other
        tried = len(summaries(sim))
        await live.until_done(turn=await live.say("And on?", message_id="on"))
        await asyncio.sleep(0.1)
        assert len(summaries(sim)) == tried == 2 * TRIES
