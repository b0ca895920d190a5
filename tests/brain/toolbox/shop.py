"""The shop's two hundred tools, and the house's own, without anything else of the house."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from bot.brain.toolbox.box import Toolbox
from bot.core.ports import Embedder, Tool
from bot.core.tool import Effect
from bot.tools.registry import find_tools, tool
from tests.fakes.shop.opened import opened

with opened():
    STOCK: Final[dict[str, Tool]] = dict(find_tools())


@tool(effect=Effect.SEND)
async def parcel_send(to: str, *, context: object) -> str:
    """Send a parcel to somebody."""
    return f"sent to {to}"


def box(tools: Sequence[Tool] = tuple(STOCK.values()), embedder: Embedder | None = None) -> Toolbox:
    return Toolbox(tools, embedder)
