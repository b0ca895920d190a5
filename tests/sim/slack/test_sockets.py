"""Socket Mode's connections: tickets, hello, how many, goodbyes, pings at both layers, deafness and silence."""

import asyncio

import aiohttp
import pytest

from tests.sim.slack.conftest import BOT_TOKEN, Timed
from tests.sim.slack.driven import Driven, Wire


@pytest.fixture
def driven(timed: Timed) -> Driven:
    return Driven(*timed)


async def test_hello_tells_how_many_connections_there_are(driven: Driven) -> None:
    url = (await driven.open_url())["url"]
    assert url.startswith("ws://127.0.0.1:") and "/link/?ticket=" in url
    await driven.wire()
    async with aiohttp.ClientSession() as session:
        wire = Wire(await session.ws_connect(url, autoping=False))
        hello = await wire.next()
        assert (hello["num_connections"], hello["connection_info"]) == (2, {"app_id": "A0BOWER"})
        assert driven.sim.sockets == (2, 2)
        with pytest.raises(aiohttp.WSServerHandshakeError):
            await session.ws_connect(url)


async def test_a_ticket_grows_stale(driven: Driven) -> None:
    url = (await driven.open_url())["url"]
    await driven.clock.advance(31)
    async with aiohttp.ClientSession() as session:
        with pytest.raises(aiohttp.WSServerHandshakeError):
            await session.ws_connect(url)


async def test_only_the_app_token_opens_connections(driven: Driven) -> None:
    assert (await driven.open_url(BOT_TOKEN))["error"] == "not_allowed_token_type"
    assert (await driven.open_url("xapp-other"))["error"] == "invalid_auth"
    driven.sim.refuse_sockets("internal_error")
    assert await driven.open_url() == {"ok": False, "error": "internal_error"}
    driven.sim.refuse_sockets("")
    assert (await driven.open_url())["ok"]


async def test_ten_connections_are_the_most(driven: Driven) -> None:
    for _ in range(10):
        await driven.wire()
    driven.sim.api.rates.forgive()
    async with aiohttp.ClientSession() as session:
        wire = Wire(await session.ws_connect((await driven.open_url())["url"], autoping=False))
        goodbye = await wire.next()
        assert (goodbye["type"], goodbye["reason"]) == ("disconnect", "too_many_websockets")
        with pytest.raises(ConnectionError):
            await wire.next()
    assert driven.sim.sockets.opened == 11


async def test_a_warning_leaves_ten_seconds_and_other_goodbyes_none(driven: Driven) -> None:
    wire = await driven.wire()
    await driven.sim.disconnect("warning")
    assert (await wire.next())["reason"] == "warning"
    await driven.said()
    await wire.ack(await wire.next())
    closing = asyncio.ensure_future(wire.next())
    await driven.pass_by(9.9)
    assert driven.sim.sockets.open == 1
    await driven.pass_by(0.1)
    with pytest.raises(ConnectionError):
        await closing
    await driven.sim.until(lambda sim: sim.sockets.open == 0)
    for reason in ("refresh_requested", "link_disabled"):
        wire = await driven.wire()
        await driven.sim.disconnect(reason)
        assert (await wire.next())["reason"] == reason
        with pytest.raises(ConnectionError):
            await wire.next()
    with pytest.raises(ValueError, match="a reason is one of"):
        await driven.sim.disconnect("tired")


async def test_a_dropped_connection_says_nothing(driven: Driven) -> None:
    wire = await driven.wire()
    await driven.sim.drop()
    with pytest.raises(ConnectionError):
        await wire.next()
    await driven.sim.until(lambda sim: sim.sockets.open == 0)


async def test_slack_pings_and_drops_who_does_not_answer(driven: Driven) -> None:
    wire = await driven.wire()
    for n in range(4):
        await driven.pass_by(10)
        message = await wire.ws.receive()
        assert (message.type, message.data) == (aiohttp.WSMsgType.PING, b"Ping from applink-sim")
        if n < 1:
            await wire.ws.pong(message.data)
            await driven.sim.until(lambda sim: sim.wires.pongs == 1)
    await asyncio.sleep(1.1)
    await driven.pass_by(10)
    await driven.sim.until(lambda sim: sim.sockets.open == 0)
    assert driven.sim.violations == ["Slack's pings stayed unanswered on connection 1"]


async def test_a_deaf_connection_answers_pings_and_loses_events(driven: Driven) -> None:
    wire = await driven.wire()
    driven.sim.deaf(True)
    await driven.said()
    await wire.ws.ping(b"sdk-ping-pong:1.0")
    message = await wire.ws.receive(2)
    assert (message.type, message.data) == (aiohttp.WSMsgType.PONG, b"sdk-ping-pong:1.0")
    driven.sim.deaf(False)
    await driven.pass_by(3)
    assert (await wire.next())["retry_attempt"] == 1


async def test_a_silent_connection_stays_open_and_says_nothing(driven: Driven) -> None:
    wire = await driven.wire()
    driven.sim.silent(True)
    await driven.said()
    await wire.ws.ping(b"x")
    with pytest.raises(TimeoutError):
        await wire.ws.receive(0.1)
    assert driven.sim.sockets.open == 1
    driven.sim.heal()
    await driven.pass_by(3)
    assert (await wire.next())["retry_attempt"] == 1
