"""A stop while a child process works for the turn: felt within a second, and nothing of it is left."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import time
from pathlib import Path

import pytest

from bot.core.stop import StopReason
from tests.fakes.provider import says
from tests.inbox.conftest import HERE, OpenHouse
from tests.inbox.test_files import ref, send


def children() -> set[int]:
    """Processes that this one has started and that still are."""
    found = {int(pid) for file in Path("/proc/self/task").glob("*/children") for pid in file.read_text().split()}
    return {pid for pid in found if b"bot.attachments.child" in _command(pid)}


def _command(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


@pytest.mark.skipif(sys.platform != "linux", reason="children are looked up in /proc")
async def test_a_stop_kills_the_child_that_opens_a_file(open_house: OpenHouse) -> None:
    async with open_house(says("never")) as house:
        await send(house, "what is this?", (ref("list.pdf", "application/pdf"), b"%PDF-1.4 and so on"))
        async with asyncio.timeout(10):
            while not (found := children()):
                await asyncio.sleep(0.005)
        (child,) = found
        os.kill(child, signal.SIGSTOP)  # as if it never came to an end
        began = time.monotonic()
        assert house.lanes.stop(HERE, lambda turn: True) == 1
        await house.idle()
        assert time.monotonic() - began < 1.0
        assert house.ended == [StopReason.STOPPED] and house.provider.requests == []
        assert not children()
