"""From the model's token to the page: how much later than a bare reader of the model's own stream a page shows it.

The daemon is a process of its own; the vendor simulator and the pages live in this one, so that one clock tells when a
token is let go and when it is read. The floor is the same token read straight from the simulator by an HTTP client.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import os
import re
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import aiohttp

from tests.app.conftest import CONFIG, free_port
from tests.sim.llm import LlmSim, answer, gate, text

ROUNDS = 60
PAGES = 50
WORDS = 60
WORDS_PER_SECOND = 20.0


@asynccontextmanager
async def daemon(folder: Path, sim: str) -> AsyncIterator[str]:
    """The address of a daemon of its own process, ready."""
    port = free_port()
    (folder / "config.yaml").write_text(CONFIG.format(port=port, sim=sim))
    command = (sys.executable, "-m", "bot", "run", "--config", "config.yaml")
    env = {**os.environ, "PYTHONPATH": str(Path.cwd()), "BOWERBIRD_LOG": "warning"}
    started = await asyncio.create_subprocess_exec(*command, cwd=folder, env=env)
    try:
        url = f"http://127.0.0.1:{port}"
        async with aiohttp.ClientSession() as http, asyncio.timeout(30):
            while not await is_ready(http, url):
                await asyncio.sleep(0.1)
        yield url
    finally:
        started.terminate()
        await started.wait()


async def is_ready(http: aiohttp.ClientSession, url: str) -> bool:
    try:
        async with http.get(f"{url}/readyz") as told:
            return told.status == 200
    except aiohttp.ClientError:
        return False


async def floor_first(http: aiohttp.ClientSession, sim: LlmSim, number: int) -> float:
    """Seconds from letting the first token go to reading it with a bare client."""
    sim.script(answer(gate(f"f{number}"), text("word ")))
    body = {"model": "gpt-test", "stream": True, "messages": [{"role": "user", "content": "hi"}]}
    async with asyncio.TaskGroup() as group:
        let_go = group.create_task(released(sim, f"f{number}"))
        async with http.post(
            f"{sim.url}/v1/chat/completions", json=body, headers={"Authorization": "Bearer k"}
        ) as stream:
            async for line in stream.content:
                if b"word" in line:
                    return time.perf_counter() - await let_go
    raise AssertionError("no token came")


async def page_first(http: aiohttp.ClientSession, url: str, sim: LlmSim, number: int) -> float:
    """Seconds from letting the first token go to its frame on an open page."""
    sim.script(answer(gate(f"p{number}"), text("word ")))
    chat = f"c{number}"
    async with asyncio.TaskGroup() as group, http.get(f"{url}/v1/events", params={"chat": chat}) as page:
        let_go = group.create_task(released(sim, f"p{number}"))
        async with http.post(f"{url}/v1/messages", json={"chat": chat, "text": "hi", "id": f"m{number}"}) as posted:
            assert posted.status == 202
        async for line in page.content:
            if line.startswith(b"data:") and b'"token"' in line:
                return time.perf_counter() - await let_go
    raise AssertionError("no token came")


async def released(sim: LlmSim, name: str) -> float:
    await sim.at(name)
    now = time.perf_counter()
    sim.release(name)
    return now


async def watch(http: aiohttp.ClientSession, url: str, chat: str, ready: asyncio.Event, seen: list[float]) -> None:
    """Note when each word of the answer first stands on this page."""
    shown = ""
    async with http.get(f"{url}/v1/events", params={"chat": chat}) as page:
        ready.set()
        async for line in page.content:
            if not line.startswith(b"data:"):
                continue
            frame = json.loads(line[5:])
            if frame["type"] == "token":
                shown = shown[: frame["offset"]] + frame["text"]
                words = len(re.findall(r"w\d+", shown))
                seen += [time.perf_counter()] * (words - len(seen))
            if frame["type"] == "done":
                return


def row(name: str, floor: Sequence[float], ours: Sequence[float]) -> str:
    def ms(values: Sequence[float], share: float) -> float:
        return 1000 * sorted(values)[min(len(values) - 1, int(share * len(values)))]

    added = ms(ours, 0.5) - ms(floor, 0.5)
    ratio = ms(ours, 0.5) / ms(floor, 0.5)
    return f"| {name} | {ms(floor, 0.5):.1f} | {ms(ours, 0.5):.1f} | {ms(ours, 0.95):.1f} | {added:.1f} | {ratio:.1f} |"


async def run() -> None:
    with tempfile.TemporaryDirectory() as folder:
        async with (
            LlmSim() as sim,
            daemon(Path(folder), sim.url) as url,
            aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as http,
        ):
            await page_first(http, url, sim, 0)
            floor, ours = [], []
            for number in range(1, ROUNDS + 1):
                floor.append(await floor_first(http, sim, number))
                ours.append(await page_first(http, url, sim, number))
            print(
                "| first visible text after the token | floor p50 ms | page p50 ms | page p95 ms | added p50 ms | ratio |"
            )
            print("|---|---|---|---|---|---|")
            print(row("one page", floor, ours))
            await many_pages(http, url, sim)


async def many_pages(http: aiohttp.ClientSession, url: str, sim: LlmSim) -> None:
    """Every page watches a chat of its own and all ask at once: how evenly do the words arrive?"""
    words = [text(f"w{n} ") for n in range(WORDS)]
    sim.script(answer(*words, repeat=True, tokens_per_second=WORDS_PER_SECOND))
    seen: list[list[float]] = [[] for _ in range(PAGES)]
    ready = [asyncio.Event() for _ in range(PAGES)]
    async with asyncio.TaskGroup() as group:
        for n in range(PAGES):
            group.create_task(watch(http, url, f"many{n}", ready[n], seen[n]))
        for event in ready:
            await event.wait()
        began = time.perf_counter()
        for n in range(PAGES):
            async with http.post(f"{url}/v1/messages", json={"chat": f"many{n}", "text": "hi", "id": "x"}) as posted:
                assert posted.status == 202
    gaps = [after - before for times in seen for before, after in itertools.pairwise(times)]
    firsts = [times[0] - began for times in seen]
    print(f"\n{PAGES} open pages that ask at once, {WORDS} words each, {WORDS_PER_SECOND:g} words/s from the model:\n")
    print(f"- every page showed every word: {all(len(times) == WORDS for times in seen)}")
    print(
        f"- first text after the first question p50 {statistics.median(firsts):.2f} s, slowest page {max(firsts):.2f} s"
    )
    print(
        f"- pause between two words p50 {1000 * statistics.median(gaps):.0f} ms, p99"
        f" {1000 * sorted(gaps)[int(0.99 * len(gaps))]:.0f} ms, longest {1000 * max(gaps):.0f} ms"
        f" (the model's own: {1000 / WORDS_PER_SECOND:.0f} ms)"
    )
