"""Counting at the ports: model calls and platform calls pass through here on their way."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager

from bot.app.faults import ModelFaults
from bot.core.address import Address
from bot.core.errors import ChannelError, ModelResting, ProviderError, StoreError
from bot.core.inbound import ButtonPress, FileRef, Inbound, Receipt
from bot.core.model import ModelEvent, ModelRequest, ModelUsage, Usage
from bot.core.ports import Channel, Provider, Receive
from bot.core.view import Limits, Part, Ref, Rendered
from bot.web.metrics import Metrics


class MeteredProvider:
    """Implements ``bot.core.ports.Provider``."""

    def __init__(self, inner: Provider, metrics: Metrics, faults: ModelFaults) -> None:
        self._inner, self._metrics, self._faults = inner, metrics, faults

    @asynccontextmanager
    async def stream(self, request: ModelRequest) -> AsyncIterator[AsyncIterator[ModelEvent]]:
        usage = Usage()

        async def counted(events: AsyncIterator[ModelEvent]) -> AsyncIterator[ModelEvent]:
            nonlocal usage
            async for event in events:
                if isinstance(event, ModelUsage):
                    usage = event.usage
                yield event

        try:
            async with self._inner.stream(request) as events:
                self._faults.answered(request.model.provider)
                yield counted(events)
        except ModelResting:  # nobody was asked
            raise
        except ProviderError as error:
            self._metrics.provider_error(request.model.provider, error)
            self._faults.met(request.model, error)
            raise
        finally:
            self._metrics.tokens(request.model.provider, usage)

    async def aclose(self) -> None:
        await self._inner.aclose()


class MeteredChannel:
    """Implements ``bot.core.ports.Channel``."""

    def __init__(self, inner: Channel, metrics: Metrics) -> None:
        self.name = inner.name
        self._inner, self._metrics = inner, metrics

    @property
    def limits(self) -> Limits:
        return self._inner.limits

    @property
    def connected(self) -> bool:
        return self._inner.connected

    def render(self, markdown: str) -> Rendered:
        return self._inner.render(markdown)

    async def run(self, receive: Receive) -> None:
        await self._inner.run(receive)

    async def show(self, to: Address, ref: Ref | None, part: Part) -> Ref:
        try:
            shown = await self._inner.show(to, ref, part)
        except ChannelError as error:
            self._metrics.channel_error(self.name, error)
            raise
        self._metrics.shown(self.name, edit=ref is not None or part.fleeting)
        return shown

    async def remove(self, to: Address, ref: Ref) -> None:
        await self._inner.remove(to, ref)

    async def answer(self, press: ButtonPress, notice: str) -> None:
        await self._inner.answer(press, notice)

    async def fetch(self, file: FileRef) -> bytes:
        return await self._inner.fetch(file)

    async def history(self, of: Address, limit: int) -> Sequence[Inbound]:
        return await self._inner.history(of, limit)


def metered(receive: Receive, metrics: Metrics, met: Callable[[StoreError | None], None]) -> Receive:
    """``receive``, counted; ``met`` hears what keeps it from storing, and None when it has stored."""

    async def counted(inbound: Inbound) -> Receipt:
        try:
            receipt = await receive(inbound)
        except StoreError as error:
            met(error)
            raise
        metrics.inbound(inbound.address.channel, inbound.kind)
        met(None)
        return receipt

    return counted
