"""Ours against the floor on Telegram: the same questions, the same model, the same simulators, in turn on one machine.

The floor is ``tests/bench/floor/bot.py``. Every bot is a process of its own, and so are both simulators. At 100 chats the
floor, which has no governor, meets a Telegram without rates, and ours one that is strict; at 500 neither has rates, and
our own overall rate and limit of live turns are lifted. ``--quick``: one round, shorter, for a first look.
"""

from __future__ import annotations

import asyncio
import itertools
import os
import statistics
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tests.bench.bots import NAMES, UNLIMITED, compiled, running
from tests.bench.process import Measured
from tests.bench.script import PAUSE_SECONDS
from tests.bench.table import Row, printed
from tests.bench.wires import Told, Wires, wires

QUICK = "--quick" in sys.argv
ROUNDS = 1 if QUICK else 3
TEN = 10
ALONE = 5 if QUICK else 12
MANY = 100
CROWD = 500
IDLE_SECONDS = 10.0
IDLE_CPU_SECONDS = 15.0 if QUICK else 60.0
PATIENCE_SECONDS = 180.0
SETTLE_SECONDS = 2.0
"""A bot may go on so long after its last final: what is said twice is said by then, and the books are closed."""
BETWEEN_SECONDS = 0.3


@dataclass(slots=True)
class Figures:
    """One value a round, or a sample of several; seconds, bytes, tokens. ``wrong`` are chats without exactly one right
    answer, ``broken`` the rules broken where rules held."""

    start: list[float] = field(default_factory=list)
    firsts_of_ten: list[list[float]] = field(default_factory=list)
    overhead: list[float] = field(default_factory=list)
    cpu: dict[int, list[float]] = field(default_factory=lambda: {1: [], MANY: [], CROWD: []})
    calls: dict[int, list[float]] = field(default_factory=lambda: {1: [], MANY: [], CROWD: []})
    first_p95: list[float] = field(default_factory=list)
    final_p95: list[float] = field(default_factory=list)
    resident: list[float] = field(default_factory=list)
    idle_cpu: list[float] = field(default_factory=list)
    prompt: list[float] = field(default_factory=list)
    answers: int = 0
    wrong: int = 0
    broken: list[str] = field(default_factory=list)


async def run() -> None:
    figures = {name: Figures() for name in NAMES}
    people = itertools.count(1001)
    load = os.getloadavg()[0]
    compiled()
    with tempfile.TemporaryDirectory() as folder:
        places = (Path(folder) / str(number) for number in itertools.count())
        for turn in range(ROUNDS):
            for name in NAMES if turn % 2 == 0 else NAMES[::-1]:
                await small(name, figures[name], places, people)
        for turn in range(ROUNDS):
            for name in NAMES if turn % 2 == 0 else NAMES[::-1]:
                await crowd(name, figures[name], places, people)
        for name in NAMES:
            await idle(name, figures[name], places)
    show(figures["floor"], figures["ours"], load)


async def small(name: str, figures: Figures, places: Iterator[Path], people: Iterator[int]) -> None:
    """Start, ten turns one after the other with a model that begins at once, then paced: one at a time, and 100."""
    async with (
        wires(next(places), strict=name == "ours") as both,
        running(name, next(places), both.telegram, both.models) as bot,
    ):
        figures.start.append(await both.first_poll() - bot.began)
        ten = list(itertools.islice(people, TEN))
        answers = await in_turn(both, ten, figures, paced=False)
        added = [told.first_seconds - (told.model_seconds - PAUSE_SECONDS) for told in answers]
        figures.firsts_of_ten.append(added)
        figures.overhead += added[1:]
        await in_turn(both, list(itertools.islice(people, ALONE)), figures, paced=True, bot=bot)
        await at_once(both, list(itertools.islice(people, MANY)), figures, bot)
        figures.broken += await both.violations()


async def crowd(name: str, figures: Figures, places: Iterator[Path], people: Iterator[int]) -> None:
    """500 chats at once, without the limits that would spread them."""
    async with (
        wires(next(places), strict=False) as both,
        running(name, next(places), both.telegram, both.models, UNLIMITED) as bot,
    ):
        await both.first_poll()
        await asyncio.sleep(SETTLE_SECONDS)
        await in_turn(both, list(itertools.islice(people, 2)), figures, paced=False)
        answers = await at_once(both, list(itertools.islice(people, CROWD)), figures, bot)
        figures.first_p95.append(percentile([told.first_seconds for told in answers], 0.95))
        figures.final_p95.append(percentile([told.final_seconds for told in answers], 0.95))
        figures.broken += await both.violations()


async def idle(name: str, figures: Figures, places: Iterator[Path]) -> None:
    """After one "hello" has been answered and nothing more comes."""
    async with (
        wires(next(places), strict=True) as both,
        running(name, next(places), both.telegram, both.models) as bot,
    ):
        await both.first_poll()
        await asyncio.sleep(SETTLE_SECONDS)
        await both.prepare([], paced=False)
        await both.say(7, "hello")
        await asyncio.sleep(IDLE_SECONDS)
        figures.prompt.append(await both.prompt_tokens())
        figures.resident.append(bot.resident_bytes())
        before = bot.cpu_seconds()
        await asyncio.sleep(IDLE_CPU_SECONDS)
        figures.idle_cpu.append((bot.cpu_seconds() - before) / IDLE_CPU_SECONDS)
        figures.broken += await both.violations()


async def in_turn(
    both: Wires, people: Sequence[int], figures: Figures, *, paced: bool, bot: Measured | None = None
) -> list[Told]:
    """One question after the other, each in a chat of its own."""
    await both.prepare(people, paced=paced)
    before = bot.cpu_seconds() if bot else 0.0
    for person in people:
        await both.ask([person])
        await both.shown([person], PATIENCE_SECONDS)
        await asyncio.sleep(BETWEEN_SECONDS)
    await asyncio.sleep(SETTLE_SECONDS)
    answers = await counted(both, people, figures)
    if bot is not None:
        booked(figures, 1, bot.cpu_seconds() - before, answers)
    return answers


async def at_once(both: Wires, people: Sequence[int], figures: Figures, bot: Measured) -> list[Told]:
    """Everybody asks at the same moment."""
    await both.prepare(people, paced=True)
    before = bot.cpu_seconds()
    await both.ask(people)
    await both.shown(people, PATIENCE_SECONDS)
    await asyncio.sleep(SETTLE_SECONDS)
    spent = bot.cpu_seconds() - before
    answers = await counted(both, people, figures)
    booked(figures, len(people), spent, answers)
    return answers


def booked(figures: Figures, chats: int, cpu_seconds: float, answers: Sequence[Told]) -> None:
    figures.cpu[chats].append(cpu_seconds / max(1, len(answers)))
    figures.calls[chats].append(statistics.mean(told.calls for told in answers))


async def counted(both: Wires, people: Sequence[int], figures: Figures) -> list[Told]:
    """The answers that came; what was lost or doubled is on record."""
    told = (await both.told(people)).values()
    figures.answers += len(people)
    figures.wrong += sum(answer is None or not answer.right for answer in told)
    return [answer for answer in told if answer is not None]


def percentile(values: Sequence[float], share: float) -> float:
    return sorted(values)[min(len(values) - 1, int(share * len(values)))]


def show(floor: Figures, ours: Figures, load: float) -> None:
    median = statistics.median
    print(f"{ROUNDS} rounds in turn; medians; CPU with children; load of the machine before {load:.1f}.\n")
    chats = {1: "one chat at a time", MANY: f"{MANY} chats at once", CROWD: f"{CROWD} chats at once"}
    first = median(ten[0] for ten in ours.firsts_of_ten)
    later = median(value for ten in ours.firsts_of_ten for value in ten[TEN // 2 :])
    printed(
        [
            *(
                Row(f"CPU per plain turn, {name} (ms)", 1e3 * median(floor.cpu[n]), 1e3 * median(ours.cpu[n]), 0.5)
                for n, name in chats.items()
            ),
            Row(
                "first words after the message, without the model (ms)",
                1e3 * median(floor.overhead),
                1e3 * median(ours.overhead),
                0.5,
            ),
            Row(f"first words, p95 of {CROWD} chats (s)", median(floor.first_p95), median(ours.first_p95), 0.5, 2),
            Row(f"whole answer, p95 of {CROWD} chats (s)", median(floor.final_p95), median(ours.final_p95), 0.5, 2),
            Row("memory when idle, Rss (MB)", median(floor.resident) / 1e6, median(ours.resident) / 1e6, 1.6),
            Row("cold start to the first poll (s)", median(floor.start), median(ours.start), 1.2, 2),
            Row(
                "first words of the first turn after the start, against ours of the sixth to tenth (ms)",
                1e3 * later,
                1e3 * first,
                1.0,
            ),
            Row("CPU when idle (% of a core)", 100 * median(floor.idle_cpu), 100 * median(ours.idle_cpu), 0.3, 2, True),
            Row('prompt of a first "hello" (tokens)', median(floor.prompt), median(ours.prompt), 1500, 0, True),
            Row(f"chats without exactly one right answer, of {ours.answers}", floor.wrong, ours.wrong, 0, 0, True),
            Row("rules of the platforms broken", None, len(ours.broken), 0, 0, True),
        ]
    )
    print()
    for n, name in chats.items():
        print(f"- calls per turn, {name}: floor {median(floor.calls[n]):.1f}, ours {median(ours.calls[n]):.1f}")
    for rule in sorted(set(ours.broken))[:10]:
        print(f"- broken by ours: {rule}")
