"""Scripted trouble: which call it meets, lost answers, dead connections, latency."""

import asyncio
from typing import Any

import aiohttp
import discord
import pytest

from tests.sim.discord import Channel, DiscordSim, Person
from tests.sim.discord.conftest import EDITS, MESSAGES, Ask, Library

# scripted trouble


async def test_the_nth_call_or_every_nth_is_met(sim: DiscordSim, dm: Channel, ask: Ask) -> None:
    async def statuses() -> list[int]:
        return [(await ask("POST", f"/channels/{dm.id}/messages", content="x"))[0] for _ in range(4)]

    sim.fail(MESSAGES, 2, status=500)
    assert await statuses() == [200, 500, 200, 200]
    fault = sim.fail(MESSAGES, 2, status=503, every=True)
    assert await statuses() == [200, 503, 200, 503]
    assert fault.hits == 2
    assert len(sim.bot_texts(dm)) == 5


async def test_a_fault_can_be_meant_for_one_channel_with_a_code_or_words_of_its_own(
    sim: DiscordSim, dm: Channel, ann: Person, ask: Ask
) -> None:
    other = sim.dm(sim.person(8, "Bob"))
    sim.fail(MESSAGES, code=50007, channel=other)
    assert (await ask("POST", f"/channels/{dm.id}/messages", content="x"))[0] == 200
    status, body, _ = await ask("POST", f"/channels/{other.id}/messages", content="x")
    assert (status, body) == (403, {"message": "Cannot send messages to this user", "code": 50007})
    sim.fail("*", status=400, body={"message": "odd", "code": 1})
    assert (await ask("GET", "/users/@me"))[1] == {"message": "odd", "code": 1}


async def test_a_shared_429_is_not_counted_as_invalid_and_a_global_one_stops_everything(
    sim: DiscordSim, dm: Channel, ask: Ask
) -> None:
    path = f"/channels/{dm.id}/messages"
    sim.fail(MESSAGES, retry_after=1, scope="shared")
    _, body, headers = await ask("POST", path, content="x")
    assert (body["message"], headers["X-RateLimit-Scope"]) == ("The resource is being rate limited.", "shared")
    assert (sim.invalid_requests, (await ask("GET", path))[0]) == (0, 200)
    sim.heal()
    sim.fail(MESSAGES, retry_after=1, scope="global")
    assert (await ask("POST", path, content="x"))[1]["global"]
    assert (await ask("GET", path))[0] == 429
    assert sim.invalid_requests == 2


@pytest.mark.parametrize("action", ["drop", "reset"])
@pytest.mark.parametrize(("effect", "texts"), [("none", []), ("done", ["hi"])])
async def test_a_lost_connection_with_and_without_effect(
    sim: DiscordSim, bot: Library, dm: Channel, action: Any, effect: Any, texts: list[str]
) -> None:
    sim.fail(MESSAGES, action=action, effect=effect)
    with pytest.raises((aiohttp.ClientError, ConnectionError)):
        await bot.here(dm).send("hi")
    assert sim.bot_texts(dm) == texts
    assert (sim.calls[-1].status, sim.calls[-1].answer) == (0, f"fault: {action}")


async def test_garbage_is_html_without_via_and_the_library_gives_up_at_once(
    sim: DiscordSim, bot: Library, dm: Channel
) -> None:
    sim.fail(MESSAGES, action="garbage", status=429)
    with pytest.raises(discord.HTTPException) as error:
        await bot.here(dm).send("hi")
    assert (error.value.status, error.value.code) == (429, 0)
    assert len(sim.called(MESSAGES)) == 1


async def test_an_edit_that_hangs_is_under_way_until_its_client_leaves(
    sim: DiscordSim, bot: Library, dm: Channel, ask: Ask
) -> None:
    _, sent, _ = await ask("POST", f"/channels/{dm.id}/messages", content="x")
    path = f"/channels/{dm.id}/messages/{sent['id']}"
    sim.fail(EDITS, action="hang")
    async with asyncio.TaskGroup() as group:
        hanging = group.create_task(ask("PATCH", path, content="a"))
        await sim.until(lambda sim: sim.calls[-1].answer == "fault: hang")
        await ask("PATCH", path, content="b")
        assert sim.violations == [f"two edits at once: {path}"]
        hanging.cancel()
    await asyncio.sleep(0.05)
    await ask("PATCH", path, content="c")
    assert len(sim.violations) == 1


async def test_latency_is_per_route_and_a_call_takes_effect_although_its_client_left(
    sim: DiscordSim, dm: Channel, ask: Ask
) -> None:
    sim.latencies[MESSAGES] = 0.2
    loop = asyncio.get_running_loop()
    started = loop.time()
    await ask("GET", "/users/@me")
    assert loop.time() - started < 0.15
    await asyncio.gather(*(ask("POST", f"/channels/{dm.id}/messages", content=str(n)) for n in range(5)))
    assert 0.2 <= loop.time() - started < 0.9
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.05):
            await ask("POST", f"/channels/{dm.id}/messages", content="left")
    await sim.until(lambda sim: sim.bot_texts(dm)[-1] == "left")


async def test_waiting_for_what_does_not_come_tells_what_was_seen(sim: DiscordSim, dm: Channel, ask: Ask) -> None:
    await ask("GET", "/users/@me")
    with pytest.raises(TimeoutError, match=r"calls \['GET /users/@me 200'\], 0 sessions, violations \[\]"):
        await sim.until(lambda sim: sim.bot_texts(dm) == ["y"], timeout=0.05)


async def test_a_fault_that_says_nothing_is_a_mistake_of_the_test(sim: DiscordSim) -> None:
    with pytest.raises(ValueError, match="an answer needs a status"):
        sim.fail(MESSAGES)
    with pytest.raises(ValueError, match="nth counts from 1"):
        sim.fail(MESSAGES, 0, status=500)
    with pytest.raises(ValueError, match="no route POST /messages"):
        sim.fail("POST /messages", status=500)
