"""Text from outside that stands in a prompt, and the calls that must ask because of it, whatever the rules allow."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Final, TypeGuard

from bot.brain.history import by_turn
from bot.core.model import CallBlock, ResultBlock
from bot.core.text import CJK
from bot.core.tool import Effect, ToolCall, ToolSpec
from bot.core.transcript import (
    Body,
    GivenRow,
    OverheardRow,
    ResultRow,
    Row,
    SummaryRow,
    UserRow,
    as_revised,
)

QUOTE: Final = "quote"
GROUP: Final = "group"
CLIENT: Final = "client"
"""Sources that have no name of their own: a quoted or forwarded message, what others said in the group, the results that an
API client brought along."""
SEARCH: Final = "web_search"
"""The tool whose results may name addresses that the next call gets."""
_GROUP_EFFECTS: Final = frozenset({Effect.SEND, Effect.RUN, Effect.SPEND})
"""What the words of a group taint; a note or a file of the asker's own they do not."""
_ADDRESS: Final = re.compile(r"https?://[^\s<>\"'`\\，。；、）】」》]+", re.IGNORECASE)
_TRAILING: Final = ".,;:!?)]}*_"
_WORD: Final = re.compile(rf"{CJK.pattern}|[^\W_]+")
_SHORT: Final = 2
_YEAR: Final = 4


@dataclass(frozen=True, slots=True)
class Trusted:
    """Text of the sources that fit ``source`` lets the tools that fit ``tools`` act without asking (shell patterns)."""

    source: str
    tools: tuple[str, ...]

    def covers(self, source: str, tool: str) -> bool:
        return fnmatchcase(source, self.source) and any(fnmatchcase(tool, pattern) for pattern in self.tools)


class Taint:
    """``trusted`` are the sources that the owner named, each for certain tools."""

    def __init__(self, trusted: Sequence[Trusted] = ()) -> None:
        self._trusted = tuple(trusted)

    def source_of(self, call: ToolCall, spec: ToolSpec, rows: Sequence[Row], asker: str) -> str:
        """The newest source because of which the call must ask, "" where it need not. ``rows`` are those that the prompt was
        made of, ``asker`` is the identity of the person whose turn it is."""
        if spec.effect is Effect.READ or _is_bidden(call, spec, rows, asker):
            return ""
        for source in reversed(list(dict.fromkeys(outside(rows, asker)))):
            if source == GROUP and spec.effect not in _GROUP_EFFECTS:
                continue
            if not any(trusted.covers(source, spec.name) for trusted in self._trusted):
                return source
        return ""


def outside(rows: Sequence[Row], asker: str = "") -> Iterator[str]:
    """Where the text from outside came from that stands in these rows, oldest first: addresses, names of files and tools,
    and the words above."""
    for row in _holding(rows):
        match row.body:
            case ResultRow(source=source) if source:
                yield source
            case SummaryRow(outside=sources):
                yield from sources
            case OverheardRow():
                yield GROUP
            case UserRow() as said:
                if asker and said.sender.identity != asker:
                    yield GROUP
                if said.quote is not None:
                    yield QUOTE
                yield from (file.name for file in said.files if not file.spoken and (file.text or file.picture))
            case GivenRow(messages=messages):
                if any(isinstance(block, ResultBlock | CallBlock) for one in messages for block in one.content):
                    yield CLIENT


def _holding(rows: Sequence[Row]) -> Iterator[Row]:
    """Those that still hold: a message that was changed voids what its own turn had found, and nothing else."""
    for turn in by_turn(rows):
        yield from as_revised(turn)


def _is_bidden(call: ToolCall, spec: ToolSpec, rows: Sequence[Row], asker: str) -> bool:
    """Whether all that the call does is to get an address that stood, letter by letter, in the person's own words or in the
    search that was made for them in this turn; or to search for nothing but words of the person's own."""
    match spec.name:
        case "web_fetch":
            return set(call.arguments) == {"url"} and call.arguments["url"] in _named(rows, asker)
        case "web_search":
            own = " ".join(row.body.text for row in _holding(rows) if _is_own(row.body, asker))
            return _words(str(call.arguments.get("query", ""))) <= _words(own)
    return False


def _is_own(body: Body, asker: str) -> TypeGuard[UserRow]:
    return isinstance(body, UserRow) and body.sender.identity == asker


def _words(text: str) -> set[str]:
    """What could carry something away: short words and years cannot. Of Chinese, each character."""
    found = _WORD.findall(text.lower())
    return {one for one in found if CJK.match(one) or (len(one) > _SHORT and not (one.isdigit() and len(one) <= _YEAR))}


def _named(rows: Sequence[Row], asker: str) -> set[str]:
    turn = rows[-1].turn if rows else ""
    named: set[str] = set()
    for row in _holding(rows):
        match row.body:
            case UserRow(text=text) as said if _is_own(said, asker):
                named |= addresses_in(text)
            case ResultRow(name=name, text=text) if name == SEARCH and row.turn == turn:
                named |= addresses_in(text)
    return named


def addresses_in(text: str) -> set[str]:
    """Each as it stands, and without the signs that end a sentence rather than an address."""
    found = set(_ADDRESS.findall(text))
    return found | {address.rstrip(_TRAILING) for address in found}
