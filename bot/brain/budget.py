"""How large a prompt is, in the estimate's tokens and in those of the model it is for."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from bot.brain.history import size_of
from bot.brain.tokens import estimated_tokens
from bot.core.model import ImageBlock, ModelRef, ModelRequest, Usage
from bot.core.tool import ToolSpec

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


class Gauge:
    """How many tokens a model's own tokenizer makes of one of the estimate's, measured from what its vendor counted."""

    def __init__(self) -> None:
        self._sums: dict[str, _Sums] = {}

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
        sums = self._sums.get(str(model))
        return sums.told / sums.estimated if sums else 1.0

    def scale(self, model: ModelRef) -> float:
        """The ratio for budgets: in steps of a tenth, upwards, because a budget that is a little different with every prompt
        would cut what it holds differently each time, and no cache would hit."""
        return math.ceil(self.ratio(model) * 10 - 1e-9) / 10


def _has_pictures(request: ModelRequest) -> bool:
    return any(isinstance(block, ImageBlock) for message in request.messages for block in message.content)
