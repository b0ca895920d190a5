"""The main text of an HTML page, by trafilatura; all of it where none stands out. Runs in the child process only."""

from __future__ import annotations

import re
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, Final
from urllib.parse import urlsplit

from bot.attachments.ends import Ends
from bot.attachments.pages import read_page
from bot.tools.online.read import Links, Read, absolute, on_one_line, visible

MAIN_CHARS: Final = 250
"""What is shorter may be a teaser or a notice; then everything on the page is compared with it."""
MAIN_HTML_CHARS: Final = 3_000_000
MAIN_SECONDS: Final = 6
ABOUT_SECONDS: Final = 2
"""The library's time grows with the square of some pages; then, and for larger ones, everything on the page is read."""
MOST_HTML_CHARS: Final = 1_000_000
"""Of everything on a page; what stands behind is left out."""
_MARKDOWN_LINK: Final = re.compile(
    r"(?<!!)\[((?:[^\[\]\n]|\[[^\[\]\n]*\]){0,300})\]\(([^\s()]*(?:\([^\s()]*\)[^\s()]*)*)\)"
)
_DECLARATION: Final = re.compile(r"\A\s*<\?xml[^>]*\?>")
_STYLES: Final = ("display:none", "visibility:hidden", "font-size:0;", "font-size:0px")
_SQUEEZED_STYLE: Final = "concat(translate(@style, 'ABCDEFGHIJKLMNOPQRSTUVWXYZ ', 'abcdefghijklmnopqrstuvwxyz'), ';')"
_HIDDEN: Final = ["//*[@hidden]", *(f"//*[contains({_SQUEEZED_STYLE}, '{style}')]" for style in _STYLES)]
"""What nobody who looks at the page sees is not read either."""
_SKIPPED: Final = ("script", "style", "template", "noscript", "svg", "iframe", "head")


def read_html(html: str, url: str, chars: int) -> Read:
    from trafilatura import load_html

    tree: Any = load_html(_DECLARATION.sub("", html))
    if tree is None:
        return _everything(html, None, url, chars, "", "")
    title, by = _about(tree, url)
    _lead_out(tree, url)
    links = Links(url)
    text = _numbered(_main_text(tree, url) if len(html) <= MAIN_HTML_CHARS else "", links).strip()
    if len(text) < MAIN_CHARS:
        everything = _everything(html, tree, url, chars, title, by)
        if len(everything.text) > len(text):
            return everything
    ends = Ends(chars)
    ends.add(visible(text))
    return Read("" if text else "blank", ends.text, title, by, links.all, is_cut=ends.is_cut)


def _main_text(tree: Any, url: str) -> str:
    """Markdown; "" where none is found in time."""
    from trafilatura import extract

    with suppress(TooSlow), within(MAIN_SECONDS):
        text = extract(
            tree,
            url=url,
            output_format="markdown",
            include_links=True,
            include_formatting=True,
            include_comments=False,
            include_tables=True,
            prune_xpath=_HIDDEN,
        )
        return str(text or "")
    return ""


class TooSlow(BaseException):
    """Not an ``Exception``: the library catches those."""


@contextmanager
def within(seconds: int) -> Iterator[None]:
    """Raises ``TooSlow``. By the alarm clock, which only a process of its own has to itself."""

    def ring(number: int, frame: object) -> None:
        raise TooSlow

    before = signal.signal(signal.SIGALRM, ring)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def _numbered(markdown: str, links: Links) -> str:
    """Behind the words of each link the number that it has in the list."""

    def put(found: re.Match[str]) -> str:
        number = links.number(found[1], found[2])
        return f"{found[1]} [{number}]" if number else found[1]

    return _MARKDOWN_LINK.sub(put, markdown)


def _everything(html: str, tree: Any, url: str, chars: int, title: str, by: str) -> Read:
    from lxml.html import tostring

    links = Links(url)
    if tree is not None:
        _prune(tree)
        _collect(tree, links)
        html = tostring(tree, encoding="unicode")
    ends = Ends(chars)
    read_page(html[:MOST_HTML_CHARS], ends)
    text = visible(ends.text).strip()
    is_cut = ends.is_cut or len(html) > MOST_HTML_CHARS
    return Read("" if text else "blank", text, title, by, links.all, is_whole=True, is_cut=is_cut)


def _prune(tree: Any) -> None:
    for path in (*_HIDDEN, *(f"//{name}" for name in _SKIPPED)):
        for element in tree.xpath(path):
            if element.getparent() is not None:
                element.drop_tree()


def _collect(tree: Any, links: Links) -> None:
    for element in tree.xpath("//a[@href]"):
        label = element.text_content().strip() or element.get("title") or element.get("aria-label") or ""
        if label:
            links.number(label, element.get("href"))
        del element.attrib["href"]


def _lead_out(tree: Any, url: str) -> None:
    """Whole addresses instead of relative ones; what leads to no other page is no link any more."""
    base = str(tree.xpath("string((//base[@href])[1]/@href)"))
    base = absolute(base, url) or url
    for element in tree.xpath("//a[@href]"):
        where = absolute(element.get("href"), base)
        if where and where != url:
            element.set("href", where)
        else:
            del element.attrib["href"]


def _about(tree: Any, url: str) -> tuple[str, str]:
    """The title; and who wrote it, where and when."""
    from trafilatura.metadata import extract_metadata

    found: Any = None
    with suppress(TooSlow), within(ABOUT_SECONDS):
        found = extract_metadata(tree, default_url=url, extensive=False)
    title = (found.title if found else "") or str(tree.xpath("string(//title)"))
    facts = (found.author, found.sitename, found.date) if found else ()
    place = urlsplit(url)
    named = [on_one_line(fact, 100) for fact in facts if fact and fact not in (title, place.hostname, place.netloc)]
    return on_one_line(title, 300), " · ".join(named)
