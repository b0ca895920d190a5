"""``transport: webhook``: Telegram calls, strangers are sent away, and nothing is confirmed before it is stored."""

from __future__ import annotations

import asyncio
import logging
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from io import BytesIO
from typing import Any

import aiohttp
import pytest

from bot.core.errors import StoreFull
from bot.core.inbound import Inbound
from bot.net.http import Transport
from bot.time.clock import SystemClock
from bot.web.server import PortServer
from channels.telegram.config import Config, Webhook
from channels.telegram.intake import Intake
from channels.telegram.moves import Moves
from channels.telegram.updates import ALLOWED, Me
from channels.telegram.webhook import BODY_BYTES, Hook, secret_of
from channels.telegram.wire import Wire
from tests.app.conftest import free_port
from tests.channels.telegram.conftest import CONFIG, StartBot
from tests.fakes.clock import FakeClock
from tests.fakes.notes import MemoryNotes
from tests.sim.llm import LlmSim, answer, text
from tests.sim.telegram import TelegramSim

SAID = "Hello there, nice to meet you."
HELLO = answer(text(SAID), repeat=True)
SECRET = "s3cret-Word_"
HEADER = "X-Telegram-Bot-Api-Secret-Token"


def hooked(port: int, secret: str = SECRET, path: str = "hook") -> str:
    """The configuration; Telegram is told an address of this machine."""
    place = f'{{{{url: "http://127.0.0.1:{port}/{path}", host: 127.0.0.1, port: {port}, secret: "{secret}"}}}}'
    return CONFIG.replace("    access:", f"    transport: webhook\n    webhook: {place}\n    access:")


@dataclass
class Ear:
    """A hook on its own. ``broken`` is raised at every inbound."""

    hook: Hook
    url: str
    taken: list[Inbound] = field(default_factory=list)
    broken: Exception | None = None

    async def take(self, inbound: Inbound) -> None:
        if self.broken is not None:
            raise self.broken
        self.taken.append(inbound)

    async def until_connected(self) -> None:
        async with asyncio.timeout(5):
            while not self.hook.connected:
                await asyncio.sleep(0.005)


@asynccontextmanager
async def ear(sim: TelegramSim, notes: MemoryNotes, clock: Any = None, **config: Any) -> AsyncIterator[Ear]:
    port, clock, http = config.pop("port", 0) or free_port(), clock or SystemClock(), Transport()
    section = Webhook.model_validate({"url": f"http://127.0.0.1:{port}/hook", "port": port, "secret": SECRET, **config})
    wire = Wire(http, sim.url, sim.token)

    async def take(inbound: Inbound) -> None:
        await made.take(inbound)

    intake = Intake(notes, Moves(notes), Me(99, "mybot"), "telegram", "main", take)
    hook = Hook(wire, notes, clock, intake, section, secret_of(section, sim.token), PortServer, "telegram")
    made = Ear(hook, f"http://127.0.0.1:{port}/hook")
    running = asyncio.ensure_future(hook.run())
    try:
        yield made
    finally:
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
        await http.aclose()


def message(number: int) -> dict[str, Any]:
    person = {"id": 7, "is_bot": False, "first_name": "Ann"}
    said = {"message_id": number, "date": 1, "chat": {"id": 7, "type": "private"}, "from": person, "text": f"m{number}"}
    return {"update_id": 1000 + number, "message": said}


async def test_messages_are_answered_and_nothing_is_polled(bot: StartBot, telegram: TelegramSim, llm: LlmSim) -> None:
    llm.script(HELLO)
    chat = telegram.private(ann := telegram.person(7, "Ann"))
    async with bot(hooked(free_port())):
        await telegram.say(chat, ann, "hello")
        await telegram.until(lambda sim: sim.bot_texts(chat) == [SAID] and not sim.pending)
    assert telegram.polls == 0 and [status for _, status in telegram.webhook.deliveries] == [200]


async def test_what_was_said_while_nobody_was_there_is_answered_once(
    bot: StartBot, telegram: TelegramSim, llm: LlmSim
) -> None:
    llm.script(HELLO)
    port, chat = free_port(), telegram.private(ann := telegram.person(7, "Ann"))
    async with bot(hooked(port)):
        await telegram.until(lambda sim: len(sim.called("getWebhookInfo")) == 2)
    await telegram.say(chat, ann, "hello")
    await telegram.until(lambda sim: sim.webhook.deliveries)
    async with bot(hooked(port)):
        await telegram.until(lambda sim: sim.bot_texts(chat) == [SAID] and not sim.pending)
        telegram.redeliver(max(telegram.updates.confirmed))
        await telegram.until(lambda sim: not sim.pending)
        await asyncio.sleep(0.3)
    assert telegram.bot_texts(chat) == [SAID] and len(telegram.called("setWebhook")) == 1


@pytest.mark.parametrize("change", [{"secret": "another"}, {"path": "elsewhere"}, {"port": True}])
async def test_the_webhook_is_set_again_only_when_something_has_changed(
    bot: StartBot, telegram: TelegramSim, llm: LlmSim, change: dict[str, Any]
) -> None:
    port = free_port()
    change = {"port": free_port()} if "port" in change else change
    for config, times in ((hooked(port), 1), (hooked(port), 1), (hooked(**{"port": port} | change), 2)):
        asked = len(telegram.called("getWebhookInfo"))
        async with bot(config):
            await telegram.until(lambda sim, asked=asked: len(sim.called("getWebhookInfo")) > asked)
            await asyncio.sleep(0.2)
        assert len(telegram.called("setWebhook")) == times
    assert set(telegram.updates.chosen or ()) == set(ALLOWED)


async def test_going_back_to_polling_removes_it(bot: StartBot, telegram: TelegramSim, llm: LlmSim) -> None:
    llm.script(HELLO)
    port, chat = free_port(), telegram.private(ann := telegram.person(7, "Ann"))
    async with bot(hooked(port)):
        await telegram.until(lambda sim: sim.called("setWebhook"))
    async with bot():
        await telegram.say(chat, ann, "hello")
        await telegram.until(lambda sim: sim.bot_texts(chat) == [SAID])
    assert len(telegram.called("deleteWebhook")) == 1
    async with bot(hooked(port)):
        await telegram.say(chat, ann, "hello again")
        await telegram.until(lambda sim: sim.bot_texts(chat) == [SAID, SAID])
    assert len(telegram.called("setWebhook")) == 2


@pytest.mark.parametrize(
    ("request_", "status"),
    [
        ({"headers": {}}, 401),
        ({"headers": {HEADER: ""}}, 403),
        ({"headers": {HEADER: SECRET + "x"}}, 403),
        ({"headers": {HEADER: "s3cret-Wörd"}}, 403),
        ({"headers": {HEADER: SECRET}, "method": "GET"}, 405),
        ({"headers": {HEADER: SECRET}, "data": b"x" * (BODY_BYTES + 1)}, 413),
        ({"headers": {HEADER: SECRET}, "chunks": True}, 413),
        ({"headers": {}, "data": b"x" * (BODY_BYTES + 1)}, 401),
        ({"headers": {HEADER: SECRET}, "data": b"{nonsense"}, 400),
        ({"headers": {HEADER: SECRET}, "data": b"[1, 2]"}, 200),
        ({"headers": {HEADER: SECRET}, "data": b'{"update_id": 5, "message": {"text": "no chat"}}'}, 200),
    ],
)
async def test_strangers_and_what_is_no_update_are_turned_away(request_: dict[str, Any], status: int) -> None:
    async def chunks() -> AsyncIterator[bytes]:
        for _ in range(40):
            yield b"x" * (BODY_BYTES // 32)

    method, body = request_.get("method", "POST"), request_.get("data", b"{}")
    async with TelegramSim() as sim, ear(sim, MemoryNotes()) as heard, aiohttp.ClientSession() as http:
        await heard.until_connected()
        data = chunks() if "chunks" in request_ else BytesIO(body)
        async with http.request(method, heard.url, data=data, headers=request_["headers"]) as answered:
            assert answered.status == status and await answered.read() == b""
        with pytest.raises(aiohttp.WSServerHandshakeError):
            await http.ws_connect(heard.url)
        async with http.post(heard.url, json=message(1), headers={HEADER: SECRET}) as answered:
            assert answered.status == 200
    assert [inbound.id for inbound in heard.taken] == ["1"]


async def test_without_a_configured_secret_one_is_made_that_nobody_else_knows() -> None:
    own = Webhook(url="https://example.org")
    assert len(secret_of(own, "1:a")) == 64 and secret_of(own, "1:a") != secret_of(own, "1:b")
    assert secret_of(own, "1:a") == secret_of(own, "1:a")
    async with TelegramSim() as sim, ear(sim, MemoryNotes(), secret="") as heard, aiohttp.ClientSession() as http:
        await heard.until_connected()
        async with http.post(heard.url, json=message(1), headers={HEADER: ""}) as answered:
            assert answered.status == 403
        await sim.feed(message(2))
        await sim.until(lambda sim: not sim.pending)
    assert [inbound.id for inbound in heard.taken] == ["2"]


@pytest.mark.parametrize("secret", ["with a space", "ümlaut", "x" * 257])
def test_a_secret_that_telegram_would_refuse_is_refused_at_the_start(secret: str) -> None:
    section = {"transport": "webhook", "webhook": {"url": "https://example.org", "secret": secret}}
    with pytest.raises(ValueError, match="letters, digits"):
        Config.model_validate(section)


async def test_an_update_that_cannot_be_stored_is_not_confirmed_and_comes_again() -> None:
    async with TelegramSim() as sim, ear(sim, MemoryNotes()) as heard:
        await heard.until_connected()
        heard.broken = StoreFull("No room is left on the disk.")
        await sim.feed(message(1))
        await sim.until(lambda sim: (1001, 503) in sim.webhook.deliveries)
        assert len(sim.pending) == 1
        heard.broken = None
        await sim.until(lambda sim: not sim.pending)
    assert [inbound.id for inbound in heard.taken] == ["1"]


async def test_an_update_that_breaks_something_is_set_aside_and_the_next_one_taken() -> None:
    notes = MemoryNotes()
    async with TelegramSim() as sim, ear(sim, notes) as heard:
        await heard.until_connected()
        heard.broken = ZeroDivisionError()
        await sim.feed(message(1))
        await sim.until(lambda sim: not sim.pending)
        heard.broken = None
        await sim.feed(message(2))
        await sim.until(lambda sim: not sim.pending)
    assert [inbound.id for inbound in heard.taken] == ["2"]
    assert [told for key, told in notes.values.items() if key.startswith("set aside") and "ZeroDivisionError" in told]


async def test_it_is_connected_only_while_telegram_calls_here_and_gets_through(
    caplog: pytest.LogCaptureFixture,
) -> None:
    clock = FakeClock()
    async with TelegramSim(now=clock.now) as sim, ear(sim, MemoryNotes(), clock) as heard:
        assert not heard.hook.connected
        await heard.until_connected()
        first = heard.hook.heard_at
        sim.world.webhook.set("http://127.0.0.1:9/nobody", SECRET, 1)
        await sim.feed(message(1))
        await clock.advance(31.0)
        await sim.until(lambda sim: len(sim.called("setWebhook")) == 2)
        await sim.until(lambda sim: not sim.pending)
        assert heard.hook.heard_at > first and heard.hook.connected
        heard.broken = StoreFull("No room is left on the disk.")
        await clock.advance(5.0)
        await sim.feed(message(2))
        await sim.until(lambda sim: (1002, 503) in sim.webhook.deliveries)
        with caplog.at_level(logging.WARNING):
            await clock.advance(31.0)
            await sim.until(lambda sim: not heard.hook.connected)
        heard.broken = None
        await sim.until(lambda sim: not sim.pending)
        await clock.advance(31.0)
        await heard.until_connected()
    assert any("do not arrive" in record.getMessage() for record in caplog.records)


async def test_a_line_that_is_down_is_told_once_and_made_up_for(caplog: pytest.LogCaptureFixture) -> None:
    clock = FakeClock()
    async with TelegramSim() as sim:
        sim.fail("getWebhookInfo", action="drop", every=True)
        with caplog.at_level(logging.WARNING):
            async with ear(sim, MemoryNotes(), clock) as heard:
                for _ in range(4):
                    await sim.until(lambda sim: sim.called("getWebhookInfo"))
                    await clock.advance(10.0)
                    await asyncio.sleep(0.05)
                assert not heard.hook.connected
                sim.heal()
                await clock.advance(31.0)
                await heard.until_connected()
    assert len([one for one in caplog.records if "hears nothing" in one.getMessage()]) == 1


async def test_readyz_says_how_it_is(bot: StartBot, telegram: TelegramSim, llm: LlmSim) -> None:
    port, page = free_port(), free_port()
    config = hooked(port).replace("{port}", str(page))
    telegram.fail("setWebhook", status=400, description="Bad Request: bad webhook: nobody is there", every=True)
    async with bot(config), aiohttp.ClientSession() as http:
        await telegram.until(lambda sim: sim.called("setWebhook"))
        async with http.get(f"http://127.0.0.1:{page}/readyz") as answered:
            assert (answered.status, (await answered.json())["channels"]["telegram"]) == (503, "disconnected")
        telegram.heal()
        async with asyncio.timeout(8):
            while True:
                async with http.get(f"http://127.0.0.1:{page}/readyz") as answered:
                    if answered.status == 200:
                        break
                await asyncio.sleep(0.1)


async def test_a_port_that_is_taken_leaves_the_rest_of_the_house_alone(
    bot: StartBot, telegram: TelegramSim, llm: LlmSim, caplog: pytest.LogCaptureFixture
) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        with caplog.at_level(logging.WARNING):
            async with bot(hooked(taken.getsockname()[1])) as task:
                await asyncio.sleep(0.5)
                assert not task.done()
    told = [record.getMessage() for record in caplog.records if "is in use" in record.getMessage()]
    assert told and "channels.telegram.webhook.port" in told[0]
    assert not telegram.called("setWebhook")


async def test_it_ends_within_three_seconds_while_a_delivery_hangs() -> None:
    async with TelegramSim() as sim, ear(sim, MemoryNotes()) as heard:
        await heard.until_connected()
        _, writer = await asyncio.open_connection("127.0.0.1", int(heard.url.split(":")[2].split("/")[0]))
        writer.write(f"POST /hook HTTP/1.1\r\nHost: x\r\n{HEADER}: {SECRET}\r\nContent-Length: 99\r\n\r\n{{".encode())
        await asyncio.sleep(0.1)
        began = asyncio.get_running_loop().time()
    assert asyncio.get_running_loop().time() - began < 3.5
    writer.close()
