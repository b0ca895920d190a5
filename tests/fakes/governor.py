"""A governor that keeps no rates."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager, nullcontext

from bot.core.address import Address
from bot.core.ports import CallKind


class OpenGovernor:
    """Implements ``bot.core.ports.Governor``: lets everything through and counts it."""

    def __init__(self) -> None:
        self.calls: list[tuple[Address, CallKind]] = []
        self.silences: list[tuple[Address, float]] = []

    def has_room(self, to: Address, kind: CallKind, *, edit: bool = False) -> bool:
        return True

    async def room(self, to: Address, kind: CallKind, *, edit: bool = False) -> None:
        return

    def call(self, to: Address, kind: CallKind, *, edit: bool = False) -> AbstractAsyncContextManager[None]:
        self.calls.append((to, kind))
        return nullcontext()

    def silence(self, to: Address, seconds: float) -> None:
        self.silences.append((to, seconds))
