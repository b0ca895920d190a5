"""`python -m tests.sim.llm --port 0 --script FILE.json`: the simulator as a process; prints its URL and serves until ended."""

import argparse
import asyncio
import json
import signal
from pathlib import Path
from typing import Any

from tests.sim.llm.control import load
from tests.sim.llm.server import LlmSim


async def serve(port: int, script: Any) -> None:
    stopped = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stopped.set)
    sim = LlmSim(port=port)
    if script is not None:
        load(sim, script)
    async with sim:
        print(sim.url, flush=True)
        await stopped.wait()


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m tests.sim.llm", description="Anthropic, OpenAI and Ollama on loopback"
    )
    parser.add_argument("--port", type=int, default=0, help="0 picks a free one")
    parser.add_argument("--script", type=Path, help="JSON: a list of answers, or {answers, default, api_key, ...}")
    options = parser.parse_args()
    script = json.loads(options.script.read_text("utf-8")) if options.script else None
    asyncio.run(serve(options.port, script))


if __name__ == "__main__":
    main()
