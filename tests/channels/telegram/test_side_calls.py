"""The calls beside the answers: the proof of the token, the menu, presses, typing; their waits, and their order."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import pytest

from bot.core.address import Address
from bot.core.errors import Unauthorised
from bot.core.inbound import Inbound, Receipt
from bot.core.ports import Receive
from bot.core.view import Part, Rendered, View
from tests.channels.telegram.conftest import StartBot
from tests.channels.telegram.stage import Stage, stage
from tests.sim.llm import LlmSim, answer, call, text
from tests.sim.telegram import TelegramSim
from tests.sim.telegram.nouns import Chat

HELLO = answer(text("Hello there, nice to meet you."), repeat=True)
NOTE = answer(text("I note it."), call("c1", "note_write", ('{"text": "milk"}',)))


@asynccontextmanager
async def running(house: Stage, receive: Receive) -> AsyncIterator[None]:
    """The channel, taking what arrives, until the end of the block."""
    task = house.group.create_task(house.channel.run(receive))
    try:
        await passed(house, lambda: house.channel.connected)
        yield
    finally:
        task.cancel()


async def passed(house: Stage, come: Callable[[], object]) -> None:
    """Let as much time pass as it takes, which is not much."""
    for _ in range(40):
        if come():
            return
        await house.clock.advance(0.05)
    raise AssertionError("it did not come to that")


async def nobody(inbound: Inbound) -> Receipt:
    return Receipt()


def at(chat: Chat, thread: int | None = None) -> Address:
    return Address("telegram", "main", str(chat.id), str(thread or ""))


async def shown(house: Stage, to: Address, turn: str) -> None:
    words = Rendered("There you are.", 14)
    await house.channel.show(to, None, Part(turn, 0, 0, words.text, words, View(turn), (), True, True))


async def test_a_flood_wait_at_the_proof_of_the_token_and_at_the_menu_is_honoured() -> None:
    async with stage() as house:
        house.sim.fail("getMe", retry_after=8)
        house.sim.fail("setMyCommands", retry_after=20)
        task = house.group.create_task(house.channel.run(nobody))
        await house.clock.advance(7.5)
        assert [one.status for one in house.sim.calls] == [429]
        await house.clock.advance(1)
        assert house.channel.connected
        await house.clock.advance(21)
        assert [one.status for one in house.sim.called("setMyCommands")] == [429, 200, 200]
        assert house.sim.violations == []
        task.cancel()


@pytest.mark.parametrize("trouble", [{"retry_after": 2}, {"action": "drop"}, {"action": "drop", "effect": "done"}])
async def test_a_press_is_answered_although_the_first_try_failed(
    bot: StartBot, telegram: TelegramSim, llm: LlmSim, trouble: dict[str, object]
) -> None:
    llm.script(NOTE, answer(text("It is noted down for you.")))
    chat = telegram.private(ann := telegram.person(7, "Ann"))
    async with bot():
        await telegram.say(chat, ann, "note milk")
        await telegram.until(lambda sim: len(sim.visible(chat)[-1].keyboard) == 3)
        telegram.fail("answerCallbackQuery", **trouble)  # type: ignore[arg-type]
        await telegram.press(chat, ann, telegram.visible(chat)[-1].message_id, "Allow once")
        await telegram.until(lambda sim: len(sim.called("answerCallbackQuery")) == 2)
        await telegram.until(lambda sim: [said for _, said, _ in sim.callback_answers] == ["Approved once."])


async def test_a_webhook_that_always_comes_back_is_fought_slowly_and_named_once(
    bot: StartBot, telegram: TelegramSim, llm: LlmSim, caplog: pytest.LogCaptureFixture
) -> None:
    why = "Conflict: can't use getUpdates method while webhook is active; use deleteWebhook to delete the webhook first"
    telegram.fail("getUpdates", status=409, description=why, every=True)
    async with bot():
        await telegram.until(lambda sim: sim.called("deleteWebhook"))
        await asyncio.sleep(1.0)
        assert len(telegram.called("getUpdates")) <= 2
    assert len([record for record in caplog.records if "webhook" in record.getMessage()]) == 1


@pytest.mark.parametrize("group", [False, True])
async def test_an_answer_that_is_quicker_than_the_store_ends_the_typing_and_knows_its_question(group: bool) -> None:
    async with stage() as house:
        ann = house.sim.person(7, "Ann")
        chat = house.sim.group(-1001, "Team", members=[ann]) if group else house.sim.private(ann)

        async def quick(inbound: Inbound) -> Receipt:
            showing = house.group.create_task(shown(house, inbound.address, "t1"))
            await asyncio.wait([showing], timeout=0.05 if group else None)
            return Receipt("t1")

        async with running(house, quick):
            asked = await house.sim.say(chat, ann, "/help@bowerbird_bot")
            await passed(house, lambda: house.sim.bot_texts(chat))
            await house.clock.advance(10)
            assert house.sim.called("sendChatAction") == []
            assert house.sim.visible(chat)[-1].reply_to == (asked["message_id"] if group else None)


async def test_in_a_topic_typing_is_shown_where_the_answer_will_be() -> None:
    async with stage() as house:
        await house.clock.advance(100)  # in its first minute nobody types in a group
        ann = house.sim.person(7, "Ann")
        forum = house.sim.group(-1001, "Team", members=[ann], forum=True)
        topic = house.sim.topic(forum, "Plans")

        async def slow(inbound: Inbound) -> Receipt:
            return Receipt("t1" if inbound.address == at(forum, topic) else "")

        async with running(house, slow):
            await house.sim.say(forum, ann, "@bowerbird_bot hello", thread=topic)
            await passed(house, lambda: house.sim.called("sendChatAction"))
            typed = house.sim.called("sendChatAction")
            assert [one.params["message_thread_id"] for one in typed] == [str(topic)]


async def test_a_refused_token_is_known_before_the_open_poll_ends() -> None:
    async with stage() as house, running(house, nobody):
        await house.clock.advance(1)
        assert house.channel.connected
        house.sim.revoke_token()
        with pytest.raises(ExceptionGroup) as raised:
            async with asyncio.TaskGroup() as group:
                group.create_task(shown(house, at(house.private(7)), "t1"))
                await house.clock.advance(1)
        assert raised.group_contains(Unauthorised)
        assert not house.channel.connected


async def test_no_level_of_the_log_holds_what_was_said(
    bot: StartBot, telegram: TelegramSim, llm: LlmSim, caplog: pytest.LogCaptureFixture
) -> None:
    llm.script(answer(text("The s3cret answer that nobody else may read.")))
    chat = telegram.private(ann := telegram.person(7, "Ann"))
    with caplog.at_level(logging.DEBUG):
        async with bot():
            await telegram.say(chat, ann, "a s3cret question")
            await telegram.until(lambda sim: sim.bot_texts(chat))
    told = [record.getMessage() for record in caplog.records if record.name.startswith(("telegram", "channels", "bot"))]
    assert told and not [line for line in told if "s3cret" in line or telegram.token in line]
