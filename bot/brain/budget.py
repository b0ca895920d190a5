"""How large a prompt is, in the estimate's tokens and in those of the model it is for."""

from __future__ import annotations

import json
import logging
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Final

from pydantic import TypeAdapter, ValidationError

from bot.brain.history import size_of
from bot.brain.tokens import estimated_tokens
from bot.core.errors import StoreError
from bot.core.model import ImageBlock, ModelRef, ModelRequest, Usage
from bot.core.ports import Clock, Notes
from bot.core.tool import ToolSpec

log = logging.getLogger(__name__)

NOTE: Final = "ratios"
KEEP_SECONDS: Final = 60.0
KEEP_CHANGE: Final = 0.01
"""A smaller change of a ratio is not worth a write."""
_KEPT: Final = 0.5
"""So much of what was known weighs beside the next bill: of a conversation in another language than the last the estimate
is soon right again."""
_LEAST: Final = 0.6
_MOST: Final = 5.0
"""Outside of them the count is of something else: a server that cut the prompt without a word, say."""


def tools_tokens(tools: Sequence[ToolSpec]) -> int:
    return sum(
        estimated_tokens(json.dumps([tool.name, tool.description, dict(tool.parameters)], ensure_ascii=False))
        for tool in tools
    )


def prompt_tokens(request: ModelRequest) -> int:
    """By the estimate."""
    system = estimated_tokens(request.system) if request.system else 0
    return system + tools_tokens(request.tools) + sum(map(size_of, request.messages))


@dataclass(slots=True)
class _Sums:
    estimated: float = 0.0
    told: float = 0.0


_NOTED: Final = TypeAdapter(dict[str, _Sums])


class Gauge:
    """How many tokens a model's own tokenizer makes of one of the estimate's, measured from what its vendor counted, by
    provider and model. ``notes`` keep it over restarts: ``load`` before it is asked; ``run`` writes beside the turns,
    ``keep`` at the end."""

    def __init__(self, notes: Notes | None = None) -> None:
        self._notes = notes
        self._sums: dict[str, _Sums] = {}
        self._kept: dict[str, float] = {}
        self._loaded = notes is None

    async def load(self) -> None:
        """What the last process had measured; nothing where that cannot be read. Once."""
        if self._loaded or self._notes is None:
            return
        try:
            text = await self._notes.read(NOTE)
            noted = _NOTED.validate_json(text) if text else {}
        except (StoreError, ValidationError):
            log.warning("what was measured of the models' tokens cannot be read; it is measured anew")
            noted = {}
        self._loaded = True
        self._sums = {**{name: sums for name, sums in noted.items() if _is_sound(sums)}, **self._sums}
        self._kept = {name: self._ratio(name) for name in self._sums}

    async def run(self, clock: Clock) -> None:
        """Until cancelled: write down what has changed, once a minute at most."""
        while True:
            await clock.sleep(KEEP_SECONDS)
            await self.keep()

    async def keep(self) -> None:
        """Write down what has changed since it was, if it is worth it. A store that cannot be written costs no more than the
        memory of it."""
        changes = (abs(self._ratio(name) / self._kept.get(name, 1.0) - 1) for name in self._sums)
        if self._notes is None or max(changes, default=0.0) < KEEP_CHANGE:
            return
        self._kept = {name: self._ratio(name) for name in self._sums}
        try:
            await self._notes.write(NOTE, json.dumps({name: asdict(sums) for name, sums in self._sums.items()}))
        except StoreError as error:
            log.warning("what was measured of the models' tokens could not be noted: %s", error)

    def note(self, request: ModelRequest, usage: Usage) -> None:
        """What the vendor counted of a request. Pictures would tell nothing of the words beside them."""
        if usage.estimated or not usage.input_tokens or _has_pictures(request):
            return
        estimated = prompt_tokens(request)
        if not _LEAST <= usage.input_tokens / estimated <= _MOST:
            return
        sums = self._sums.setdefault(str(request.model), _Sums())
        sums.estimated = sums.estimated * _KEPT + estimated
        sums.told = sums.told * _KEPT + usage.input_tokens

    def ratio(self, model: ModelRef) -> float:
        """1 for a model that has counted nothing yet."""
        return self._ratio(str(model))

    def _ratio(self, name: str) -> float:
        sums = self._sums.get(name)
        return sums.told / sums.estimated if sums else 1.0

    def scale(self, model: ModelRef) -> float:
        """The ratio for budgets: in steps of a tenth, upwards, because a budget that is a little different with every prompt
        would cut what it holds differently each time, and no cache would hit."""
        return math.ceil(self.ratio(model) * 10 - 1e-9) / 10


def _is_sound(sums: _Sums) -> bool:
    return sums.estimated > 0 and _LEAST <= sums.told / sums.estimated <= _MOST


def _has_pictures(request: ModelRequest) -> bool:
    return any(isinstance(block, ImageBlock) for message in request.messages for block in message.content)
