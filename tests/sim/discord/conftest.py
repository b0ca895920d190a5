"""The simulator, discord.py's ``Client`` talking to it, raw calls and raw gateway connections, and one person."""

import asyncio
import json
import warnings
import zlib
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from typing import Any

import aiohttp
import pytest
import pytest_asyncio
import yarl

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)  # the library imports audioop
    import discord
    from discord import ui

from tests.sim.discord import Channel, DiscordSim, Guild, Person

TOKEN = "sim-token"
Answer = tuple[int, Any, dict[str, str]]
Ask = Callable[..., Coroutine[Any, Any, Answer]]
MESSAGES = "POST /channels/{id}/messages"
ROW = {"type": 1, "components": [{"type": 2, "style": 1, "label": "Allow", "custom_id": "ok:1"}]}
EDITS = "PATCH /channels/{id}/messages/{id}"


class Library(discord.Client):
    """discord.py as it is, but hasty after an invalid session, remembering what it dispatched."""

    def __init__(self, intents: discord.Intents | None = None, **options: Any) -> None:
        allowed = options.pop("allowed_mentions", discord.AllowedMentions.none())
        self.seen: list[tuple[str, tuple[Any, ...]]] = []
        super().__init__(
            intents=intents or discord.Intents.all(), allowed_mentions=allowed, guild_ready_timeout=0.05, **options
        )

    def dispatch(self, event: str, /, *args: Any, **options: Any) -> None:
        self.seen.append((event, args))
        super().dispatch(event, *args, **options)

    async def before_identify_hook(self, shard_id: int | None, *, initial: bool = False) -> None:
        return None

    def told(self, event: str) -> list[Any]:
        """The first arguments of the events of this name."""
        return [args[0] if args else None for name, args in self.seen if name == event]

    @property
    def texts(self) -> list[str]:
        """The texts of others' messages, as they came."""
        return [message.content for message in self.told("message") if message.author != self.user]

    async def until(self, sim: DiscordSim, holds: Callable[[], Any]) -> None:
        await sim.until(lambda _: holds(), timeout=8)

    def here(self, channel: Channel) -> Any:
        """The channel as something to write to."""
        return self.get_partial_messageable(channel.id)


@contextmanager
def pointed_at(sim: DiscordSim) -> Iterator[None]:
    base, gateway = discord.http.Route.BASE, discord.gateway.DiscordWebSocket.DEFAULT_GATEWAY
    discord.http.Route.BASE = sim.api_base
    discord.gateway.DiscordWebSocket.DEFAULT_GATEWAY = yarl.URL(sim.gateway_url)
    try:
        yield
    finally:
        discord.http.Route.BASE, discord.gateway.DiscordWebSocket.DEFAULT_GATEWAY = base, gateway


@asynccontextmanager
async def running(sim: DiscordSim, client: Library) -> AsyncIterator[Library]:
    """The client, connected and ready."""
    with pointed_at(sim):
        task = asyncio.get_running_loop().create_task(client.start(TOKEN))
        try:
            await client.until(sim, lambda: client.told("ready") or task.done())
            yield client
        finally:
            await client.close()
            with suppress(Exception):
                await task


@asynccontextmanager
async def asking(sim: DiscordSim, token: str = TOKEN) -> AsyncIterator[Ask]:
    """Raw calls: ``await ask("POST", "/channels/1/messages", content="x")`` gives status, body and headers."""
    async with aiohttp.ClientSession() as session:

        async def ask(method: str, path: str, *, raw: Any = None, array: Any = None, **fields: Any) -> Answer:
            body = fields or array
            options: dict[str, Any] = {"data": raw} if raw is not None else {} if body is None else {"json": body}
            headers = {"Authorization": f"Bot {token}"}
            url = yarl.URL(f"{sim.api_base}{path}", encoded=True)
            async with session.request(method, url, headers=headers, **options) as answer:
                text = await answer.text()
                is_json = answer.headers.get("Content-Type") == "application/json"
                return answer.status, json.loads(text) if is_json else text, dict(answer.headers)

        yield ask


class Wire:
    """A raw gateway connection."""

    def __init__(self, ws: aiohttp.ClientWebSocketResponse) -> None:
        self.ws, self._inflate = ws, zlib.decompressobj()

    async def get(self) -> dict[str, Any]:
        """The next frame; {"close": code} when it is closed."""
        async with asyncio.timeout(5):
            message = await self.ws.receive()
        if message.type is aiohttp.WSMsgType.BINARY:
            frame = json.loads(self._inflate.decompress(message.data))
        elif message.type is aiohttp.WSMsgType.TEXT:
            frame = json.loads(message.data)
        else:
            return {"close": self.ws.close_code}
        assert isinstance(frame, dict)
        return frame

    async def event(self, name: str) -> dict[str, Any]:
        """The next event of this name; others are skipped."""
        while (frame := await self.get()).get("t") != name:
            assert "close" not in frame, frame
        return frame

    async def closed(self) -> int:
        """The code that the connection is closed with; what comes before is skipped."""
        while "close" not in (frame := await self.get()):
            pass
        return int(frame["close"] or 1006)

    async def send(self, op: int, body: Any) -> None:
        await self.ws.send_str(json.dumps({"op": op, "d": body}))

    async def identify(self, intents: int = 0b11_0010_0000_0001, token: str = TOKEN, **more: Any) -> None:
        assert (await self.get())["op"] == 10
        properties = {"os": "linux", "browser": "test", "device": "test"}
        await self.send(2, {"token": token, "intents": intents, "properties": properties, **more})

    async def ready(self, **options: Any) -> dict[str, Any]:
        """Identify; what READY tells."""
        await self.identify(**options)
        return dict((await self.event("READY"))["d"])

    async def resume(self, session: str, seq: int, token: str = TOKEN) -> None:
        assert (await self.get())["op"] == 10
        await self.send(6, {"token": token, "session_id": session, "seq": seq})


Connect = Callable[..., Awaitable[Wire]]


@asynccontextmanager
async def connecting() -> AsyncIterator[Connect]:
    async with aiohttp.ClientSession() as session:

        async def connect(url: str, query: str = "?v=10&encoding=json") -> Wire:
            return Wire(await session.ws_connect(f"{url}{query}"))

        yield connect


async def fresh(sim: DiscordSim, connect: Connect, **options: Any) -> tuple[Wire, dict[str, Any]]:
    """A new connection, identified, and what READY told."""
    wire = await connect(sim.gateway_url)
    return wire, await wire.ready(**options)


def view(*labels: str) -> ui.View:
    shown = ui.View(timeout=None)
    for label in labels:
        shown.add_item(ui.Button(label=label, custom_id=f"{label.lower()}:1"))
    return shown


async def pressed(sim: DiscordSim, bot: Library, channel: Channel, ann: Person) -> tuple[str, Any, Any]:
    """A message with two buttons, one of them pressed: the press, as the bot got it, the message."""
    sent = await bot.here(channel).send("May I?", view=view("Allow", "Deny"))
    press = await sim.press(channel, ann, sent.id, "Allow")
    await bot.until(sim, lambda: bot.told("interaction"))
    return press, bot.told("interaction")[-1], sent


@pytest_asyncio.fixture
async def sim() -> AsyncIterator[DiscordSim]:
    async with DiscordSim(TOKEN, strict_rates=False) as one:
        yield one


@pytest_asyncio.fixture
async def ask(sim: DiscordSim) -> AsyncIterator[Ask]:
    async with asking(sim) as one:
        yield one


@pytest_asyncio.fixture
async def connect() -> AsyncIterator[Connect]:
    async with connecting() as one:
        yield one


@pytest.fixture
def ann(sim: DiscordSim) -> Person:
    return sim.person(7001, "Ann", language="en")


@pytest.fixture
def dm(sim: DiscordSim, ann: Person) -> Channel:
    return sim.dm(ann)


@pytest.fixture
def team(sim: DiscordSim, ann: Person) -> Guild:
    return sim.guild(9001, "Team", members=[ann])


@pytest.fixture
def general(sim: DiscordSim, team: Guild) -> Channel:
    return sim.channel(team, "general")


@pytest_asyncio.fixture
async def bot(sim: DiscordSim, dm: Channel, general: Channel) -> AsyncIterator[Library]:
    async with running(sim, Library()) as one:
        yield one
