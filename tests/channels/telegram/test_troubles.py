"""What goes wrong between Telegram and the bot: told apart, survived, said once."""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path

import aiohttp
import pytest

from bot.core.inbound import Inbound
from bot.net.http import Transport
from bot.time.clock import SystemClock
from channels.telegram.intake import Intake
from channels.telegram.moves import Moves
from channels.telegram.polling import Poller
from channels.telegram.updates import Me
from channels.telegram.wire import Wire
from tests.channels.telegram.conftest import StartBot
from tests.fakes.notes import MemoryNotes
from tests.sim.llm import LlmSim, answer, call, gate, sleep, text
from tests.sim.telegram import TelegramSim

HELLO = answer(text("Hello there, nice to meet you."), repeat=True)
SAID = "Hello there, nice to meet you."


async def test_a_webhook_that_was_left_is_removed_and_messages_arrive(
    bot: StartBot, telegram: TelegramSim, llm: LlmSim
) -> None:
    llm.script(HELLO)
    chat = telegram.private(ann := telegram.person(7, "Ann"))
    async with aiohttp.ClientSession() as http:
        await http.post(f"{telegram.url}/bot{telegram.token}/setWebhook", json={"url": "https://example.org/old"})
    async with bot():
        await telegram.say(chat, ann, "hello")
        await telegram.until(lambda sim: sim.bot_texts(chat) == [SAID])
    assert len(telegram.called("deleteWebhook")) == 1


async def test_b260_another_poller_is_named_once_and_tried_again_slowly(
    bot: StartBot, telegram: TelegramSim, llm: LlmSim, caplog: pytest.LogCaptureFixture
) -> None:
    telegram.fail("getUpdates", status=409, every=True)
    with caplog.at_level(logging.WARNING):
        async with bot():
            await asyncio.sleep(2.5)
            polls = len(telegram.called("getUpdates"))
    told = [record.getMessage() for record in caplog.records if "another program" in record.getMessage()]
    assert polls == 1 and len(told) == 1


async def test_a_refused_token_ends_the_channel_with_one_line_and_no_further_call(
    bot: StartBot, telegram: TelegramSim, llm: LlmSim, caplog: pytest.LogCaptureFixture
) -> None:
    telegram.revoke_token()
    async with bot():
        await telegram.until(lambda sim: sim.called("getMe"))
        await asyncio.sleep(1.5)
        assert [one.method for one in telegram.calls] == ["getMe"]
    said = [record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING]
    assert len([line for line in said if "token" in line]) == 1
    assert telegram.token not in caplog.text


async def test_b061_a_token_that_is_revoked_meanwhile_stops_every_call(
    bot: StartBot, telegram: TelegramSim, llm: LlmSim
) -> None:
    llm.script(answer(sleep(3.0), text("Too late for this one, I am afraid.")))
    chat = telegram.private(ann := telegram.person(7, "Ann"))
    async with bot():
        await telegram.say(chat, ann, "hello")
        await telegram.until(lambda sim: sim.typing(chat))
        telegram.revoke_token()
        before = len(telegram.calls)
        await asyncio.sleep(5.0)
        assert len(telegram.calls) - before <= 3


async def test_updates_that_cannot_be_read_are_set_aside_and_the_next_ones_answered(
    bot: StartBot, telegram: TelegramSim, llm: LlmSim, caplog: pytest.LogCaptureFixture
) -> None:
    llm.script(HELLO)
    chat = telegram.private(ann := telegram.person(7, "Ann"))
    async with bot():
        await telegram.feed({"update_id": 9000, "message": {"message_id": "x", "text": "s3cret words"}})
        await telegram.feed({"update_id": 9001, "message": {"message_id": 5, "chat": None, "text": "s3cret words"}})
        await telegram.feed({"update_id": 9002, "a_kind_of_next_year": {}})
        await telegram.say(chat, ann, "hello")
        await telegram.until(lambda sim: sim.bot_texts(chat) == [SAID])
        await telegram.until(lambda sim: not sim.pending)
        assert len(telegram.called("getUpdates")) < 12
    assert "s3cret" not in caplog.text


async def test_an_update_that_breaks_something_is_kept_whole_and_the_next_one_is_taken() -> None:
    notes, taken = MemoryNotes(), list[str]()

    async def take(inbound: Inbound) -> None:
        if inbound.id == "5":
            raise ZeroDivisionError
        taken.append(inbound.id)

    async with TelegramSim() as sim:
        http = Transport()
        ann = sim.person(7, "Ann")
        sim.private(ann)
        intake = Intake(notes, Moves(notes), Me(99, "mybot"), "telegram", "main", take)
        poller = Poller(Wire(http, sim.url, sim.token), intake, SystemClock(), "telegram")
        polling = asyncio.ensure_future(poller.run())
        for number in (5, 6):
            message = {"message_id": number, "date": 1, "chat": {"id": 7, "type": "private"}, "from": ann.to_json()}
            await sim.feed({"update_id": 5000 + number, "message": message | {"text": f"words {number}"}})
        await sim.until(lambda sim: not sim.pending)
        polling.cancel()
        await asyncio.gather(polling, return_exceptions=True)
        await http.aclose()
    assert taken == ["6"]
    (kept,) = [told for key, told in notes.values.items() if key.startswith("set aside")]
    assert "words 5" in kept and "ZeroDivisionError" in kept


@pytest.mark.parametrize("body", ["garbage", "drop", "reset"])
async def test_polls_that_fail_are_tried_again_and_nothing_is_lost(
    bot: StartBot, telegram: TelegramSim, llm: LlmSim, body: str
) -> None:
    llm.script(HELLO)
    chat = telegram.private(ann := telegram.person(7, "Ann"))
    telegram.fail("getUpdates", 2, action=body)  # type: ignore[arg-type]
    telegram.fail("getUpdates", 3, action=body, effect="done")  # type: ignore[arg-type]
    async with bot():
        await telegram.say(chat, ann, "hello")
        await telegram.until(lambda sim: sim.bot_texts(chat) == [SAID])
    assert len(llm.requests) == 1


async def test_a_network_that_is_away_at_the_start_only_delays(
    bot: StartBot, telegram: TelegramSim, llm: LlmSim, caplog: pytest.LogCaptureFixture
) -> None:
    llm.script(HELLO)
    chat = telegram.private(ann := telegram.person(7, "Ann"))
    telegram.fail("getMe", action="drop")
    async with bot():
        await telegram.say(chat, ann, "hello")
        await telegram.until(lambda sim: sim.bot_texts(chat) == [SAID])
    assert "Traceback" not in caplog.text


async def test_b049_an_update_that_comes_again_is_not_answered_again(
    bot: StartBot, telegram: TelegramSim, llm: LlmSim
) -> None:
    llm.script(HELLO)
    chat = telegram.private(ann := telegram.person(7, "Ann"))
    async with bot():
        message = {"message_id": 900, "date": 1, "chat": {"id": 7, "type": "private"}, "from": ann.to_json()}
        await telegram.feed({"update_id": 5000, "message": message | {"text": "hello"}})
        await telegram.until(lambda sim: sim.bot_texts(chat) == [SAID] and not sim.pending)
    telegram.redeliver(5000)
    async with bot():
        await telegram.until(lambda sim: not sim.pending)
        await asyncio.sleep(0.5)
    assert telegram.bot_texts(chat) == [SAID] and len(llm.requests) == 1


async def test_b059_typing_ends_with_the_turn_and_b063_when_no_model_answers(
    bot: StartBot, telegram: TelegramSim, llm: LlmSim
) -> None:
    llm.script(answer(sleep(1.0), text("Now.")))
    chat = telegram.private(ann := telegram.person(7, "Ann"))
    async with bot():
        await telegram.say(chat, ann, "hello")
        await telegram.until(lambda sim: sim.bot_texts(chat) == ["Now."])
        typed = len(telegram.called("sendChatAction"))
        await asyncio.sleep(6.0)
        assert len(telegram.called("sendChatAction")) == typed <= 1


async def test_b096_a_press_whose_answer_is_lost_is_decided_all_the_same(
    bot: StartBot, telegram: TelegramSim, llm: LlmSim
) -> None:
    llm.script(answer(call("c1", "note_write", ('{"text": "milk"}',))), answer(text("It is noted down for you.")))
    chat = telegram.private(ann := telegram.person(7, "Ann"))
    telegram.fail("answerCallbackQuery", action="drop", effect="done")
    async with bot():
        await telegram.say(chat, ann, "note milk")
        await telegram.until(lambda sim: len(sim.visible(chat)[-1].keyboard) == 3)
        await telegram.press(chat, ann, telegram.visible(chat)[-1].message_id, "Allow once")
        await telegram.until(lambda sim: "noted down" in sim.bot_texts(chat)[-1] and not sim.visible(chat)[-1].keyboard)


async def test_b097_a_second_and_a_stale_press_are_told_what_was_decided_and_the_tool_runs_once(
    bot: StartBot, telegram: TelegramSim, llm: LlmSim, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    llm.script(answer(call("c1", "note_write", ('{"text": "milk"}',))), answer(text("It is noted down for you.")))
    chat = telegram.private(ann := telegram.person(7, "Ann"))
    async with bot():
        await telegram.say(chat, ann, "note milk")
        await telegram.until(lambda sim: len(sim.visible(chat)[-1].keyboard) == 3)
        asked = telegram.visible(chat)[-1]
        too_old = "Bad Request: query is too old and response timeout expired or query ID is invalid"
        telegram.fail("answerCallbackQuery", 2, status=400, description=too_old)
        await telegram.press(chat, ann, asked.message_id, asked.buttons["Allow once"])
        await telegram.press(chat, ann, asked.message_id, asked.buttons["Deny"])
        await telegram.until(lambda sim: "noted down" in sim.bot_texts(chat)[-1] and not sim.pending)
        await telegram.press(chat, ann, asked.message_id, asked.buttons["Deny"], stale=True)
        await telegram.until(lambda sim: len(sim.called("answerCallbackQuery")) == 3)
        await telegram.until(lambda sim: not sim.visible(chat)[-1].keyboard)
    notices = [one.params["text"] for one in telegram.called("answerCallbackQuery")]
    assert notices == ["Approved once.", *["Already decided: Approved once."] * 2]
    assert "Approved once. (Ann)" in telegram.bot_texts(chat)[-1]
    assert (tmp_path / "workspace/notes.md").read_text().count("milk") == 1
    assert not [one for one in caplog.records if one.levelno >= logging.ERROR]


async def test_b017_link_previews_are_off_in_every_call(bot: StartBot, telegram: TelegramSim, llm: LlmSim) -> None:
    llm.script(answer(text("Look at this page, it is good: "), gate("g"), text("https://example.org/page and more.")))
    chat = telegram.private(ann := telegram.person(7, "Ann"))
    async with bot():
        await telegram.say(chat, ann, "hello")
        await telegram.until(lambda sim: sim.bot_texts(chat))
        llm.release("g")
        await telegram.until(lambda sim: "and more." in sim.bot_texts(chat)[-1])
    shown = [one.params for one in telegram.calls if one.method in ("sendMessage", "editMessageText")]
    assert len(shown) >= 2 and all("is_disabled" in str(params["link_preview_options"]) for params in shown)


async def test_b015_a_message_that_the_person_deleted_is_shown_again_whole(
    bot: StartBot, telegram: TelegramSim, llm: LlmSim
) -> None:
    llm.script(answer(text("The first half of this answer. "), gate("g"), text("The second half of it.")))
    chat = telegram.private(ann := telegram.person(7, "Ann"))
    async with bot():
        await telegram.say(chat, ann, "hello")
        await telegram.until(lambda sim: sim.bot_texts(chat))
        await telegram.delete(chat, telegram.visible(chat)[-1].message_id)
        llm.release("g")
        await telegram.until(lambda sim: "second half" in "".join(sim.bot_texts(chat)))
        await asyncio.sleep(0.5)
    assert telegram.bot_texts(chat) == ["The first half of this answer. The second half of it."]


async def test_a_person_who_blocks_the_bot_costs_nothing_more(
    bot: StartBot, telegram: TelegramSim, llm: LlmSim
) -> None:
    llm.script(answer(text("The first half of this answer. "), gate("g"), text("The second half of it.")), HELLO)
    chat = telegram.private(ann := telegram.person(7, "Ann"))
    async with bot():
        await telegram.say(chat, ann, "hello")
        await telegram.until(lambda sim: sim.bot_texts(chat))
        telegram.block(chat)
        llm.release("g")
        await telegram.until(lambda sim: any(one.status == 403 for one in sim.calls))
        await asyncio.sleep(2.5)
        assert len([one for one in telegram.calls if one.status == 403]) == 1
        telegram.unblock(chat)
        await telegram.say(chat, ann, "hello again")
        await telegram.until(lambda sim: SAID in sim.bot_texts(chat))


async def test_a_group_that_became_a_supergroup_gets_its_answer_there_and_the_next_ones_too(
    bot: StartBot, telegram: TelegramSim, llm: LlmSim
) -> None:
    llm.script(answer(gate("g"), text("The answer, wherever you are now.")), HELLO)
    ann = telegram.person(7, "Ann")
    team = telegram.group(-1001, "Team", members=[ann], supergroup=False)
    async with bot():
        await telegram.say(team, ann, f"@{telegram.world.bot.username} hello")
        await llm.at("g")
        moved = telegram.migrate(team, -100200)
        llm.release("g")
        await telegram.until(lambda sim: sim.bot_texts(moved))
        await telegram.say(moved, ann, f"@{telegram.world.bot.username} and now?")
        await telegram.until(lambda sim: SAID in sim.bot_texts(moved))
    async with bot():
        await telegram.say(moved, ann, f"@{telegram.world.bot.username} still there?")
        await telegram.until(lambda sim: sim.bot_texts(moved).count(SAID) == 2)


async def test_an_answer_during_which_the_token_is_refused_is_shown_whole_once_there_is_a_good_one(
    bot: StartBot, telegram: TelegramSim, llm: LlmSim
) -> None:
    llm.script(answer(text("The first half of this answer. "), gate("g"), text("The second half of it.")))
    chat = telegram.private(ann := telegram.person(7, "Ann"))
    async with bot():
        await telegram.say(chat, ann, "hello")
        await telegram.until(lambda sim: sim.bot_texts(chat))
        telegram.revoke_token()
        llm.release("g")
        await asyncio.sleep(2.5)
    telegram.restore_token()
    async with bot():
        await telegram.until(
            lambda sim: sim.bot_texts(chat) == ["The first half of this answer. The second half of it."]
        )
        await telegram.until(lambda sim: not sim.visible(chat)[-1].keyboard)
    assert len(llm.requests) == 1


async def test_the_menu_is_set_once_and_the_token_proven_once(
    bot: StartBot, telegram: TelegramSim, llm: LlmSim
) -> None:
    async with bot():
        await telegram.until(lambda sim: len(sim.called("setMyCommands")) == 2)
        await asyncio.sleep(0.2)
    async with bot():
        await telegram.until(lambda sim: len(sim.called("getMe")) == 2)
        await asyncio.sleep(0.5)
    assert len(telegram.called("setMyCommands")) == 2
