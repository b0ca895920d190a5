"""How much of a conversation's prompts a vendor reads from its cache, by the simulator's books."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from tests.app.conftest import CONFIG, StartDaemon
from tests.sim.llm import LlmSim, When, answer, stop, text

ANTHROPIC = CONFIG.replace(
    'openai: {{api_key: sk-test-0123456789, base_url: "{sim}/v1"}}',
    'anthropic: {{api_key: sk-test-0123456789, base_url: "{sim}"}}',
).replace("provider: openai, model: gpt-test", "provider: anthropic, model: claude-sonnet-5-5")
RULES = "\n".join(f"- House rule {n}: be brief, be kind, and say where a figure comes from." for n in range(40))
"""With them the prefix is longer than the 1,024 tokens below which no vendor caches anything."""
JOINS = {4: "Please translate this sentence: the tide waits for nobody.", 11: "Quiz me on the moons of Jupiter."}
SAID = "Tell me one more thing about harbours, number {n}: how they were built, who paid for it, and what went wrong there."
TOLD = (
    "Harbour {n} was built in stages over some decades, and most of the money came from the merchants who used it. " * 6
)


@pytest.mark.parametrize("config", [ANTHROPIC, CONFIG], ids=["anthropic", "openai"])
async def test_nine_tenths_of_twenty_prompts_are_read_from_the_cache_though_skills_join_twice(
    config: str, sim: LlmSim, daemon: StartDaemon, tmp_path: Path
) -> None:
    (tmp_path / "SOUL.md").write_text(Path("SOUL.md").read_text() + RULES)
    sim.script(
        answer(text('{"summary": "They spoke of harbours."}'), stop("stop"), when=When(system="Sum up a conversation")),
        *(answer(text(TOLD.format(n=n)), stop("stop")) for n in range(20)),
    )
    async with daemon(sim.url, config) as live:
        for n in range(20):
            said = JOINS.get(n, SAID.format(n=n))
            _, done = await live.until_done(turn=await live.say(said, message_id=f"m{n}"))
            assert done["stop"] == "answered"
    with sqlite3.connect(tmp_path / "data" / "bowerbird.db") as store:
        read, cached = store.execute(
            "SELECT sum(input_tokens), sum(cache_read_tokens) FROM usage WHERE turn NOT LIKE '%.summary'"
        ).fetchone()
        [(joins,)] = store.execute("SELECT count(*) FROM transcript WHERE kind = 'joined'")
    assert joins == 2
    assert cached / read >= 0.9
