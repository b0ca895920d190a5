"""What the daemon counts, and the Prometheus text format it is read in (version 0.0.4)."""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Callable, Iterator
from typing import Final, Literal

from bot.core.model import Usage
from bot.core.ports import Clock
from bot.core.stop import StopReason

CONTENT_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"
MOST_SERIES: Final = 200
"""Label sets one metric may have; further ones are counted together as "other", so that no input can fill the memory."""
TURN_SECONDS: Final = (0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0, 900.0)
LAG_EVERY: Final = 5.0

Labels = tuple[tuple[str, str], ...]


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace("\n", "\\n").replace('"', '\\"')


def _labelled(labels: Labels) -> str:
    return "{" + ",".join(f'{key}="{_escaped(value)}"' for key, value in labels) + "}" if labels else ""


def _number(value: float) -> str:
    if math.isinf(value):
        return "+Inf" if value > 0 else "-Inf"
    return str(int(value)) if value == int(value) else repr(value)


class _Series:
    """One metric: a counter or a gauge, by label set."""

    def __init__(self, name: str, kind: Literal["counter", "gauge"], text: str) -> None:
        self.name, self._kind, self._text = name, kind, text
        self._values: dict[Labels, float] = {}

    def add(self, amount: float = 1.0, **labels: str) -> None:
        key = self._key(labels)
        self._values[key] = self._values.get(key, 0.0) + amount

    def put(self, value: float, **labels: str) -> None:
        self._values[self._key(labels)] = value

    def _key(self, labels: dict[str, str]) -> Labels:
        key = tuple(labels.items())
        if key in self._values or len(self._values) < MOST_SERIES:
            return key
        return tuple((name, "other") for name in labels)

    def lines(self) -> Iterator[str]:
        yield f"# HELP {self.name} {self._text}"
        yield f"# TYPE {self.name} {self._kind}"
        for labels, value in self._values.items():
            yield f"{self.name}{_labelled(labels)} {_number(value)}"


class _Histogram:
    """Durations in seconds, in fixed buckets, without labels."""

    def __init__(self, name: str, text: str, bounds: tuple[float, ...]) -> None:
        self._name, self._text, self._bounds = name, text, bounds
        self._counts = [0] * (len(bounds) + 1)
        self._sum = 0.0

    def observe(self, seconds: float) -> None:
        index = next((i for i, bound in enumerate(self._bounds) if seconds <= bound), len(self._bounds))
        self._counts[index] += 1
        self._sum += seconds

    def lines(self) -> Iterator[str]:
        yield f"# HELP {self._name} {self._text}"
        yield f"# TYPE {self._name} histogram"
        total = 0
        for bound, count in zip((*self._bounds, math.inf), self._counts, strict=True):
            total += count
            yield f'{self._name}_bucket{{le="{_number(bound)}"}} {total}'
        yield f"{self._name}_sum {_number(self._sum)}"
        yield f"{self._name}_count {total}"


class Metrics:
    """The daemon's counters. Every method is cheap, never waits and never raises."""

    def __init__(self, clock: Clock, version: str = "") -> None:
        self._clock = clock
        self._all: list[_Series | _Histogram] = []
        info = self._gauge("build_info", "The version that runs.")
        info.put(1, version=version, python=".".join(map(str, sys.version_info[:3])))
        self._inbound = self._counter("inbound_total", "Inbound events that were stored, by channel and kind.")
        self._turns = self._counter("turns_total", "Finished turns, by stop reason.")
        self._live = self._gauge("live_turns", "Turns that are being answered now.")
        self._seconds = _Histogram(
            "bowerbird_turn_seconds", "Seconds from the start of a turn to its end.", TURN_SECONDS
        )
        self._all.append(self._seconds)
        self._lanes = self._gauge("lanes", "Addresses with a live lane.")
        self._errors = self._counter("provider_errors_total", "Failed model calls, by provider and error.")
        self._tokens = self._counter("tokens_total", "Tokens, by provider and direction.")
        self._shows = self._counter("shows_total", "Platform messages sent, by channel.")
        self._edits = self._counter("edits_total", "Platform messages edited, by channel.")
        self._refused = self._counter("channel_errors_total", "Refused platform calls, by channel and error.")
        self._approvals = self._counter("approvals_total", "Questions to a person, by what became of them.")
        self._lag = self._gauge("event_loop_lag_seconds", "How late the event loop woke up, last measured.")
        self._live.put(0)
        self._lag.put(0)
        self._started_at = clock.now()
        self._count_lanes: Callable[[], int] = int

    def _counter(self, name: str, text: str) -> _Series:
        return self._kept(_Series(f"bowerbird_{name}", "counter", text))

    def _gauge(self, name: str, text: str) -> _Series:
        return self._kept(_Series(f"bowerbird_{name}", "gauge", text))

    def _kept(self, series: _Series) -> _Series:
        self._all.append(series)
        return series

    def inbound(self, channel: str, kind: str) -> None:
        self._inbound.add(channel=channel, kind=kind)

    def turn_started(self) -> None:
        self._live.add(1)

    def turn_ended(self, reason: StopReason, seconds: float) -> None:
        self._live.add(-1)
        self._turns.add(reason=reason.value)
        self._seconds.observe(seconds)

    def provider_error(self, provider: str, error: Exception) -> None:
        self._errors.add(provider=provider, error=type(error).__name__)

    def tokens(self, provider: str, usage: Usage) -> None:
        self._tokens.add(usage.input_tokens, provider=provider, direction="input")
        self._tokens.add(usage.output_tokens, provider=provider, direction="output")

    def shown(self, channel: str, *, edit: bool) -> None:
        (self._edits if edit else self._shows).add(channel=channel)

    def channel_error(self, channel: str, error: Exception) -> None:
        self._refused.add(channel=channel, error=type(error).__name__)

    def approval(self, decision: str) -> None:
        self._approvals.add(decision=decision)

    def lanes_from(self, count: Callable[[], int]) -> None:
        """Ask ``count`` for the number of live lanes whenever the metrics are read."""
        self._count_lanes = count

    async def watch_loop(self) -> None:
        """Until cancelled: measure every few seconds how late the event loop wakes a sleeper."""
        while True:
            before = self._clock.monotonic()
            await self._clock.sleep(LAG_EVERY)
            self._lag.put(max(0.0, self._clock.monotonic() - before - LAG_EVERY))

    def text(self) -> str:
        """Everything, in the Prometheus text format."""
        self._lanes.put(self._count_lanes())
        lines: list[str] = []
        for metric in self._all:
            lines += metric.lines()
        lines += self._process()
        return "\n".join(lines) + "\n"

    def _process(self) -> Iterator[str]:
        started = _Series("process_start_time_seconds", "gauge", "Unix time at which the process started.")
        started.put(self._started_at)
        yield from started.lines()
        spent = os.times()
        cpu = _Series("process_cpu_seconds_total", "counter", "User and system time in seconds.")
        cpu.put(spent.user + spent.system)
        yield from cpu.lines()
        resident = _resident_bytes()
        if resident is not None:
            memory = _Series("process_resident_memory_bytes", "gauge", "Resident memory in bytes.")
            memory.put(resident)
            yield from memory.lines()


def _resident_bytes() -> int | None:
    """From the kernel's own table; None where there is none (macOS)."""
    try:
        with open("/proc/self/statm", encoding="ascii") as table:
            return int(table.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return None
