"""How much of a conversation's prompts a vendor reads from its cache, by the simulator's books."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from pathlib import Path

import pytest

from bot.core.transcript import JoinedRow
from bot.store.codec import BODY
from tests.app.conftest import CONFIG, Live, StartDaemon
from tests.fakes.shop.opened import opened
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


TOOLS = {3: "Which songs and playlists can the loudspeakers play?"}
"""The first message brings the first tools, this one those that it needs beside. That costs the prompt it comes with:
before all that was said, vendors have the tools."""


async def spoken(live: Live, joins: Mapping[int, str]) -> None:
    """Twenty messages, those of ``joins`` in their places."""
    for n in range(20):
        said = joins.get(n, SAID.format(n=n))
        _, done = await live.until_done(turn=await live.say(said, message_id=f"m{n}"))
        assert done["stop"] == "answered"


def booked(data: Path) -> tuple[float, list[JoinedRow]]:
    """How much of all prompts was read from the cache, and what joined the conversation."""
    with sqlite3.connect(data / "bowerbird.db") as store:
        read, cached = store.execute(
            "SELECT sum(input_tokens), sum(cache_read_tokens) FROM usage WHERE turn NOT LIKE '%.summary'"
        ).fetchone()
        rows = store.execute("SELECT body FROM transcript WHERE kind = 'joined' ORDER BY id").fetchall()
    bodies = [BODY.validate_json(body) for (body,) in rows]
    return cached / read, [body for body in bodies if isinstance(body, JoinedRow)]


def scripted(sim: LlmSim) -> None:
    sim.script(
        answer(text('{"summary": "They spoke of harbours."}'), stop("stop"), when=When(system="Sum up a conversation")),
        *(answer(text(TOLD.format(n=n)), stop("stop")) for n in range(20)),
    )


@pytest.mark.parametrize("config", [ANTHROPIC, CONFIG], ids=["anthropic", "openai"])
async def test_nine_tenths_of_twenty_prompts_are_read_from_the_cache_though_skills_join_twice(
    config: str, sim: LlmSim, daemon: StartDaemon, tmp_path: Path
) -> None:
    (tmp_path / "SOUL.md").write_text(Path("SOUL.md").read_text() + RULES)
    scripted(sim)
    async with daemon(sim.url, config) as live:
        await spoken(live, JOINS)
    share, joined = booked(tmp_path / "data")
    assert len(joined) == 2
    assert share >= 0.9


@pytest.mark.parametrize("config", [ANTHROPIC, CONFIG], ids=["anthropic", "openai"])
async def test_nine_tenths_are_read_from_the_cache_though_tools_join_twice_and_skills_as_well(
    config: str, sim: LlmSim, daemon: StartDaemon, tmp_path: Path
) -> None:
    (tmp_path / "SOUL.md").write_text(Path("SOUL.md").read_text() + RULES)
    scripted(sim)
    with opened():
        async with daemon(sim.url, config + "memory:\n  embedder: none\n") as live:
            await spoken(live, JOINS | TOOLS)
    share, joined = booked(tmp_path / "data")
    assert sum(bool(row.new) for row in joined) == 2
    assert len({row.tools for row in joined}) == 2 and "music_list" in joined[-1].tools
    assert share >= 0.9
