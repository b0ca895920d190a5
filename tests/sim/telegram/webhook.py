"""Delivery by webhook: updates posted to the bot's own server, in order within a chat, again until it says 200."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import aiohttp

from tests.sim.telegram.nouns import Json
from tests.sim.telegram.updates import Updates

LONGEST_WAIT = 60.0
ANSWER_SECONDS = 30.0


class Webhook:
    """``run`` delivers while a url is set. ``deliveries`` are (update id, status of the answer, 0 when there was none)."""

    def __init__(
        self,
        updates: Updates,
        sleep: Callable[[float], Awaitable[None]],
        now: Callable[[], float],
        handed: Callable[[Any], None],
    ) -> None:
        self._updates, self._sleep, self._now, self._handed = updates, sleep, now, handed
        self._secret, self._connections = "", 40
        self._last_error, self._last_error_at = "", 0
        self._news = asyncio.Event()
        self._busy: dict[Any, int] = {}
        self.deliveries: list[tuple[int, int]] = []
        updates.arrived = self._news.set

    def set(self, url: str, secret: str, connections: int) -> None:
        self._updates.webhook_url, self._secret, self._connections = url, secret, max(1, min(connections, 100))
        self._last_error = ""
        self._news.set()

    def clear(self) -> None:
        self._updates.webhook_url = ""

    def info(self) -> Json:
        info: Json = {"max_connections": self._connections, "ip_address": "127.0.0.1"}
        trouble = {"last_error_message": self._last_error, "last_error_date": self._last_error_at}
        return {**info, **trouble} if self._last_error else info

    async def run(self) -> None:
        """Until cancelled."""
        async with aiohttp.ClientSession() as session, asyncio.TaskGroup() as group:
            while True:
                await self._news.wait()
                self._news.clear()
                if not self._updates.webhook_url:
                    continue
                for number in sorted(self._updates.pending):
                    place = _place(self._updates.pending[number].body)
                    if place not in self._busy and len(self._busy) < self._connections:
                        self._busy[place] = number
                        group.create_task(self._deliver(session, number, place))

    async def _deliver(self, session: aiohttp.ClientSession, number: int, place: Any) -> None:
        wait = 1.0
        try:
            while (url := self._updates.webhook_url) and (update := self._updates.pending.get(number)) is not None:
                if not update.handed:
                    self._handed(update.body)
                update.handed += 1
                status = await self._post(session, url, update.body)
                self.deliveries.append((number, status))
                if 200 <= status < 300:
                    self._updates.confirm(number)
                    return
                self._last_error = f"Wrong response from the webhook: {status}" if status else "Connection refused"
                self._last_error_at = int(self._now())
                await self._sleep(wait)
                wait = min(2 * wait, LONGEST_WAIT)
        finally:
            del self._busy[place]
            self._news.set()

    async def _post(self, session: aiohttp.ClientSession, url: str, body: Any) -> int:
        headers = {"X-Telegram-Bot-Api-Secret-Token": self._secret} if self._secret else {}
        timeout = aiohttp.ClientTimeout(total=ANSWER_SECONDS)
        try:
            async with session.post(url, json=body, headers=headers, timeout=timeout) as answer:
                await answer.read()
                return answer.status
        except (aiohttp.ClientError, TimeoutError):
            return 0


def _place(update: Any) -> Any:
    """Updates of one chat go one after the other."""
    if isinstance(update, dict):
        for body in update.values():
            if isinstance(body, dict):
                inner = body.get("message", body)
                if isinstance(inner, dict) and isinstance(inner.get("chat"), dict):
                    return inner["chat"].get("id")
    return None
