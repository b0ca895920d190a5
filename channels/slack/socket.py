"""Socket Mode: one connection at a time, proven alive or replaced, and no envelope acknowledged before it is taken."""

from __future__ import annotations

import asyncio
import json
import logging
import ssl
from collections.abc import Awaitable, Callable, Mapping, Sequence
from math import inf
from typing import Any, Final, Literal

from slack_bolt.app.async_app import AsyncApp
from slack_bolt.middleware.async_middleware import AsyncMiddleware
from slack_bolt.request.async_request import AsyncBoltRequest
from slack_bolt.response import BoltResponse
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import WebSocketException

from bot.core.errors import ChannelError, ChannelUnreachable, RateLimited, StoreError, Unauthorised
from bot.core.ports import Clock
from bot.core.tasks import alongside, first_failure, first_of
from bot.net.trust import trust
from channels.slack.refusals import Hushed
from channels.slack.tiers import Tier
from channels.slack.wire import Wire

log = logging.getLogger(__name__)

OPEN_SECONDS: Final = 10.0
HELLO_SECONDS: Final = 10.0
CLOSE_SECONDS: Final = 1.0
PING_SECONDS: Final = 10.0
PONG_SECONDS: Final = 30.0
"""The library's own limits: it pings every ten seconds, and four without an answer are a dead connection."""
SILENT_SECONDS: Final = 150.0
"""A connection that answers pings and brings nothing may be deaf, and an idle one looks the same: both are replaced.
Slack sends what was not acknowledged for the last time about six minutes later, to the new connection then."""
STEADY_SECONDS: Final = 5.0
FIRST_WAIT: Final = 1.0
LONGEST_WAIT: Final = 30.0
TRIES: Final = 12
"""After so many attempts in a row without a connection the channel is built anew."""
STALE_AFTER: Final = 150.0
FRAME_BYTES: Final = 8 * 1024 * 1024
AT_ONCE: Final = 256
"""Envelopes that are being taken in; further ones wait on the wire."""
NOT_STORED: Final = 503

# Bolt writes what went wrong into its log together with everything that it was about
_BOLT = logging.getLogger("slack_bolt")
_BOLT.setLevel(logging.CRITICAL)
_WEBSOCKETS = logging.getLogger("websockets.client")
_WEBSOCKETS.setLevel(logging.WARNING)

Take = Callable[[Mapping[str, Any]], Awaitable[None]]
"""Returns once the payload is stored. ``StoreError``: it was not, and has to come again."""


End = Literal["lost", "planned", "doubted"]
"""How a connection came to its end: it broke; somebody wanted it so; it answered and brought nothing."""

Back = Callable[[float, End], None]
"""Takes the seconds of absence, and how the connection before had ended."""


class _Over(Exception):
    """The connection is to be replaced. ``str()`` says why."""

    def __init__(self, reason: str, end: End = "lost") -> None:
        super().__init__(reason)
        self.end = end


class Inbox(AsyncMiddleware):
    """The one global middleware, in which everything is done before Bolt acknowledges: it refuses what was not stored, so
    that Slack sends it again, and answers whatever kind it was otherwise."""

    def __init__(self, take: Take, name: str) -> None:
        self._take, self._name = take, name

    async def async_process(self, *, req: AsyncBoltRequest, resp: BoltResponse, next: Any) -> BoltResponse:
        try:
            await self._take(req.body)
        except StoreError as error:
            log.warning("%s: an event waits for the store: %s", self._name, error)
            return BoltResponse(status=NOT_STORED)
        return BoltResponse(status=200)


class Socket:
    """The line on which everything comes in."""

    def __init__(self, wire: Wire, clock: Clock, name: str) -> None:
        self._wire, self._clock, self._name = wire, clock, name
        self._tickets = Tier(clock, 7, 3)
        self._slots = asyncio.Semaphore(AT_ONCE)
        self._trouble = ""
        self._failures = 0
        self._end: End = "lost"
        self._began_at: float | None = None
        self._present_at = self._spoke_at = -inf
        self.connected = False
        self.heard_at = clock.monotonic()
        """When anything was last heard from Slack, or tried; in the future while Slack wants a silence."""

    async def run(self, take: Take, back: Back) -> None:
        """Until cancelled. ``back`` is told of every new connection before its first envelope is read. Raises
        ``Unauthorised``, and ``ChannelUnreachable`` after ``TRIES`` failures in a row."""
        app = self._bolt(take)
        async with asyncio.TaskGroup() as envelopes:
            while True:
                try:
                    await self._connection(app, envelopes, back)
                except Unauthorised:
                    raise
                except (RateLimited, Hushed) as limited:
                    await self._wait("Slack asks to wait", limited.retry_after)
                except _Over as over:
                    self._end = over.end
                    await self._ended(str(over))
                except ChannelError as error:
                    await self._ended(str(error))
                except (OSError, WebSocketException):
                    await self._ended("the connection to Slack was lost")
                finally:
                    self.connected = False

    async def _connection(self, app: AsyncApp, envelopes: asyncio.TaskGroup, back: Back) -> None:
        """One, from its ticket to its end, which is an exception; it is closed before the next one is opened."""
        await self._tickets.turn()
        self.heard_at = self._clock.monotonic()
        url = await self._wire.ticket()
        async with connect(
            url,
            ssl=_context(url),
            proxy=None,
            open_timeout=OPEN_SECONDS,
            close_timeout=CLOSE_SECONDS,
            ping_interval=None,
            max_size=FRAME_BYTES,
            compression=None,
            logger=_WEBSOCKETS,
        ) as link:
            await self._greeted(link)
            self._up(back)
            async with alongside(self._alive(link)):
                async for data in link:
                    self.heard_at = self._present_at = self._spoke_at = self._clock.monotonic()
                    await self._read(link, _frame(data), app, envelopes)
                raise _Over("Slack closed the connection")

    async def _greeted(self, link: ClientConnection) -> None:
        frames: list[str | bytes] = []

        async def first() -> None:
            frames.append(await link.recv())

        try:
            await first_of(first(), self._clock.sleep(HELLO_SECONDS))
        except BaseExceptionGroup as failures:
            raise first_failure(failures) from None
        if not frames:
            raise _Over("Slack accepts a connection and says nothing on it")
        if _frame(frames[0]).get("type") != "hello":
            raise _Over("Slack does not greet on a new connection")

    async def _read(
        self, link: ClientConnection, frame: Mapping[str, Any], app: AsyncApp, envelopes: asyncio.TaskGroup
    ) -> None:
        if frame.get("type") == "disconnect":
            if frame.get("reason") in ("warning", "refresh_requested"):
                raise _Over("Slack ends the connection", "planned")
            self._wire.permits.socket_mode = frame.get("reason") != "link_disabled"
            raise _Over("Slack takes no connection of this app")
        if isinstance(frame.get("envelope_id"), str):
            await self._slots.acquire()
            envelopes.create_task(self._handled(link, app, frame))

    def _bolt(self, take: Take) -> AsyncApp:
        """The inbox comes before the authorisation, which would ask Slack who we are."""
        return AsyncApp(
            name=self._name,
            logger=_BOLT,
            client=self._wire.client,
            before_authorize=Inbox(take, self._name),
            ssl_check_enabled=False,
            request_verification_enabled=False,
        )

    async def _alive(self, link: ClientConnection) -> None:
        """Ping, and watch for a connection that is silent or brings nothing."""
        while True:
            await self._clock.sleep(PING_SECONDS)
            pong = await link.ping()
            answered = asyncio.Event()
            await first_of(_until(pong, answered), self._clock.sleep(PONG_SECONDS))
            if not answered.is_set():
                raise _Over("the connection to Slack has gone silent")
            self._wire.permits.socket_mode = True
            self.heard_at = self._present_at = self._clock.monotonic()
            if self.heard_at - self._spoke_at >= SILENT_SECONDS:
                raise _Over("nothing came for a while", "doubted")

    async def _handled(self, link: ClientConnection, app: AsyncApp, frame: Mapping[str, Any]) -> None:
        """One envelope from its arrival to its acknowledgement."""
        payload = frame.get("payload")
        body = payload if isinstance(payload, dict) else {}
        try:
            status = await _dispatched(app, body, _retries(frame))
            if status != NOT_STORED:
                await link.send(json.dumps({"envelope_id": frame["envelope_id"]}))
        except (OSError, WebSocketException):
            pass  # the connection is gone; Slack sends it again, and it will be known then
        finally:
            self._slots.release()

    async def _ended(self, reason: str) -> None:
        """After a connection that lasted, or that was to end, the next one follows at once; after one that was greeted it
        soon does. Tickets have their own rate."""
        began, self._began_at = self._began_at, None
        if began is not None:
            self._failures = 0
            if self._end == "lost" and self._clock.monotonic() - began < STEADY_SECONDS:
                await self._wait(reason, FIRST_WAIT)
            return
        self._failures += 1
        if self._failures >= TRIES:
            raise ChannelUnreachable("Slack does not keep a connection.", maybe_done=False)
        await self._wait(reason, min(LONGEST_WAIT, FIRST_WAIT * 2.0 ** (self._failures - 1)))

    async def _wait(self, reason: str, seconds: float) -> None:
        """In the log once when it goes down, and again only when the reason is another."""
        if reason != self._trouble:
            log.warning("%s hears nothing, next try in %g s: %s", self._name, seconds, reason)
        self._trouble = reason
        self.heard_at = self._clock.monotonic() + seconds
        await self._clock.sleep(seconds)

    def _up(self, back: Back) -> None:
        now = self._clock.monotonic()
        since = self._spoke_at if self._end == "doubted" else self._present_at
        back(now - since, self._end)
        if self._trouble:
            log.info("%s hears again", self._name)
        self.connected, self._trouble, self._end = True, "", "lost"
        self.heard_at = self._present_at = self._spoke_at = self._began_at = now


async def _dispatched(app: AsyncApp, body: dict[str, Any], headers: dict[str, str | Sequence[str]]) -> int:
    """Bolt's answer. It looks into a payload before anybody is asked, and breaks on what Slack would never send."""
    try:
        return (await app.async_dispatch(AsyncBoltRequest(mode="socket_mode", body=body, headers=headers))).status
    except (TypeError, AttributeError, KeyError, ValueError) as error:
        log.warning("an event is not as Slack writes them and is dropped: %s", type(error).__name__)
        return 400


def _frame(data: str | bytes) -> Mapping[str, Any]:
    try:
        frame = json.loads(data)
    except ValueError:
        return {}
    return frame if isinstance(frame, dict) else {}


async def _until(pong: Awaitable[float], answered: asyncio.Event) -> None:
    await pong
    answered.set()


def _retries(frame: Mapping[str, Any]) -> dict[str, str | Sequence[str]]:
    """As HTTP would say it: which attempt this is, and why there is one."""
    told = {"x-slack-retry-num": frame.get("retry_attempt"), "x-slack-retry-reason": frame.get("retry_reason")}
    return {name: str(value) for name, value in told.items() if value}


def _context(url: str) -> ssl.SSLContext | None:
    if not url.startswith("wss:"):
        return None
    trusted = trust()
    return trusted if isinstance(trusted, ssl.SSLContext) else ssl.create_default_context()
