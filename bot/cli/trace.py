"""``bowerbird trace``: what was said and done, from the running daemon or from its data folder."""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

from bot.cli.prompt_text import prompt_lines
from bot.cli.session import Session, config_option
from bot.cli.timeline import Timeline
from bot.config.redact import Redactor

DETAILS = """\
examples:
  bowerbird trace terminal:main:main:               the conversation in the terminal
  bowerbird trace telegram:main:123: --last 50      its newest 50 entries
  bowerbird trace TURN --jsonl                      one turn, one JSON object a line, nothing shortened
  bowerbird trace --prompt TURN                     what the models were sent in that turn, secrets masked

It works with the daemon running or stopped, and changes nothing.
"""


def arguments(parser: argparse.ArgumentParser) -> None:
    config_option(parser)
    parser.add_argument(
        "target", metavar="ADDRESS|TURN", help="channel:account:chat:thread (empty parts stay), or the id of a turn"
    )
    parser.add_argument("--jsonl", action="store_true", help="print one JSON object a line")
    parser.add_argument("--prompt", action="store_true", help="of a turn, print the prompts that the models were sent")
    parser.add_argument("--last", type=_count, metavar="N", help="of an address, only the newest N entries")


def run(args: argparse.Namespace, session: Session) -> int:
    session.log_to_stderr("warning")
    config = session.config()
    if args.prompt:
        clean = Redactor(config.secrets()).clean
        return asyncio.run(_prompts(config.data_dir, args.target, args.jsonl, clean))
    return asyncio.run(_trace(config.data_dir, args.target, args.last, args.jsonl))


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError("a whole number from 1 on is needed")
    return int(text)


async def _trace(data_dir: Path, target: str, last: int | None, as_json: bool) -> int:
    timeline, found = Timeline(), False
    async for row in _rows(data_dir, target, last):
        found = True
        for line in [json.dumps(row, ensure_ascii=False)] if as_json else timeline.lines(row):
            print(line)
    if not found:
        print(f"bowerbird: nothing is recorded under {target}", file=sys.stderr)
    return 0 if found else 1


async def _prompts(data_dir: Path, turn: str, as_json: bool, clean: Callable[[str], str]) -> int:
    from bot.store.reading import prompts_of

    prompts = await prompts_of(data_dir, turn)
    for prompt in prompts:
        request = json.loads(prompt.text)
        if as_json:
            print(
                clean(json.dumps({"turn": turn, "step": prompt.step, "at": prompt.at, **request}, ensure_ascii=False))
            )
        else:
            print(clean("\n".join(prompt_lines(prompt.step, request))))
    if not prompts:
        print(f"bowerbird: no prompt of {turn} is kept (those of the last turns are)", file=sys.stderr)
    return 0 if prompts else 1


async def _rows(data_dir: Path, target: str, last: int | None) -> AsyncIterator[dict[str, Any]]:
    """From the daemon while it runs, else read-only from the store."""
    from bot.app.control_client import ControlClient, NoDaemon

    try:
        async with ControlClient(data_dir) as client:
            async for row in client.trace(target, last):
                yield row
        return
    except NoDaemon:
        pass
    from bot.app.records import ALL_ROWS, row_json, rows_of
    from bot.store.reading import open_archive

    async with open_archive(data_dir) as archive:
        for stored in await rows_of(archive, target, last or ALL_ROWS):
            yield json.loads(row_json(stored))
