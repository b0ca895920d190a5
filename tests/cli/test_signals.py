from __future__ import annotations

import signal
import subprocess
import sys

import pytest

from tests.cli.programs import environment

PROGRAM = """
import asyncio, signal, sys, threading, time
from bot.cli.signals import until_signal

async def work(clean_up):
    try:
        print("up", flush=True)
        await asyncio.sleep(60)
    finally:
        print("cleaning", flush=True)
        if sys.argv[2] == "thread":
            asyncio.get_running_loop().run_in_executor(None, time.sleep, clean_up)
        else:
            await asyncio.sleep(clean_up)

outcome = until_signal(work(float(sys.argv[1])), (signal.SIGTERM, signal.SIGINT), last_resort=1.0)
print("ended", outcome, threading.active_count(), flush=True)
"""


def ended_by(clean_up: float, *signals: signal.Signals, where: str = "loop") -> tuple[int, list[str]]:
    """The exit status and the lines of a program that gets these signals, one after the other."""
    command = [sys.executable, "-c", PROGRAM, str(clean_up), where]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stdin=subprocess.PIPE, text=True, env=environment()
    ) as process:
        assert process.stdout is not None
        lines = [process.stdout.readline().strip()]
        for number in signals:
            process.send_signal(number)
            if len(lines) == 1:
                lines.append(process.stdout.readline().strip())
        lines += process.stdout.read().split("\n")
    return process.returncode, [line for line in lines if line]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
@pytest.mark.parametrize("where", ["loop", "thread"])
def test_a_signal_ends_the_work_after_it_has_cleaned_up_and_no_thread_is_left(
    number: signal.Signals, where: str
) -> None:
    assert ended_by(0.1, number, where=where) == (0, ["up", "cleaning", "ended None 1"])


def test_a_second_signal_does_not_cut_the_cleaning_up_short() -> None:
    assert ended_by(0.5, signal.SIGINT, signal.SIGINT, signal.SIGTERM) == (0, ["up", "cleaning", "ended None 1"])


@pytest.mark.parametrize("where", ["loop", "thread"])
def test_cleaning_up_that_hangs_is_left_behind(where: str) -> None:
    assert ended_by(30, signal.SIGTERM, where=where) == (1, ["up", "cleaning"])
