"""What a search finds, whoever searches."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, Protocol

from bot.tools.online.read import absolute, on_one_line

Recent = Literal["", "day", "week", "month", "year"]
TITLE_CHARS: Final = 200
SNIPPET_CHARS: Final = 400


@dataclass(frozen=True, slots=True)
class Query:
    """``most`` hits are wanted, not older than ``recent``; ``is_chinese`` says in which part of the web to look."""

    words: str
    most: int = 8
    recent: Recent = ""
    is_chinese: bool = False


@dataclass(frozen=True, slots=True)
class Hit:
    title: str
    url: str
    snippet: str


class Finder(Protocol):
    """``name`` is what its results are called after."""

    @property
    def name(self) -> str: ...

    async def find(self, query: Query) -> tuple[Hit, ...]:
        """The best first. Raises ``ToolFailed``, in words for the model, where it cannot be asked."""
        ...


def hits_of(found: Iterable[Mapping[str, Any]], url: str, snippet: str, most: int) -> tuple[Hit, ...]:
    """From what a service gives, whose keys for the two are named; each page once, and nothing that is none."""
    hits: dict[str, Hit] = {}
    for one in found:
        where = absolute(str(one.get(url) or ""), "")
        title = on_one_line(str(one.get("title") or ""), TITLE_CHARS)
        if where and where not in hits and len(hits) < most:
            hits[where] = Hit(title or where, where, on_one_line(str(one.get(snippet) or ""), SNIPPET_CHARS))
    return tuple(hits.values())
