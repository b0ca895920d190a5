"""A connection with no library, and a simulator on a driven clock that opens such connections."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import aiohttp
from slack_sdk.web.async_client import AsyncWebClient

from tests.fakes.clock import FakeClock
from tests.sim.slack import SlackSim
from tests.sim.slack.conftest import APP_TOKEN

Json = dict[str, Any]


class Wire:
    """A connection with no library: what came over it, and acknowledgements by hand."""

    def __init__(self, ws: aiohttp.ClientWebSocketResponse) -> None:
        self.ws = ws

    async def next(self, timeout: float = 2) -> Json:
        """The next envelope, without Slack's pings."""
        async with asyncio.timeout(timeout):
            while True:
                message = await self.ws.receive()
                if message.type is aiohttp.WSMsgType.PING:
                    await self.ws.pong(message.data)
                elif message.type is aiohttp.WSMsgType.TEXT:
                    return dict(json.loads(message.data))
                else:
                    raise ConnectionError(message.type.name)

    async def ack(self, envelope: Json, **more: Any) -> None:
        await self.ws.send_str(json.dumps({"envelope_id": envelope["envelope_id"], **more}))


class Driven:
    """A simulator on a driven clock, with raw connections."""

    def __init__(self, sim: SlackSim, clock: FakeClock, client: AsyncWebClient) -> None:
        assert client.session is not None
        self.sim, self.clock, self._session = sim, clock, client.session
        self._wires: list[Wire] = []
        self.ann = sim.person("U0ANN", "Ann")
        self.dm = sim.dm(self.ann)

    async def open_url(self, token: str = APP_TOKEN) -> Json:
        headers = {"Authorization": f"Bearer {token}"}
        async with self._session.post(f"{self.sim.api_base}apps.connections.open", headers=headers) as answer:
            return dict(await answer.json())

    async def wire(self) -> Wire:
        url = (await self.open_url())["url"]
        wire = Wire(await self._session.ws_connect(url, autoping=False))
        hello = await wire.next()
        assert hello["type"] == "hello"
        self._wires.append(wire)
        return wire

    async def said(self) -> str:
        return str((await self.sim.say(self.dm, self.ann, "hello"))["ts"])

    async def pass_by(self, seconds: float) -> None:
        """Time goes on, and what was sent meanwhile gets where it goes."""
        await self.clock.advance(seconds)
        await asyncio.sleep(0.02)
