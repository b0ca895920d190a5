"""The simulator itself: Discord's API, gateway and CDN on a loopback port, and what a test sees of it and does to it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from types import TracebackType
from typing import Any, Literal, Self

from aiohttp import web

from tests.sim.discord.api import Api, answer
from tests.sim.discord.bodies import MAX_BODY_BYTES
from tests.sim.discord.commands import Commands
from tests.sim.discord.control import Control
from tests.sim.discord.faults import Action, Fault, Scope
from tests.sim.discord.gateway import Gateway
from tests.sim.discord.intents import PRIVILEGED
from tests.sim.discord.interactions import Answer
from tests.sim.discord.nouns import Call, Channel, Guild, Message, Person, Shown
from tests.sim.discord.payloads import message_json
from tests.sim.discord.people import People
from tests.sim.discord.rates import Rates
from tests.sim.discord.refusals import Json
from tests.sim.discord.report import Report
from tests.sim.discord.routes import NAMES
from tests.sim.discord.screen import show
from tests.sim.discord.sessions import Connections
from tests.sim.discord.world import World

LOOK_SECONDS = 0.1
BOT_ID = 1_100_000_000_000_000_001
SLACK_BYTES = 1024 * 1024


class DiscordSim(People):
    """``async with DiscordSim() as sim:`` serves until the end of the block, at ``api_base`` and ``gateway_url``.

    With ``strict_rates`` the platform's rates hold (rates.py). ``latency`` is how long a call takes, in seconds, and
    ``latencies`` the same by route; calls run side by side and take effect at the end of that time, also when the client
    is gone by then. ``monotonic`` and ``sleep`` measure everything but heartbeats, ``now`` dates messages.
    """

    def __init__(
        self,
        token: str = "sim-token",
        *,
        strict_rates: bool = True,
        latency: float = 0.003,
        monotonic: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        now: Callable[[], float] = time.time,
        name: str = "Bowerbird",
        port: int = 0,
    ) -> None:
        noted: list[str] = []
        self.token, self.url, self.api_base, self.gateway_url = token, "", "", ""
        self.world = World(Person(BOT_ID, name, bot=True), now, monotonic, noted.append, self.changed)
        rates = Rates(monotonic, now, noted.append, strict=strict_rates)
        self.api = Api(token, self.world, rates, noted, latency, sleep)
        self.gateway = self.world.gateway = Gateway(
            self.world, self._token, self.revoke_token, self._handed, strict=strict_rates
        )
        self._monotonic, self._port = monotonic, port
        self._waiting: set[asyncio.Event] = set()
        self._control = Control(self)
        self._runner: web.AppRunner | None = None

    async def __aenter__(self) -> Self:
        app = web.Application(client_max_size=MAX_BODY_BYTES + SLACK_BYTES)
        app.router.add_route("*", "/{path:.*}", self._serve)
        self._runner = web.AppRunner(app, handler_cancellation=True, access_log=None, shutdown_timeout=0.2)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", self._port, backlog=2048).start()
        place = f"127.0.0.1:{self._runner.addresses[0][1]}"
        self.url, self.api_base = f"http://{place}", f"http://{place}/api/v10"
        self.gateway_url = self.gateway.url = f"ws://{place}/gateway"
        self.gateway.resume_url = f"ws://{place}/resume"
        self.world.files.base = f"{self.url}/cdn"
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._runner is not None, "never entered"
        await self.gateway.close()
        await self.api.close()
        await self._runner.cleanup()

    async def _serve(self, request: web.Request) -> web.StreamResponse:
        _, head, *rest = request.path.split("/", 2)
        if head == "api":
            return await self.api.serve(request)
        if head in ("gateway", "resume"):
            return await self.gateway.serve(request)
        if head == "cdn" and rest:
            path = request.rel_url.raw_path.removeprefix("/cdn/")
            return self.world.files.serve(path, request.rel_url.raw_query_string)
        if head == "_sim" and rest:
            return await self._control.serve(request, rest[0])
        return answer((404, {"message": "404: Not Found", "code": 0}), {})

    # what a test sees

    @property
    def bot(self) -> Person:
        return self.world.bot

    @property
    def calls(self) -> list[Call]:
        """Every call of the bot, in order of arrival."""
        return self.api.calls

    def called(self, route: str, channel: Channel | int | None = None) -> list[Call]:
        """The calls of one route, in one channel."""
        number = channel.id if isinstance(channel, Channel) else channel
        return [call for call in self.calls if call.route == route and number in (None, call.channel_id)]

    @property
    def violations(self) -> list[str]:
        """Every rule the bot broke, so far."""
        self.world.interactions.sweep()
        return self.api.noted

    @property
    def connections(self) -> Connections:
        return self.gateway.connections

    @property
    def commands(self) -> Commands:
        return self.world.commands

    @property
    def interaction_answers(self) -> list[Answer]:
        return self.world.interactions.answers

    @property
    def report(self) -> Report:
        return self.world.report

    @property
    def invalid_requests(self) -> int:
        """Answers of 401, 403 and 429 in the last ten minutes; 10,000 are a ban."""
        return self.api.rates.invalid

    def visible(self, channel: Channel, person: Person | None = None) -> list[Shown]:
        """What people see, oldest first; with ``person`` also what only they see."""
        own = [one for one in self.world.interactions.hidden.values() if person and one.only_for == person.id]
        here: list[Message] = [*channel.messages.values(), *(one for one in own if one.channel is channel)]
        return [show(one, self.bot) for one in sorted(here, key=lambda one: one.id)]

    def bot_texts(self, channel: Channel) -> list[str]:
        """What the bot's messages there say, oldest first."""
        return [shown.text for shown in self.visible(channel) if shown.from_bot]

    def history(self, channel: Channel) -> list[Json]:
        """All messages as the API writes them, newest first."""
        messages = sorted(channel.messages.values(), key=lambda one: -one.id)
        return [message_json(one, self.world.people) for one in messages]

    def typing(self, channel: Channel) -> bool:
        return channel.typing_until > self._monotonic()

    def notice(self, interaction_id: str) -> str:
        """What the person is told of an interaction without an answer: "This interaction failed", or nothing."""
        return self.world.interactions.notice(self.world.interactions.by_id[int(interaction_id)])

    def channel_by_id(self, id: int) -> Channel:
        """A channel that exists. KeyError otherwise."""
        return self.world.channels[id]

    def guild_by_id(self, id: int) -> Guild:
        return self.world.guilds[id]

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
            last = [f"{call.method} {call.path} {call.status or call.answer or 'open'}" for call in self.calls[-5:]]
            seen = f"calls {last}, {self.connections.ready} sessions, violations {self.violations[-5:]}"
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
        route: str,
        nth: int = 1,
        *,
        every: bool = False,
        status: int = 0,
        retry_after: float = 0.0,
        scope: Scope = "user",
        code: int = 0,
        body: Json | None = None,
        effect: Literal["none", "done"] = "none",
        action: Action = "answer",
        channel: Channel | int | None = None,
    ) -> Fault:
        """Script one fault (faults.py); ``route`` as "POST /channels/{id}/messages", ``nth`` counts from now on."""
        if route != "*" and route not in NAMES:
            raise ValueError(f"no route {route}: {sorted(NAMES)}")
        number = channel.id if isinstance(channel, Channel) else channel
        fault = Fault(route, nth, every, status, retry_after, scope, code, body, effect, action, number)
        return self.api.faults.add(fault)

    def heal(self) -> None:
        """No more faults, and every wait is over."""
        self.api.faults.clear()
        self.api.rates.forgive()

    def revoke_token(self) -> None:
        """The token is reset: calls are refused with 401, and the gateway closes with 4004."""
        self.api.revoked = True
        self.api.start(self.gateway.drop(4004))

    def restore_token(self) -> None:
        self.api.revoked = False

    async def drop(self, code: int = 1006) -> None:
        """Close every gateway connection; 1006 breaks them. Whether they can resume is as Discord's codes say."""
        await self.gateway.drop(code)

    def reconnect(self) -> None:
        self.gateway.reconnect()

    def invalidate(self, resumable: bool = False) -> None:
        self.gateway.invalidate(resumable=resumable)

    def zombie(self, on: bool = True) -> None:
        """The connections of now fall silent: no events, heartbeats unanswered."""
        self.gateway.zombie(on)

    def deaf(self, on: bool = True, *, to_come: bool = False) -> None:
        """The connections of now are fine but tell no events; they come when it ends, or with a resume."""
        self.gateway.deaf(on, to_come=to_come)

    def refuse_connections(self, status: int | None = 503) -> None:
        """The gateway answers connections with this HTTP status; None: it is up again."""
        self.gateway.refusing = status

    @property
    def intents_refused(self) -> bool:
        """Whether the privileged intents are switched off in the portal: 4014, and REST tells no content."""
        return not self.gateway.granted

    @intents_refused.setter
    def intents_refused(self, refuse: bool) -> None:
        self.gateway.granted = 0 if refuse else PRIVILEGED

    @property
    def heartbeat_interval(self) -> float:
        """Seconds, told to connections to come."""
        return self.gateway.heartbeat

    @heartbeat_interval.setter
    def heartbeat_interval(self, seconds: float) -> None:
        self.gateway.heartbeat = seconds

    def changed(self) -> None:
        for news in self._waiting:
            news.set()

    def _token(self) -> str | None:
        return None if self.api.revoked else self.token

    def _handed(self, event: str, body: Any) -> None:
        if event == "MESSAGE_CREATE" and isinstance(body, dict):
            self.report.handed(body)
        if event == "INTERACTION_CREATE" and isinstance(body, dict):
            self.world.interactions.heard(int(body.get("id", 0)))
