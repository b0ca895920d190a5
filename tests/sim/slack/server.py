"""The simulator itself: Slack on a loopback port, and what a test sees of it and does to it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from types import TracebackType
from typing import Any, Literal, Self

from aiohttp import web

from tests.sim.slack import events
from tests.sim.slack.api import WebApi
from tests.sim.slack.bodies import MAX_BODY_BYTES
from tests.sim.slack.control import Control
from tests.sim.slack.deliveries import Ack, Deliveries, Delivery
from tests.sim.slack.faults import Action, Fault
from tests.sim.slack.methods import APP_SCOPE
from tests.sim.slack.nouns import Call, Channel, Json, Person, Ping, Shown, SocketCount
from tests.sim.slack.people import People
from tests.sim.slack.post import Post
from tests.sim.slack.rates import Rates
from tests.sim.slack.report import Report
from tests.sim.slack.responses import Responses
from tests.sim.slack.roads import Roads
from tests.sim.slack.sockets import Sockets
from tests.sim.slack.tasks import Tasks
from tests.sim.slack.world import World

LOOK_SECONDS = 0.1


class SlackSim(People):
    """``async with SlackSim() as sim:`` serves until the end of the block, with the Web API at ``api_base``.

    With ``strict_rates`` the platform's rates hold (rates.py). ``latency`` is how long a call takes, in seconds, and
    ``latencies`` the same by method; calls run side by side and take effect at the end of that time, also when the client
    is gone by then. ``monotonic`` and ``sleep`` measure everything, ``now`` dates messages. ``agent``: the app is declared
    an agent, so that people see Stop. ``echo``: the app gets events of its own messages, as on the platform. ``shuffle``:
    envelopes sent at the same time overtake each other. ``seed`` chooses among connections.
    """

    def __init__(
        self,
        bot_token: str = "xoxb-sim",
        app_token: str = "xapp-sim",
        *,
        strict_rates: bool = True,
        latency: float = 0.003,
        monotonic: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        now: Callable[[], float] = time.time,
        agent: bool = False,
        echo: bool = True,
        shuffle: bool = False,
        seed: int = 1,
        name: str = "Bowerbird",
        port: int = 0,
    ) -> None:
        self.bot_token, self.app_token, self.url, self.api_base = bot_token, app_token, "", ""
        noted: list[str] = []
        self.tasks = Tasks()
        self.world = World(name, now, monotonic, noted.append, self.changed)
        self.world.agent, self.world.later = agent, self._later
        self._sleep = sleep
        self.wires = Sockets(self.tasks, monotonic, sleep, noted.append, self.changed, seed)
        self.deliveries = Deliveries(
            self.wires, self.tasks, monotonic, sleep, noted.append, self.changed, shuffle=shuffle, seed=seed
        )
        self.responses = Responses(self.world, monotonic)
        rates = Rates(monotonic, noted.append, strict=strict_rates)
        self.api = WebApi((bot_token, app_token), self.world, rates, self.tasks, noted, latency, sleep)
        self.api.connect = lambda: {"url": self.wires.ticket(self.url)}
        self.post = Post(self.world, self.deliveries, self.api, echo=echo)
        self._roads = Roads(self.world, self.api, self.wires, self.responses, Control(self))
        self._port = port
        self._waiting: set[asyncio.Event] = set()
        self._runner: web.AppRunner | None = None

    async def __aenter__(self) -> Self:
        app = web.Application(client_max_size=MAX_BODY_BYTES)
        app.router.add_route("*", "/{path:.*}", self._roads.serve)
        self._runner = web.AppRunner(app, handler_cancellation=True, access_log=None, shutdown_timeout=0.2)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", self._port, backlog=2048).start()
        self.url = f"http://127.0.0.1:{self._runner.addresses[0][1]}"
        self.api_base = f"{self.url}/api/"
        self.world.files.base = self.responses.base = self.url
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._runner is not None, "never entered"
        await self.tasks.close()
        await self.wires.close()
        await self._runner.cleanup()

    # what a test sees

    @property
    def calls(self) -> list[Call]:
        """Every call of the bot, in order of arrival; uploads, downloads and answers to a response_url too."""
        return self.api.calls

    @property
    def violations(self) -> list[str]:
        """Every rule the bot broke, so far."""
        return self.api.noted

    @property
    def sockets(self) -> SocketCount:
        """Connections that are open, and how many were opened in all."""
        return SocketCount(len(self.wires.open), self.wires.opened)

    @property
    def acks(self) -> list[Ack]:
        return self.deliveries.acks

    @property
    def unacked(self) -> list[Delivery]:
        """What was to reach the app and is not acknowledged."""
        return self.deliveries.unacked

    @property
    def pings(self) -> list[Ping]:
        """What the bot wrote that would have notified people."""
        return self.world.pings

    @property
    def report(self) -> Report:
        return self.world.report

    def called(self, method: str, channel: Channel | str | None = None) -> list[Call]:
        """The calls of one method, in one channel."""
        place = channel.id if isinstance(channel, Channel) else channel
        return [call for call in self.calls if call.method == method and place in (None, call.channel)]

    def visible(self, channel: Channel, thread: str | None = None) -> list[Shown]:
        """What people see, oldest first: a whole channel with its threads, or one thread."""
        return self.world.visible(channel, thread)

    def bot_texts(self, channel: Channel, thread: str | None = None) -> list[str]:
        return [message.text for message in self.visible(channel, thread) if message.from_bot]

    def status(self, channel: Channel, thread: str) -> str:
        """The status line of a thread; "processing" when the agent's session says so and there is no other."""
        return self.world.status(channel, thread)

    def session(self, channel: Channel, thread: str) -> str:
        """The status of the agent's session, "" without one."""
        return self.world.session(channel, thread)

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
            last = [f"{call.method} {call.channel} {call.error or call.status or 'open'}" for call in self.calls[-5:]]
            seen = f"calls {last}, sockets {self.sockets}, {len(self.unacked)} not acknowledged"
            raise TimeoutError(
                f"it did not come to that in {timeout} s: {seen}, violations {self.violations[-5:]}"
            ) from None
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

    @property
    def agent(self) -> bool:
        return self.world.agent

    @agent.setter
    def agent(self, declared: bool) -> None:
        self.world.agent = declared

    @property
    def stream_seconds(self) -> float:
        return self.world.stream_seconds

    @stream_seconds.setter
    def stream_seconds(self, seconds: float) -> None:
        self.world.stream_seconds = seconds

    @property
    def share_seconds(self) -> float:
        """How long Slack works on an upload before it is seen; its answer does not wait for that."""
        return self.world.share_seconds

    @share_seconds.setter
    def share_seconds(self, seconds: float) -> None:
        self.world.share_seconds = seconds

    @property
    def subscriptions(self) -> set[str]:
        """The events the app asked for, in the manifest's words (message.im, app_mention, ...)."""
        return self.world.subscriptions

    def fail(
        self,
        method: str,
        nth: int = 1,
        *,
        every: bool = False,
        status: int = 0,
        error: str = "",
        retry_after: int = 0,
        effect: Literal["none", "done"] = "none",
        action: Action = "answer",
        channel: Channel | str | None = None,
    ) -> Fault:
        """Script one fault (faults.py); ``nth`` counts the calls from now on."""
        place = channel.id if isinstance(channel, Channel) else channel
        return self.api.faults.add(Fault(method, nth, every, status, error, retry_after, effect, action, place))

    def heal(self) -> None:
        """No more faults, every wait is over, and the sockets work."""
        self.api.faults.clear()
        self.api.rates.forgive()
        self.wires.deaf = self.wires.silent = False
        self.wires.refusal = ""

    async def disconnect(self, reason: str = "warning") -> None:
        """Slack says goodbye on every connection, which then closes: after a ``warning`` in ten seconds, else at once."""
        await self.wires.disconnect(reason)

    async def drop(self) -> None:
        """Every connection breaks without a goodbye."""
        await self.wires.drop()

    def deaf(self, on: bool = True) -> None:
        """Connections answer pings, but no envelope reaches the app."""
        self.wires.deaf = on

    def silent(self, on: bool = True) -> None:
        """Connections stay open and nothing passes, not even pongs."""
        self.wires.silent = on

    def refuse_sockets(self, error: str = "internal_error") -> None:
        """apps.connections.open answers ``error``; "" ends it."""
        self.wires.refusal = error

    def redeliver_now(self, event_id: str) -> Delivery:
        """Send an event again, acknowledged or not. KeyError when there was none of this id."""
        return self.deliveries.again(event_id)

    async def feed(self, envelope: Any) -> None:
        """Send anything over one connection, as JSON unless it is text. LookupError when none is open."""
        await self.deliveries.feed(envelope)

    async def event(self, event: Json, channel: Channel | None = None) -> Delivery:
        """Send any event, in a proper envelope."""
        return self.post.send(event)

    def revoke_token(self) -> None:
        """The app is uninstalled: calls are refused and events stop."""
        self.api.revoked = True

    def restore_token(self) -> None:
        self.api.revoked = False

    def missing_scope(self, scope: str) -> None:
        """The app was not granted ``scope``: calls that need it are refused, events that need it do not come. That of the
        app-level token, ``connections:write``, is one of its own."""
        self.api.scopes.discard(scope)
        self.api.app_scopes.discard(scope)

    def grant_scope(self, scope: str) -> None:
        """The app was installed again with ``scope``; its tokens stay the same."""
        (self.api.app_scopes if scope == APP_SCOPE else self.api.scopes).add(scope)

    def archive(self, channel: Channel) -> None:
        channel.archived = True

    def kick(self, channel: Channel) -> None:
        """The bot is removed: a public channel answers not_in_channel, a private one channel_not_found."""
        channel.bot_in = False

    def invite(self, channel: Channel, person: Person | None = None) -> None:
        """A person adds the bot to a channel; without one the app comes by itself."""
        channel.bot_in = True
        self.world.emit(events.joined_event(self.world, channel, person), channel)
        self.world.emit(events.joined_note(self.world, channel, person), channel)

    def _later(self, seconds: float, deed: Callable[[], None]) -> None:
        """Do something now, or after a while."""

        async def waited() -> None:
            await self._sleep(seconds)
            deed()
            self.changed()

        if seconds > 0:
            self.tasks.start(waited())
        else:
            deed()

    def changed(self) -> None:
        for news in self._waiting:
            news.set()
