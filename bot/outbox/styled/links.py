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
_SHORTEST = len("http://a")
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

    ``masks(label, url)`` says whether the platform can show ``label`` as a link to ``url``. A label that looks like
    another address is never one. What no browser opens is no link.
    """
    spans: list[Span] = []
    shown: list[tuple[int, str, str]] = []
    for span in (*styled.spans, *_bare(styled)):
        if span.kind == "text_link":
            label = styled.text[span.start : span.end]
            if span.value.partition(":")[0] not in SCHEMES:
                continue
            if label not in (span.value, target(span.value)) and (
                not masks(label, span.value) or misleads(label, span.value)
            ):
                shown.append((span.end, target(span.value), span.value))
                continue
        spans.append(span)
    if not shown:
        return replace(styled, spans=tuple(spans))
    shown.sort()
    opened = inserted(Styled(styled.text, tuple(spans)), [(at, f" ({text})") for at, text, _ in shown])
    links, moved = [], 0
    for at, text, url in shown:
        start = at + moved + len(" (")
        links.append(Span("text_link", start, start + len(text), url))
        moved += len(text) + len(" ()")
    return Styled(opened.text, (*opened.spans, *links))


def inserted(styled: Styled, pieces: Sequence[tuple[int, str]]) -> Styled:
    """``styled`` with texts at offsets, which ascend. What ends or begins there does not hold them; what goes on does."""
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
    spans = (
        replace(
            span,
            start=span.start + sizes[bisect_right(offsets, span.start)],
            end=span.end + sizes[bisect_left(offsets, span.end)],
        )
        for span in styled.spans
    )
    return Styled("".join((*parts, text[last:])), tuple(spans))


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
        return (urlsplit(url).hostname or "").lower()
    except ValueError:
        return ""


def _bare(styled: Styled) -> Iterator[Span]:
    """Links over the addresses that stand in plain text. Where a style begins or ends, so does an address."""
    if "://" not in styled.text:
        return
    taken = [(span.start, span.end) for span in styled.spans if span.kind in ("code", "pre", "text_link")]
    borders = sorted({at for span in styled.spans for at in (span.start, span.end)})
    for found in _ADDRESS.finditer(styled.text):
        border = bisect_right(borders, found.start())
        url = trimmed(found[0] if border == len(borders) else found[0][: borders[border] - found.start()])
        start, end = found.start(), found.start() + len(url)
        if len(url) >= _SHORTEST and not _overlaps(taken, start, end):
            yield Span("text_link", start, end, url)


def _overlaps(ranges: Iterable[tuple[int, int]], start: int, end: int) -> bool:
    return any(begin < end and start < stop for begin, stop in ranges)
