"""The contract of ``Channel`` over every adapter that is found: what the outbox and the inbox rely on everywhere."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from bot.config.discover import CHANNELS, builder
from bot.core.address import Address, Sender
from bot.core.errors import ChannelError
from bot.core.inbound import ButtonPress, FileRef, Inbound, Receipt
from bot.core.ports import CallKind, Channel, ChannelKit
from bot.core.stop import StopReason
from bot.core.view import OutFile, Part, Phase, View
from bot.net.http import Transport
from bot.time.clock import SystemClock
from tests.fakes.archive import MemoryArchive
from tests.fakes.governor import OpenGovernor
from tests.fakes.notes import MemoryNotes
from tests.sim.discord import DiscordSim
from tests.sim.slack import SlackSim
from tests.sim.telegram import TelegramSim

BUILT = [name for name in CHANNELS.names() if (kind := CHANNELS.kind(name)) is not None and kind.module]


class Adapter:
    """One adapter with its governor. ``section`` is its part of the config file, ``chat`` one that is there."""

    def __init__(self, name: str, section: Mapping[str, Any] = MappingProxyType({}), chat: str = "main") -> None:
        kind = CHANNELS.kind(name)
        assert kind is not None
        self.config = kind.config
        self.governor, self.http = OpenGovernor(), Transport()
        kit = ChannelKit(
            governor=self.governor,
            clock=SystemClock(),
            http=self.http,
            archive=MemoryArchive(),
            notes=MemoryNotes(),
            name=name,
            account="main",
            language="en",
            about=lambda: {"name": "Bowerbird", "version": "0", "model": {}, "models": [], "chain": [], "channels": {}},
        )
        self.channel: Channel = builder(kind.module)(kind.config.model_validate(dict(section)), kit)
        self.here = Address(name, "main", chat)

    def part(self, text: str, *, final: bool = False) -> Part:
        stop, phase = (StopReason.ANSWERED, Phase.DONE) if final else (None, Phase.WRITING)
        return Part("t1", 0, 0, text, self.channel.render(text), View("t1", text, phase, stop=stop), final=final)


async def receive(inbound: Inbound) -> Receipt:
    return Receipt("t1")


@asynccontextmanager
async def telegram() -> AsyncIterator[Adapter]:
    async with TelegramSim(strict_rates=False) as sim:
        ann = sim.person(7, "Ann")
        sim.private(ann)
        yield Adapter("telegram", {"token": sim.token, "api_base": sim.url}, chat="7")


@asynccontextmanager
async def discord() -> AsyncIterator[Adapter]:
    async with DiscordSim(strict_rates=False) as sim:
        section = {"token": sim.token, "api_base": sim.api_base, "gateway_url": sim.gateway_url}
        yield Adapter("discord", section, chat=str(sim.dm(sim.person(7, "Ann")).id))


@asynccontextmanager
async def slack() -> AsyncIterator[Adapter]:
    async with SlackSim(strict_rates=False) as sim:
        tokens = {"bot_token": sim.bot_token, "app_token": sim.app_token}
        yield Adapter("slack", {**tokens, "api_base": sim.api_base}, chat=sim.dm(sim.person("U0ANN", "Ann")).id)


@asynccontextmanager
async def alone(name: str) -> AsyncIterator[Adapter]:
    yield Adapter(name)


PLATFORMS = {"telegram": telegram, "discord": discord, "slack": slack}


@pytest.fixture(params=BUILT)
async def adapter(request: pytest.FixtureRequest) -> AsyncIterator[Adapter]:
    """Each in front of its platform, where it has one."""
    name = request.param
    async with PLATFORMS[name]() if name in PLATFORMS else alone(name) as made:
        yield made
        await made.http.aclose()


@asynccontextmanager
async def running(adapter: Adapter) -> AsyncIterator[asyncio.Task[None]]:
    task = asyncio.ensure_future(adapter.channel.run(receive))
    try:
        async with asyncio.timeout(5):
            while not adapter.channel.connected:
                await asyncio.sleep(0.005)
        yield task
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


def test_there_are_adapters_to_check() -> None:
    assert {"terminal", "web"} <= set(BUILT)


def test_it_knows_its_name_and_its_limits_are_usable(adapter: Adapter) -> None:
    limits = adapter.channel.limits
    assert adapter.channel.name == adapter.here.channel
    assert limits.size >= 128 and limits.pace >= 0 and limits.label_chars > 0


def test_unknown_keys_are_refused_and_secrets_never_printed(adapter: Adapter) -> None:
    with pytest.raises(ValidationError):
        adapter.config.model_validate({"no_such_key": 1})
    if "token" in adapter.config.model_fields:
        assert "s3cr3t" not in repr(adapter.config.model_validate({"token": "s3cr3t"}))


@pytest.mark.parametrize("name", BUILT)
def test_rendering_is_total_and_measures_itself(name: str) -> None:
    channel = Adapter(name).channel

    @settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
    @given(
        st.text(max_size=200) | st.sampled_from(["```py\nx", "**bo", "[a](", "| a |\n|--", "> q\n- x", "\x00\x1b[31m"])
    )
    def check(markdown: str) -> None:
        rendered = channel.render(markdown)
        assert rendered.length >= 0 and channel.render(markdown) == rendered

    check()


async def test_it_runs_until_it_is_cancelled_and_closes_within_three_seconds(adapter: Adapter) -> None:
    assert not adapter.channel.connected
    async with running(adapter) as task:
        assert not task.done()
        task.cancel()
        async with asyncio.timeout(3):
            with pytest.raises(asyncio.CancelledError):
                await task
    assert not adapter.channel.connected


async def test_showing_is_idempotent_and_asks_the_governor_each_time(adapter: Adapter) -> None:
    async with running(adapter):
        ref = await adapter.channel.show(adapter.here, None, adapter.part("Hel"))
        again = await adapter.channel.show(adapter.here, ref, adapter.part("Hello"))
        assert again == await adapter.channel.show(adapter.here, again, adapter.part("Hello"))
        assert await adapter.channel.show(adapter.here, again, adapter.part("Hello there.", final=True)) == again
        kinds = [kind for to, kind in adapter.governor.calls if to == adapter.here]
        assert kinds == [CallKind.PREVIEW, CallKind.PREVIEW, CallKind.PREVIEW, CallKind.FINAL]
        await adapter.channel.remove(adapter.here, again)


async def test_a_late_or_unknown_press_is_answered_without_an_error(adapter: Adapter) -> None:
    press = ButtonPress("p", adapter.here, Sender(adapter.here.channel, "owner"), "b:x:once", 1.0, token="gone")
    async with running(adapter):
        await adapter.channel.answer(press, "Too late.")
        await adapter.channel.answer(press, "Too late.")


async def test_a_file_of_the_bots_is_sent_as_a_final_and_one_that_is_gone_is_a_channel_error(
    adapter: Adapter, tmp_path: Path
) -> None:
    send_file = getattr(adapter.channel, "send_file", None)
    if send_file is None:
        pytest.skip("this channel lists files by itself, or has none")
    (tmp_path / "a.csv").write_bytes(b"a,b\n")
    async with running(adapter):
        ref = await send_file(adapter.here, OutFile("表.csv", "text/csv", str(tmp_path / "a.csv")), "t1.f0")
        assert ref.message_id
        assert [kind for to, kind in adapter.governor.calls if to == adapter.here] == [CallKind.FINAL]
        with pytest.raises(ChannelError):
            await send_file(adapter.here, OutFile("b", "text/csv", str(tmp_path / "no")), "t1.f1")


async def test_a_file_that_is_not_there_is_a_channel_error_and_history_is_a_sequence(adapter: Adapter) -> None:
    async with running(adapter):
        with pytest.raises(ChannelError):
            await adapter.channel.fetch(FileRef(adapter.here.channel, "nothing", "x", "text/plain"))
        assert len(await adapter.channel.history(adapter.here, 5)) >= 0
