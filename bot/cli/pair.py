"""``bowerbird pair``: who may talk, by the running daemon or in its data folder."""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from datetime import datetime
from typing import TYPE_CHECKING

from bot.cli.harmless import one_line
from bot.cli.language import language_of
from bot.cli.session import Session, config_option

if TYPE_CHECKING:
    from bot.inbox.pairing import Listing

DETAILS = """\
examples:
  bowerbird pair list                   who waits with a code, and who may talk
  bowerbird pair approve 7KD4MTQX       let in whoever was given this code; the first one on a channel is its owner
  bowerbird pair revoke telegram:123    that person may no longer talk, from this moment on

It works with the daemon running or stopped. A person who is let in is told by the assistant.
"""


def arguments(parser: argparse.ArgumentParser) -> None:
    config_option(parser)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    actions = parser.add_subparsers(dest="action", metavar="list|approve CODE|revoke CHANNEL:ID", required=True)
    shared = _shared()
    listing = actions.add_parser("list", parents=[shared], help="who waits with a code, and who may talk")
    listing.description = "Who waits with a code, and who may talk."
    approval = actions.add_parser("approve", parents=[shared], help="let in whoever was given this code")
    approval.description = "Let in whoever was given this code."
    approval.add_argument("code", metavar="CODE", nargs="+", help="eight letters and digits")
    revocation = actions.add_parser("revoke", parents=[shared], help="send a person away, or take a code back")
    revocation.description = "Send a person away, or take a code back."
    revocation.add_argument("identity", metavar="CHANNEL:ID", type=_identity, help="such as telegram:123")


def _shared() -> argparse.ArgumentParser:
    """The options once more behind the action; where they are left out, what stood before it counts."""
    parser = argparse.ArgumentParser(add_help=False, argument_default=argparse.SUPPRESS)
    config_option(parser)
    parser.add_argument("--json", action="store_true", default=argparse.SUPPRESS, help="print one JSON object")
    return parser


def run(args: argparse.Namespace, session: Session) -> int:
    session.log_to_stderr("warning")
    if args.action == "list":
        return _list(args, session)
    return _rule(args, session)


def _identity(text: str) -> str:
    channel, _, id = text.partition(":")
    if not channel or not id:
        raise argparse.ArgumentTypeError("write CHANNEL:ID, such as telegram:123")
    return text


def _list(args: argparse.Namespace, session: Session) -> int:
    from bot.app.pairing import listing

    found = asyncio.run(listing(session.config()))
    if args.json:
        print(json.dumps(asdict(found), ensure_ascii=False, indent=2))
    else:
        for line in lines_of(found):
            print(line)
    return 0


def _rule(args: argparse.Namespace, session: Session) -> int:
    from bot.app.pairing import approve, revoke
    from bot.inbox.pairing import told

    config = session.config()
    ruling = asyncio.run(
        approve(config, "".join(args.code)) if args.action == "approve" else revoke(config, args.identity)
    )
    done = ruling.kind in ("approved", "already", "revoked", "turned_down")
    if args.json:
        person = asdict(ruling.person) if ruling.person else None
        print(json.dumps({"outcome": ruling.kind, "person": person}, ensure_ascii=False, indent=2))
    else:
        sentence = one_line(told(ruling, language_of(os.environ)))
        print(sentence if done else f"bowerbird: {sentence}", file=sys.stdout if done else sys.stderr)
    return 0 if done else 1


def lines_of(listing: Listing) -> Iterator[str]:
    """Two tables for a person; times are local."""
    from bot.inbox.pairing import named

    if listing.waiting:
        yield "Waiting to be let in:"
        rows = [
            (one.code, named(one), f"until {_time(one.expires_at)}", "sent away before" if one.returning else "")
            for one in listing.waiting
        ]
        yield from _table(("CODE", "WHO", "COUNTS", ""), rows)
    if listing.people:
        yield "Known:"
        people = [(named(one), one.standing, _time(one.since), one.by) for one in listing.people]
        yield from _table(("WHO", "AS", "SINCE", "BY"), people)
    if not listing.waiting and not listing.people:
        yield "Nobody was let in yet. Write to the assistant: it answers with a code for `bowerbird pair approve CODE`."


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    from rich.cells import cell_len, set_cell_size

    cells = [[one_line(cell) for cell in row] for row in (head, *rows)]
    widths = [max(cell_len(row[column]) for row in cells) for column in range(len(head))]
    for row in cells:
        yield "  " + "  ".join(set_cell_size(cell, width) for cell, width in zip(row, widths, strict=True)).rstrip()


def _time(at: float | None) -> str:
    return "-" if at is None else datetime.fromtimestamp(at).astimezone().strftime("%Y-%m-%d %H:%M")
