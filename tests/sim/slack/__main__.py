"""`python -m tests.sim.slack [--port N] [--lenient-rates]`: the simulator as a process; prints its URLs as JSON and serves."""

import argparse
import asyncio
import json
import signal

from tests.sim.slack.server import SlackSim


async def serve(options: argparse.Namespace) -> None:
    stopped = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stopped.set)
    sim = SlackSim(
        options.bot_token,
        options.app_token,
        strict_rates=not options.lenient_rates,
        latency=options.latency,
        agent=options.agent,
        shuffle=options.shuffle,
        port=options.port,
    )
    async with sim:
        urls = {"url": sim.url, "api_base": sim.api_base, "control": f"{sim.url}/_sim/"}
        print(json.dumps(urls), flush=True)
        await stopped.wait()


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m tests.sim.slack", description="Slack's Web API and Socket Mode on loopback"
    )
    parser.add_argument("--port", type=int, default=0, help="0 picks a free one")
    parser.add_argument("--bot-token", default="xoxb-sim", help="the bot token that is let in")
    parser.add_argument("--app-token", default="xapp-sim", help="the app token that is let in")
    parser.add_argument("--latency", type=float, default=0.003, help="seconds that a call takes")
    parser.add_argument("--lenient-rates", action="store_true", help="no rate limits")
    parser.add_argument("--agent", action="store_true", help="the app is declared an agent")
    parser.add_argument("--shuffle", action="store_true", help="envelopes sent at the same time overtake each other")
    asyncio.run(serve(parser.parse_args()))


if __name__ == "__main__":
    main()
