"""`python -m tests.sim.discord [--port N] [--lenient-rates]`: the simulator as a process; prints its URLs as JSON and serves."""

import argparse
import asyncio
import json
import signal

from tests.sim.discord.server import DiscordSim


async def serve(options: argparse.Namespace) -> None:
    stopped = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stopped.set)
    sim = DiscordSim(options.token, strict_rates=not options.lenient_rates, latency=options.latency, port=options.port)
    async with sim:
        urls = {"url": sim.url, "api_base": sim.api_base, "gateway_url": sim.gateway_url, "control": f"{sim.url}/_sim"}
        print(json.dumps({**urls, "token": sim.token, "bot": str(sim.bot.id)}), flush=True)
        await stopped.wait()


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.sim.discord", description="Discord on loopback")
    parser.add_argument("--port", type=int, default=0, help="0 picks a free one")
    parser.add_argument("--token", default="sim-token", help="the token that is let in")
    parser.add_argument("--latency", type=float, default=0.003, help="seconds that a call takes")
    parser.add_argument("--lenient-rates", action="store_true", help="no rate limits")
    asyncio.run(serve(parser.parse_args()))


if __name__ == "__main__":
    main()
