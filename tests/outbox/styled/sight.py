"""What a person sees of styled text, line by line, in a form that the models of the platforms' readers give as well."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from urllib.parse import unquote

from bot.outbox.styled.spans import STYLES, Span, Styled

INVISIBLE = re.compile("[\u200b\u2060]")


@dataclass(frozen=True)
class Look:
    """How a character looks. Of code nothing else is told."""

    styles: frozenset[str] = frozenset()
    link: str = ""
    code: bool = False


@dataclass(frozen=True)
class Sight:
    """A line, an item's first line, or a block of code. ``marker`` is "•", a number with a full stop, or "".

    ``looks`` are those of the visible characters. ``gap`` counts the line breaks above; it is told only between lines of
    plain text, elsewhere a platform has its own room around things.
    """

    text: str
    looks: tuple[Look, ...] = ()
    kind: str = ""
    marker: str = ""
    depth: int = 0
    quoted: bool = False
    outer: int = 0
    gap: int = 0

    @property
    def plain(self) -> bool:
        return not (self.kind or self.marker or self.depth or self.outer)


Char = tuple[str, Look]


@dataclass
class Page:
    """Collects what is seen, character by character. ``where`` is a pattern for the next lines."""

    where: Sight = field(default_factory=lambda: Sight(""))
    sights: list[Sight] = field(default_factory=list)
    _line: list[Char] = field(default_factory=list)
    _marker: str = ""
    _gap: int = 0

    def write(self, text: str, look: Look) -> None:
        for char in text:
            if char == "\n":
                self.end()
                self._gap += 1
            else:
                self._line.append((char, look))

    def mark(self, marker: str) -> None:
        """Begin an item."""
        self.end()
        self._marker = marker

    def code(self, text: str, language: str) -> None:
        self.end()
        self.sights.append(replace(self.where, text=INVISIBLE.sub("", text), kind=f"code {language}".strip()))
        self._gap = 0

    def end(self) -> None:
        """The line is over."""
        chars = _stripped([(char, look) for char, look in self._line if not INVISIBLE.fullmatch(char)], self._marker)
        text, marker = "".join(char for char, _ in chars), self._marker
        if marker == "•" and (number := re.match(r"(\d+)[.)](?:\s+|$)", text)):
            marker, text, chars = f"{number[1]}.", text[number.end() :], chars[number.end() :]
        if text or marker:
            looks = tuple(look for char, look in chars if not char.isspace())
            self.sights.append(replace(self.where, text=text, looks=looks, marker=marker, gap=self._gap))
            self._gap = 0
        self._line, self._marker = [], ""

    def seen(self) -> list[Sight]:
        self.end()
        found: list[Sight] = []
        for number, sight in enumerate(self.sights):
            above = self.sights[number - 1] if number else Sight("", kind="none")
            found.append(sight if sight.plain and above.plain else replace(sight, gap=0))
        return found


def _stripped(chars: list[Char], marker: str) -> list[Char]:
    """Without the space at the end and, behind a marker, at the beginning; one space stands behind a check box."""
    while chars and chars[-1][0].isspace():
        chars.pop()
    box = 1 if marker and chars and chars[0][0] in "☐☑" else 0
    while marker and len(chars) > box and chars[box][0].isspace():
        chars.pop(box)
    return [*chars[:box], (" ", Look()), *chars[box:]] if box and len(chars) > box else chars


def look(styles: Iterable[str] = (), link: str = "", code: bool = False) -> Look:
    return Look(code=True, link=unquote(link)) if code else Look(frozenset(styles), unquote(link))


def sights(styled: Styled, *, headings: int, deepest: int) -> list[Sight]:
    """What ought to be seen where headings of a level up to ``headings`` exist, the others being bold, and lists down to
    the level ``deepest``."""
    page = Page()
    spans = sorted(styled.spans, key=lambda span: (span.start, -span.end))
    text, at, carried = styled.text, 0, 0
    while at < len(text):
        pre = next((span for span in spans if span.kind == "pre" and span.start == at), None)
        if pre:
            page.where = _where(spans, at, min(pre.level, deepest))
            page.code(text[at : pre.end], pre.value if pre.value.isascii() else "")
            at, carried = pre.end, 0
            continue
        end = min((text + "\n").index("\n", at), len(text))
        depth = _line(page, _Line(text, spans, at, end, carried), headings, deepest)
        carried = depth if _alone(text, spans, at, end) else 0
        if end < len(text) and not carried:
            page.write("\n", Look())
        at = end + 1
    return page.seen()


@dataclass(frozen=True)
class _Line:
    """``carried``: the depth of the item whose marker stands on the line above."""

    text: str
    spans: Sequence[Span]
    start: int
    end: int
    carried: int


def _line(page: Page, line: _Line, headings: int, deepest: int) -> int:
    """Write it; how many lists deep it stands."""
    depth, at, stands = line.carried, line.start, line.start
    for span in line.spans:
        if span.kind in ("indent", "item") and span.start == at < line.end:
            quoted = any(one.kind == "blockquote" and one.start == at for one in line.spans)
            anew = at == line.start or quoted or span.level > depth
            depth = span.level if anew else depth + 1
            if span.kind == "item":
                page.end()
                stands = at
                page.where = _where(line.spans, stands, min(depth, deepest))
                box = span.value in ("☐", "☑")
                page.mark("•" if box or not span.value else f"{span.value[:-1]}.")
                page.write(f"{span.value} " if box else "", Look())
            at = min(span.end, line.end)
    page.where = _where(line.spans, stands, min(depth, deepest))
    heading = next((span.level for span in line.spans if span.kind == "heading" and span.start <= at < span.end), 0)
    native = 0 < heading <= headings and not depth and not page.where.outer
    if native:
        page.end()
        page.where = replace(page.where, kind=f"heading {heading}")
    for position in range(at, line.end):
        kinds = [span for span in line.spans if span.start <= position < span.end]
        styles = {span.kind for span in kinds if span.kind in STYLES} | ({"bold"} if heading and not native else set())
        link = next((span.value for span in kinds if span.kind == "text_link"), "")
        page.write(line.text[position], look(styles, link, any(span.kind == "code" for span in kinds)))
    return depth


def _alone(text: str, spans: Sequence[Span], at: int, end: int) -> bool:
    """Whether the line is but the marker of a quotation's first item, whose text stands on the next one."""
    marked = [one for one in spans if (one.kind, one.value) == ("blockquote", "item")]
    begins = any(at <= one.start < end and one.end > end + 1 for one in marked)
    blocks = [span.start for span in spans if span.kind in ("indent", "item", "pre")]
    if not begins or end + 1 in blocks or text[end + 1 : end + 2] in ("", "\n"):
        return False
    return max((span.end for span in spans if span.kind == "item" and span.start < end), default=0) == end


def _where(spans: Sequence[Span], at: int, depth: int) -> Sight:
    quote = next((span for span in spans if span.kind == "blockquote" and span.start <= at < span.end), None)
    return Sight("", depth=depth, quoted=quote is not None, outer=quote.level if quote else 0)


def differences(seen: Sequence[Sight], wanted: Sequence[Sight]) -> Iterator[str]:
    """Where the two first differ, in words."""
    for one, other in zip(seen, wanted, strict=False):
        if one != other:
            yield f"seen {one}\nwanted {other}"
            return
    if len(seen) != len(wanted):
        yield f"seen {len(seen)} lines, wanted {len(wanted)}: {(*seen, *wanted)[min(len(seen), len(wanted)) :][:1]}"
