"""Links as a chat may show them: bare addresses found, and no label that hides where its link leads."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Final
from urllib.parse import urlsplit

from bot.outbox.dialect import trimmed
from bot.outbox.styled.spans import Span, Styled

SCHEMES: Final = ("http", "https", "mailto")

_ADDRESS = re.compile(
    r"https?://[^\s<>\"'`|\\^{}\[\]\u3000-\u303f\u3400-\u9fff\uac00-\ud7af\uff00-\uffef]+", re.IGNORECASE
)
_SHORTEST: Final = len("http://a")
_HOLDING: Final = ("heading", "blockquote")
"""What holds a text that is inserted at its very end."""
_SITE = re.compile(r"(?:[\w-]+\.)+(?P<end>[^\W\d_]{2,})(?:[/:?#]\S*)?")
_FILES: Final = frozenset(
    (
        *("c", "cc", "cfg", "conf", "cpp", "css", "csv", "gz", "go", "h", "html", "ini", "ipynb", "java", "js", "json"),
        *("jsx", "kt", "lock", "lua", "md", "mjs", "pdf", "php", "png", "py", "rb", "rs", "rst", "sh", "sql", "svg"),
        *("swift", "toml", "ts", "tsx", "txt", "xml", "yaml", "yml", "zip"),
    )
)
"""What ends the name of a file rather than that of a site."""


def candid(styled: Styled, masks: Callable[[str, str], bool]) -> Styled:
    """``styled`` with links over bare addresses, and with the address behind every label that cannot be its link.

    ``masks(label, url)`` says whether the platform can show ``label``, which may be the address itself, as a link to
    ``url``. A label that looks like another address is never one. What no browser opens is no link.
    """
    spans: list[Span] = []
    shown: list[tuple[int, str, str]] = []
    for span in (*styled.spans, *_bare(styled)):
        if span.kind in ("text_link", "address"):
            label, url = styled.text[span.start : span.end], span.value
            if url.partition(":")[0] not in SCHEMES:
                continue
            if not masks(label, url) or misleads(label, url):
                if label not in (url, target(url)):
                    shown.append((span.end, target(url), url))
                continue
            span = replace(span, kind="text_link")
        spans.append(span)
    if not shown:
        return replace(styled, spans=tuple(spans))
    shown.sort()
    opened = inserted(Styled(styled.text, tuple(spans)), [(at, f" ({text})") for at, text, _ in shown])
    links, moved = [], 0
    for at, text, url in shown:
        start = at + moved + len(" (")
        if masks(text, url):
            links.append(Span("text_link", start, start + len(text), url))
        moved += len(text) + len(" ()")
    return Styled(opened.text, (*opened.spans, *links))


def inserted(styled: Styled, pieces: Sequence[tuple[int, str]]) -> Styled:
    """``styled`` with texts at offsets, which ascend. At the ends of a heading or a quotation they belong to it; of
    anything else they do not."""
    if not pieces:
        return styled
    text, parts, last = styled.text, list[str](), 0
    for at, piece in pieces:
        parts += (text[last:at], piece)
        last = at
    offsets = [at for at, _ in pieces]
    sizes = [0]
    for _, piece in pieces:
        sizes.append(sizes[-1] + len(piece))

    def moved(span: Span) -> Span:
        left, right = (bisect_left, bisect_right) if span.kind in _HOLDING else (bisect_right, bisect_left)
        return replace(
            span,
            start=span.start + sizes[left(offsets, span.start)],
            end=span.end + sizes[right(offsets, span.end)],
        )

    return Styled("".join((*parts, text[last:])), tuple(map(moved, styled.spans)))


def target(url: str) -> str:
    """How a person reads ``url``: a mailbox without its scheme."""
    return url.partition(":")[2].partition("?")[0] if url.startswith("mailto:") else url.replace("'", "%27")


def misleads(label: str, url: str) -> bool:
    """Whether ``label`` looks like an address of another host than ``url``'s."""
    plain = unicodedata.normalize("NFKC", label).strip(" \t\n\u200b\u2060.,;:!?()[]<>\"'“”‘’").lower()
    scheme, _, rest = plain.rpartition("://")
    site = rest.rpartition("@")[2]
    found = _SITE.fullmatch(site)
    if not scheme and (not found or found["end"] in _FILES):
        return False
    return not _same_site(re.split(r"[/:?#]", site, maxsplit=1)[0], _host(url))


def _same_site(shown: str, real: str) -> bool:
    shown, real = shown.removeprefix("www."), real.removeprefix("www.")
    return bool(shown) and (real == shown or real.endswith("." + shown))


def _host(url: str) -> str:
    if url.startswith("mailto:"):
        return url.rpartition("@")[2].partition("?")[0].lower()
    try:
        parts = urlsplit(url)
        return (parts.hostname or "").lower() if parts.port != 0 else ""
    except ValueError:
        return ""


def _bare(styled: Styled) -> Iterator[Span]:
    """Links over the addresses that stand in plain text. Where a style begins or ends, so does an address."""
    if "://" not in styled.text:
        return
    taken = [(span.start, span.end) for span in styled.spans if span.kind in ("code", "pre", "text_link", "address")]
    borders = sorted({at for span in styled.spans for at in (span.start, span.end)})
    for found in _ADDRESS.finditer(styled.text):
        border = bisect_right(borders, found.start())
        url = trimmed(found[0] if border == len(borders) else found[0][: borders[border] - found.start()])
        start, end = found.start(), found.start() + len(url)
        if len(url) >= _SHORTEST and _host(url) and not _overlaps(taken, start, end):
            yield Span("text_link", start, end, url)


def _overlaps(ranges: Iterable[tuple[int, int]], start: int, end: int) -> bool:
    return any(begin < end and start < stop for begin, stop in ranges)
