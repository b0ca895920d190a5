"""A transcript for reading: who said and did what, when, and how each turn ended."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any, Final

from bot.cli.harmless import harmless, one_line

RESULT_LINES: Final = 20
"""Lines of a tool's result that are shown; ``--jsonl`` has them all."""

_INDENT: Final = " " * 20


class Timeline:
    """Remembers which turn and day it is in, so that each is named once. Times are local."""

    def __init__(self) -> None:
        self._heading = ("", "")

    def lines(self, row: Mapping[str, Any]) -> Iterator[str]:
        """``row`` is as ``bot.app.records.row_json`` writes it."""
        at = datetime.fromtimestamp(row["at"]).astimezone()
        heading = (str(row["turn"]), at.date().isoformat())
        if heading != self._heading:
            self._heading = heading
            yield f"\n{heading[1]}  turn {one_line(heading[0])}  {one_line(row['address'])}"
        for who, text in _said(row):
            yield f"  {at:%H:%M:%S}  {who:<8}{_block(text)}"


def _said(row: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    match row["kind"]:
        case "user":
            yield "person", _person(row)
        case "given":
            yield "given", f"{len(row['messages'])} messages of an API client"
        case "step":
            yield from _step(row)
        case "result":
            outcome = "failed after" if row["error"] else "in"
            yield "result", f"{row['name']} {outcome} {row['seconds']:.1f} s: {_shortened(row['text'])}"
        case "reply":
            yield "bot", row["text"]
        case "end":
            reference = f" (reference {row['reference']})" if row["reference"] else ""
            yield "end", f"{row['reason']}{reference}{': ' if row['text'] else ''}{row['text']}"
        case "break":
            yield "new", "a new conversation"
        case "route":
            yield "route", f"{' → '.join(row['models']) or 'no model'} ({row['rule']})"
        case "joined":
            yield "joined", ", ".join((*row["skills"], *row["tools"])) or "nothing"
        case "summary":
            yield "summary", row["text"]
        case kind:
            yield "other", kind


def _person(row: Mapping[str, Any]) -> str:
    sender = row["sender"]
    joined = " (joined the running turn)" if row["steered"] else ""
    quote = f"\n> {row['quote']['text']}" if row["quote"] else ""
    files = "".join(f"\n[{one['name']}, {one['trouble'] or one['media_type']}]" for one in row.get("files", ()))
    return f"{sender['name'] or sender['id']}{joined}: {row['text']}{quote}{files}"


def _step(row: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    usage = row["usage"]
    tokens = f"{usage['input_tokens']} tokens read, {usage['output_tokens']} written"
    yield (
        "model",
        f"{row['model'] or row['wanted'] or 'no model'}, step {row['step']}, {row['stop'] or 'broken off'}, {tokens}",
    )
    for block in row["content"]:
        match block["kind"]:
            case "text":
                yield "bot", block["text"]
            case "call":
                call = block["call"]
                arguments = json.dumps(call["arguments"], ensure_ascii=False)
                yield "call", f"{call['name']} {call['invalid'] or arguments}"
            case "thinking" if block["text"]:
                yield "thought", block["text"]
            case _:
                pass


def _shortened(text: str) -> str:
    lines = text.split("\n")
    more = len(lines) - RESULT_LINES
    return text if more <= 0 else "\n".join([*lines[:RESULT_LINES], f"… ({more} more lines)"])


def _block(text: str) -> str:
    return textwrap.indent(harmless(text).rstrip("\n"), _INDENT, lambda line: True).removeprefix(_INDENT)
