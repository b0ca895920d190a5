"""What the house learns of its models beside the work, and knows after a restart: how much they read, how they count."""

from __future__ import annotations

import json
from pathlib import Path

from bot.store.store import Store
from tests.app.conftest import StartDaemon
from tests.sim.llm import LlmSim, answer, text, usage


async def test_how_much_a_model_reads_is_learned_beside_its_first_answer_and_told_after_a_restart(
    sim: LlmSim, daemon: StartDaemon
) -> None:
    sim.settings.server, sim.settings.window_tokens = "vllm", 24_000
    sim.settings.openai_models = ("gpt-test",)
    sim.script(answer(text("Hello.")))
    async with daemon(sim.url) as live:
        shown, _ = await live.until_done(turn=await live.say("/model"))
        assert "openai/gpt-test (128,000 tokens are assumed)" in shown
        await live.until_done(turn=await live.say("hi", message_id="m2"))
        await sim.until(lambda requests: any(seen.path == "/v1/models" and seen.ended_at for seen in requests))
    async with daemon(sim.url) as live:
        shown, _ = await live.until_done(turn=await live.say("/model", message_id="m3"))
        assert "openai/gpt-test (reads 24,000 tokens)" in shown


async def test_how_a_model_counts_is_noted_at_the_end_and_measured_on_from_there(
    sim: LlmSim, daemon: StartDaemon, tmp_path: Path
) -> None:
    sim.script(answer(text("Hello."), usage(input=1_600)), answer(text("Again."), usage(input=900)))
    ratios: list[float] = []
    for number in range(2):
        async with daemon(sim.url) as live:
            await live.until_done(turn=await live.say("hi", message_id=f"m{number}"))
        async with Store.open(tmp_path / "data") as store:
            noted = json.loads(await store.notes("gauge").read("ratios") or "{}")
        ratios.append(noted["openai/gpt-test"]["told"] / noted["openai/gpt-test"]["estimated"])
    first, second = ratios
    assert 1.2 < second < first, "one bill in line with the estimate does not make the last process's forgotten"
