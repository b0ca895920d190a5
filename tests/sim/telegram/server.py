"""The simulator itself: the Bot API on a loopback port, and what a test sees of it and does to it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from types import TracebackType
from typing import Any, Literal, Self

from aiohttp import web

from tests.sim.telegram.api import TOKEN, BotApi, refusal
from tests.sim.telegram.bodies import MAX_BODY_BYTES
from tests.sim.telegram.control import Control
from tests.sim.telegram.faults import Action, Fault
from tests.sim.telegram.files import Files
from tests.sim.telegram.nouns import Call, Chat, Person, Refused, Shown
from tests.sim.telegram.people import People
from tests.sim.telegram.presses import Presses
from tests.sim.telegram.rates import Rates
from tests.sim.telegram.report import Report
from tests.sim.telegram.updates import Updates
from tests.sim.telegram.webhook import Webhook
from tests.sim.telegram.world import World

LOOK_SECONDS = 0.1


class TelegramSim(People):
    """``async with TelegramSim() as sim:`` serves until the end of the block, at ``url``.

    With ``strict_rates`` the platform's rates hold (rates.py). ``latency`` is how long a call takes, in seconds, and
    ``latencies`` the same by method; calls run side by side and take effect at the end of that time, also when the client
    is gone by then. ``monotonic`` and ``sleep`` measure everything, ``now`` dates messages.
    """

    def __init__(
        self,
        token: str = "123456:SIM",
        *,
        strict_rates: bool = True,
        latency: float = 0.003,
        monotonic: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        now: Callable[[], float] = time.time,
        username: str = "bowerbird_bot",
        port: int = 0,
    ) -> None:
        match = TOKEN.fullmatch(token)
        if match is None:
            raise ValueError("a token is digits, a colon and letters")
        noted: list[str] = []
        self.token, self.url = token, ""
        self.report, self.files = Report(), Files()
        self.presses = Presses(monotonic, noted.append)
        self.updates = Updates(monotonic, sleep, self.changed, self._handed)
        self.webhook = Webhook(self.updates, sleep, now, self._handed)
        self.world = World(
            Person(int(match[1]), "Bowerbird", username, is_bot=True),
            self.updates,
            self.files,
            self.presses,
            self.webhook,
            self.report,
            now,
            monotonic,
            self.changed,
        )
        rates = Rates(monotonic, noted.append, strict=strict_rates)
        self.api = BotApi(token, self.world, rates, noted, latency, sleep)
        self._monotonic, self._port = monotonic, port
        self._waiting: set[asyncio.Event] = set()
        self._control = Control(self)
        self._runner: web.AppRunner | None = None

    async def __aenter__(self) -> Self:
        app = web.Application(client_max_size=MAX_BODY_BYTES)
        app.router.add_route("*", "/{path:.*}", self._serve)
        self._runner = web.AppRunner(app, handler_cancellation=True, access_log=None, shutdown_timeout=0.2)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", self._port, backlog=2048).start()
        self.url = f"http://127.0.0.1:{self._runner.addresses[0][1]}"
        self.api.start(self.webhook.run())
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._runner is not None, "never entered"
        await self.api.close()
        await self._runner.cleanup()

    async def _serve(self, request: web.Request) -> web.Response:
        _, head, *rest = request.path.split("/", 2)
        if head.startswith("bot") and rest:
            return await self.api.serve(request, head.removeprefix("bot"), rest[0])
        if head == "file" and rest and rest[0].startswith("bot"):
            return self.api.download(*rest[0].removeprefix("bot").partition("/")[::2])
        if head == "_sim" and rest:
            return await self._control.serve(request, rest[0])
        return refusal(Refused(404, "Not Found"))

    # what a test sees

    @property
    def calls(self) -> list[Call]:
        """Every call of the bot, polls too, in order of arrival."""
        return self.api.calls

    @property
    def violations(self) -> list[str]:
        """Every rule the bot broke, so far."""
        self.presses.sweep()
        return self.api.noted

    @property
    def polls(self) -> int:
        return self.updates.polls

    @property
    def pending(self) -> list[Any]:
        """Updates that no poll has confirmed."""
        return [self.updates.pending[number].body for number in sorted(self.updates.pending)]

    @property
    def callback_answers(self) -> list[tuple[str, str, bool]]:
        """Callback id, text, alert or not."""
        return self.presses.answers

    def called(self, method: str, chat: Chat | int | None = None) -> list[Call]:
        """The calls of one method, in one chat."""
        place = chat.id if isinstance(chat, Chat) else chat
        return [call for call in self.calls if call.method == method and place in (None, call.chat_id)]

    def visible(self, chat: Chat) -> list[Shown]:
        """What a person sees, oldest first."""
        return self.world.visible(chat)

    def bot_texts(self, chat: Chat) -> list[str]:
        return [message.text for message in self.visible(chat) if message.from_bot]

    def drafts(self, chat: Chat) -> list[str]:
        """The drafts that are on screen now."""
        return self.world.drafts(chat)

    def typing(self, chat: Chat) -> bool:
        return chat.typing_until > self._monotonic()

    async def until(self, holds: Callable[[Self], Any], timeout: float = 15.0) -> None:
        """Return once ``holds(sim)`` is true, looked at whenever something changes, and now and then for what only time
        changes. TimeoutError, with what was seen last, after ``timeout`` real seconds."""
        news = asyncio.Event()
        self._waiting.add(news)
        try:
            async with asyncio.timeout(timeout):
                while not holds(self):
                    news.clear()
                    with suppress(TimeoutError):
                        async with asyncio.timeout(LOOK_SECONDS):
                            await news.wait()
        except TimeoutError:
            last = [f"{call.method} {call.chat_id} {call.status or call.answer or 'open'}" for call in self.calls[-5:]]
            seen = f"calls {last}, {len(self.pending)} updates pending, violations {self.violations[-5:]}"
            raise TimeoutError(f"it did not come to that in {timeout} s: {seen}") from None
        finally:
            self._waiting.discard(news)

    # what a test does to the platform

    @property
    def latency(self) -> float:
        return self.api.latency

    @latency.setter
    def latency(self, seconds: float) -> None:
        self.api.latency = seconds

    @property
    def latencies(self) -> dict[str, float]:
        return self.api.latencies

    def fail(
        self,
        method: str,
        nth: int = 1,
        *,
        status: int = 0,
        retry_after: int = 0,
        description: str = "",
        effect: Literal["none", "done"] = "none",
        action: Action = "answer",
        chat: Chat | int | None = None,
        every: bool = False,
        migrate_to: int = 0,
    ) -> Fault:
        """Script one fault (faults.py); ``nth`` counts the calls from now on."""
        place = chat.id if isinstance(chat, Chat) else chat
        fault = Fault(method, nth, status, retry_after, description, effect, action, place, every, migrate_to)
        return self.api.faults.add(fault)

    def heal(self) -> None:
        """No more faults, and every flood wait is over."""
        self.api.faults.clear()
        self.api.rates.forgive()

    def revoke_token(self) -> None:
        self.api.revoked = True

    def restore_token(self) -> None:
        self.api.revoked = False

    def changed(self) -> None:
        for news in self._waiting:
            news.set()

    def _handed(self, update: Any) -> None:
        self.report.handed(update)
        if isinstance(update, dict) and isinstance(update.get("callback_query"), dict):
            self.presses.heard(str(update["callback_query"].get("id")))
