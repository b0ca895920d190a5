"""Searching by a SearXNG server of the owner's choice. https://docs.searxng.org/dev/search_api.html"""

from __future__ import annotations

import json
from typing import Final
from urllib.parse import urlencode

from bot.core.errors import ToolFailed
from bot.net.guarded import Guard
from bot.net.target import Allowed, target_of
from bot.net.unread import Unread
from bot.tools.online.hits import Hit, Query, hits_of

SECONDS: Final = 20.0
MOST_BYTES: Final = 4 * 1024 * 1024


class SearxFinder:
    """Implements ``Finder``. ``url`` is the server's, wherever it stands: the owner named it. Raises ``Unread`` where it
    is no web address."""

    name = "SearXNG"

    def __init__(self, url: str, guard: Guard | None = None) -> None:
        target = target_of(url)
        host = f"[{target.host}]" if ":" in target.host else target.host
        self._url = f"{target.url.partition('?')[0].rstrip('/')}/search"
        self._guard = guard or Guard(Allowed.of([f"{host}:{target.port}"]))

    async def find(self, query: Query) -> tuple[Hit, ...]:
        asked = {"q": query.words, "format": "json", "safesearch": "1"}
        asked |= {"language": "zh-CN"} if query.is_chinese else {}
        asked |= {"time_range": query.recent} if query.recent else {}
        try:
            page = await self._guard.get(f"{self._url}?{urlencode(asked)}", most_bytes=MOST_BYTES, seconds=SECONDS)
        except Unread as error:
            raise ToolFailed(f"The search server did not answer: {error}") from None
        if page.status == 403:
            raise ToolFailed(
                "The search server gives no JSON; its owner must add json to search.formats in its settings."
            )
        if page.status != 200:
            raise ToolFailed(f"The search server refused the search (status {page.status}); try again later.")
        try:
            found = json.loads(page.body)["results"]
            return hits_of(found, "url", "content", query.most)
        except (ValueError, KeyError, TypeError, AttributeError):
            raise ToolFailed("What the search server sent cannot be read; it does not seem to be SearXNG.") from None
