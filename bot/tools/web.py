"""Reading pages of the public internet, and searching it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Final, Literal

from bot.core.errors import ToolFailed
from bot.core.text import CJK
from bot.core.tool import Effect, ToolContext, ToolResult
from bot.net.guarded import Guard, Page
from bot.net.target import Allowed
from bot.net.unread import Unread
from bot.tools.online.hits import Finder, Hit, Query, Recent
from bot.tools.online.meta import MetaFinder
from bot.tools.online.read import Read
from bot.tools.online.reading import Reader, is_readable, named
from bot.tools.online.searx import SearxFinder
from bot.tools.registry import FunctionTool, tool

FETCH_TOOL_SECONDS: Final = 90.0
"""Thirty for the page to arrive, as many for it to be read, and some to wait for others that are read."""
SEARCH_TOOL_SECONDS: Final = 40.0
MOST_HITS: Final = 8
MOST_QUERY_CHARS: Final = 400
ACCEPT: Final = "text/html, application/xhtml+xml, application/pdf;q=0.9, text/*;q=0.8, application/*;q=0.5"
_STATUSES: Final = {
    401: "The page needs a login.",
    402: "The page must be paid for.",
    403: "The server does not let programs read this page, or it needs a login. Look for another source.",
    404: "There is no such page. Check the address, or search for it.",
    410: "The page is gone for good. Search for another one.",
    429: "The server is asked too often. Try again later, or another source.",
    451: "The page is withheld for legal reasons.",
}


@dataclass(frozen=True, slots=True)
class WebSettings:
    """``tools.web`` of the configuration. ``allow_hosts`` as in ``bot.net.target.Allowed.of``; ``allow_ports`` are open on
    every public host beside the web's own; ``searxng`` is the address of a server that ``search`` may name."""

    allow_hosts: Sequence[str] = ()
    allow_ports: Sequence[int] = ()
    search: Literal["ddgs", "searxng"] = "ddgs"
    searxng: str = ""


class Web:
    """The two abilities. ``finder`` None: nothing can be searched with."""

    def __init__(self, guard: Guard, finder: Finder | None) -> None:
        self._guard, self._finder = guard, finder
        self._reader = Reader()

    async def web_fetch(self, url: str, *, context: ToolContext) -> ToolResult:
        """Read a web page, a PDF or a news feed and get its main text and links.

        url: the whole address, beginning with https:// or http://
        """
        try:
            page = await self._guard.get(url, accepts=is_readable, headers={"Accept": ACCEPT})
        except Unread as error:
            raise ToolFailed(str(error)) from None
        if page.status != 200 or not page.body:
            raise ToolFailed(f"{named(page)} could not be read (status {page.status}). {_status(page.status)}".strip())
        return ToolResult(_written(page, await self._reader.read(page)), source=page.url)

    async def web_search(self, query: str, recent: Recent = "", *, context: ToolContext) -> ToolResult:
        """Search the web and get titles, addresses and short extracts; read a page with web_fetch before relying on it.

        query: the words to search for, as one would type them into a search engine
        recent: leave empty, or only what is not older than a day, week, month or year
        """
        words = " ".join(query.split())
        if not words or len(words) > MOST_QUERY_CHARS:
            raise ToolFailed(f"Search for at least one word and at most {MOST_QUERY_CHARS} characters.")
        if self._finder is None:
            raise ToolFailed("Nothing is set up to search with; the owner can do that under tools.web.")
        hits = await self._finder.find(Query(words, MOST_HITS, recent, CJK.search(words) is not None))
        if not hits:
            raise ToolFailed(f"Nothing was found for {words!r}. Try other or fewer words.")
        return ToolResult("\n\n".join(_listed(n, hit) for n, hit in enumerate(hits, 1)), source=f"web_search:{words}")


def web_tools(settings: WebSettings | None = None, *, guard: Guard | None = None) -> dict[str, FunctionTool]:
    """Those that can be had here, by name. Raises ``ValueError`` for settings that mean nothing."""
    settings = settings or WebSettings()
    guard = guard or Guard(Allowed.of(settings.allow_hosts, settings.allow_ports))
    web = Web(guard, _finder(settings))
    made: dict[str, FunctionTool] = {}
    if not missing_for_reading():
        made["web_fetch"] = tool(effect=Effect.SEND, untrusted_output=True, timeout=FETCH_TOOL_SECONDS)(web.web_fetch)
    if not missing_for_searching(settings):
        made["web_search"] = tool(effect=Effect.SEND, untrusted_output=True, timeout=SEARCH_TOOL_SECONDS)(
            web.web_search
        )
    return made


def missing_for_reading() -> str:
    """ "" where pages can be read; else why not, for the doctor."""
    return "" if find_spec("trafilatura") else 'pages of the web cannot be read: install the extra "web"'


def missing_for_searching(settings: WebSettings) -> str:
    """ "" where the web can be searched; else why not, for the doctor."""
    if settings.search == "searxng":
        return "" if settings.searxng else "the web cannot be searched: tools.web.searxng names no server"
    return "" if find_spec("ddgs") else 'the web cannot be searched: install the extra "web"'


def _finder(settings: WebSettings) -> Finder | None:
    if settings.search == "ddgs":
        return MetaFinder()
    try:
        return SearxFinder(settings.searxng) if settings.searxng else None
    except Unread as error:
        raise ValueError(f"tools.web.searxng: {error}") from None


def _status(status: int) -> str:
    if status in _STATUSES:
        return _STATUSES[status]
    if status >= 500:
        return "The server has trouble. Try again later, or another source."
    return "The server refuses it." if status >= 400 else "The server sent no page."


def _written(page: Page, read: Read) -> str:
    head = [f"# {read.title}"] if read.title else []
    head += [read.by] if read.by else []
    head += [f"{page.url} (where {page.asked} leads)" if page.redirects else page.url]
    notes = ["[No main text stands out; this is everything on the page.]"] if read.is_whole else []
    notes += ["[It is too long to be read whole: a part is left out.]"] if read.is_cut else []
    links = [f"[{number}] {link.label}: {link.url}" for number, link in enumerate(read.links, 1)]
    parts = ("\n".join(head), "\n".join(notes), read.text, "\n".join(("Links:", *links)) if links else "")
    return "\n\n".join(part for part in parts if part)


def _listed(number: int, hit: Hit) -> str:
    return "\n".join(line for line in (f"{number}. {hit.title}", hit.url, hit.snippet) if line)
