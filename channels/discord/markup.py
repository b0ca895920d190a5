"""Markdown as Discord's own Markdown: what its client shows of it is the styled text, and nothing else."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from bot.core.view import Rendered
from bot.outbox.styled.leaves import Leaf, leaves
from bot.outbox.styled.links import candid
from bot.outbox.styled.renderer import StyledRenderer
from bot.outbox.styled.spans import Styled, is_blank
from channels.discord.markup_inline import GUARD, masks, written
from channels.discord.markup_lists import Place, places

DEEPEST_HEADING: Final = 3
"""Discord has no headings below this level."""
QUOTE: Final = "> "
_FENCE = re.compile("``(?=`)")


@dataclass(frozen=True, slots=True)
class _Block:
    """A top-level block, and what it begins and ends with as far as that matters to the gap there."""

    text: str
    opens: str
    closes: str


class Renderer:
    """Renders Markdown for the content of a Discord message."""

    def __init__(self) -> None:
        self._styled = StyledRenderer(_block, _page)

    def render(self, markdown: str) -> Rendered:
        """Any text whatever as Discord's Markdown; ``length`` in code points."""
        return self._styled.render(markdown)


def _page(blocks: Sequence[tuple[str, _Block]]) -> Rendered:
    pieces: list[str] = []
    above = ""
    for gap, block in blocks:
        pieces += (_gap(gap, above, block.opens), block.text)
        above = block.closes
    text = _bounded("".join(pieces))
    return Rendered("", 0) if is_blank(text) else Rendered(text, len(text))


def _bounded(text: str) -> str:
    """A label reaches to the last closing bracket before an address, unless another opens: none may come behind a link."""
    if "](<" not in text:
        return text
    parts = (part.partition("](<") for part in text.split("["))
    return "[".join(label + link + rest.replace("](", f"]{GUARD}(") for label, link, rest in parts)


def _gap(gap: str, above: str, below: str) -> str:
    """A heading has room around it anyway, and of two lists the second would go on counting the first."""
    if gap and "heading" in (above, below):
        return "\n"
    return "\n\n" if gap and above == below == "list" else gap


def _block(styled: Styled) -> _Block:
    found = [_adapted(leaf) for leaf in leaves(candid(styled, masks))]
    stood = places(found)
    if not found:
        return _Block("", "", "")
    pieces = [_leaf(found[0], stood[0])]
    for number in range(1, len(found)):
        pieces += (_between(found[number - 1], found[number], stood[number]), _leaf(found[number], stood[number]))
    return _Block("".join(pieces), _kind(found[0]), _kind(found[-1]))


def _kind(leaf: Leaf) -> str:
    if leaf.depth or leaf.outer:
        return "" if leaf.quote and not leaf.outer else "list"
    return "heading" if leaf.heading and not leaf.quote else ""


def _adapted(leaf: Leaf) -> Leaf:
    """A heading where Discord would show none is bold."""
    if not leaf.heading or (leaf.heading <= DEEPEST_HEADING and not leaf.depth and not leaf.outer):
        return leaf
    bold = (replace(run, styles=run.styles | {"bold"}) for run in leaf.runs)
    return replace(leaf, runs=tuple(bold), heading=0)


def _between(above: Leaf, leaf: Leaf, place: Place) -> str:
    """The line breaks above ``leaf``. Within a list a blank line ends it, so there it holds what nobody sees, or goes."""
    breaks, blank = leaf.gap, ""
    if above.quote == leaf.quote:
        blank = _margin(leaf, place, indented=False)
        if above.heading or leaf.heading:
            breaks = 1
    elif above.quote and leaf.quote:
        breaks = max(breaks, 2)
    elif leaf.outer:
        breaks = 1
    if place.apart:
        breaks = max(breaks, 2)
    if leaf.depth and not (leaf.items and leaf.items[0].level == 1):
        if leaf.items or leaf.code or above.code:
            breaks = 1
        blank = _margin(leaf, place) + GUARD
    return "\n" + f"{blank}\n" * (breaks - 1)


def _leaf(leaf: Leaf, place: Place) -> str:
    margin = _margin(leaf, place)
    if leaf.code:
        language = leaf.language if leaf.language.isascii() else ""
        lines = (f"```{language}", *_FENCE.sub(f"``{GUARD}", leaf.text).split("\n"), "```")
        return "\n".join(margin + line for line in lines)
    if leaf.heading:
        return f"{margin}{'#' * leaf.heading} {written(leaf.runs, heading=True)}"
    text = written(leaf.runs)
    if leaf.items:
        return f"{GUARD}\n".join(margin + marker for marker in place.markers) + (text.lstrip() or GUARD)
    return margin + (GUARD + text if leaf.depth else text)


def _margin(leaf: Leaf, place: Place, *, indented: bool = True) -> str:
    return place.outer + (QUOTE if leaf.quote else "") + (place.indent if indented else "")
