"""The simulator, slack_sdk's ``AsyncWebClient`` talking to it, raw calls, a Bolt app in Socket Mode, and one person."""

import json
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import aiohttp
import pytest
import pytest_asyncio
from slack_bolt.adapter.socket_mode.async_handler import AsyncSocketModeHandler
from slack_bolt.app.async_app import AsyncApp
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from tests.fakes.clock import FakeClock
from tests.sim.slack import Channel, Person, SlackSim

BOT_TOKEN, APP_TOKEN = "xoxb-sim", "xapp-sim"
Post = Callable[..., Awaitable[Any]]


@pytest_asyncio.fixture
async def sim() -> AsyncIterator[SlackSim]:
    async with SlackSim(BOT_TOKEN, APP_TOKEN, strict_rates=False) as running:
        yield running


@pytest_asyncio.fixture
async def client(sim: SlackSim) -> AsyncIterator[AsyncWebClient]:
    async with aiohttp.ClientSession() as session:
        yield AsyncWebClient(BOT_TOKEN, base_url=sim.api_base, session=session)


@pytest_asyncio.fixture
async def post(sim: SlackSim) -> AsyncIterator[Post]:
    """A raw call in JSON; the answer's body."""
    async with aiohttp.ClientSession() as session:

        async def call(method: str, token: str = BOT_TOKEN, **fields: Any) -> Any:
            headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json; charset=utf-8"}
            async with session.post(f"{sim.api_base}{method}", data=json.dumps(fields), headers=headers) as answer:
                return await answer.json()

        yield call


class Bolt:
    """A Bolt app that keeps what it hears. ``refusing``: it raises before the acknowledgement."""

    def __init__(self, client: AsyncWebClient) -> None:
        self.app = AsyncApp(client=client)
        self.heard: list[dict[str, Any]] = []
        self.retries: list[tuple[str, str]] = []
        self.refusing = False
        self.app.use(self._inbox)
        self.app.event({"type": "message"})(self._nothing)
        for note in ("message_changed", "channel_join"):
            self.app.event({"type": "message", "subtype": note})(self._nothing)
        kinds = (
            "app_mention reaction_added reaction_removed agent_session_stopped app_home_opened member_joined_channel"
        )
        for kind in kinds.split():
            self.app.event(kind)(self._nothing)
        self._handler = AsyncSocketModeHandler(self.app, APP_TOKEN, ping_interval=0.3)

    async def connect(self) -> None:
        await self._handler.connect_async()  # type: ignore[no-untyped-call]

    async def close(self) -> None:
        await self._handler.close_async()  # type: ignore[no-untyped-call]

    async def _inbox(self, body: dict[str, Any], req: Any, next: Callable[[], Awaitable[None]]) -> None:
        self.heard.append(body)
        self.retries.append(
            (req.headers.get("x-slack-retry-num", [""])[0], req.headers.get("x-slack-retry-reason", [""])[0])
        )
        if self.refusing:
            raise RuntimeError("the inbox is full")
        await next()

    async def _nothing(self) -> None:
        pass

    @property
    def events(self) -> list[dict[str, Any]]:
        return [body["event"] for body in self.heard if "event" in body]

    @property
    def kinds(self) -> list[str]:
        return [event.get("subtype") or event["type"] for event in self.events]


@pytest_asyncio.fixture
async def bolt(sim: SlackSim, client: AsyncWebClient) -> AsyncIterator[Bolt]:
    running = Bolt(client)
    await running.connect()
    await sim.until(lambda sim: sim.sockets.open == 1)
    yield running
    await running.close()


Timed = tuple[SlackSim, FakeClock, AsyncWebClient]


@pytest_asyncio.fixture
async def timed() -> AsyncIterator[Timed]:
    """A simulator of an agent on a clock that the test drives, with its rates."""
    clock = FakeClock()
    driven = SlackSim(
        BOT_TOKEN, APP_TOKEN, latency=0, agent=True, monotonic=clock.monotonic, sleep=clock.sleep, now=clock.now
    )
    async with driven as sim, aiohttp.ClientSession() as session:
        yield sim, clock, AsyncWebClient(BOT_TOKEN, base_url=sim.api_base, session=session)


@pytest.fixture
def ann(sim: SlackSim) -> Person:
    return sim.person("U0ANN", "Ann")


@pytest.fixture
def dm(sim: SlackSim, ann: Person) -> Channel:
    return sim.dm(ann)


@pytest.fixture
def team(sim: SlackSim, ann: Person) -> Channel:
    return sim.channel("C0TEAM", "team", members=[ann])


async def error_of(call: Awaitable[Any]) -> str:
    """The error that the client library raises for a call; "" when it raises none."""
    try:
        await call
    except SlackApiError as error:
        return str(error.response["error"])
    return ""
