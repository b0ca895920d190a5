"""What the vendors charge and how much their models can read, from a dated list; of a model that is not in it nothing is
known."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final

from bot.core.model import Price

_FILE: Final = Path(__file__).with_name("pricelist.json")
_DATED: Final = re.compile(r"-(?:\d{8}|\d{4}-\d\d-\d\d|latest)$")
"""The vendors' ending for one state of a model."""


@cache
def _list() -> Mapping[str, Any]:
    read: Mapping[str, Any] = json.loads(_FILE.read_text(encoding="utf-8"))
    return read


def _entry(vendor: str, model: str) -> Mapping[str, Any]:
    named: Mapping[str, Any] = _list()[vendor].get(_DATED.sub("", model), {})
    return named


def as_of() -> str:
    """The day on which the list was compared with the vendors' pages, as ``YYYY-MM-DD``."""
    return str(_list()["as_of"])


def price_of(vendor: str, model: str) -> Price | None:
    """None for a model whose price is not known."""
    entry = _entry(vendor, model)
    if not entry:
        return None
    above = entry.get("above", {})
    return Price(
        input=entry["input"],
        output=entry["output"],
        cache_read=entry.get("cache_read"),
        cache_write=entry.get("cache_write"),
        above_tokens=above.get("tokens"),
        above_times=above.get("times", 1.0),
    )


def window_of(vendor: str, model: str) -> int | None:
    """Tokens; None where the list does not tell."""
    window: int | None = _entry(vendor, model).get("window")
    return window
