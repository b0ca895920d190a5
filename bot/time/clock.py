"""The machine's clock behind the port."""

from __future__ import annotations

import asyncio
import time


class SystemClock:
    """Implements ``bot.core.ports.Clock``."""

    def now(self) -> float:
        return time.time()

    def monotonic(self) -> float:
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(max(0.0, seconds))
