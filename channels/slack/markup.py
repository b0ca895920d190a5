"""Markdown as Slack shows it: rich text, which nothing can misread, and a line of mrkdwn for notifications."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from bot.core.view import Rendered
from bot.outbox.styled.leaves import Leaf, leaves
from bot.outbox.styled.links import candid, inserted
from bot.outbox.styled.renderer import StyledRenderer
from bot.outbox.styled.spans import Styled, is_blank
from channels.slack.markup_mrkdwn import mrkdwn
from channels.slack.markup_rich import elements

BARS = "||"
"""Slack has no spoilers: what should be hidden is marked as such."""


@dataclass(frozen=True, slots=True)
class _Block:
    """A top-level block: its leaves and how it reads in mrkdwn."""

    leaves: tuple[Leaf, ...]
    text: str


@dataclass(frozen=True, slots=True)
class _Page:
    rendered: Rendered
    blocks: tuple[tuple[int, _Block], ...]


class Renderer:
    """Renders Markdown for Slack's messages."""

    def __init__(self) -> None:
        self._styled = StyledRenderer(_block, _page)

    def render(self, markdown: str) -> Rendered:
        """``text`` is mrkdwn for where blocks are not shown, ``length`` its size in bytes of UTF-8."""
        return self._styled.render(markdown).rendered

    def rich(self, markdown: str) -> list[dict[str, Any]]:
        """The same text as blocks of Block Kit, of which there is at most one."""
        page = self._styled.render(markdown)
        if not page.rendered.text:
            return []
        return [{"type": "rich_text", "elements": elements(_gathered(page.blocks))}]


def _block(styled: Styled) -> _Block:
    found = tuple(leaves(_barred(candid(styled, _masks))))
    return _Block(found, mrkdwn(found))


def _masks(label: str, url: str) -> bool:
    return not is_blank(label)


def _barred(styled: Styled) -> Styled:
    spoilers = [span for span in styled.spans if span.kind == "spoiler"]
    return inserted(styled, sorted((at, BARS) for span in spoilers for at in (span.start, span.end)))


def _page(blocks: Sequence[tuple[str, _Block]]) -> _Page:
    text = "".join(gap + block.text for gap, block in blocks)
    if is_blank(text):
        return _Page(Rendered("", 0), ())
    return _Page(Rendered(text, len(text.encode())), tuple((len(gap), block) for gap, block in blocks))


def _gathered(blocks: Sequence[tuple[int, _Block]]) -> list[Leaf]:
    """The leaves of all blocks, with the gaps between blocks and numbers for all quotations."""
    found: list[Leaf] = []
    quotes = 0
    for gap, block in blocks:
        own = [replace(leaf, quote=leaf.quote + quotes if leaf.quote else 0) for leaf in block.leaves]
        found += [replace(leaf, gap=leaf.gap if number else gap) for number, leaf in enumerate(own)]
        quotes = max((leaf.quote for leaf in found), default=0)
    return found
