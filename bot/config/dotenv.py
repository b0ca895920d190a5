"""What stands in a ``.env`` file: ``NAME=value`` lines, taken literally."""

from __future__ import annotations

import re
from typing import Final

from bot.config.problems import Findings

_LINE: Final = re.compile(r"\s*(?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)\s*=\s*(.*?)\s*")
_DOUBLE: Final = re.compile(r'"((?:[^"\\]|\\.)*)"\s*(?:#.*)?')
_SINGLE: Final = re.compile(r"'([^']*)'\s*(?:#.*)?")
_ESCAPES: Final = {"n": "\n", "r": "\r", "t": "\t"}


def read_dotenv(data: bytes, findings: Findings) -> dict[str, str]:
    """The variables in ``data``; later lines win. ``$`` is an ordinary character; only ``"…"`` knows backslashes.

    A line that is neither empty, nor a comment, nor ``NAME=value`` is a problem. Values never appear in one.
    """
    variables: dict[str, str] = {}
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        findings.add_at(data.count(b"\n", 0, error.start) + 1, "the file is not UTF-8 text from here on")
        return variables
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        match = _LINE.fullmatch(line)
        if match is None:
            findings.add_at(number, "this line does not read as NAME=value")
            continue
        value = _unquoted(match[2])
        if value is None:
            findings.add_at(number, "a quote is opened here and not closed on this line", (match[1],))
        else:
            variables[match[1]] = value
    return variables


def _unquoted(raw: str) -> str | None:
    """The value without its quotes and without a comment behind it; None when a quote is left open."""
    if raw.startswith('"'):
        double = _DOUBLE.fullmatch(raw)
        return re.sub(r"\\(.)", lambda found: _ESCAPES.get(found[1], found[1]), double[1]) if double else None
    if raw.startswith("'"):
        single = _SINGLE.fullmatch(raw)
        return single[1] if single else None
    return re.split(r"(?:^|\s)#", raw, maxsplit=1)[0].rstrip()
