"""``bowerbird``: reads the command line, runs one command, and turns whatever happens into an exit status."""

from __future__ import annotations

import argparse
import importlib
import os
import secrets
import sys
from collections.abc import Sequence
from typing import Final

from bot.cli.interrupts import ending_at_once
from bot.cli.session import Session
from bot.core.errors import BowerbirdError, ConfigError
from bot.core.tasks import first_failure

COMMANDS: Final = {
    "run": "run the daemon in the foreground, until SIGTERM or Ctrl+C",
    "chat": "talk to the assistant in this terminal, or through a pipe",
    "init": "ask a few questions and write config.yaml, SOUL.md and .env",
    "doctor": "check the configuration and everything it names; each line says what to do",
    "status": "what the running daemon says of itself",
    "pair": "who may talk to the assistant: list them, let somebody in, send somebody away",
    "service": "install Bowerbird as a service of systemd, or take it out again",
    "trace": "show what was said and done in a conversation or a turn",
}
"""Each is a module of this package with ``arguments(parser)``, ``DETAILS`` and ``run(args, session) -> exit status``."""

EPILOG: Final = """\
The configuration is --config FILE, else ./config.yaml, else ~/.config/bowerbird/config.yaml; without any,
Bowerbird runs with its defaults. BOWERBIRD_LOG=debug|info|warning|error sets how much is logged.

exit status: 0 fine, 1 failed, 2 wrong usage, 78 wrong configuration
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """The exit status. Never raises, but for the ``SystemExit`` of argparse."""
    words = sys.argv[1:] if arguments is None else arguments
    with ending_at_once():
        parser = _parser(words)
        args = parser.parse_args(words)
        if hasattr(args, "config"):
            importlib.import_module("bot.config.load")  # what it imports is not fit to be interrupted
    if args.command is None:
        parser.print_help(sys.stderr)
        return 2
    session = Session(getattr(args, "config", None))
    try:
        status: int = importlib.import_module(f"bot.cli.{args.command}").run(args, session)
        if sys.stdout is not None:
            sys.stdout.flush()
    except KeyboardInterrupt:
        return 1
    except Exception as error:  # noqa: BLE001 - the outermost boundary: a person reads a sentence, the log has the rest
        return _failed(error, session)
    return status


class _Version(argparse.Action):
    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        from bot.app.about import version

        print(f"bowerbird {version()}")
        parser.exit()


def _parser(words: Sequence[str]) -> argparse.ArgumentParser:
    """Of the commands, only the one among ``words`` is imported for its arguments: it need not wait for the others."""
    parser = argparse.ArgumentParser(
        prog="bowerbird",
        description="A self-hosted assistant in Telegram, Discord, Slack, a local web page and this terminal.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action=_Version, nargs=0, help="print the version and exit")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    for name, about in COMMANDS.items():
        command = commands.add_parser(
            name,
            help=about,
            description=f"{about[0].upper()}{about[1:]}.",
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        if name in words:
            module = importlib.import_module(f"bot.cli.{name}")
            command.epilog = module.DETAILS
            module.arguments(command)
    return parser


def _failed(error: Exception, session: Session) -> int:
    cause = first_failure(error) if isinstance(error, BaseExceptionGroup) else error
    if isinstance(cause, BrokenPipeError):
        return _reader_gone()
    if isinstance(cause, BowerbirdError):
        for sentence in _sentences(cause):
            print(f"bowerbird: {sentence}", file=sys.stderr)
        return cause.exit_status
    reference = secrets.token_hex(4)
    path = session.keep_details(error, reference)
    where = f"the details are in {path}" if path else "no log file could be written"
    print(f"bowerbird: something unexpected went wrong (reference {reference}); {where}", file=sys.stderr)
    return 1


def _sentences(error: BowerbirdError) -> list[str]:
    if not isinstance(error, ConfigError):
        return [str(error)]
    from bot.config.problems import every_problem

    return every_problem(error)


def _reader_gone() -> int:
    """Whoever read our output has enough. Python must not fail again when it flushes at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0
