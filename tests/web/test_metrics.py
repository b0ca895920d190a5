"""The counters, read back by a parser that is as strict as the text format's own grammar."""

from __future__ import annotations

import asyncio
import re

from bot.core.errors import ProviderBusy
from bot.core.model import Usage
from bot.core.stop import StopReason
from bot.web.metrics import MOST_SERIES, Metrics
from tests.fakes.clock import FakeClock

LINE = re.compile(
    r'(?P<name>[a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(?P<labels>(?:[a-zA-Z_]\w*="(?:[^"\\\n]|\\[\\n"])*",?)*)\})? '
    r"(?P<value>[+-]?(?:\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|Inf))"
)
LABEL = re.compile(r'([a-zA-Z_]\w*)="((?:[^"\\\n]|\\[\\n"])*)"')


def read(text: str) -> dict[tuple[str, tuple[tuple[str, str], ...]], float]:
    """Every sample; fails on a line outside the grammar, a sample without a type, or one given twice."""
    assert text.endswith("\n")
    types: set[str] = set()
    samples: dict[tuple[str, tuple[tuple[str, str], ...]], float] = {}
    for line in text.splitlines():
        if line.startswith("# TYPE "):
            name = line.split()[2]
            assert name not in types
            types.add(name)
        elif not line.startswith("# HELP "):
            match = LINE.fullmatch(line)
            assert match, line
            assert re.sub(r"_(bucket|sum|count)$", "", match["name"]) in types or match["name"] in types
            key = (match["name"], tuple(LABEL.findall(match["labels"] or "")))
            assert key not in samples
            samples[key] = float(match["value"])
    return samples


def test_what_happened_is_counted() -> None:
    metrics = Metrics(FakeClock(), "0.1.0")
    metrics.inbound("web", "message")
    metrics.inbound("web", "message")
    metrics.turn_started()
    metrics.turn_started()
    metrics.turn_ended(StopReason.ANSWERED, 1.2)
    metrics.provider_error("anthropic", ProviderBusy("busy"))
    metrics.tokens("anthropic", Usage(input_tokens=10, output_tokens=4))
    metrics.shown("web", edit=False)
    metrics.shown("web", edit=True)
    metrics.shown("web", edit=True)
    for decision in ("deny", "expired", "expired"):
        metrics.approval(decision)
    metrics.lanes_from(lambda: 7)
    samples = read(metrics.text())
    assert samples["bowerbird_inbound_total", (("channel", "web"), ("kind", "message"))] == 2
    assert samples["bowerbird_live_turns", ()] == 1
    assert samples["bowerbird_turns_total", (("reason", "answered"),)] == 1
    assert samples["bowerbird_turn_seconds_bucket", (("le", "1"),)] == 0
    assert samples["bowerbird_turn_seconds_bucket", (("le", "2.5"),)] == 1
    assert samples["bowerbird_turn_seconds_bucket", (("le", "+Inf"),)] == 1
    assert samples["bowerbird_turn_seconds_sum", ()] == 1.2
    assert samples["bowerbird_provider_errors_total", (("provider", "anthropic"), ("error", "ProviderBusy"))] == 1
    assert samples["bowerbird_tokens_total", (("provider", "anthropic"), ("direction", "output"))] == 4
    assert samples["bowerbird_shows_total", (("channel", "web"),)] == 1
    assert samples["bowerbird_edits_total", (("channel", "web"),)] == 2
    assert samples["bowerbird_approvals_total", (("decision", "expired"),)] == 2
    assert samples["bowerbird_approvals_total", (("decision", "deny"),)] == 1
    assert samples["bowerbird_lanes", ()] == 7
    assert samples["process_start_time_seconds", ()] == 1_800_000_000


def test_hostile_labels_stay_inside_the_grammar_and_the_bound() -> None:
    metrics = Metrics(FakeClock())
    metrics.inbound('we"b\\', "a\nb")
    for number in range(3 * MOST_SERIES):
        metrics.inbound(f"channel{number}", "message")
    samples = read(metrics.text())
    assert samples["bowerbird_inbound_total", (("channel", 'we\\"b\\\\'), ("kind", "a\\nb"))] == 1
    inbound = {key: value for key, value in samples.items() if key[0] == "bowerbird_inbound_total"}
    assert len(inbound) == MOST_SERIES + 1
    assert sum(inbound.values()) == 3 * MOST_SERIES + 1


async def test_the_event_loops_lag_is_measured() -> None:
    clock = FakeClock()
    metrics = Metrics(clock)
    async with asyncio.TaskGroup() as group:
        task = group.create_task(metrics.watch_loop())
        await clock.settle()
        await clock.advance(5.25)
        assert 0 <= read(metrics.text())["bowerbird_event_loop_lag_seconds", ()] <= 0.25
        task.cancel()
