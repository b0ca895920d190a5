"""``bowerbird status``: what the running daemon says of itself, and of how its routes did."""

from __future__ import annotations

import argparse
import asyncio
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from bot.cli.harmless import harmless, one_line
from bot.cli.session import Session, config_option

DETAILS = """\
Asks the daemon that owns the data folder of the configuration. Exit status 1 when none is running.
With --routes it compares the routes of the last 30 days: tokens, money, time (the median of a turn), thumbs.
"""


def arguments(parser: argparse.ArgumentParser) -> None:
    config_option(parser)
    parser.add_argument("--routes", action="store_true", help="compare the routes by tokens, money, time and thumbs")
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(args: argparse.Namespace, session: Session) -> int:
    session.log_to_stderr("warning")
    status = asyncio.run(_status(session.config().data_dir, routes=args.routes))
    if args.json:
        print(json.dumps(status, ensure_ascii=False, indent=2))
    else:
        for line in routes_table(status) if args.routes else lines_of(status):
            print(line)
    return 0


async def _status(data_dir: Path, *, routes: bool) -> Mapping[str, Any]:
    from bot.app.control_client import ControlClient

    async with ControlClient(data_dir) as client:
        return await (client.routes() if routes else client.status())


_HEADS = ("route", "turns", "answered", "tokens read", "written", "USD", "seconds", "liked", "disliked")


def routes_table(status: Mapping[str, Any]) -> Iterator[str]:
    """The routes for a person: tokens and money are means of a turn, so that routes of any share can be compared."""
    routes = status["routes"]
    if not routes:
        yield f"No turn of the last {status['days']} days was given a route."
        return
    rows = [_HEADS, *(_cells(route) for route in routes)]
    widths = [max(len(row[column]) for row in rows) for column in range(1, len(_HEADS))]
    for row in rows:
        numbers = "  ".join(f"{cell:>{width}}" for cell, width in zip(row[1:], widths, strict=True))
        yield f"{numbers}  {row[0]}"
    yield f"Tokens, USD: the mean of a turn; seconds: the median. Turns of the last {status['days']} days."
    if any(route["unpriced"] for route in routes):
        yield "+: the price of some calls is not known; they are not counted."


def _cells(route: Mapping[str, Any]) -> tuple[str, ...]:
    turns = route["turns"]
    return (
        one_line(route["rule"]) or "-",
        str(turns),
        f"{route['answered'] / turns:.0%}",
        f"{route['input_tokens'] / turns:.0f}",
        f"{route['output_tokens'] / turns:.0f}",
        f"{route['usd'] / turns:.4f}{'+' if route['unpriced'] else ''}",
        "-" if route["seconds"] is None else f"{route['seconds']:.1f}",
        str(route["likes"]),
        str(route["dislikes"]),
    )


def lines_of(status: Mapping[str, Any], indent: str = "") -> Iterator[str]:
    """The same for a person: one line a fact, sections indented below their name."""
    width = max((len(_label(key)) for key, value in status.items() if not _is_section(value)), default=0)
    for key, value in status.items():
        if isinstance(value, Mapping) and value:
            yield f"{indent}{_label(key)}:"
            yield from lines_of(value, indent + "  ")
        elif _is_section(value) and value:
            yield f"{indent}{_label(key)}:"
            for item in value:
                yield from _item(item, indent + "  ")
        else:
            yield f"{indent}{_label(key) + ':':<{width + 1}} {_fact(value)}"


def _item(item: Any, indent: str) -> Iterator[str]:
    if isinstance(item, Mapping):
        yield f"{indent}- " + ", ".join(f"{_label(key)}: {_fact(value)}" for key, value in item.items())
    else:
        yield f"{indent}- {_fact(item)}"


def _is_section(value: Any) -> bool:
    return isinstance(value, Mapping | list | tuple)


def _label(key: str) -> str:
    return one_line(key).replace("_", " ")


def _fact(value: Any) -> str:
    match value:
        case bool():
            return "yes" if value else "no"
        case None | "":
            return "-"
        case float():
            return f"{value:g}"
        case str() | int():
            return harmless(str(value))
        case _:
            return harmless(json.dumps(value, ensure_ascii=False)) if value else "none"
