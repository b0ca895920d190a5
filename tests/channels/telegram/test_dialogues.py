"""The whole daemon in front of people on Telegram: what they see, word for word and once, with no rule broken."""

from __future__ import annotations

import asyncio

import pytest

from bot.core.texts import say
from tests.channels.telegram.conftest import StartBot
from tests.channels.telegram.texts import LONG, whole
from tests.sim.llm import LlmSim, answer, call, gate, sleep, text
from tests.sim.telegram import TelegramSim

LATENCIES = [0.003, *(pytest.param(seconds, marks=pytest.mark.prove) for seconds in (0.01, 0.3, 2.0))]


@pytest.fixture(autouse=True, params=LATENCIES)
def latency(request: pytest.FixtureRequest, telegram: TelegramSim) -> float:
    """Seconds that every call to Telegram takes."""
    telegram.latency = request.param
    return telegram.latency


async def test_a_plain_answer_stands_once_and_exactly(bot: StartBot, telegram: TelegramSim, llm: LlmSim) -> None:
    llm.script(answer(text("Hello "), text("**Ann**, how are "), text("you?")))
    chat = telegram.private(ann := telegram.person(7, "Ann"))
    async with bot():
        await telegram.say(chat, ann, "hello")
        await telegram.until(lambda sim: sim.bot_texts(chat) == ["Hello Ann, how are you?"])
        await asyncio.sleep(0.3)
    [shown] = [message for message in telegram.visible(chat) if message.from_bot]
    assert [(entity["type"], entity["offset"], entity["length"]) for entity in shown.entities] == [("bold", 6, 3)]
    assert not shown.keyboard and telegram.pending == []


async def test_a_growing_answer_is_one_message_with_a_stop_button(
    bot: StartBot, telegram: TelegramSim, llm: LlmSim
) -> None:
    words = [f"word{n} " for n in range(40)]
    llm.script(answer(*(text(word) for word in words[:20]), gate("half"), *(text(word) for word in words[20:])))
    chat = telegram.private(ann := telegram.person(7, "Ann"))
    async with bot():
        await telegram.say(chat, ann, "count")
        await telegram.until(lambda sim: any("word19" in shown for shown in sim.bot_texts(chat)))
        [shown] = [message for message in telegram.visible(chat) if message.from_bot]
        assert [label for row in shown.keyboard for label, _ in row] == ["Stop"]
        llm.release("half")
        await telegram.until(lambda sim: sim.bot_texts(chat) == ["".join(words).strip()])
        await telegram.until(lambda sim: not sim.visible(chat)[-1].keyboard)


async def test_stop_leaves_the_text_so_far_and_says_so(bot: StartBot, telegram: TelegramSim, llm: LlmSim) -> None:
    llm.script(answer(text("This is going to be a very long answer. "), gate("never"), text("No.")))
    chat = telegram.private(ann := telegram.person(7, "Ann"))
    async with bot():
        await telegram.say(chat, ann, "go")
        await telegram.until(lambda sim: sim.visible(chat)[-1].keyboard)
        await telegram.press(chat, ann, telegram.visible(chat)[-1].message_id, "Stop")
        await telegram.until(lambda sim: "Stopped." in sim.bot_texts(chat)[-1])
        await telegram.until(lambda sim: sim.callback_answers)
    assert telegram.bot_texts(chat) == ["This is going to be a very long answer.\n\nStopped."]


async def test_a_tool_asks_in_the_same_message_and_the_press_lets_it_run(
    bot: StartBot, telegram: TelegramSim, llm: LlmSim
) -> None:
    llm.script(
        answer(text("I note it."), call("c1", "note_write", ('{"text": "milk"}',))),
        answer(text("It is noted.")),
        answer(text("Yes?")),
    )
    chat = telegram.private(ann := telegram.person(7, "Ann"))
    async with bot():
        await telegram.say(chat, ann, "note milk")
        await telegram.until(lambda sim: len(sim.visible(chat)[-1].keyboard) == 3)
        labels = [[label for label, _ in row] for row in telegram.visible(chat)[-1].keyboard]
        assert labels == [["Allow once", "Allow in this chat"], ["Always allow", "Deny"], ["Stop"]]
        await telegram.say(chat, telegram.person(7, "Ann"), "and meanwhile?")
        await telegram.press(chat, ann, telegram.visible(chat)[1].message_id, "Allow once")
        await telegram.until(lambda sim: any("It is noted." in shown for shown in sim.bot_texts(chat)))
        await asyncio.sleep(0.5)
    assert all(not message.keyboard for message in telegram.visible(chat))


async def test_typing_shows_life_and_ends_with_the_first_words(
    bot: StartBot, telegram: TelegramSim, llm: LlmSim
) -> None:
    llm.script(answer(sleep(1.2), text("There you are, at last, with a few words.")))
    chat = telegram.private(ann := telegram.person(7, "Ann"))
    async with bot():
        await telegram.say(chat, ann, "hello")
        await telegram.until(lambda sim: sim.typing(chat))
        await telegram.until(lambda sim: sim.bot_texts(chat))
        await asyncio.sleep(1.0)
    assert len(telegram.called("sendChatAction")) == 1


@pytest.mark.prove
@pytest.mark.timeout(90)
async def test_an_answer_of_twenty_thousand_characters_comes_whole_in_legal_parts(
    bot: StartBot, telegram: TelegramSim, llm: LlmSim
) -> None:
    assert len(LONG) > 20_000
    llm.script(answer(*(text(LONG[at : at + 50]) for at in range(0, len(LONG), 50)), tokens_per_second=500))
    chat = telegram.private(ann := telegram.person(7, "Ann"))
    async with bot():
        await telegram.say(chat, ann, "tell me everything")
        await telegram.until(lambda sim: "return x ** 21" in "".join(sim.bot_texts(chat)), timeout=60)
        await telegram.until(lambda sim: not any(message.keyboard for message in sim.visible(chat)))
    whole(telegram.bot_texts(chat))
    code = [entity for message in telegram.visible(chat) for entity in message.entities if entity["type"] == "pre"]
    assert sum(entity.get("language") == "python" for entity in code) >= 22


async def test_an_edit_of_the_question_begins_the_answer_anew_and_a_message_meanwhile_joins_it(
    bot: StartBot, telegram: TelegramSim, llm: LlmSim
) -> None:
    llm.script(
        answer(text("Let me look at the calendar. "), gate("first"), text("Never said.")),
        answer(text("Let me look at the clock. "), gate("anew"), call("c1", "now", ("{}",))),
        answer(text("It is late, and yes, in Rome as well.")),
    )
    chat = telegram.private(ann := telegram.person(7, "Ann"))
    async with bot():
        asked = await telegram.say(chat, ann, "what day is it?")
        await llm.at("first")
        await telegram.edit(chat, ann, asked["message_id"], "what time is it?")
        await llm.at("anew")
        await telegram.say(chat, ann, "in Rome too?")
        await telegram.until(lambda sim: not sim.pending)
        llm.release("anew")
        await telegram.until(lambda sim: "in Rome as well." in "".join(sim.bot_texts(chat)))
        await telegram.until(lambda sim: not any(message.keyboard for message in sim.visible(chat)))
        await asyncio.sleep(0.5)
    [shown] = telegram.bot_texts(chat)
    assert shown.count("It is late, and yes, in Rome as well.") == 1 and "calendar" not in shown
    told = str(llm.requests[-1].body)
    assert len(llm.requests) == 3 and "what day" not in told
    assert "what time is it?" in told and "in Rome too?" in told


async def test_an_answer_that_begins_with_what_nobody_sees_is_shown_once_it_can_be_seen(
    bot: StartBot, telegram: TelegramSim, llm: LlmSim
) -> None:
    llm.script(answer(text("\ufeff\u200b"), sleep(2.5), text("Hello there, nice to meet you.")))
    chat = telegram.private(ann := telegram.person(7, "Ann"))
    async with bot():
        await telegram.say(chat, ann, "hello")
        await telegram.until(lambda sim: "nice to meet you" in "".join(sim.bot_texts(chat)))
    assert {call.status for call in telegram.called("sendMessage")} == {200}


async def test_an_answer_of_which_nothing_can_be_seen_is_not_a_silence(
    bot: StartBot, telegram: TelegramSim, llm: LlmSim
) -> None:
    llm.script(answer(text("\u2800\u2800\u200b"), repeat=True))
    chat = telegram.private(ann := telegram.person(7, "Ann"))
    async with bot():
        await telegram.say(chat, ann, "hello")
        await telegram.until(lambda sim: sim.bot_texts(chat))
    assert {call.status for call in telegram.called("sendMessage")} == {200}


async def test_a_copy_whose_sending_was_never_confirmed_is_explained_and_its_stop_answered(
    bot: StartBot, telegram: TelegramSim, llm: LlmSim
) -> None:
    """Telegram took the message, the answer to the call was lost, and nobody knows the number under which it stands."""
    llm.script(answer(text("The first half of the answer stands here. "), gate("rest"), text("And the second.")))
    chat = telegram.private(ann := telegram.person(7, "Ann"))
    telegram.fail("sendMessage", action="drop", effect="done")
    async with bot():
        await telegram.say(chat, ann, "go")
        await telegram.until(lambda sim: len(sim.bot_texts(chat)) == 2)
        leftover, answered = (shown for shown in telegram.visible(chat) if shown.from_bot)
        llm.release("rest")
        await telegram.until(lambda sim: "And the second." in sim.bot_texts(chat)[-1])
        await telegram.press(chat, ann, leftover.message_id, "Stop")
        await telegram.until(lambda sim: sim.callback_answers)
    assert telegram.callback_answers[-1][1] == say("press_nothing")
    whole = "The first half of the answer stands here. And the second."
    assert telegram.bot_texts(chat) == [leftover.text, f"{whole}\n\n{say('copy_above')}"]
    assert answered.message_id != leftover.message_id and "Stop" in leftover.buttons


async def test_b077_commands_with_the_bots_name_are_its_own_and_those_with_anothers_are_not(
    bot: StartBot, telegram: TelegramSim, llm: LlmSim
) -> None:
    group = telegram.group(-1001, "Team", members=[ann := telegram.person(7, "Ann")], bot_privacy=False)
    async with bot():
        said = []
        for words in ("/status@bowerbird_bot", "/status@OtherBot", "/weather Rome", "/STATUS@BOWERBIRD_BOT", "/status"):
            said.append((await telegram.say(group, ann, words))["message_id"])
        await telegram.until(lambda sim: len(sim.bot_texts(group)) == 3, timeout=25)
        await asyncio.sleep(0.5)
    shown = [one for one in telegram.visible(group) if one.from_bot]
    assert sorted(one.reply_to or 0 for one in shown) == [said[0], said[3], said[4]]
    assert all(one.text.startswith("Bowerbird") for one in shown) and llm.requests == []


async def test_b082_what_is_not_meant_for_the_bot_costs_no_call_and_holds_nobody_up(
    bot: StartBot, telegram: TelegramSim, llm: LlmSim
) -> None:
    llm.script(answer(text("Hello there, nice to meet you.")))
    group = telegram.group(-1001, "Team", members=[ann := telegram.person(7, "Ann")], bot_privacy=False)
    chat = telegram.private(ann)
    async with bot():
        for number in range(50):
            await telegram.say(group, ann, f"chatter {number}")
        await telegram.say(chat, ann, "hello")
        await telegram.until(lambda sim: sim.bot_texts(chat) == ["Hello there, nice to meet you."], timeout=8)
        await telegram.until(lambda sim: not sim.pending)
        await asyncio.sleep(0.3)
    assert len(llm.requests) == 1 and telegram.bot_texts(group) == []
    assert "chatter" not in str(llm.requests[0].body)
