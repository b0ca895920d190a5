"""`python -m tests.sim.telegram [--port N] [--lenient-rates]`: the simulator as a process; prints its URL and serves."""

import argparse
import asyncio
import signal

from tests.sim.telegram.server import TelegramSim


async def serve(options: argparse.Namespace) -> None:
    stopped = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stopped.set)
    sim = TelegramSim(options.token, strict_rates=not options.lenient_rates, latency=options.latency, port=options.port)
    async with sim:
        print(sim.url, flush=True)
        await stopped.wait()


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m tests.sim.telegram", description="The Telegram Bot API on loopback"
    )
    parser.add_argument("--port", type=int, default=0, help="0 picks a free one")
    parser.add_argument("--token", default="123456:SIM", help="the token that is let in")
    parser.add_argument("--latency", type=float, default=0.003, help="seconds that a call takes")
    parser.add_argument("--lenient-rates", action="store_true", help="no flood limits")
    asyncio.run(serve(parser.parse_args()))


if __name__ == "__main__":
    main()
