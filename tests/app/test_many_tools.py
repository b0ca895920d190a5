"""Two hundred tools in the folder of tools, over the wire: what a vendor sees of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from bot.brain.tokens import estimated_tokens
from bot.brain.toolbox.box import ALWAYS, TOKENS
from bot.brain.toolbox.finder import NAME as FINDER
from bot.brain.toolbox.joined import MOST_JOINED
from tests.app.conftest import CONFIG, StartDaemon
from tests.app.test_cache import ANTHROPIC
from tests.fakes.shop.opened import opened
from tests.sim.llm import LlmSim, answer, call, stop, text

OLLAMA = CONFIG.replace(
    'openai: {{api_key: sk-test-0123456789, base_url: "{sim}/v1"}}', 'ollama: {{base_url: "{sim}"}}'
).replace("provider: openai, model: gpt-test", "provider: ollama, model: llama3.2")
WITHOUT = "memory:\n  embedder: none\n"
MOST = len(ALWAYS) + MOST_JOINED + 1


@pytest.fixture(autouse=True)
def shop() -> Iterator[None]:
    with opened():
        yield


def offered(body: dict[str, Any]) -> list[str]:
    return [str(one.get("function", one)["name"]) for one in body.get("tools", ())]


@pytest.mark.parametrize("config", [CONFIG, ANTHROPIC, OLLAMA], ids=["openai", "anthropic", "ollama"])
async def test_a_tool_that_no_prompt_shows_is_found_and_called(config: str, sim: LlmSim, daemon: StartDaemon) -> None:
    sim.script(
        answer(call("c1", FINDER, ('{"query": "train connections"}',)), stop("auto")),
        answer(call("c2", "train_search", ('{"what": "to Hamburg"}',)), stop("auto")),
        answer(text("At noon."), stop("auto")),
    )
    async with daemon(sim.url, config + WITHOUT) as live:
        said, done = await live.until_done(turn=await live.say("hello there"))
    assert (said, done["stop"]) == ("At noon.", "answered")
    first, second, third = (seen.body for seen in sim.chats)
    assert "train_search" not in offered(first) and offered(first)[0] == FINDER
    assert offered(second)[: len(offered(first))] == offered(first) and "train_search" in offered(second)
    assert "train search: to Hamburg" in str(third["messages"])
    for body in (first, second, third):
        assert len(offered(body)) <= MOST
        assert estimated_tokens(str(body["tools"])) <= TOKENS


async def test_what_a_message_speaks_of_is_there_at_once(sim: LlmSim, daemon: StartDaemon) -> None:
    sim.script(answer(text("Noon."), stop("auto")), answer(text("Jazz."), stop("auto")))
    async with daemon(sim.url, CONFIG + WITHOUT) as live:
        for number, said in enumerate(
            ("Search the train connections to Hamburg", "Which playlists are there? List them")
        ):
            await live.until_done(turn=await live.say(said, message_id=f"m{number}"))
    trains, songs = (offered(seen.body) for seen in sim.chats)
    assert "train_search" in trains and "music_list" in songs
    assert max(len(trains), len(songs)) <= MOST
