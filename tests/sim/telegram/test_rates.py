"""Flood limits and scripted trouble: what is too fast, what a flood wait does, lost answers, dead connections."""

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import aiohttp
import pytest
import pytest_asyncio
from telegram import Bot
from telegram.error import NetworkError

from tests.fakes.clock import FakeClock
from tests.sim.telegram import Chat, Person, TelegramSim
from tests.sim.telegram.conftest import TOKEN, Post


class Hasty:
    """A bot without any manners, on a clock that a test drives."""

    def __init__(self, sim: TelegramSim, clock: FakeClock, session: aiohttp.ClientSession) -> None:
        self.sim, self.clock, self._session, self._number = sim, clock, session, 0

    async def call(self, method: str, chat: int, **fields: Any) -> int:
        """One call at the clock's time; the seconds of a 429, 0 when the call went through."""
        data = {name: value if isinstance(value, str) else json.dumps(value) for name, value in fields.items()}
        async with self._session.post(
            f"{self.sim.url}/bot{TOKEN}/{method}", data={"chat_id": str(chat), **data}
        ) as answer:
            body = await answer.json()
        if answer.status == 429:
            assert body["description"] == f"Too Many Requests: retry after {body['parameters']['retry_after']}"
            return int(body["parameters"]["retry_after"])
        assert body["ok"], body
        return 0

    async def send(self, chat: int) -> int:
        self._number += 1
        return await self.call("sendMessage", chat, text=str(self._number))

    async def paced(self, chat: int, count: int, seconds: float) -> list[int]:
        waits = []
        for _ in range(count):
            waits.append(await self.send(chat))
            await self.clock.advance(seconds)
        return waits


@pytest_asyncio.fixture
async def hasty() -> AsyncIterator[Hasty]:
    clock = FakeClock()
    async with TelegramSim(TOKEN, latency=0, monotonic=clock.monotonic, sleep=clock.sleep) as sim:
        for number in range(1, 61):
            sim.private(sim.person(number, f"Person {number}"))
        sim.group(-1001, "Team")
        async with aiohttp.ClientSession() as session:
            yield Hasty(sim, clock, session)


async def test_one_call_a_second_is_fine_for_ever(hasty: Hasty) -> None:
    assert await hasty.paced(7, 60, 1.0) == [0] * 60
    assert hasty.sim.violations == []


async def test_a_burst_of_three_passes_and_a_fourth_call_is_punished(hasty: Hasty) -> None:
    assert [await hasty.send(7) for _ in range(4)] == [0, 0, 0, 3]
    assert hasty.sim.violations == ["more than 1/s: sendMessage in 7"]
    assert len(hasty.sim.bot_texts(hasty.sim.chat(7))) == 3
    assert await hasty.send(8) == 0


async def test_a_little_too_fast_is_found_out(hasty: Hasty) -> None:
    waits = await hasty.paced(7, 30, 0.8)
    assert any(waits)
    assert hasty.sim.violations


async def test_typing_counts_in_a_private_chat(hasty: Hasty) -> None:
    for _ in range(2):
        assert await hasty.call("sendChatAction", 7, action="typing") == 0
    assert await hasty.send(7) == 0
    assert await hasty.call("sendChatAction", 7, action="typing") == 3


async def test_edits_and_deletions_count_in_a_private_chat(hasty: Hasty) -> None:
    await hasty.send(7)
    number = hasty.sim.visible(hasty.sim.chat(7))[0].message_id
    assert await hasty.call("editMessageText", 7, message_id=number, text="a") == 0
    assert await hasty.call("deleteMessage", 7, message_id=number) == 0
    assert await hasty.call("setMessageReaction", 7, message_id=number, reaction=[]) == 3


async def test_a_group_bears_twenty_calls_in_any_minute_typing_included(hasty: Hasty) -> None:
    for _ in range(10):
        assert await hasty.call("sendChatAction", -1001, action="typing") == 0
        assert await hasty.send(-1001) == 0
        await hasty.clock.advance(2.9)
    wait = await hasty.send(-1001)
    assert wait == 31
    assert hasty.sim.violations == ["more than 20 a minute: sendMessage in -1001"]
    await hasty.clock.advance(wait)
    assert await hasty.send(-1001) == 0


async def test_twenty_a_minute_evenly_are_fine(hasty: Hasty) -> None:
    assert await hasty.paced(-1001, 60, 3.0) == [0] * 60


async def test_thirty_calls_at_once_are_fine_in_all_and_the_next_silences_everything(hasty: Hasty) -> None:
    assert [await hasty.send(chat) for chat in range(1, 31)] == [0] * 30
    assert await hasty.send(31) == 3
    assert hasty.sim.violations == ["more than 30 calls a second: sendMessage in 31"]
    await hasty.clock.advance(0.5)
    await asyncio.sleep(0.06)
    assert await hasty.send(32) > 0
    assert hasty.sim.violations[1].startswith("a call during a flood wait of everything: sendMessage")


async def test_thirty_a_second_are_fine_for_ever_and_forty_are_not(hasty: Hasty) -> None:
    for _ in range(4):
        for chat in range(1, 31):
            assert await hasty.send(chat) == 0
            if chat % 10 == 0:
                await hasty.clock.advance(1 / 3)
    assert hasty.sim.violations == []
    await hasty.clock.advance(5)
    waits = []
    for chat in range(1, 61):
        waits.append(await hasty.send(chat))
        await hasty.clock.advance(1 / 40)
    assert any(waits)


async def test_a_call_during_a_flood_wait_is_a_violation_and_lengthens_it(hasty: Hasty) -> None:
    for _ in range(4):
        wait = await hasty.send(7)
    await hasty.clock.advance(1)
    longer = await hasty.send(7)
    assert longer == wait - 1 + 5
    assert "a call during a flood wait of 7: sendMessage, 2.00 s early" in hasty.sim.violations
    await hasty.clock.advance(longer)
    assert await hasty.send(7) == 0


async def test_a_call_that_crossed_with_the_429_is_no_violation(hasty: Hasty) -> None:
    for _ in range(4):
        await hasty.send(7)
    assert await hasty.call("sendChatAction", 7, action="typing") > 0
    assert len(hasty.sim.violations) == 1
    assert await hasty.call("sendChatAction", 7, action="typing") > 0
    assert len(hasty.sim.violations) == 2


async def test_drafts_have_a_budget_of_their_own(hasty: Hasty) -> None:
    waits = []
    for n in range(60):
        waits.append(await hasty.call("sendMessageDraft", 7, draft_id=1, text=str(n)))
        await hasty.clock.advance(0.75)
    assert waits == [0] * 60
    await hasty.clock.advance(30)
    assert [await hasty.call("sendMessageDraft", 7, draft_id=1, text=str(n)) for n in range(21)][-1] > 0
    assert hasty.sim.violations == ["draft frames too fast: sendMessageDraft in 7"]


async def test_lenient_rates_let_everything_through_but_scripted_waits_hold(
    sim: TelegramSim, chat: Chat, post: Post
) -> None:
    for n in range(40):
        assert (await post("sendMessage", chat_id=7, text=str(n)))[0] == 200
    sim.fail("editMessageText", retry_after=33)
    status, body = await post("editMessageText", chat_id=7, message_id=101, text="x")
    assert (status, body["parameters"]) == (429, {"retry_after": 33})
    assert (await post("editMessageText", chat_id=7, message_id=101, text="x"))[0] == 429
    assert len(sim.violations) == 1
    sim.heal()
    assert (await post("editMessageText", chat_id=7, message_id=101, text="x"))[0] == 200


# scripted trouble


async def test_the_nth_call_or_every_nth_is_met(sim: TelegramSim, chat: Chat, post: Post) -> None:
    sim.fail("sendMessage", 2, status=500)
    assert [(await post("sendMessage", chat_id=7, text="x"))[0] for _ in range(4)] == [200, 500, 200, 200]
    fault = sim.fail("sendMessage", 2, status=503, every=True)
    assert [(await post("sendMessage", chat_id=7, text="x"))[0] for _ in range(4)] == [200, 503, 200, 503]
    assert fault.hits == 2
    assert len(sim.bot_texts(chat)) == 5


async def test_a_fault_can_be_meant_for_one_chat_and_has_its_own_words(
    sim: TelegramSim, chat: Chat, post: Post
) -> None:
    other = sim.private(sim.person(8, "Bob"))
    sim.fail("sendMessage", status=400, description="Bad Request: message is too long", chat=other)
    assert (await post("sendMessage", chat_id=7, text="x"))[0] == 200
    assert (await post("sendMessage", chat_id=8, text="x"))[1]["description"] == "Bad Request: message is too long"


@pytest.mark.parametrize("action", ["drop", "reset"])
@pytest.mark.parametrize(("effect", "texts"), [("none", []), ("done", ["hi"])])
async def test_a_lost_connection_with_and_without_effect(
    sim: TelegramSim, chat: Chat, bot: Bot, action: Any, effect: Any, texts: list[str]
) -> None:
    sim.fail("sendMessage", action=action, effect=effect)
    with pytest.raises(NetworkError):
        await bot.send_message(7, "hi")
    assert sim.bot_texts(chat) == texts
    assert (sim.calls[-1].status, sim.calls[-1].answer) == (0, f"fault: {action}")


async def test_garbage_is_html(sim: TelegramSim, chat: Chat) -> None:
    sim.fail("sendMessage", action="garbage", status=503)
    async with aiohttp.ClientSession() as session:
        url = f"{sim.url}/bot{TOKEN}/sendMessage"
        async with session.post(url, data={"chat_id": "7", "text": "x"}) as answer:
            assert (answer.status, answer.content_type) == (503, "text/html")
            assert "<h1>503</h1>" in await answer.text()


async def test_a_half_open_poll_never_answers_and_loses_nothing(
    sim: TelegramSim, chat: Chat, ann: Person, bot: Bot
) -> None:
    sim.fail("getUpdates", action="hang", effect="done")
    await sim.say(chat, ann, "hello")
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.3):
            await bot.get_updates(timeout=20)
    assert [update.message.text for update in await bot.get_updates()] == ["hello"]


async def test_an_edit_that_hangs_is_still_under_way_until_its_client_leaves(
    sim: TelegramSim, chat: Chat, bot: Bot
) -> None:
    message = await bot.send_message(7, "x")
    sim.fail("editMessageText", action="hang")
    async with asyncio.TaskGroup() as group:
        hanging = group.create_task(bot.edit_message_text("a", 7, message.message_id))
        await sim.until(lambda sim: sim.calls[-1].answer == "fault: hang")
        await bot.edit_message_text("b", 7, message.message_id)
        assert sim.violations == [f"two edits at once of message {message.message_id} in 7"]
        hanging.cancel()
    await asyncio.sleep(0.05)
    await bot.edit_message_text("c", 7, message.message_id)
    assert len(sim.violations) == 1


async def test_waiting_for_what_does_not_come_tells_what_was_seen(sim: TelegramSim, chat: Chat, bot: Bot) -> None:
    await bot.send_message(7, "x")
    with pytest.raises(TimeoutError, match=r"calls \['getMe None 200', 'sendMessage 7 200'\], 0 updates pending"):
        await sim.until(lambda sim: sim.bot_texts(chat) == ["y"], timeout=0.05)


async def test_latency_is_per_method_and_calls_run_side_by_side(sim: TelegramSim, chat: Chat, bot: Bot) -> None:
    sim.latencies["sendMessage"] = 0.2
    loop = asyncio.get_running_loop()
    started = loop.time()
    await bot.get_me()
    assert loop.time() - started < 0.15
    await asyncio.gather(*(bot.send_message(7, str(n)) for n in range(5)))
    assert 0.2 <= loop.time() - started < 0.9


async def test_a_fault_that_says_nothing_is_a_mistake_of_the_test(sim: TelegramSim) -> None:
    with pytest.raises(ValueError, match="an answer needs a status"):
        sim.fail("sendMessage")
    with pytest.raises(ValueError, match="nth counts from 1"):
        sim.fail("sendMessage", 0, status=500)
