"""Rates and waits: what bursts pass, what sustained excess earns, and what a call during its Retry-After is."""

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import aiohttp
import pytest
import pytest_asyncio
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from tests.fakes.clock import FakeClock
from tests.sim.slack import Channel, SlackSim
from tests.sim.slack.conftest import APP_TOKEN, BOT_TOKEN, Post, Timed
from tests.sim.slack.rates import per_minute


class Hasty:
    """A bot without any manners, on a clock that a test drives."""

    def __init__(self, sim: SlackSim, clock: FakeClock, session: aiohttp.ClientSession) -> None:
        self.sim, self.clock, self._session = sim, clock, session

    async def call(self, method: str, token: str = BOT_TOKEN, **fields: Any) -> int:
        """One call at the clock's time; the seconds of a 429, 0 when it was let through."""
        headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
        url = f"{self.sim.api_base}{method}"
        async with self._session.post(url, data=json.dumps(fields), headers=headers) as answer:
            body = await answer.json()
        if answer.status == 429:
            assert body == {"ok": False, "error": "ratelimited"}
            return int(answer.headers["Retry-After"])
        assert body["ok"], body
        return 0

    async def paced(self, count: int, seconds: float, method: str, **fields: Any) -> list[int]:
        waits = []
        for _ in range(count):
            waits.append(await self.call(method, **fields))
            await self.clock.advance(seconds)
        return waits

    async def post(self, channel: str) -> int:
        return await self.call("chat.postMessage", channel=channel, text="x")


@pytest_asyncio.fixture
async def hasty(timed: Timed) -> AsyncIterator[Hasty]:
    sim, clock, _ = timed
    for number in range(1, 120):
        sim.dm(sim.person(f"U{number}", f"Person {number}"))
    async with aiohttp.ClientSession() as session:
        yield Hasty(sim, clock, session)


async def test_one_post_a_second_is_fine_for_ever(hasty: Hasty) -> None:
    assert await hasty.paced(90, 1.0, "chat.postMessage", channel="D7", text="x") == [0] * 90
    assert hasty.sim.violations == []


async def test_three_posts_at_once_pass_and_a_fourth_does_not(hasty: Hasty) -> None:
    assert [await hasty.post("D7") for _ in range(4)] == [0, 0, 0, 1]
    assert hasty.sim.violations == ["more than 1/s: chat.postMessage in D7"]
    assert len(hasty.sim.bot_texts(hasty.sim.place("D7"))) == 3
    assert await hasty.post("D8") == 0
    await hasty.clock.advance(1)
    assert await hasty.post("D7") == 0
    assert len(hasty.sim.violations) == 1


async def test_posts_a_little_too_fast_are_found_out(hasty: Hasty) -> None:
    assert any(await hasty.paced(30, 0.8, "chat.postMessage", channel="D7", text="x"))


async def test_the_workspace_has_a_limit_for_posts_too(hasty: Hasty) -> None:
    waits = [await hasty.post(f"D{number}") for number in range(1, 120) for _ in range(3)]
    assert waits[:300] == [0] * 300
    assert waits[300] > 0


@pytest.mark.parametrize(
    ("method", "limit"),
    [
        ("chat.update", 55),
        ("chat.delete", 55),
        ("agents.sessions.setStatus", 55),
        ("conversations.history", 55),
        ("reactions.add", 55),
        ("reactions.remove", 22),
        ("chat.startStream", 22),
        ("chat.stopStream", 22),
        ("chat.appendStream", 110),
        ("assistant.threads.setStatus", 110),
        ("users.info", 110),
        ("apps.connections.open", 10),
        ("auth.test", 0),
    ],
)
def test_each_method_has_its_tier(method: str, limit: int) -> None:
    assert per_minute(method) == limit


async def test_updates_bear_fifty_a_minute_for_ever_and_a_burst_but_no_more(hasty: Hasty) -> None:
    await hasty.post("D7")
    ts = hasty.sim.visible(hasty.sim.place("D7"))[0].ts
    update = {"channel": "D7", "ts": ts, "text": "y"}
    assert await hasty.paced(120, 1.2, "chat.update", **update) == [0] * 120
    await hasty.clock.advance(60)
    assert [await hasty.call("chat.update", **update) for _ in range(55)] == [0] * 55
    await hasty.clock.advance(20)
    assert await hasty.call("chat.update", **update) == 40
    assert hasty.sim.violations == ["more than 55 a minute: chat.update"]
    await hasty.clock.advance(40)
    assert await hasty.call("chat.update", **update) == 0
    assert any(await hasty.paced(120, 1.0, "chat.update", **update))


async def test_a_methods_rate_is_the_workspaces(hasty: Hasty) -> None:
    roots = {}
    for number in range(1, 24):
        person = hasty.sim.world.people[f"U{number}"]
        roots[number] = (await hasty.sim.say(hasty.sim.dm(person), person, "x"))["ts"]
    waits = [await hasty.call("chat.startStream", channel=f"D{n}", thread_ts=ts) for n, ts in roots.items()]
    assert waits == [0] * 22 + [60]
    ts = hasty.sim.visible(hasty.sim.place("D1"))[1].ts
    appends = await hasty.paced(200, 0.6, "chat.appendStream", channel="D1", ts=ts, markdown_text="x")
    assert appends == [0] * 200
    assert any(await hasty.paced(200, 0.5, "chat.appendStream", channel="D1", ts=ts, markdown_text="x"))


async def test_connections_are_opened_sparingly(hasty: Hasty) -> None:
    waits = [await hasty.call("apps.connections.open", APP_TOKEN) for _ in range(11)]
    assert waits == [0] * 10 + [60]


async def test_a_call_during_its_wait_is_a_violation(hasty: Hasty) -> None:
    for _ in range(4):
        await hasty.post("D7")
    await hasty.clock.advance(0.25)
    assert await hasty.post("D7") == 1
    assert hasty.sim.violations[1:] == ["a call during its Retry-After: chat.postMessage in D7, 0.75 s early"]
    hasty.sim.fail("chat.update", status=429, retry_after=30)
    ts = hasty.sim.visible(hasty.sim.place("D7"))[0].ts
    assert await hasty.call("chat.update", channel="D7", ts=ts, text="y") == 30
    await hasty.clock.advance(29)
    assert await hasty.call("chat.update", channel="D7", ts=ts, text="y") == 1
    assert hasty.sim.violations[2:] == ["a call during its Retry-After: chat.update, 1.00 s early"]
    await hasty.clock.advance(1)
    assert await hasty.call("chat.update", channel="D7", ts=ts, text="y") == 0


async def test_a_call_that_crossed_with_the_429_is_no_violation(hasty: Hasty) -> None:
    for channel in ("D7", "D8"):
        await hasty.post(channel)
    hasty.sim.fail("chat.update", status=429, retry_after=5)
    first, other = (hasty.sim.visible(hasty.sim.place(channel))[0].ts for channel in ("D7", "D8"))
    assert await hasty.call("chat.update", channel="D7", ts=first, text="y") == 5
    assert await hasty.call("chat.update", channel="D8", ts=other, text="y") == 5
    assert hasty.sim.violations == []
    await asyncio.sleep(0.06)
    assert await hasty.call("chat.update", channel="D8", ts=other, text="y") == 5
    assert len(hasty.sim.violations) == 1


async def test_lenient_rates_let_everything_through_but_scripted_waits_hold(
    sim: SlackSim, client: AsyncWebClient, post: Post, dm: Channel
) -> None:
    for n in range(40):
        assert (await post("chat.postMessage", channel=dm.id, text=str(n)))["ok"]
    sim.fail("chat.postMessage", retry_after=33)
    with pytest.raises(SlackApiError) as refused:
        await client.chat_postMessage(channel=dm.id, text="x")
    assert (refused.value.response.status_code, refused.value.response.headers["Retry-After"]) == (429, "33")
    assert (await post("chat.postMessage", channel=dm.id, text="x"))["error"] == "ratelimited"
    assert len(sim.violations) == 1
    sim.heal()
    assert (await post("chat.postMessage", channel=dm.id, text="x"))["ok"]
