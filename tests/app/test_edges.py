"""The channels of a daemon, and the HTTP server that is there with or without the page."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from bot.app.edges import Edges, http_place
from bot.brain.turn import Turn
from bot.config.load import load
from bot.core.address import Address, Sender
from bot.core.events import Offered, TextDelta, TurnEnded, TurnEvent
from bot.core.inbound import UserMessage
from bot.core.stop import StopReason
from bot.core.view import Button, Part, Ref
from bot.outbox.governor import BucketGovernor
from bot.outbox.leftovers import Leftovers
from bot.store.store import Store
from bot.web.metrics import Metrics
from tests.fakes.channel import HERE, FakeChannel
from tests.fakes.clock import FakeClock


@pytest.mark.parametrize(
    ("channels", "place"),
    [
        ('{telegram: {token: "1:a"}}', ("127.0.0.1", 8717)),
        ('{telegram: {token: "1:a"}, web: off}', ("127.0.0.1", 8717)),
        ('{telegram: {token: "1:a"}, web: {port: 9000}}', ("127.0.0.1", 9000)),
        ("{web: {host: 0.0.0.0, port: 0, token: abcdefgh}}", ("0.0.0.0", 0)),
    ],
)
def test_health_and_metrics_have_a_place_also_without_the_page(
    tmp_path: Path, channels: str, place: tuple[str, int]
) -> None:
    file = tmp_path / "config.yaml"
    file.write_text(f"channels: {channels}\n")
    assert http_place(load(file, {})) == place


@dataclass(slots=True)
class Unbuttoning(FakeChannel):
    bare: list[str] = field(default_factory=list)

    async def unbutton(self, to: Address, ref: Ref, part: Part) -> None:
        self.bare.append(part.turn)


async def test_a_newer_answer_takes_the_offer_from_an_older_one_and_a_command_does_not(tmp_path: Path) -> None:
    clock = FakeClock()
    channel, governor = Unbuttoning(clock), BucketGovernor(clock)
    again = Offered((Button("Try again", "b:t:retry"),))
    async with Store.open(tmp_path / "data") as store:
        leftovers = Leftovers(channel.unbutton, governor, clock)
        edges = Edges(governor, clock, store, Metrics(clock), {"fake": channel}, leftovers={"fake": leftovers})

        async def answered(name: str, asked: str, *events: TurnEvent) -> None:
            turn = Turn(name, UserMessage(name, HERE, Sender("fake", "7"), asked, 1.0), "en")
            publisher = edges.publisher(turn, None)
            end = TurnEnded(StopReason.STOPPED if events else StopReason.ANSWERED)
            for event in (TextDelta("Words."), *events, end):
                publisher.emit(event)
            assert (await publisher.run()).delivered
            await clock.advance(10)

        async with asyncio.TaskGroup() as group:
            task = group.create_task(leftovers.run())
            await clock.settle()
            await answered("t1", "what is the sea?", again)
            await answered("t2", "/status")
            assert channel.bare == []
            await answered("t3", "and the sky?")
            assert channel.bare == ["t1"]
            task.cancel()
