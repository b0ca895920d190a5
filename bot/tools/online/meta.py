"""Searching by several public search engines at once, through ddgs in a process of its own; no key is needed."""

from __future__ import annotations

import json
from typing import Any, Final

from bot.core.children import answered
from bot.core.errors import ToolFailed
from bot.tools.online.hits import Hit, Query, hits_of

SECONDS: Final = 25.0
ENGINE_SECONDS: Final = 8
"""For each engine; ddgs asks two at once and then the next ones."""
_UNREACHABLE: Final = (
    "The search engines cannot be reached; this machine may have no internet now. Nothing was found out."
)


class MetaFinder:
    """Implements ``Finder``. ``proxy`` ("" for none) is an address of an HTTP proxy, ``certificate`` a file of what is
    believed instead of the usual authorities."""

    name = "ddgs"

    def __init__(self, proxy: str = "", certificate: str = "") -> None:
        self._proxy, self._certificate = proxy, certificate

    async def find(self, query: Query) -> tuple[Hit, ...]:
        question = {
            "words": query.words,
            "region": "cn-zh" if query.is_chinese else "us-en",
            "timelimit": query.recent[:1] or None,
            "most": query.most,
            "seconds": ENGINE_SECONDS,
            "proxy": self._proxy or None,
            "verify": self._certificate or True,
        }
        try:
            asked = json.dumps(question).encode()
            said = await answered("bot.tools.online.meta_child", seconds=SECONDS, question=asked)
        except TimeoutError:
            raise ToolFailed("The search engines did not answer in time; try again, or with fewer words.") from None
        answer: dict[str, Any] = json.loads(said) if said else {"trouble": "failed"}
        if answer["trouble"] == "unreachable":
            raise ToolFailed(_UNREACHABLE)
        if answer["trouble"]:
            raise ToolFailed(
                "The search failed; the engines answered with something that cannot be read. Try again later."
            )
        return hits_of(answer["found"], "href", "body", query.most)
