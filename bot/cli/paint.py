"""Rich renderables as text for one terminal: coloured or plain, and never with a control character of the content's own."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import ClassVar, Literal

from markdown_it import MarkdownIt
from markdown_it.token import Token
from rich.cells import cell_len
from rich.console import COLOR_SYSTEMS, Console, ConsoleOptions, RenderableType, RenderResult
from rich.markdown import Heading, Markdown, MarkdownElement
from rich.segment import Segment
from rich.text import Text
from rich.theme import Theme

from bot.cli.formulas import spoken
from bot.cli.harmless import harmless
from bot.outbox.dialect import formulas

Color = Literal["standard", "256", "truecolor"]

_THEME = Theme({"markdown.code": "cyan", "markdown.h1": "bold underline"})
"""The terminal's own background everywhere: it may be light or dark."""

_BLOCKS = MarkdownIt().enable("strikethrough").enable("table")
formulas(_BLOCKS)
"""The dialect in which rich reads Markdown, and formulas."""


class _LeftHeading(Heading):
    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield Text("")
        self.text.justify = "left"
        yield self.text


class _Answer(Markdown):
    """Links show their address: what a link's text says may be a lie."""

    elements: ClassVar[dict[str, type[MarkdownElement]]] = Markdown.elements | {"heading_open": _LeftHeading}

    def __init__(self, text: str) -> None:
        super().__init__("", code_theme="ansi_dark", hyperlinks=False)
        self.markup, self.parsed = text, spoken(_BLOCKS.parse(text))


class Painter:
    """``color`` None gives plain text (NO_COLOR). ``width`` is in terminal cells, wide characters counting two."""

    def __init__(self, width: int, color: Color | None) -> None:
        self._system = COLOR_SYSTEMS[color] if color is not None else None
        self._console = Console(
            file=io.StringIO(),
            width=max(width, 20),
            force_terminal=color is not None,
            color_system=color,
            highlight=False,
            theme=_THEME,
        )
        self._latest: tuple[str, list[str]] = ("", [])

    def lines(self, renderable: RenderableType) -> list[str]:
        """One string a screen line, without line ends.

        The content is neutralised after rendering: Markdown makes control characters out of harmless ones (an autolink
        is shown percent-decoded), so cleaning the source alone would not do.
        """
        rows = self._console.render_lines(renderable, pad=False)
        return ["".join(self._painted(row)) for row in rows]

    def markdown(self, text: str) -> list[str]:
        """The latest result is kept."""
        if text != self._latest[0]:
            answer = _Answer(harmless(text))
            self._latest = (text, self.lines(answer) if text.strip() else [])
        return list(self._latest[1])

    def height(self, text: str) -> int:
        """About how many lines ``text`` takes, without the work of rendering it."""
        width = self._console.width
        return sum(1 + cell_len(line) // width for line in text.split("\n"))

    def _painted(self, row: list[Segment]) -> Iterator[str]:
        for segment in _trimmed(row):
            text = harmless(segment.text).replace("\n", " ").replace("\t", " ")
            yield segment.style.update_link(None).render(text, color_system=self._system) if segment.style else text


def _trimmed(row: list[Segment]) -> list[Segment]:
    """Without the blanks that only fill the line: they would be copied along, and wrap when the window shrinks."""
    kept = [segment for segment in row if not segment.control]
    while kept and not kept[-1].text.strip(" "):
        kept.pop()
    if kept:
        kept[-1] = Segment(kept[-1].text.rstrip(" "), kept[-1].style)
    return kept


def settled(text: str) -> int:
    """The offset in ``harmless`` text at which the last top-level block begins: what comes before keeps its looks.

    0 while there is only one block. Markdown never reopens a block once the next has begun.
    """
    blocks = _top_level(text)
    if len(blocks) < 2:
        return 0
    return sum(len(line) + 1 for line in text.split("\n")[: _first_line(blocks[-1])])


def ending(text: str, lines: int) -> str:
    """``harmless`` text without the middle of a code block at its end that is longer than ``lines``.

    Colouring code takes about half a millisecond a line, far too long for hundreds of lines many times a second.
    """
    blocks, rows = _top_level(text), text.split("\n")
    if not blocks or blocks[-1].type != "fence":
        return text
    opening = _first_line(blocks[-1])
    if len(rows) - opening <= lines + 1:
        return text
    return "\n".join([*rows[: opening + 1], *rows[-lines:]])


def _top_level(text: str) -> list[Token]:
    return [token for token in _BLOCKS.parse(text) if token.level == 0 and token.map and token.nesting >= 0]


def _first_line(block: Token) -> int:
    return block.map[0] if block.map else 0
