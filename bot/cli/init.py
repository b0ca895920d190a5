"""``bowerbird init``: the first configuration, after a few questions."""

from __future__ import annotations

import argparse
import getpass
import sys
from pathlib import Path

from bot.cli.session import Session

DETAILS = """\
Existing files are replaced only after a question. Without a terminal to ask in, the defaults are written and
existing files are kept.
"""


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "folder", metavar="DIR", type=Path, nargs="?", default=Path(), help="where (default: this folder)"
    )


def run(args: argparse.Namespace, session: Session) -> int:
    from bot.config.starter import init

    try:
        init(args.folder, _ask if sys.stdin is not None and sys.stdin.isatty() else None, print)
    except EOFError:
        print("\nbowerbird: stopped before the last question; nothing was written", file=sys.stderr)
        return 1
    return 0


def _ask(question: str, *, default: str = "", secret: bool = False) -> str:
    prompt = f"{question} [{default}] " if default else f"{question} "
    return (getpass.getpass(prompt) if secret else input(prompt)) or default
