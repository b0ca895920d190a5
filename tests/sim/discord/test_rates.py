"""Rate limits and scripted trouble: buckets, the global limit, invalid requests, waits, lost answers, dead connections."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio

from tests.fakes.clock import FakeClock
from tests.sim.discord import Channel, DiscordSim
from tests.sim.discord.conftest import EDITS, MESSAGES, TOKEN, Ask, Library, asking, running


class Hasty:
    """A bot without any manners, on a clock that a test drives."""

    def __init__(self, sim: DiscordSim, clock: FakeClock, ask: Ask) -> None:
        self.sim, self.clock, self.ask, self.number = sim, clock, ask, 0
        self.dms = [sim.dm(sim.person(number, f"Person {number}")) for number in range(1, 61)]

    async def call(self, method: str, path: str, **fields: Any) -> float:
        """One call at the clock's time; the seconds of a 429, 0 when it went through."""
        status, body, headers = await self.ask(method, path, **fields)
        if status == 429:
            assert (headers["Via"], headers["Content-Type"]) == ("1.1 google", "application/json")
            assert int(headers["Retry-After"]) >= body["retry_after"]
            return float(body["retry_after"])
        assert status < 300, body
        return 0.0

    async def send(self, who: int = 0) -> float:
        self.number += 1
        return await self.call("POST", f"/channels/{self.dms[who].id}/messages", content=str(self.number))


@pytest_asyncio.fixture
async def hasty() -> AsyncIterator[Hasty]:
    clock = FakeClock()
    async with (
        DiscordSim(TOKEN, latency=0, monotonic=clock.monotonic, sleep=clock.sleep, now=clock.now) as sim,
        asking(sim) as ask,
    ):
        yield Hasty(sim, clock, ask)


async def test_five_messages_in_five_seconds_fit_and_a_sixth_is_punished(hasty: Hasty) -> None:
    assert [await hasty.send() for _ in range(6)] == [0, 0, 0, 0, 0, 5.0]
    place = f"/channels/{hasty.dms[0].id}/messages"
    assert hasty.sim.violations == [f"more than 5 in 5 s: POST {place}"]
    assert len(hasty.sim.bot_texts(hasty.dms[0])) == 5
    assert await hasty.send(1) == 0
    await hasty.clock.advance(5)
    assert await hasty.send() == 0


async def test_one_a_second_is_fine_for_ever_and_a_little_more_is_found_out(hasty: Hasty) -> None:
    for _ in range(30):
        assert await hasty.send() == 0
        await hasty.clock.advance(1.0)
    assert hasty.sim.violations == []
    waits = []
    for _ in range(12):
        waits.append(await hasty.send())
        await hasty.clock.advance(0.9)
    assert any(waits)


async def test_a_call_during_a_wait_is_a_violation(hasty: Hasty) -> None:
    for _ in range(6):
        await hasty.send()
    assert len(hasty.sim.violations) == 1
    await hasty.clock.advance(2)
    assert await hasty.send() == 3.0
    assert hasty.sim.violations[1].endswith(", 3.00 s early")
    await hasty.clock.advance(3)
    assert await hasty.send() == 0


async def test_a_call_that_crossed_with_the_429_is_no_violation(hasty: Hasty) -> None:
    path = f"/channels/{hasty.dms[0].id}/messages"
    ids = [(await hasty.ask("POST", path, content=str(n)))[1]["id"] for n in range(3)]
    edits = [await hasty.call("PATCH", f"{path}/{ids[0]}", content=str(n)) for n in range(6)]
    assert (edits[-1], len(hasty.sim.violations)) == (5.0, 1)
    assert await hasty.call("PATCH", f"{path}/{ids[1]}", content="crossed") == 5.0
    assert len(hasty.sim.violations) == 1
    await asyncio.sleep(0.06)
    assert await hasty.call("PATCH", f"{path}/{ids[2]}", content="knew") == 5.0
    assert len(hasty.sim.violations) == 2


async def test_edits_typing_and_deletions_have_buckets_of_their_own(hasty: Hasty) -> None:
    path = f"/channels/{hasty.dms[0].id}"
    ids = [int((await hasty.ask("POST", f"{path}/messages", content=str(n)))[1]["id"]) for n in range(5)]
    edits = [await hasty.call("PATCH", f"{path}/messages/{ids[0]}", content=f"e{n}") for n in range(6)]
    typing = [await hasty.call("POST", f"{path}/typing") for _ in range(6)]
    gone = [await hasty.call("DELETE", f"{path}/messages/{one}") for one in ids]
    assert (edits, typing, gone) == ([0] * 5 + [5.0], [0] * 5 + [5.0], [0] * 5)


async def test_reactions_pass_once_in_a_quarter_second_whatever_the_message(hasty: Hasty) -> None:
    path = f"/channels/{hasty.dms[0].id}/messages"
    ids = [(await hasty.ask("POST", path, content=str(n)))[1]["id"] for n in range(2)]
    thumb = "%F0%9F%91%8D"
    assert await hasty.call("PUT", f"{path}/{ids[0]}/reactions/{thumb}/@me") == 0
    assert await hasty.call("DELETE", f"{path}/{ids[0]}/reactions/{thumb}/@me") == 0.25
    await hasty.clock.advance(0.25)
    assert await hasty.call("PUT", f"{path}/{ids[1]}/reactions/{thumb}/@me") == 0


async def test_headers_tell_what_is_left(hasty: Hasty) -> None:
    path = f"/channels/{hasty.dms[0].id}/messages"
    _, _, first = await hasty.ask("POST", path, content="x")
    await hasty.clock.advance(1.5)
    _, _, second = await hasty.ask("POST", path, content="x")
    assert (first["X-RateLimit-Limit"], first["X-RateLimit-Remaining"], first["X-RateLimit-Reset-After"]) == (
        "5", "4", "5.000",
    )  # fmt: skip
    assert (second["X-RateLimit-Remaining"], second["X-RateLimit-Reset-After"]) == ("3", "3.500")
    assert float(first["X-RateLimit-Reset"]) == pytest.approx(float(second["X-RateLimit-Reset"]))
    _, _, other = await hasty.ask("POST", f"/channels/{hasty.dms[1].id}/messages", content="x")
    _, _, edit = await hasty.ask("GET", path)
    assert first["X-RateLimit-Bucket"] == other["X-RateLimit-Bucket"] != edit["X-RateLimit-Bucket"]
    assert "X-RateLimit-Scope" not in first
    for _ in range(3):
        await hasty.send()
    status, body, headers = await hasty.ask("POST", path, content="x")
    assert (status, headers["X-RateLimit-Scope"], headers["X-RateLimit-Remaining"]) == (429, "user", "0")
    assert body == {"message": "You are being rate limited.", "retry_after": 3.5, "global": False}


async def test_fifty_calls_a_second_in_all(hasty: Hasty) -> None:
    assert [await hasty.send(who) for who in range(50)] == [0] * 50
    status, body, headers = await hasty.ask("POST", f"/channels/{hasty.dms[50].id}/messages", content="x")
    assert (status, body["global"], headers["X-RateLimit-Global"], headers["X-RateLimit-Scope"]) == (
        429, True, "true", "global",
    )  # fmt: skip
    assert "X-RateLimit-Remaining" not in headers
    assert hasty.sim.violations[0].startswith("more than 50 calls a second")
    await hasty.clock.advance(1)
    assert await hasty.send(51) == 0


async def test_interactions_are_outside_the_global_limit(hasty: Hasty) -> None:
    sim, dm = hasty.sim, hasty.dms[0]
    row = {"type": 1, "components": [{"type": 2, "style": 1, "label": "A", "custom_id": "a"}]}
    _, sent, _ = await hasty.ask("POST", f"/channels/{dm.id}/messages", content="x", components=[row])
    press = await sim.press(dm, sim.world.people[1], sent["id"], "A")
    token = sim.world.interactions.by_id[int(press)].token
    for who in range(1, 51):
        await hasty.send(who)
    assert hasty.sim.violations
    assert await hasty.call("POST", f"/interactions/{press}/{token}/callback", type=6) == 0
    hook = f"/webhooks/{sim.bot.id}/{token}"
    waits = [await hasty.call("POST", hook, content=str(n)) for n in range(5)]
    assert waits == [0] * 5
    assert await hasty.call("PATCH", f"{hook}/messages/@original", content="x") == 2.0


async def test_edits_of_messages_older_than_an_hour_are_few(hasty: Hasty) -> None:
    path = f"/channels/{hasty.dms[0].id}/messages"
    _, sent, _ = await hasty.ask("POST", path, content="x")
    await hasty.clock.advance(3601)
    for n in range(3):
        assert await hasty.call("PATCH", f"{path}/{sent['id']}", content=str(n)) == 0
    status, body, headers = await hasty.ask("PATCH", f"{path}/{sent['id']}", content="again")
    assert (status, body["code"], body["retry_after"], headers["X-RateLimit-Remaining"]) == (429, 30046, 20.0, "1")
    assert hasty.sim.violations[0].startswith("more than 3 edits of old messages in 20 s")
    _, fresh, _ = await hasty.ask("POST", path, content="y")
    await hasty.clock.advance(6)
    assert await hasty.call("PATCH", f"{path}/{fresh['id']}", content="z") == 0


async def test_a_channel_is_renamed_twice_in_ten_minutes(hasty: Hasty) -> None:
    guild = hasty.sim.guild(9001, "Team")
    channel = hasty.sim.channel(guild, "general")
    hasty.sim.allow(channel, "manage_channels", "view_channel")
    waits = [await hasty.call("PATCH", f"/channels/{channel.id}", name=f"n{n}") for n in range(3)]
    assert waits == [0, 0, 600.0]


async def test_ten_thousand_invalid_requests_are_a_ban(hasty: Hasty) -> None:
    hasty.sim.api.rates.invalid_limit = 3
    for _ in range(3):
        assert (await hasty.ask("GET", "/channels/1"))[0] == 404
    assert hasty.sim.invalid_requests == 0
    async with asking(hasty.sim, "wrong") as stranger:
        for _ in range(3):
            assert (await stranger("GET", "/users/@me"))[0] == 401
    assert hasty.sim.violations == ["3 invalid requests in 10 minutes: banned"]
    status, body, headers = await hasty.ask("GET", "/users/@me")
    assert (status, "Via" in headers, body.startswith("<!DOCTYPE html>")) == (429, False, True)
    await hasty.clock.advance(3601)
    assert (await hasty.ask("GET", "/users/@me"))[0] == 200
    assert hasty.sim.invalid_requests == 0


async def test_lenient_rates_let_everything_through_but_scripted_waits_hold(
    sim: DiscordSim, dm: Channel, ask: Ask
) -> None:
    path = f"/channels/{dm.id}/messages"
    for n in range(60):
        assert (await ask("POST", path, content=str(n)))[0] == 200
    sim.fail(MESSAGES, retry_after=33.5)
    status, body, headers = await ask("POST", path, content="x")
    assert (status, body["retry_after"], headers["Retry-After"]) == (429, 33.5, "34")
    assert (await ask("POST", path, content="x"))[0] == 429
    assert len(sim.violations) == 1
    sim.heal()
    assert (await ask("POST", path, content="x"))[0] == 200


async def test_the_real_library_keeps_the_rules_by_waiting(sim: DiscordSim) -> None:
    async with DiscordSim(TOKEN) as strict:
        dm = strict.dm(strict.person(7, "Ann"))
        async with running(strict, Library()) as bot:
            sent = await bot.here(dm).send("x")
            loop = asyncio.get_running_loop()
            started = loop.time()
            for emoji in ("👍", "👎", "🎉"):
                await sent.add_reaction(emoji)
            assert loop.time() - started >= 0.5
            for n in range(5):
                await sent.edit(content=str(n))
        assert loop.time() - started >= 5.0
        assert strict.violations == []
        assert [call.status for call in strict.called(EDITS)] == [200] * 5
