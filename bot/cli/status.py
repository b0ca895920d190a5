"""``bowerbird status``: what the running daemon says of itself."""

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
"""


def arguments(parser: argparse.ArgumentParser) -> None:
    config_option(parser)
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(args: argparse.Namespace, session: Session) -> int:
    session.log_to_stderr("warning")
    status = asyncio.run(_status(session.config().data_dir))
    if args.json:
        print(json.dumps(status, ensure_ascii=False, indent=2))
    else:
        for line in lines_of(status):
            print(line)
    return 0


async def _status(data_dir: Path) -> Mapping[str, Any]:
    from bot.app.control_client import ControlClient

    async with ControlClient(data_dir) as client:
        return await client.status()


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
