"""A long text from a tool in few characters: by its structure where it has one, else by its head and its tail."""

from __future__ import annotations

import csv
import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, Final

from bot.core.text import shortened

LEAST_CHARS: Final = 400
"""Fewer tell nothing."""
_NOTE_CHARS: Final = 240
_MOST_CHARS: Final = 2_000_000
"""A longer text is not looked into: that would hold up everybody."""
_DEPTHS: Final = ((12, 300), (6, 120), (3, 60), (1, 30))
"""How many entries of a list, and how many characters of a text, are tried one after the other."""
_HEADING_CHARS: Final = 120
_MOST_KEYS: Final = 60
_TABLE_LINES: Final = 5
_LEVEL: Final = re.compile(r"\b(FATAL|CRITICAL|ERROR|WARN(?:ING)?|INFO|DEBUG|TRACE)\b", re.IGNORECASE)
_DATED: Final = re.compile(r"\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d|[A-Z][a-z]{2} +\d+ \d\d:\d\d:\d\d|\[?\d\d:\d\d:\d\d")
_GRAVE: Final = frozenset({"FATAL", "CRITICAL", "ERROR", "WARN", "WARNING"})
_NUMBER: Final = re.compile(r"0x[0-9a-f]+|\d+", re.IGNORECASE)
_MARKUP: Final = re.compile(r"\s*(?:<!doctype html|<html|<head|<body)", re.IGNORECASE)


def shrunk(text: str, chars: int) -> str:
    """``text`` in at most ``chars`` characters (``LEAST_CHARS`` at least), with a note of what it was and what was left
    out; as it is where it fits."""
    if len(text) <= chars:
        return text
    room = max(chars, LEAST_CHARS) - _NOTE_CHARS
    for extract in (_of_json, _of_page, _of_table, _of_log) if len(text) <= _MOST_CHARS else ():
        if found := extract(text, room):
            return found
    return shortened(text, room)


def _of_json(text: str, room: int) -> str:
    if text.lstrip()[:1] not in ("{", "["):
        return ""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return ""
    for entries, letters in _DEPTHS:
        short = json.dumps(_outline(value, entries, letters), ensure_ascii=False)
        if len(short) <= room:
            return f"[JSON of {len(text)} characters; long lists and texts in it are cut]\n{short}"
    return ""


def _outline(value: Any, entries: int, letters: int) -> Any:
    if isinstance(value, Mapping):
        named = {key: _outline(entry, entries, letters) for key, entry in islice(value.items(), _MOST_KEYS)}
        left = len(value) - len(named)
        return named | {"…": f"{left} more keys"} if left else named
    if isinstance(value, list):
        left = len(value) - entries
        kept = [_outline(entry, entries, letters) for entry in value[:entries]]
        return [*kept, f"… {left} more"] if left > 0 else kept
    if isinstance(value, str) and len(value) > letters:
        return f"{value[:letters]}… ({len(value)} characters)"
    return value


def _of_page(text: str, room: int) -> str:
    if not _MARKUP.match(text[:200]):
        return ""
    from bot.attachments.ends import Ends
    from bot.attachments.pages import read_page

    ends = Ends(room)
    read_page(text, ends)
    return f"[HTML of {len(text)} characters, as text]\n{ends.text}"


def _of_table(text: str, room: int) -> str:
    lines = text.splitlines()
    sign = _delimiter(lines)
    if not sign:
        return ""
    columns = len(next(csv.reader([lines[0]], delimiter=sign)))
    head, tail = _ends_of(lines, room)
    kind = "TSV" if sign == "\t" else "CSV"
    note = f"[{kind}: {len(lines) - 1} rows below the first line, {columns} columns]"
    return _joined(note, head, tail, "rows", len(lines)) if head else ""


def _delimiter(lines: Sequence[str]) -> str:
    """What parts the cells, where line by line there are equally many."""
    sample = lines[:_TABLE_LINES]
    if len(sample) < _TABLE_LINES:
        return ""
    for sign in "\t,;":
        counts = {line.count(sign) for line in sample} if '"' not in "".join(sample) else _cells(sample, sign)
        if len(counts) == 1 and min(counts) > 0:
            return sign
    return ""


def _cells(lines: Sequence[str], sign: str) -> set[int]:
    try:
        return {len(row) - 1 for row in csv.reader(lines, delimiter=sign)}
    except csv.Error:
        return set()


def _of_log(text: str, room: int) -> str:
    lines = text.splitlines()
    dated = sum(_DATED.match(line) is not None for line in lines[:100])
    if len(lines) < _TABLE_LINES or dated * 2 < len(lines[:100]):
        return ""
    levels = Counter(found.group(1).upper() for line in lines if (found := _LEVEL.search(line)))
    grave = _once_each(line for line in lines if (found := _LEVEL.search(line)) and found.group(1).upper() in _GRAVE)
    middle = _within((f"{line} (× {count})" if count > 1 else line for line, count in grave), room // 2)
    head, tail = _ends_of(lines, room - sum(len(line) + 1 for line in middle))
    counts = ", ".join(f"{count} {level}" for level, count in levels.most_common())
    note = f"[Log of {len(lines)} lines{': ' + counts if counts else ''}]"[:_HEADING_CHARS]
    said = _joined(note, head, tail, "lines", len(lines), middle)
    return said if head else ""


def _once_each(lines: Iterator[str]) -> list[tuple[str, int]]:
    """Lines that differ in their numbers only, once, with how many there were."""
    first: dict[str, str] = {}
    counts: Counter[str] = Counter()
    for line in lines:
        pattern = _NUMBER.sub("#", line)
        first.setdefault(pattern, line)
        counts[pattern] += 1
    return [(first[pattern], count) for pattern, count in counts.items()]


def _within(lines: Iterator[str], room: int) -> list[str]:
    kept: list[str] = []
    for line in lines:
        room -= len(line) + 1
        if room < 0:
            break
        kept.append(line)
    return kept


def _ends_of(lines: Sequence[str], room: int) -> tuple[list[str], list[str]]:
    """The first and the last lines, three parts to one."""
    head = _within(iter(lines), room * 3 // 4)
    tail = _within(iter(lines[: len(head) - 1 : -1] if head else lines[::-1]), room // 4)
    return head, tail[::-1]


def _joined(note: str, head: list[str], tail: list[str], of: str, lines: int, middle: Sequence[str] = ()) -> str:
    left = lines - len(head) - len(tail)
    between = [f"[… {left} {of} left out …]"] if left else []
    grave = ["[Of all, each kind of warning and error once:]", *middle, "[The last ones:]"] if middle else []
    return "\n".join((note, *head, *between, *grave, *tail))
