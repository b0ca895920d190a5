"""Envelopes: acknowledgements in time, late and wrong ones, redelivery, which connection, what order."""

import aiohttp
import pytest

from tests.sim.slack import SlackSim
from tests.sim.slack.conftest import APP_TOKEN, Timed
from tests.sim.slack.driven import Driven, Wire


@pytest.fixture
def driven(timed: Timed) -> Driven:
    return Driven(*timed)


async def test_an_event_is_acknowledged_once_and_in_time(driven: Driven) -> None:
    wire = await driven.wire()
    ts = await driven.said()
    envelope = await wire.next()
    payload = envelope["payload"]
    assert (envelope["type"], envelope["accepts_response_payload"]) == ("events_api", False)
    assert (envelope["retry_attempt"], envelope["retry_reason"]) == (0, "")
    assert (payload["type"], payload["team_id"], payload["event"]["ts"]) == ("event_callback", "T0SIM", ts)
    assert payload["authorizations"][0]["user_id"] == "U0BOWER"
    assert [delivery.state for delivery in driven.sim.unacked] == ["waiting"]
    await wire.ack(envelope)
    await driven.sim.until(lambda sim: not sim.unacked)
    assert [(ack.name, ack.seconds) for ack in driven.sim.acks] == [(payload["event_id"], 0.0)]
    await driven.clock.advance(400)
    with pytest.raises(TimeoutError):
        await wire.next(0.05)
    assert driven.sim.violations == []
    await wire.ack(envelope)
    await driven.sim.until(lambda sim: sim.violations)
    assert driven.sim.violations == [f"acknowledged twice: {payload['event_id']}"]


async def test_an_unacknowledged_event_comes_again_at_once_after_one_and_after_five_minutes(driven: Driven) -> None:
    wire = await driven.wire()
    await driven.said()
    envelopes = [await wire.next()]
    for seconds in (3, 63, 303):
        await driven.pass_by(seconds - 0.1)
        with pytest.raises(TimeoutError):
            await wire.next(0.05)
        await driven.pass_by(0.1)
        envelopes.append(await wire.next())
    await driven.pass_by(3)
    assert [(each["retry_attempt"], each["retry_reason"]) for each in envelopes] == [
        (0, ""), (1, "timeout"), (2, "timeout"), (3, "timeout"),
    ]  # fmt: skip
    assert len({each["payload"]["event_id"] for each in envelopes}) == 1
    assert len({each["envelope_id"] for each in envelopes}) == 4
    assert [(each.state, each.attempts) for each in driven.sim.unacked] == [("lost", 4)]
    await driven.clock.advance(1000)
    with pytest.raises(TimeoutError):
        await wire.next(0.05)


async def test_a_late_acknowledgement_is_a_violation_and_ends_the_retries(driven: Driven) -> None:
    wire = await driven.wire()
    await driven.said()
    envelope = await wire.next()
    await driven.pass_by(3)
    assert (await wire.next())["retry_attempt"] == 1
    await wire.ack(envelope)
    await driven.sim.until(lambda sim: not sim.unacked)
    assert driven.sim.violations == ["acknowledged after 3.0 s: events_api"]
    await driven.pass_by(400)
    with pytest.raises(TimeoutError):
        await wire.next(0.05)


async def test_what_is_no_acknowledgement_is_a_violation(driven: Driven) -> None:
    wire = await driven.wire()
    for text in ("hello", "[1]", '{"envelope_id": "none"}', "{}"):
        await wire.ws.send_str(text)
    await driven.sim.until(lambda sim: len(sim.violations) == 4)
    assert driven.sim.violations[2] == "an acknowledgement of nothing: none"


async def test_a_payload_where_none_is_taken_is_a_violation(driven: Driven) -> None:
    wire = await driven.wire()
    await driven.said()
    await wire.ack(await wire.next(), payload={"text": "x"})
    await driven.sim.until(lambda sim: sim.violations)
    assert driven.sim.violations == ["a payload in the acknowledgement of events_api, which takes none"]


async def test_an_event_without_a_connection_is_tried_again_later(driven: Driven) -> None:
    await driven.said()
    await driven.clock.settle()
    wire = await driven.wire()
    await driven.clock.advance(59)
    with pytest.raises(TimeoutError):
        await wire.next(0.05)
    await driven.pass_by(1)
    envelope = await wire.next()
    assert (envelope["retry_attempt"], envelope["retry_reason"]) == (2, "connection_failed")


async def test_an_event_can_be_sent_again_though_acknowledged(driven: Driven) -> None:
    wire = await driven.wire()
    await driven.said()
    first = await wire.next()
    await wire.ack(first)
    driven.sim.redeliver_now(first["payload"]["event_id"])
    second = await wire.next()
    assert (second["payload"], second["retry_attempt"]) == (first["payload"], 1)
    with pytest.raises(KeyError):
        driven.sim.redeliver_now("Ev404")


async def test_events_go_to_any_one_of_the_connections(driven: Driven) -> None:
    wires = [await driven.wire() for _ in range(3)]
    for _ in range(12):
        await driven.said()

    async def count(wire: Wire) -> int:
        got = 0
        try:
            while True:
                await wire.ack(await wire.next(0.1))
                got += 1
        except TimeoutError:
            return got

    counts = [await count(wire) for wire in wires]
    assert sum(counts) == 12
    assert all(counts)


async def test_anything_can_be_fed(driven: Driven) -> None:
    with pytest.raises(LookupError):
        await driven.sim.feed({})
    wire = await driven.wire()
    await driven.sim.feed({"type": "events_api", "envelope_id": "E1", "payload": {"odd": True}})
    envelope = await wire.next()
    assert envelope["payload"] == {"odd": True}
    await wire.ack(envelope)
    await driven.sim.feed("not json")
    assert (await wire.ws.receive()).data == "not json"
    await driven.sim.until(lambda sim: sim.acks)
    assert driven.sim.violations == []


async def test_envelopes_overtake_each_other_when_shuffled() -> None:
    async def order(shuffle: bool) -> list[str]:
        async with SlackSim(shuffle=shuffle, seed=3) as sim, aiohttp.ClientSession() as session:
            headers = {"Authorization": f"Bearer {APP_TOKEN}"}
            async with session.post(f"{sim.api_base}apps.connections.open", headers=headers) as answer:
                wire = Wire(await session.ws_connect((await answer.json())["url"], autoping=False))
            await wire.next()
            ann = sim.person("U0ANN", "Ann")
            for n in range(8):
                await sim.say(sim.dm(ann), ann, str(n))
            return [(await wire.next())["payload"]["event"]["text"] for _ in range(8)]

    said = [str(n) for n in range(8)]
    assert await order(shuffle=False) == said
    shuffled = await order(shuffle=True)
    assert shuffled != said and sorted(shuffled) == said
