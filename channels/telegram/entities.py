"""Markdown as Telegram shows it: plain text and entities, which no server can fail to parse."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from math import ceil
from typing import Final, Generic, TypeVar

from markdown_it.token import Token

from bot.core.view import Entity, Rendered
from channels.telegram.blocks import Scribe
from channels.telegram.markdown import MAX_NESTING, Env, parser
from channels.telegram.spans import Canvas, entities, is_blank, shown_text, units

MESSAGE_UNITS: Final = 4096
MESSAGE_ENTITIES: Final = 100
"""Telegram shows about so many entities of a message and ignores the rest (PTB, ``MessageLimit.MESSAGE_ENTITIES``)."""
LONGEST_CHARS: Final = 40_000
"""Beyond this no message could hold the text: it is only measured, as plain text."""
LONGEST_BLOCK_CHARS: Final = 8_192
"""A single block beyond this is shown as it was written."""
BLOCKS_KEPT: Final = 1000
PAGES_KEPT: Final = 32

Key = tuple[object, ...]
Value = TypeVar("Value")


@dataclass(frozen=True, slots=True)
class _Block:
    """A top-level block as it looks, whatever stands around it."""

    text: str
    size: int
    entities: tuple[Entity, ...]


class Renderer:
    """Renders Markdown for Telegram; the same text always looks the same. Blocks that are seen again are not drawn again."""

    def __init__(self) -> None:
        self._md = parser()
        self._blocks = _Kept[_Block](BLOCKS_KEPT)
        self._pages = _Kept[Rendered](PAGES_KEPT)

    def render(self, markdown: str) -> Rendered:
        """Any text whatever as text and entities, offsets in UTF-16 units.

        ``length`` is what a pager measures: the UTF-16 units of the text or, where formatting is so dense that Telegram
        would ignore some of it, as many units as those entities are of a message's hundred.
        """
        if len(markdown) > LONGEST_CHARS:
            text = shown_text(markdown).replace("\t", "    ").strip()
            return Rendered(text, units(text))
        return self._pages.get((markdown,), lambda: self._rendered(markdown))

    def _rendered(self, markdown: str) -> Rendered:
        source = shown_text(markdown)
        pieces: list[str] = []
        found: list[Entity] = []
        size = 0
        for gap, block in self._drawn(source):
            if not block.text:
                continue
            if pieces:
                pieces.append(gap)
                size += len(gap)
            pieces.append(block.text)
            found += [replace(entity, offset=entity.offset + size) for entity in block.entities]
            size += block.size
        text = "".join(pieces)
        if is_blank(text):
            return Rendered("", 0)
        return Rendered(text, max(size, ceil(MESSAGE_UNITS * len(found) / MESSAGE_ENTITIES)), tuple(found))

    def _drawn(self, source: str) -> Iterator[tuple[str, _Block]]:
        """Each top-level block, and the line breaks that part it from the one before."""
        env: Env = {}
        tokens: list[Token] = []
        self._md.block.parse(source, self._md, env, tokens)
        lines = source.split("\n")
        references = tuple((label, one["href"]) for label, one in env.get("references", {}).items())
        end, heading = 0, False
        for group in _groups(tokens):
            first = group[0]
            after_heading, heading = heading, first.type == "heading_open"
            above = end
            start, end = first.map or (above, above)
            apart = start > above or (start > 0 and not lines[start - 1].strip())
            gap = "\n\n" if apart or heading or after_heading else "\n"
            written = "\n".join(lines[start:end])
            key = (written, first.type, len(group), references if "]" in written else ())
            yield gap, self._blocks.get(key, partial(self._draw, group, written, env))

    def _draw(self, group: list[Token], written: str, env: Env) -> _Block:
        canvas = Canvas()
        if len(written) > LONGEST_BLOCK_CHARS or any(token.level >= MAX_NESTING - 1 for token in group):
            canvas.write(written.strip())
        else:
            for token in group:
                if token.type == "inline":
                    token.children = []
                    self._md.inline.parse(token.content, self._md, env, token.children)
            Scribe(canvas).write(group)
        text, spans = canvas.finished()
        return _Block(text, units(text), entities(text, spans))


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
