"""Renders Markdown block by block, so that a growing page costs what is new in it."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Final, Generic, TypeVar

from markdown_it.token import Token

from bot.outbox.styled.blocks import Scribe
from bot.outbox.styled.parser import MAX_NESTING, Env, parser
from bot.outbox.styled.spans import Canvas, Shown, Styled, shown_text

LONGEST_CHARS: Final = 40_000
"""Beyond this no message could hold the text: it is only measured, as plain text."""
LONGEST_BLOCK_CHARS: Final = 8_192
"""A single block beyond this is shown as it was written."""
BLOCKS_KEPT: Final = 1000
PAGES_KEPT: Final = 32

Key = tuple[object, ...]
Value = TypeVar("Value")
Block = TypeVar("Block")
Page = TypeVar("Page")


class StyledRenderer(Generic[Block, Page]):
    """Makes what a platform shows of Markdown; the same text always looks the same.

    ``draw`` makes a top-level block out of its styled text, whatever stands around it: blocks that are seen again are not
    drawn again. ``compose`` makes the page out of pairs of the line breaks that part a block from the one before it ("" at
    the first) and the block. Blocks that show nothing are left out. ``shown`` cleans the text before it is read.
    """

    def __init__(
        self,
        draw: Callable[[Styled], Block],
        compose: Callable[[Sequence[tuple[str, Block]]], Page],
        shown: Shown = shown_text,
    ) -> None:
        self._draw, self._compose, self._shown = draw, compose, shown
        self._md = parser()
        self._blocks = _Kept[tuple[Block, ...]](BLOCKS_KEPT)
        self._pages = _Kept[Page](PAGES_KEPT)

    def render(self, markdown: str) -> Page:
        """Any text whatever as a page."""
        if len(markdown) > LONGEST_CHARS:
            plain = Styled(self._shown(markdown).replace("\t", "    ").strip())
            return self._compose([("", self._draw(plain))] if plain.text else [])
        return self._pages.get((markdown,), lambda: self._compose(list(self._drawn(self._shown(markdown)))))

    def _drawn(self, source: str) -> Iterator[tuple[str, Block]]:
        env: Env = {}
        tokens: list[Token] = []
        self._md.block.parse(source, self._md, env, tokens)
        lines = source.split("\n")
        references = tuple((label, one["href"]) for label, one in env.get("references", {}).items())
        end, heading, begun = 0, False, False
        for group in _groups(tokens):
            first = group[0]
            after_heading, heading = heading, first.type == "heading_open"
            above = end
            start, end = first.map or (above, above)
            apart = start > above or (start > 0 and not lines[start - 1].strip())
            gap = "\n\n" if apart or heading or after_heading else "\n"
            written = "\n".join(lines[start:end])
            key = (written, first.type, len(group), references if "]" in written else ())
            for block in self._blocks.get(key, partial(self._block, group, written, env)):
                yield gap if begun else "", block
                begun = True

    def _block(self, group: list[Token], written: str, env: Env) -> tuple[Block, ...]:
        """The block, or nothing if it shows nothing."""
        canvas = Canvas(self._shown)
        if len(written) > LONGEST_BLOCK_CHARS or any(token.level >= MAX_NESTING - 1 for token in group):
            canvas.write(written.strip())
        else:
            for token in group:
                if token.type == "inline":
                    token.children = []
                    self._md.inline.parse(token.content, self._md, env, token.children)
            Scribe(canvas).write(group)
        styled = canvas.finished()
        return (self._draw(styled),) if styled.text else ()


def joined(blocks: Sequence[tuple[str, Styled]]) -> Styled:
    """A page as styled text: what ``StyledRenderer`` composes for those who want the spans themselves."""
    pieces: list[str] = []
    spans = []
    size = 0
    for gap, block in blocks:
        size += len(gap)
        spans += [replace(span, start=span.start + size, end=span.end + size) for span in block.spans]
        pieces += (gap, block.text)
        size += len(block.text)
    return Styled("".join(pieces), tuple(spans))


def _groups(tokens: list[Token]) -> Iterator[list[Token]]:
    group: list[Token] = []
    for token in tokens:
        group.append(token)
        if token.level == 0 and token.nesting <= 0:
            yield group
            group = []


class _Kept(Generic[Value]):
    """The values that were asked for last."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._values: OrderedDict[Key, Value] = OrderedDict()

    def get(self, key: Key, make: Callable[[], Value]) -> Value:
        value = self._values.get(key)
        if value is None:
            value = self._values[key] = make()
            if len(self._values) > self._most:
                self._values.popitem(last=False)
        else:
            self._values.move_to_end(key)
        return value
