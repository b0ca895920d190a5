"""What a model call costs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bot.core.model import Usage


@dataclass(frozen=True, slots=True)
class Price:
    """USD per million tokens. What is read from or written to the vendor's cache costs as ``input`` where nothing else is
    known. A prompt of more than ``above_tokens`` costs ``above_times`` as much, its answer too."""

    input: float
    output: float
    cache_read: float | None = None
    cache_write: float | None = None
    above_tokens: int | None = None
    above_times: float = 1.0

    @property
    def is_free(self) -> bool:
        return not self.input and not self.output

    def cost(self, usage: Usage) -> float:
        """USD."""
        read, written = usage.cache_read_tokens, usage.cache_write_tokens
        fresh = max(0, usage.input_tokens - read - written)
        usd = fresh * self.input + usage.output_tokens * self.output
        usd += read * (self.input if self.cache_read is None else self.cache_read)
        usd += written * (self.input if self.cache_write is None else self.cache_write)
        times = self.above_times if self.above_tokens and usage.input_tokens > self.above_tokens else 1.0
        return usd * times / 1_000_000


FREE = Price(0.0, 0.0)
