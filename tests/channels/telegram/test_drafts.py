"""``streaming: draft``: what is not complete is seen as a draft, and what stays is one message."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

import pytest

from bot.core.texts import say
from tests.channels.telegram.conftest import CONFIG, StartBot
from tests.channels.telegram.stage import stage
from tests.sim.llm import LlmSim, When, answer, call, gate, sleep, text
from tests.sim.telegram import TelegramSim
from tests.sim.telegram.nouns import Chat

DRAFTS = CONFIG.replace("    access:", "    streaming: draft\n    access:")
FIRST, REST = "The first half of this answer. ", "The second half of it."
WHOLE = FIRST + REST
SECTION = {"streaming": "draft"}


def shown(telegram: TelegramSim, chat: Chat) -> list[str]:
    """The methods with which texts were shown there, in order."""
    showing = ("sendMessage", "editMessageText", "sendMessageDraft")
    return [one.method for one in telegram.calls if one.method in showing and one.chat_id == chat.id]


def keyboard(telegram: TelegramSim, chat: Chat) -> list[str]:
    return [label for message in telegram.visible(chat) for row in message.keyboard for label, _ in row]


async def test_an_answer_grows_as_a_draft_and_ends_as_one_message(
    bot: StartBot, telegram: TelegramSim, llm: LlmSim
) -> None:
    llm.script(answer(text("The **first** half of this answer. "), gate("half"), text(REST)))
    chat = telegram.private(ann := telegram.person(7, "Ann"))
    async with bot(DRAFTS):
        await telegram.say(chat, ann, "hello")
        await telegram.until(lambda sim: sim.drafts(chat) == [FIRST.strip()])
        assert telegram.bot_texts(chat) == []
        llm.release("half")
        await telegram.until(lambda sim: sim.bot_texts(chat) == [WHOLE])
        await asyncio.sleep(0.3)
    assert telegram.drafts(chat) == [] and telegram.bot_texts(chat) == [WHOLE]
    assert "editMessageText" not in shown(telegram, chat) and shown(telegram, chat).count("sendMessage") == 1
    assert {draft.id for draft in chat.frames} == {chat.frames[0].id} and all(draft.can_stop for draft in chat.frames)
    assert chat.frames[0].entities == ({"type": "bold", "offset": 4, "length": 5},)


async def test_stop_at_the_draft_keeps_the_text_so_far_as_a_message(
    bot: StartBot, telegram: TelegramSim, llm: LlmSim
) -> None:
    llm.script(answer(text(FIRST), gate("never"), text(REST)))
    chat = telegram.private(ann := telegram.person(7, "Ann"))
    async with bot(DRAFTS):
        await telegram.say(chat, ann, "go")
        await telegram.until(lambda sim: sim.drafts(chat) == [FIRST.strip()])
        await telegram.stop_draft(chat)
        assert telegram.drafts(chat) == [FIRST.strip()]
        await telegram.until(lambda sim: sim.bot_texts(chat))
    (said,) = telegram.bot_texts(chat)
    assert said.startswith(FIRST.strip()) and "Stopped." in said and telegram.drafts(chat) == []


async def test_a_draft_stays_in_sight_while_nothing_changes() -> None:
    async with stage(SECTION) as house:
        turn = house.turn(house.private(7))
        turn.say(FIRST)
        await house.clock.advance(2.0)
        for _ in range(50):
            assert house.sim.drafts(turn.chat) == [FIRST.strip()]
            await house.clock.advance(2.0)
        turn.say(REST)
        turn.end()
        await turn.delivered(4.0)
        assert turn.texts == [WHOLE] and house.sim.drafts(turn.chat) == []
        assert [one.method for one in turn.calls].count("sendMessageDraft") <= 8
        assert house.sim.violations == []


async def test_after_another_message_in_the_chat_the_draft_comes_back() -> None:
    async with stage(SECTION) as house:
        turn = house.turn(house.private(7))
        turn.say(FIRST)
        await house.clock.advance(2.0)
        await house.sim.say(turn.chat, house.sim.world.people[7], "still there?")
        assert house.sim.drafts(turn.chat) == []
        await house.clock.advance(15.0)
        assert house.sim.drafts(turn.chat) == [FIRST.strip()]
        turn.end()
        await turn.delivered(4.0)


async def test_a_fast_answer_of_several_messages_keeps_to_every_limit() -> None:
    pieces = [f"word{number} " for number in range(2500)]
    async with stage(SECTION) as house:
        turn = house.turn(house.private(7))
        await turn.write(pieces, per_second=500)
        turn.end()
        await turn.delivered(20.0)
        assert " ".join(turn.texts).split() == "".join(pieces).split()
        assert all(len(said) <= 4096 for said in turn.texts) and len(turn.texts) > 3
        assert "editMessageText" not in {one.method for one in turn.calls} and house.sim.violations == []


@pytest.mark.parametrize("fault", [{"retry_after": 8}, {"action": "drop"}, {"action": "drop", "effect": "done"}])
@pytest.mark.parametrize("method", ["sendMessageDraft", "sendMessage"])
async def test_a_call_that_fails_costs_nothing(fault: dict[str, Any], method: str) -> None:
    async with stage(SECTION) as house:
        turn = house.turn(house.private(7))
        house.sim.fail(method, **fault)
        await turn.write([f"word{number} " for number in range(40)], per_second=10)
        turn.end()
        await turn.delivered(40.0)
        whole = " ".join(f"word{number}" for number in range(40))
        lost = method == "sendMessage" and fault.get("action") == "drop"
        copies = [whole] if lost and fault.get("effect") == "done" else []
        assert turn.texts == [*copies, f"{whole}\n\n{say('copy_above')}" if lost else whole]
        assert house.sim.violations == []


@pytest.mark.parametrize(
    "fault",
    [
        {"status": 400, "description": "Bad Request: TEXTDRAFT_PEER_INVALID"},
        {"status": 400, "description": "Bad Request: can't parse entities"},
        {"status": 404, "description": "Not Found"},
    ],
)
async def test_after_the_first_refusal_of_a_draft_messages_are_edited_for_good_and_it_is_said_once(
    bot: StartBot, telegram: TelegramSim, llm: LlmSim, caplog: pytest.LogCaptureFixture, fault: dict[str, Any]
) -> None:
    llm.script(answer(text(FIRST), gate("one"), text(REST)), answer(text(FIRST), gate("two"), text(REST)))
    telegram.fail("sendMessageDraft", every=True, **fault)
    chat, bobs = (telegram.private(telegram.person(id_, name)) for id_, name in ((7, "Ann"), (8, "Bob")))
    with caplog.at_level(logging.WARNING):
        async with bot(DRAFTS):
            for here, name in ((chat, "one"), (bobs, "two")):
                await telegram.say(here, telegram.world.people[here.id], "hello")
                await telegram.until(lambda sim, here=here: sim.bot_texts(here) == [FIRST.strip()])
                assert keyboard(telegram, here) == ["Stop"]
                llm.release(name)
                await telegram.until(lambda sim, here=here: sim.bot_texts(here) == [WHOLE])
    assert len(telegram.called("sendMessageDraft")) == 1
    assert shown(telegram, bobs)[0] == "sendMessage" and "editMessageText" in shown(telegram, bobs)
    assert len([one for one in caplog.records if "shows no drafts" in one.getMessage()]) == 1


async def test_an_answer_that_began_before_the_refusal_tries_no_draft_of_its_own() -> None:
    async with stage(SECTION) as house:
        first, second = house.turn(house.private(7)), house.turn(house.private(8))
        house.sim.fail("sendMessageDraft", status=400, description="Bad Request: TEXTDRAFT_PEER_INVALID", every=True)
        for turn in (first, second):
            turn.say(FIRST)
            await house.clock.advance(2.0)
            turn.say(REST)
            turn.end()
            await turn.delivered(6.0)
            assert turn.texts == [WHOLE]
        assert len(house.sim.called("sendMessageDraft")) == 1 and house.sim.violations == []


async def test_in_a_group_messages_are_edited(bot: StartBot, telegram: TelegramSim, llm: LlmSim) -> None:
    llm.script(answer(text(FIRST), gate("half"), text(REST)))
    ann = telegram.person(7, "Ann")
    team = telegram.group(-1001, "Team", members=[ann])
    async with bot(DRAFTS):
        await telegram.say(team, ann, f"@{telegram.world.bot.username} hello")
        await telegram.until(lambda sim: sim.bot_texts(team) == [FIRST.strip()])
        llm.release("half")
        await telegram.until(lambda sim: sim.bot_texts(team) == [WHOLE])
    assert not telegram.called("sendMessageDraft")


async def test_a_question_is_a_message_with_buttons_and_the_answer_goes_on_in_it(
    bot: StartBot, telegram: TelegramSim, llm: LlmSim
) -> None:
    note = call("c1", "note_write", ('{"text": "milk"}',))
    llm.script(
        answer(text("I note it."), sleep(1.5), note, when=When(step=1)),
        answer(text("It is noted "), gate("half"), text("down now."), when=When(step=2)),
    )
    chat = telegram.private(ann := telegram.person(7, "Ann"))
    async with bot(DRAFTS):
        await telegram.say(chat, ann, "note milk")
        await telegram.until(lambda sim: sim.drafts(chat))
        await telegram.until(lambda sim: "Allow once" in keyboard(sim, chat))
        frames = len(chat.frames)
        assert telegram.drafts(chat) == []
        await telegram.press(chat, ann, telegram.visible(chat)[-1].message_id, "Allow once")
        await llm.at("half")
        await telegram.until(lambda sim: "It is noted" in sim.bot_texts(chat)[-1])
        llm.release("half")
        await telegram.until(lambda sim: "It is noted down now." in sim.bot_texts(chat)[-1] and not keyboard(sim, chat))
    assert len(telegram.bot_texts(chat)) == 1 and len(chat.frames) == frames > 0


async def test_a_process_that_ends_leaves_the_text_so_far_and_the_next_one_goes_on_in_it(
    bot: StartBot, telegram: TelegramSim, llm: LlmSim
) -> None:
    llm.script(answer(text(FIRST), gate("never")), answer(text(WHOLE)))
    chat = telegram.private(ann := telegram.person(7, "Ann"))
    async with bot(DRAFTS):
        await telegram.say(chat, ann, "hello")
        await telegram.until(lambda sim: sim.drafts(chat))
    (left,) = telegram.bot_texts(chat)
    assert left.startswith(FIRST.strip()) and left != FIRST.strip()
    async with bot(DRAFTS):
        await telegram.until(lambda sim: sim.bot_texts(chat) == [WHOLE])
