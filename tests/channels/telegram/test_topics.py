"""Topics of a forum, and of a private chat: everything about a question stays in the topic where it was asked."""

from __future__ import annotations

import asyncio

import pytest

from tests.channels.telegram.conftest import CONFIG, StartBot
from tests.sim.llm import LlmSim, When, answer, call, gate, text
from tests.sim.telegram import Shown, TelegramSim
from tests.sim.telegram.nouns import Chat

DRAFTS = CONFIG.replace("    access:", "    streaming: draft\n    access:")
GENERAL = 1
FIRST, REST = "The first half of this answer. ", "The second half of it."
NOTE = call("c1", "note_write", ('{"text": "milk"}',))


def by_bot(telegram: TelegramSim, chat: Chat, thread: int | None) -> list[Shown]:
    """Without the note that opened the topic."""
    return [one for one in telegram.visible(chat) if one.from_bot and one.text and one.thread == thread]


@pytest.fixture
def forum(telegram: TelegramSim) -> Chat:
    people = [telegram.person(7, "Ann"), telegram.person(8, "Bob")]
    return telegram.group(-1001, "Team", members=people, forum=True, admin=True)


async def test_b076_everything_that_is_shown_stays_in_the_topic_of_its_question(
    bot: StartBot, telegram: TelegramSim, llm: LlmSim, forum: Chat
) -> None:
    """Growing, asking, stopped, a command's answer and a refusal; nothing of it in the person's private chat."""
    llm.script(
        answer(text(FIRST), NOTE),
        answer(text(REST)),
        answer(text(FIRST), gate("never"), text(REST)),
        answer(text(REST)),
    )
    topic, ann, me = 2947, telegram.world.people[7], telegram.world.bot.username
    telegram.private(ann)
    async with bot():
        await telegram.say(forum, ann, f"@{me} note milk", thread=topic)
        await telegram.until(lambda sim: any("Allow once" in one.buttons for one in by_bot(sim, forum, topic)))
        [asking] = by_bot(telegram, forum, topic)
        await telegram.press(forum, ann, asking.message_id, "Allow once")
        await telegram.until(lambda sim: REST in by_bot(sim, forum, topic)[-1].text)
        await telegram.say(forum, ann, f"@{me} go on", thread=topic)
        await telegram.until(lambda sim: len(by_bot(sim, forum, topic)) == 2)
        await telegram.say(forum, ann, f"/stop@{me}", thread=topic)
        await telegram.until(lambda sim: len(by_bot(sim, forum, topic)) == 3)
        await telegram.say(forum, ann, f"@{me}", thread=topic)
        await telegram.until(lambda sim: len(by_bot(sim, forum, topic)) == 4)
        await telegram.until(lambda sim: any("Stopped." in one.text for one in by_bot(sim, forum, topic)))
    shown = [call for call in telegram.calls if call.method in ("sendMessage", "sendChatAction")]
    assert {(call.chat_id, call.params["message_thread_id"]) for call in shown} == {(-1001, str(topic))}
    assert telegram.bot_texts(telegram.chat(7)) == []


async def test_the_answer_and_its_reply_stay_in_the_topic(
    bot: StartBot, telegram: TelegramSim, llm: LlmSim, forum: Chat
) -> None:
    llm.script(answer(text(FIRST), gate("half"), text(REST)))
    topic, ann = telegram.topic(forum, "Work"), telegram.world.people[7]
    async with bot():
        asked = await telegram.say(forum, ann, f"@{telegram.world.bot.username} hello", thread=topic)
        await telegram.until(lambda sim: by_bot(sim, forum, topic))
        llm.release("half")
        await telegram.until(lambda sim: [one.text for one in by_bot(sim, forum, topic)] == [FIRST + REST])
    assert by_bot(telegram, forum, topic)[0].reply_to == asked["message_id"]


async def test_the_general_topic_is_named_by_no_call(
    bot: StartBot, telegram: TelegramSim, llm: LlmSim, forum: Chat
) -> None:
    llm.script(answer(text(FIRST)))
    ann = telegram.world.people[7]
    async with bot():
        asked = await telegram.say(forum, ann, f"@{telegram.world.bot.username} hello", thread=GENERAL)
        await telegram.until(lambda sim: [one.text for one in by_bot(sim, forum, None)] == [FIRST.strip()])
    assert by_bot(telegram, forum, None)[0].reply_to == asked["message_id"]
    assert not any("message_thread_id" in one.params for one in telegram.calls)


async def test_typing_stays_in_the_topic(bot: StartBot, telegram: TelegramSim, llm: LlmSim) -> None:
    """In a private chat: in a group nobody types soon after a start."""
    llm.script(answer(gate("think"), text(FIRST)))
    chat = telegram.private(ann := telegram.person(7, "Ann"))
    topic = telegram.topic(chat, "Work")
    async with bot():
        await telegram.say(chat, ann, "hello", thread=topic)
        await telegram.until(lambda sim: sim.called("sendChatAction"))
        llm.release("think")
        await telegram.until(lambda sim: [one.text for one in by_bot(sim, chat, topic)] == [FIRST.strip()])
    assert {one.params.get("message_thread_id") for one in telegram.called("sendChatAction")} == {str(topic)}


async def test_topics_are_conversations_of_their_own_and_answered_side_by_side(
    bot: StartBot, telegram: TelegramSim, llm: LlmSim, forum: Chat
) -> None:
    llm.script(
        answer(gate("work"), text("About the work."), when=When(contains="ZEBRA")),
        answer(text("About the play."), when=When(contains="GIRAFFE")),
    )
    ann, name = telegram.world.people[7], telegram.world.bot.username
    work, play = telegram.topic(forum, "Work"), telegram.topic(forum, "Play")
    async with bot():
        await telegram.say(forum, ann, f"@{name} ZEBRA", thread=work)
        await llm.at("work")
        await telegram.say(forum, ann, f"@{name} GIRAFFE", thread=play)
        await telegram.until(lambda sim: [one.text for one in by_bot(sim, forum, play)] == ["About the play."])
        llm.release("work")
        await telegram.until(lambda sim: [one.text for one in by_bot(sim, forum, work)] == ["About the work."])
    assert all(("ZEBRA" in str(request.body)) != ("GIRAFFE" in str(request.body)) for request in llm.requests)


async def test_a_question_is_asked_and_answered_in_its_topic(
    bot: StartBot, telegram: TelegramSim, llm: LlmSim, forum: Chat
) -> None:
    llm.script(
        answer(text("I note it."), NOTE, when=When(step=1)), answer(text("It is noted down."), when=When(step=2))
    )
    topic, ann = telegram.topic(forum, "Work"), telegram.world.people[7]
    async with bot():
        await telegram.say(forum, ann, f"@{telegram.world.bot.username} note milk", thread=topic)
        await telegram.until(lambda sim: any(one.keyboard for one in by_bot(sim, forum, topic)))
        await telegram.until(lambda sim: "Allow once" in by_bot(sim, forum, topic)[-1].buttons)
        await telegram.press(forum, ann, by_bot(telegram, forum, topic)[-1].message_id, "Allow once")
        await telegram.until(lambda sim: "It is noted down." in by_bot(sim, forum, topic)[-1].text)
    assert [said for _, said, _ in telegram.callback_answers] == ["Approved once."]
    assert by_bot(telegram, forum, None) == []


async def test_a_thumb_down_in_a_topic_answers_once_more_there(
    bot: StartBot, telegram: TelegramSim, llm: LlmSim, forum: Chat
) -> None:
    """Telegram does not say in which topic somebody reacted."""
    llm.script(answer(text("A poor answer to it.")), answer(text("A much better answer.")))
    topic, ann = telegram.topic(forum, "Work"), telegram.world.people[7]
    async with bot():
        await telegram.say(forum, ann, f"@{telegram.world.bot.username} hello", thread=topic)
        await telegram.until(lambda sim: by_bot(sim, forum, topic) and not by_bot(sim, forum, topic)[-1].keyboard)
        await telegram.react(forum, ann, by_bot(telegram, forum, topic)[-1].message_id, "👎")
        await telegram.until(lambda sim: len(by_bot(sim, forum, topic)) == 2)
    assert by_bot(telegram, forum, topic)[-1].text == "A much better answer." and by_bot(telegram, forum, None) == []


async def test_drafts_stay_in_the_topic_of_a_private_chat(bot: StartBot, telegram: TelegramSim, llm: LlmSim) -> None:
    llm.script(answer(text(FIRST), gate("half"), text(REST)), answer(text(FIRST), gate("never"), text(REST)))
    chat = telegram.private(ann := telegram.person(7, "Ann"))
    work, play = telegram.topic(chat, "Work"), telegram.topic(chat, "Play")
    async with bot(DRAFTS):
        await telegram.say(chat, ann, "hello", thread=work)
        await telegram.until(lambda sim: work in chat.drafts)
        await telegram.say(chat, ann, "hello you", thread=play)
        await telegram.until(lambda sim: play in chat.drafts)
        assert set(chat.drafts) == {work, play}
        llm.release("half")
        await telegram.until(lambda sim: [one.text for one in by_bot(sim, chat, work)] == [FIRST + REST])
        await telegram.stop_draft(chat, play)
        await telegram.until(lambda sim: by_bot(sim, chat, play))
        await asyncio.sleep(0.3)
    assert "Stopped." in by_bot(telegram, chat, play)[0].text
    assert len(by_bot(telegram, chat, work)) == len(by_bot(telegram, chat, play)) == 1
