"""A group becomes a supergroup, which has another id and other messages: the conversation, and what runs in it, goes on."""

from __future__ import annotations

import json

import pytest

from bot.core.address import Address, Sender
from bot.core.inbound import ButtonPress, MessageEdited, Quote, UserMessage
from channels.telegram.moves import Moves, as_before, message_id, number_in
from channels.telegram.updates import Me, Moving, inbound_of
from tests.channels.telegram.conftest import StartBot
from tests.fakes.notes import MemoryNotes
from tests.sim.llm import LlmSim, When, answer, call, gate, text
from tests.sim.telegram import TelegramSim
from tests.sim.telegram.nouns import Chat

BEFORE, NOW = -1001, -100200
ANN = Sender("telegram", "7", "Ann")
NEW_PLACE = Address("telegram", "main", str(NOW), "12")
KEYBOARD = [["Allow once", "Allow in this chat"], ["Always allow", "Deny"], ["Stop"]]
NOTE = call("c1", "note_write", ('{"text": "milk"}',))


def keyboards(telegram: TelegramSim, chat: Chat) -> list[list[list[str]]]:
    """The labels of every message of the bot that has any."""
    shown = [message for message in telegram.visible(chat) if message.from_bot and message.keyboard]
    return [[[label for label, _ in row] for row in message.keyboard] for message in shown]


def to_me(telegram: TelegramSim, words: str) -> str:
    return f"@{telegram.world.bot.username} {words}"


def test_what_comes_from_the_new_place_is_at_the_address_that_the_group_has_always_had() -> None:
    address = Address("telegram", "main", str(BEFORE), "12")
    said = UserMessage("5", NEW_PLACE, ANN, "hi", 1.0, direct=False, quote=Quote("yes", "Bob", "4"))
    moved = as_before(said, str(BEFORE))
    assert isinstance(moved, UserMessage)
    assert (moved.address, moved.places, moved.id) == (address, (str(NOW),), f"{NOW}/5")
    assert moved.quote == Quote("yes", "Bob", f"{NOW}/4")
    edited = as_before(MessageEdited("5.9", NEW_PLACE, ANN, "5", "ho", 2.0), str(BEFORE))
    assert edited == MessageEdited(f"{NOW}/5.9", address, ANN, f"{NOW}/5", "ho", 2.0)
    press = as_before(ButtonPress("77", NEW_PLACE, ANN, "b:x:once", 1.0, "77"), str(BEFORE))
    assert press == ButtonPress("77", address, ANN, "b:x:once", 1.0, "77")


@pytest.mark.parametrize("chat", [str(NOW), str(BEFORE)])
def test_a_message_is_found_only_in_the_place_where_it_stands(chat: str) -> None:
    first = str(BEFORE)
    assert message_id(5, first, first) == "5"
    assert number_in(message_id(5, chat, first), chat, first) == 5
    assert number_in(message_id(5, chat, first), "-3", first) is None


async def test_a_move_is_told_once_and_outlives_the_process() -> None:
    notes, told = MemoryNotes(), list[str]()
    moves = Moves(notes, told.append)
    for _ in range(2):
        await moves.note(str(BEFORE), str(NOW))
    assert told == [str(BEFORE)]
    later = Moves(notes)
    assert (await later.now(str(BEFORE)), await later.former(str(NOW))) == (str(NOW), str(BEFORE))
    assert (await later.now("-5"), await later.former("-5")) == ("-5", "")


def test_both_places_tell_of_the_move() -> None:
    told = [(BEFORE, {"migrate_to_chat_id": NOW}), (NOW, {"migrate_from_chat_id": BEFORE})]
    for chat, field in told:
        message = {"message_id": 1, "date": 1, "chat": {"id": chat, "type": "group"}, **field}
        assert inbound_of({"message": message}, Me(99, "mybot"), "telegram", "main") == Moving(str(BEFORE), str(NOW))


@pytest.mark.parametrize("supergroup", [False, True])
async def test_the_conversation_goes_on_and_messages_of_the_same_number_are_told_apart(
    bot: StartBot, telegram: TelegramSim, llm: LlmSim, supergroup: bool
) -> None:
    """Where both places count from one, every number comes twice."""
    llm.script(
        answer(text("The code word is ZEBRA, keep it.")),
        answer(text("It was ZEBRA, as I said before.")),
        answer(text("Still the same word, of course.")),
    )
    ann = telegram.person(7, "Ann")
    team = telegram.group(BEFORE, "Team", members=[ann], supergroup=supergroup)
    async with bot():
        await telegram.say(team, ann, to_me(telegram, "what is the code word?"))
        await telegram.until(lambda sim: sim.bot_texts(team) and not keyboards(sim, team))
        moved = telegram.migrate(team, NOW)
        asked = await telegram.say(moved, ann, to_me(telegram, "and what was it?"))
        await telegram.until(lambda sim: len(sim.bot_texts(moved)) == 1)
    async with bot():
        await telegram.say(moved, ann, to_me(telegram, "and now?"))
        await telegram.until(lambda sim: len(sim.bot_texts(moved)) == 2)
    assert telegram.bot_texts(team) == ["The code word is ZEBRA, keep it."]
    assert telegram.bot_texts(moved) == ["It was ZEBRA, as I said before.", "Still the same word, of course."]
    first = next(message for message in telegram.visible(moved) if message.from_bot)
    assert first.reply_to == asked["message_id"]
    told = [json.dumps(request.body) for request in llm.requests]
    assert "ZEBRA" in told[1] and "as I said before" in told[2]


@pytest.mark.parametrize("command", [False, True])
async def test_an_answer_that_grows_goes_on_in_the_new_place_and_can_be_stopped_there(
    bot: StartBot, telegram: TelegramSim, llm: LlmSim, command: bool
) -> None:
    llm.script(
        answer(text("An answer that has begun before the move. "), gate("g"), text("And goes on. "), gate("never"))
    )
    ann = telegram.person(7, "Ann")
    team = telegram.group(BEFORE, "Team", members=[ann])
    async with bot():
        await telegram.say(team, ann, to_me(telegram, "go"))
        await telegram.until(lambda sim: sim.bot_texts(team))
        moved = telegram.migrate(team, NOW)
        llm.release("g")
        await telegram.until(lambda sim: "And goes on." in "".join(sim.bot_texts(moved)))
        if command:
            await telegram.say(moved, ann, to_me(telegram, "/stop"))
        else:
            await telegram.press(moved, ann, telegram.visible(moved)[-1].message_id, "Stop")
        await telegram.until(
            lambda sim: any("And goes on. Stopped." in " ".join(said.split()) for said in sim.bot_texts(moved))
        )
    assert sum("has begun before" in said for said in telegram.bot_texts(moved)) == 1
    assert [said for _, said, _ in telegram.callback_answers] == ([] if command else ["Stopping."])


@pytest.mark.parametrize("away", [False, True])
async def test_a_question_that_waits_is_asked_in_the_new_place_too_and_can_be_answered_there(
    bot: StartBot, telegram: TelegramSim, llm: LlmSim, away: bool
) -> None:
    """``away``: the group moves while the bot is."""
    llm.script(
        answer(text("I note it."), NOTE, when=When(step=1)), answer(text("It is noted down now."), when=When(step=2))
    )
    ann = telegram.person(7, "Ann")
    team = telegram.group(BEFORE, "Team", members=[ann])
    async with bot():
        await telegram.say(team, ann, to_me(telegram, "note milk"))
        await telegram.until(lambda sim: keyboards(sim, team) == [KEYBOARD])
        if not away:
            moved = telegram.migrate(team, NOW)
            await telegram.until(lambda sim: keyboards(sim, moved) == [KEYBOARD])
    if away:
        moved = telegram.migrate(team, NOW)
    async with bot():
        await telegram.until(lambda sim: keyboards(sim, moved) == [KEYBOARD])
        await telegram.press(moved, ann, telegram.visible(moved)[-1].message_id, "Allow once")
        await telegram.until(lambda sim: "It is noted down now." in "".join(sim.bot_texts(moved)))
        await telegram.until(lambda sim: not keyboards(sim, moved))
    assert len(telegram.bot_texts(moved)) == 1 and telegram.bot_texts(moved)[0].count("I note it.") == 1
    assert [said for _, said, _ in telegram.callback_answers] == ["Approved once."]


async def test_a_press_on_the_question_that_was_left_behind_still_counts(
    bot: StartBot, telegram: TelegramSim, llm: LlmSim
) -> None:
    llm.script(answer(text("I note it."), NOTE), answer(text("It is noted down now.")))
    ann = telegram.person(7, "Ann")
    team = telegram.group(BEFORE, "Team", members=[ann])
    async with bot():
        await telegram.say(team, ann, to_me(telegram, "note milk"))
        await telegram.until(lambda sim: keyboards(sim, team) == [KEYBOARD])
        moved = telegram.migrate(team, NOW)
        await telegram.press(team, ann, telegram.visible(team)[-2].message_id, "Allow once")
        await telegram.until(lambda sim: "It is noted down now." in "".join(sim.bot_texts(moved)))
        await telegram.until(lambda sim: not keyboards(sim, moved))
    assert len(telegram.bot_texts(moved)) == 1
