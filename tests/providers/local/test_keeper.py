"""Bringing the model up and keeping it up: states, waiting, falling back, starting again once."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import pytest

from bot.core.errors import ModelMissing, ModelNotHere, ProviderBusy, ProviderFailed
from bot.net.http import Transport
from bot.providers.local.catalogue import QWEN, SMOLLM2, Weights
from bot.providers.local.keeper import LOOK_SECONDS, SOON_SECONDS, Keeper, LocalState, Phase, Plan
from bot.providers.local.weights import Shelf
from bot.time.clock import SystemClock
from tests.fakes.clock import FakeClock
from tests.providers.local.shop import TINY, Hub


@pytest.fixture
async def transport() -> AsyncIterator[Transport]:
    transport = Transport()
    yield transport
    await transport.aclose()


@pytest.fixture
async def hub() -> AsyncIterator[Hub]:
    hub = Hub()
    await hub.start()
    yield hub
    await hub.stop()


def keeper(
    tmp_path: Path,
    transport: Transport,
    models: Sequence[Weights] = (TINY,),
    *,
    folder: Path | None = None,
    hub: str = "http://127.0.0.1:1",
    path: Path | None = None,
    clock: FakeClock | None = None,
    health_seconds: float = 20.0,
) -> Keeper:
    plan = Plan(path, models, 1, 512, tmp_path / "engine.log", health_seconds)
    shelf = Shelf(folder or tmp_path / "models", transport, SystemClock(), ["hub"], hub)
    return Keeper(plan, shelf, transport, clock or SystemClock())


async def test_without_weights_a_request_is_told_how_to_get_them(tmp_path: Path, transport: Transport) -> None:
    kept = keeper(tmp_path, transport)
    with pytest.raises(ModelMissing, match="not on this machine yet"):
        await kept.engine(1)


async def test_weights_that_cannot_be_had_are_in_the_state_and_told_to_requests(
    tmp_path: Path, transport: Transport
) -> None:
    heard: list[LocalState] = []
    kept = keeper(tmp_path, transport)
    assert kept.state == LocalState(Phase.ABSENT)
    state = await kept.prepare("", heard.append)
    assert state.phase is Phase.FAILED
    assert "127.0.0.1 cannot be reached" in state.reason
    assert [told.phase for told in heard] == [Phase.DOWNLOADING, Phase.FAILED]
    with pytest.raises(ModelMissing, match="could not be downloaded"):
        await kept.engine(1)


async def test_a_request_waits_for_a_download_and_then_says_how_far_it_is(
    tmp_path: Path, transport: Transport, hub: Hub
) -> None:
    hub.pause = 0.1
    kept = keeper(tmp_path, transport, hub=hub.url)
    async with asyncio.TaskGroup() as group:
        preparing = group.create_task(kept.prepare(""))
        await asyncio.sleep(0.5)
        assert kept.state.phase is Phase.DOWNLOADING
        with pytest.raises(ProviderBusy, match=r"still being downloaded \(\d+ %\)") as caught:
            await kept.engine(0.2)
        assert caught.value.retry_after
        preparing.cancel()
    assert kept.state == LocalState(Phase.ABSENT)


async def test_a_path_that_is_wrong_fails_with_a_sentence(tmp_path: Path, transport: Transport) -> None:
    state = await keeper(tmp_path, transport, path=tmp_path / "gone.gguf").prepare("")
    assert state.phase is Phase.FAILED
    assert "names a file that does not exist" in state.reason


@pytest.mark.model
@pytest.mark.timeout(180)
async def test_where_the_larger_model_cannot_be_had_the_smaller_is_taken(
    tmp_path: Path, transport: Transport, smollm2: Path
) -> None:
    folder = tmp_path / "models"
    folder.mkdir()
    (folder / smollm2.name).symlink_to(smollm2)
    heard: list[LocalState] = []
    kept = keeper(tmp_path, transport, (QWEN, SMOLLM2), folder=folder)
    try:
        state = await kept.prepare("Be kind.", heard.append)
        assert (state.phase, state.model) == (Phase.READY, SMOLLM2.title)
        assert [told.phase for told in heard][-2:] == [Phase.LOADING, Phase.READY]
        assert (await kept.engine(1)).alive
    finally:
        await kept.aclose()
    assert kept.state.phase is Phase.ABSENT


async def test_a_download_that_fails_is_tried_soon_while_bytes_come_and_ever_later_while_none_do(
    tmp_path: Path, transport: Transport, hub: Hub
) -> None:
    clock = FakeClock()
    kept = keeper(tmp_path, transport, hub=hub.url, clock=clock)
    hub.status = 503
    assert (await kept.prepare("")).phase is Phase.FAILED
    async with asyncio.TaskGroup() as group:
        watching = group.create_task(kept.watch())
        for number, pause in enumerate((SOON_SECONDS, 2 * SOON_SECONDS, 4 * SOON_SECONDS), 2):
            await clock.advance(pause - 0.1)
            assert len(hub.asked) < number
            await clock.advance(0.1)
            await _asked(hub, number, kept)
        hub.status, hub.body = 0, hub.body[:200_000]
        await clock.advance(8 * SOON_SECONDS)
        await _asked(hub, 6, kept)  # the bytes that came, and none behind them
        await clock.advance(SOON_SECONDS)
        await _asked(hub, 7, kept)
        watching.cancel()


async def _asked(hub: Hub, times: int, kept: Keeper) -> None:
    async with asyncio.timeout(10):
        while len(hub.asked) < times or kept.state.phase is not Phase.FAILED:
            await asyncio.sleep(0.01)
    assert len(hub.asked) == times


async def test_the_file_of_ones_own_is_looked_at_while_others_answer(tmp_path: Path, transport: Transport) -> None:
    clock, own = FakeClock(), tmp_path / "mine.gguf"
    kept = keeper(tmp_path, transport, path=own, clock=clock)
    async with asyncio.TaskGroup() as group:
        standing = group.create_task(kept.stand_by())
        await _until(kept, Phase.FAILED)
        assert "does not exist" in kept.state.reason
        own.write_bytes(b"GGUF")
        await clock.advance(LOOK_SECONDS)
        await _until(kept, Phase.ABSENT)
        standing.cancel()
    await keeper(tmp_path, transport).stand_by()


async def test_weights_that_nobody_tried_to_get_are_no_failure(tmp_path: Path, transport: Transport) -> None:
    kept = keeper(tmp_path, transport)
    with pytest.raises(ModelNotHere):
        await kept.engine(1)
    assert kept.state.phase is Phase.ABSENT


@pytest.mark.model
@pytest.mark.timeout(180)
async def test_an_engine_that_dies_is_started_once_more_and_then_left_off(
    tmp_path: Path, transport: Transport, smollm2: Path
) -> None:
    clock = FakeClock()
    kept = keeper(tmp_path, transport, path=smollm2, clock=clock)
    await kept.prepare("")
    first = (await kept.engine(1)).pid
    async with asyncio.TaskGroup() as group:
        watching = group.create_task(kept.watch())
        second = await _killed_and_back(kept, first)
        assert second != first
        _kill(second)
        await _until(kept, Phase.FAILED)
        with pytest.raises(ProviderFailed, match="keeps stopping"):
            await kept.engine(1)
        await clock.advance(601)
        assert (await kept.engine(30)).alive  # later it may be tried again
        watching.cancel()
    await kept.aclose()


@pytest.mark.model
@pytest.mark.timeout(180)
async def test_an_engine_that_hangs_is_ended_and_started_again(
    tmp_path: Path, transport: Transport, smollm2: Path
) -> None:
    kept = keeper(tmp_path, transport, path=smollm2, health_seconds=0.1)
    await kept.prepare("")
    hung = (await kept.engine(1)).pid
    assert hung is not None
    async with asyncio.TaskGroup() as group:
        watching = group.create_task(kept.watch())
        os.kill(hung, signal.SIGSTOP)
        await _until(kept, Phase.LOADING)
        await _until(kept, Phase.READY)
        watching.cancel()
    assert (await kept.engine(1)).pid != hung
    await kept.aclose()


@pytest.mark.model
@pytest.mark.timeout(180)
async def test_a_request_that_gives_up_on_the_loading_spoils_nothing(
    tmp_path: Path, transport: Transport, smollm2: Path
) -> None:
    kept = keeper(tmp_path, transport, path=smollm2)
    for _ in range(3):  # more often than an engine may fail
        with pytest.raises(ProviderBusy, match="still being loaded"):
            await kept.engine(0.1)
    assert (await kept.engine(60)).alive
    await kept.aclose()


async def _killed_and_back(kept: Keeper, pid: int | None) -> int | None:
    _kill(pid)
    await _until(kept, Phase.LOADING)
    await _until(kept, Phase.READY)
    return (await kept.engine(1)).pid


async def _until(kept: Keeper, phase: Phase) -> None:
    async with asyncio.timeout(30):
        while kept.state.phase is not phase:
            await asyncio.sleep(0.01)


def _kill(pid: int | None) -> None:
    assert pid is not None
    os.kill(pid, signal.SIGKILL)
