"""Named points where an answer waits for the test, and where the test waits for an answer."""

import asyncio


class Gates:
    """A gate waits until released and then stays open; `at` tells the test that an answer has arrived there."""

    def __init__(self) -> None:
        self._open: dict[str, asyncio.Event] = {}
        self._reached: dict[str, asyncio.Event] = {}
        self._closing = asyncio.Event()

    def _events(self, name: str) -> tuple[asyncio.Event, asyncio.Event]:
        return self._open.setdefault(name, asyncio.Event()), self._reached.setdefault(name, asyncio.Event())

    async def wait(self, name: str) -> None:
        opened, reached = self._events(name)
        reached.set()
        await opened.wait()

    async def at(self, name: str) -> None:
        """Return once some answer waits (or has waited) at the gate."""
        await self._events(name)[1].wait()

    def release(self, name: str) -> None:
        self._events(name)[0].set()

    async def stall(self) -> None:
        """Silence for good; only the client's leaving or the end of the simulator cancels it."""
        await self._closing.wait()

    def close(self) -> None:
        """Let every waiter go, at the end of the simulator or on reset."""
        for opened in self._open.values():
            opened.set()
        self._closing.set()
