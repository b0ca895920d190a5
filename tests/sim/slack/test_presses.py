"""Presses of buttons, slash commands, and what may be answered to them."""

from collections.abc import AsyncIterator
from typing import Any

import aiohttp
import pytest
import pytest_asyncio
from slack_sdk.web.async_client import AsyncWebClient

from tests.fakes.clock import FakeClock
from tests.sim.slack import Channel, Person, SlackSim
from tests.sim.slack.conftest import Bolt, Timed

Json = dict[str, Any]


def buttons(*labels: str) -> list[Json]:
    elements = [
        {
            "type": "button",
            "action_id": f"a_{label}",
            "value": f"v_{label}",
            "text": {"type": "plain_text", "text": label},
        }
        for label in labels
    ]
    return [{"type": "actions", "block_id": "keys", "elements": elements}]


async def test_a_press_is_heard_with_its_button_and_message(
    sim: SlackSim, client: AsyncWebClient, bolt: Bolt, dm: Channel, ann: Person
) -> None:
    root = (await sim.say(dm, ann, "may you?"))["ts"]
    posted = await client.chat_postMessage(channel=dm.id, text="?", blocks=buttons("Yes", "No"), thread_ts=root)
    pressed: list[Json] = []

    @bolt.app.action("a_Yes")
    async def press(ack: Any, body: Json, respond: Any) -> None:
        await ack()
        pressed.append(body)
        await respond("Yes, said Ann", replace_original=True)

    delivery = await sim.press(dm, ann, posted["ts"], "Yes")
    await sim.until(lambda sim: sim.bot_texts(dm) == ["Yes, said Ann"] and not sim.unacked)
    (body,) = pressed
    (action,) = body["actions"]
    assert (action["action_id"], action["block_id"], action["value"], action["type"]) == (
        "a_Yes", "keys", "v_Yes", "button",
    )  # fmt: skip
    assert (body["type"], body["user"]["id"], body["team"]["id"]) == ("block_actions", ann.id, "T0SIM")
    assert body["container"] == {
        "type": "message", "message_ts": posted["ts"], "channel_id": dm.id, "is_ephemeral": False, "thread_ts": root,
    }  # fmt: skip
    assert (body["message"]["ts"], body["message"]["thread_ts"]) == (posted["ts"], root)
    assert (delivery.state, sim.violations) == ("acked", [])
    assert sim.visible(dm)[1].buttons == ()


async def test_a_button_is_named_by_action_value_or_label(
    sim: SlackSim, client: AsyncWebClient, bolt: Bolt, dm: Channel, ann: Person
) -> None:
    ts = (await client.chat_postMessage(channel=dm.id, text="?", blocks=buttons("Yes")))["ts"]
    values: list[str] = []

    @bolt.app.action("a_Yes")
    async def press(ack: Any, body: Json) -> None:
        await ack()
        values.append(body["actions"][0]["value"])

    for key in ("a_Yes", "v_Yes", "Yes"):
        await sim.press(dm, ann, ts, key)
    await sim.until(lambda _: values == ["v_Yes"] * 3)
    with pytest.raises(LookupError):
        await sim.press(dm, ann, ts, "No")


async def test_buttons_of_a_stream_come_when_it_stops(
    sim: SlackSim, client: AsyncWebClient, dm: Channel, ann: Person
) -> None:
    root = (await sim.say(dm, ann, "?"))["ts"]
    chunks = [{"type": "blocks", "blocks": buttons("Yes")}]
    ts = (await client.chat_startStream(channel=dm.id, thread_ts=root, chunks=chunks))["ts"]
    with pytest.raises(LookupError, match="when its stream stops"):
        await sim.press(dm, ann, ts, "Yes")
    await client.chat_stopStream(channel=dm.id, ts=ts)
    await sim.press(dm, ann, ts, "Yes")


@pytest_asyncio.fixture
async def driven(timed: Timed) -> AsyncIterator[tuple[SlackSim, FakeClock, Bolt]]:
    sim, clock, client = timed
    bolt = Bolt(client)
    await bolt.connect()
    await sim.until(lambda sim: sim.sockets.open == 1)
    yield sim, clock, bolt
    await bolt.close()


async def test_a_press_or_command_without_acknowledgement_is_a_violation_and_comes_once(
    driven: tuple[SlackSim, FakeClock, Bolt],
) -> None:
    sim, clock, bolt = driven
    ann = sim.person("U0ANN", "Ann")
    dm = sim.dm(ann)
    ts = (await bolt.app.client.chat_postMessage(channel=dm.id, text="?", blocks=buttons("Yes")))["ts"]
    bolt.refusing = True
    press, command = await sim.press(dm, ann, ts, "Yes"), await sim.command(dm, ann, "/bowerbird")
    await sim.until(lambda _: len(bolt.heard) == 2)
    await clock.advance(3)
    await sim.until(lambda sim: len(sim.violations) == 2)
    assert sorted(sim.violations) == ["not acknowledged in 3 s: interactive", "not acknowledged in 3 s: slash_commands"]
    assert (press.state, command.state) == ("lost", "lost")
    await clock.advance(1000)
    assert len(bolt.heard) == 2


async def test_a_press_that_never_reached_the_app_is_not_its_fault(
    driven: tuple[SlackSim, FakeClock, Bolt],
) -> None:
    sim, clock, bolt = driven
    ann = sim.person("U0ANN", "Ann")
    dm = sim.dm(ann)
    ts = (await bolt.app.client.chat_postMessage(channel=dm.id, text="?", blocks=buttons("Yes")))["ts"]
    sim.deaf(True)
    delivery = await sim.press(dm, ann, ts, "Yes")
    await clock.advance(4)
    await sim.until(lambda _: delivery.state == "lost")
    assert sim.violations == []


async def test_a_command_is_heard_and_its_acknowledgement_shown_to_the_person(
    sim: SlackSim, bolt: Bolt, team: Channel, ann: Person
) -> None:
    heard: list[Json] = []

    @bolt.app.command("/bowerbird")
    async def command(ack: Any, command: Json, respond: Any) -> None:
        heard.append(command)
        if command["text"] == "silent":
            await ack()
        elif command["text"] == "public":
            await ack({"response_type": "in_channel", "text": "for all"})
        else:
            await ack("for *you*")
            await respond("and later")

    await sim.command(team, ann, "/bowerbird", "status")
    await sim.until(lambda sim: sorted(sim.bot_texts(team)) == ["and later", "for you"])
    assert {shown.ephemeral_to for shown in sim.visible(team)} == {ann.id}
    await sim.command(team, ann, "/bowerbird", "silent")
    await sim.command(team, ann, "/bowerbird", "public")
    await sim.until(lambda sim: len(sim.bot_texts(team)) == 3)
    (public,) = [shown for shown in sim.visible(team) if not shown.ephemeral_to]
    assert public.text == "for all"
    told = {name: heard[0][name] for name in ("command", "text", "channel_id", "user_id", "channel_name")}
    assert told == {
        "command": "/bowerbird", "text": "status", "channel_id": team.id, "user_id": ann.id, "channel_name": "team",
    }  # fmt: skip
    await sim.until(lambda sim: not sim.unacked)
    assert sim.violations == []


async def test_a_response_url_works_five_times_within_half_an_hour(
    driven: tuple[SlackSim, FakeClock, Bolt],
) -> None:
    sim, clock, bolt = driven
    ann = sim.person("U0ANN", "Ann")
    dm = sim.dm(ann)
    ts = (await bolt.app.client.chat_postMessage(channel=dm.id, text="?", blocks=buttons("Yes")))["ts"]
    first = sim.responses.url(dm, ann.id, ts)
    async with aiohttp.ClientSession() as session:

        async def answer(url: str, **body: Any) -> Any:
            async with session.post(url, json=body) as answer:
                return answer.status, (await answer.json()).get("error")

        assert await answer(first, text="x") == (200, None)
        assert await answer(first, text="y", response_type="in_channel") == (200, None)
        assert await answer(first, text="") == (200, "no_text")
        assert await answer(first, text="z", replace_original=True) == (200, None)
        assert await answer(first, delete_original=True) == (200, None)
        assert await answer(first, text="x") == (404, "used_url")
        second = sim.responses.url(dm, ann.id, ts)
        assert await answer(second, replace_original=True, text="x") == (404, "message_not_found")
        await clock.advance(1801)
        assert await answer(second, text="x") == (404, "expired_url")
        assert await answer(f"{sim.url}/actions/T0SIM/none", text="x") == (404, "invalid_url")
    assert [(shown.text, shown.ephemeral_to) for shown in sim.visible(dm)] == [("x", ann.id), ("y", "")]
