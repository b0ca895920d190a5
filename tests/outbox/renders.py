"""Three ways in which a platform may show Markdown: as it is, longer, and shorter."""

from __future__ import annotations

import html
import re
from collections.abc import Callable

from bot.core.view import Rendered
from bot.outbox.graphemes import Unit, length
from bot.outbox.paging import Render

Renders = Callable[[Unit], Render]
_LINK = re.compile(r"\[([^\]\n]*)\]\([^)\n]*\)")


def identity(unit: Unit) -> Render:
    return lambda markdown: Rendered(markdown, length(markdown, unit))


def escaping(unit: Unit) -> Render:
    """Every reserved character becomes several, as in HTML or MarkdownV2."""

    def render(markdown: str) -> Rendered:
        text = re.sub(r"([*_.!|-])", r"\\\1", html.escape(markdown))
        return Rendered(text, length(text, unit))

    return render


def shortening(unit: Unit) -> Render:
    """Link targets and emphasis marks disappear, as where formatting goes out beside the text."""

    def render(markdown: str) -> Rendered:
        text = _LINK.sub(r"\1", markdown).replace("**", "")
        return Rendered(text, length(text, unit))

    return render


ALL: tuple[Renders, ...] = (identity, escaping, shortening)
UNITS: tuple[Unit, ...] = ("chars", "utf16", "bytes")
