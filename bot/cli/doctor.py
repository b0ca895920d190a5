"""``bowerbird doctor``: what is right, what is not, and what to do about it."""

from __future__ import annotations

import argparse

from bot.cli.session import Session, config_option

DETAILS = """\
Without --online nothing is asked of any platform or vendor. Exit status 1 when something is wrong, 78 when it is the
configuration.
"""


def arguments(parser: argparse.ArgumentParser) -> None:
    config_option(parser)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--online", action="store_true", help="also try the tokens and keys against their services")


def run(args: argparse.Namespace, session: Session) -> int:
    raise NotImplementedError
