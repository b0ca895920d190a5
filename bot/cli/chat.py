"""``bowerbird chat``: the terminal channel, as an interactive program or through a pipe."""

from __future__ import annotations

import argparse
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Final

from bot.cli.session import Session, config_option
from bot.cli.signals import until_signal

if TYPE_CHECKING:
    from bot.cli.house import StartHouse

DETAILS = """\
Enter sends, Alt+Enter begins a new line, pasted lines stay together. While an answer grows you can go on writing.
Ctrl+C stops the answer; a second one, or one while nothing is answered, leaves. Ctrl+D leaves.
When a tool asks first, answer with /once, /chat (always in this chat), /always or /deny. Nothing else approves.

Through a pipe, standard input is one message and standard output its answer:  echo hi | bowerbird chat

When no daemon runs, one is started for as long as the chat lasts. Its log is chat.log in the data folder.
"""

PATIENCE: Final = 10.0
"""Seconds for a daemon that owns the data folder but does not listen yet."""


def arguments(parser: argparse.ArgumentParser) -> None:
    config_option(parser)
    parser.add_argument("--chat", metavar="NAME", default="main", help="which conversation (default: main)")


def run(args: argparse.Namespace, session: Session) -> int:
    config = session.config()
    session.log_to_file("chat.log")

    async def start(ready: Callable[[], None]) -> None:
        from bot.app.daemon import run_daemon

        await run_daemon(config, only=("terminal",), ready=ready)

    return talk(config.data_dir, args.chat, start)


def talk(data_dir: Path, chat: str, start: StartHouse) -> int:
    """The exit status of a whole chat."""
    message = None if _interactive() else _read_message()
    if message is not None and not message.strip():
        print("bowerbird: standard input is empty; there is nothing to send", file=sys.stderr)
        return 2
    work = _chat(data_dir, chat, start, message)
    status = until_signal(work, (signal.SIGTERM, signal.SIGHUP))
    return 1 if status is None else status


def _interactive() -> bool:
    """A terminal on both sides that can move its cursor."""
    both = all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stdout))
    return both and os.environ.get("TERM", "") not in ("", "dumb")


def _read_message() -> str:
    from bot.cli.language import language_of
    from bot.core.texts import say

    if sys.stdin is None:
        return ""
    if sys.stdin.isatty():
        print(say("terminal_no_cursor", language_of(os.environ)), file=sys.stderr)
    return sys.stdin.buffer.read().decode("utf-8", "replace")


async def _chat(data_dir: Path, chat: str, start: StartHouse, message: str | None) -> int:
    from bot.app.control_client import ControlClient
    from bot.cli.chat_line import ChatLine
    from bot.cli.house import house
    from bot.cli.language import language_of
    from bot.core.texts import say
    from bot.time.clock import SystemClock

    async def announced(ready: Callable[[], None]) -> None:
        if message is None:
            print(say("terminal_starting", language_of(os.environ)))
        await start(ready)

    clock = SystemClock()
    async with ControlClient(data_dir) as client, house(client, announced):
        line = ChatLine(client, chat, clock, patience=PATIENCE, language=language_of(os.environ))
        if message is not None:
            from bot.cli.chat_plain import PlainChat

            return await PlainChat(line, clock, language_of(os.environ)).run(message)
        from bot.cli.chat_screen import ChatScreen

        await ChatScreen(line, clock, sys.stdout, os.environ).run()
        return 0
