"""Chemical formulas of the package mhchem, said in plain TeX: ``2H2 + O2 -> 2H2O``."""

from __future__ import annotations

import re
from typing import Final

from bot.outbox.formula.tree import Unreadable

_TOKEN = re.compile(
    r"(?P<arrow><?->|<=>|<-)|(?P<count>(?<=[A-Za-z)\]])\d+)|(?P<charge>\^(?:\{[\d+-]+\}|[\d]*[+-]))"
    r"|(?P<ion>(?<=[A-Za-z\d)\]])[+-](?=[\s)\]]|$))|(?P<sub>_(?:\{\w+\}|\w))|(?P<bond>(?<=[A-Za-z])[-=#](?=[A-Z]))"
    r"|(?P<state>\((?:s|l|g|aq)\))|(?P<plain>[A-Za-z\d()\[\].,*+\s])"
)
_ARROWS: Final = {"->": r"\to ", "<-": r"\gets ", "<->": r"\leftrightarrow ", "<=>": r"\rightleftharpoons "}
_BONDS: Final = {"-": "{-}", "=": "{=}", "#": r"{\equiv}"}


def formula(source: str) -> str:
    """TeX for what ``\\ce`` would show. Raises ``Unreadable`` for what is not everyday chemistry."""
    pieces: list[str] = []
    at = 0
    while at < len(source):
        found = _TOKEN.match(source, at)
        if not found:
            raise Unreadable
        pieces.append(_piece(found))
        at = found.end()
    return "".join(pieces)


def _piece(found: re.Match[str]) -> str:
    text = found[0]
    match found.lastgroup:
        case "arrow":
            return _ARROWS[text]
        case "count":
            return f"_{{{text}}}"
        case "charge":
            return "^{" + text[1:].strip("{}") + "}"
        case "ion":
            return "^{" + text + "}"
        case "sub":
            return "_{" + text[1:].strip("{}") + "}"
        case "bond":
            return _BONDS[text]
        case "state":
            return r"\text{" + text + "}"
    return {"*": r"\cdot ", ".": r"\cdot "}.get(text, text)
