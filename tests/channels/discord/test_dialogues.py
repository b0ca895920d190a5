"""The whole daemon in front of people on Discord: what they see, word for word and once, with no rule broken."""

from __future__ import annotations

import asyncio

import pytest

from tests.channels.discord.conftest import StartBot
from tests.channels.discord.reading import plain, whole
from tests.channels.telegram.texts import LONG
from tests.sim.discord import Channel, DiscordSim, Person, Shown
from tests.sim.llm import LlmSim, When, answer, call, gate, sleep, status, text

LATENCIES = [0.003, *(pytest.param(seconds, marks=pytest.mark.prove) for seconds in (0.01, 0.3, 2.0))]
NOTE = answer(text("I note it."), call("c1", "note_write", ('{"text": "milk"}',)))


@pytest.fixture(autouse=True, params=LATENCIES)
def latency(request: pytest.FixtureRequest, discord: DiscordSim) -> float:
    """Seconds that every call to Discord takes, but the first answer to a press: 2 s on top of its own way are too much."""
    discord.latency = request.param
    discord.latencies["POST /interactions/{id}/{token}/callback"] = min(0.3, discord.latency)
    return discord.latency


def labels(shown: Shown) -> list[str]:
    return [label for label, _, _ in shown.buttons]


async def test_a_plain_answer_stands_once_and_exactly(
    bot: StartBot, discord: DiscordSim, llm: LlmSim, dm: Channel, ann: Person
) -> None:
    llm.script(answer(text("Hello "), text("**Ann**, how are "), text("you?")))
    async with bot():
        await discord.say(dm, ann, "hello")
        await discord.until(lambda sim: sim.bot_texts(dm) == ["Hello **Ann**, how are you?"])
        await asyncio.sleep(0.3)
    [shown] = [message for message in discord.visible(dm) if message.from_bot]
    assert not shown.buttons and shown.reply_to is None and shown.flags == 4


async def test_a_growing_answer_is_one_message_with_a_stop_button(
    bot: StartBot, discord: DiscordSim, llm: LlmSim, dm: Channel, ann: Person
) -> None:
    words = [f"word{n} " for n in range(40)]
    llm.script(answer(*(text(word) for word in words[:20]), gate("half"), *(text(word) for word in words[20:])))
    async with bot():
        await discord.say(dm, ann, "count")
        await discord.until(lambda sim: any("word19" in shown for shown in sim.bot_texts(dm)))
        [shown] = [message for message in discord.visible(dm) if message.from_bot]
        assert labels(shown) == ["Stop"]
        llm.release("half")
        await discord.until(lambda sim: sim.bot_texts(dm) == ["".join(words).strip()])
        await discord.until(lambda sim: not sim.visible(dm)[-1].buttons)


async def test_stop_leaves_the_text_so_far_and_says_so(
    bot: StartBot, discord: DiscordSim, llm: LlmSim, dm: Channel, ann: Person
) -> None:
    llm.script(answer(text("This is going to be a very long answer. "), gate("never"), text("No.")))
    async with bot():
        await discord.say(dm, ann, "go")
        await discord.until(lambda sim: sim.visible(dm)[-1].buttons)
        await discord.press(dm, ann, discord.visible(dm)[-1].id, "Stop")
        await discord.until(lambda sim: "Stopped." in sim.bot_texts(dm)[-1])
        await discord.until(lambda sim: sim.interaction_answers)
    assert [plain(shown) for shown in discord.bot_texts(dm)] == ["This is going to be a very long answer.\n\nStopped."]


async def test_a_tool_asks_in_the_same_message_and_the_press_lets_it_run(
    bot: StartBot, discord: DiscordSim, llm: LlmSim, dm: Channel, ann: Person
) -> None:
    llm.script(NOTE, answer(text("It is noted."), when=When(tool_result=True)), answer(text("Yes?")))
    async with bot():
        await discord.say(dm, ann, "note milk")
        await discord.until(lambda sim: len(sim.visible(dm)[-1].buttons) == 5)
        asked = discord.visible(dm)[-1]
        assert labels(asked) == ["Allow once", "Allow in this chat", "Always allow", "Deny", "Stop"]
        assert [len(row["components"]) for row in asked.components] == [4, 1]
        await discord.say(dm, ann, "and meanwhile?")
        await discord.press(dm, ann, asked.id, "Allow once")
        await discord.until(lambda sim: any("It is noted." in shown for shown in sim.bot_texts(dm)))
        await discord.until(lambda sim: not any(message.buttons for message in sim.visible(dm)))
    assert [message.id for message in discord.visible(dm) if "It is noted." in message.text] == [asked.id]


async def test_typing_shows_life_and_ends_with_the_first_words(
    bot: StartBot, discord: DiscordSim, llm: LlmSim, dm: Channel, ann: Person
) -> None:
    llm.script(answer(sleep(1.2), text("There you are, at last, with a few words.")))
    async with bot():
        await discord.say(dm, ann, "hello")
        await discord.until(lambda sim: sim.typing(dm))
        await discord.until(lambda sim: sim.bot_texts(dm))
        await asyncio.sleep(1.0)
    assert len(discord.called("POST /channels/{id}/typing")) == 1


@pytest.mark.timeout(90)
@pytest.mark.prove
async def test_an_answer_of_twenty_thousand_characters_comes_whole_in_legal_parts(
    bot: StartBot, discord: DiscordSim, llm: LlmSim, dm: Channel, ann: Person
) -> None:
    assert len(LONG) > 20_000
    llm.script(answer(*(text(LONG[at : at + 50]) for at in range(0, len(LONG), 50)), tokens_per_second=1000))
    async with bot():
        await discord.say(dm, ann, "tell me everything")
        await discord.until(lambda sim: "return x ** 21" in "".join(sim.bot_texts(dm)), timeout=80)
        await discord.until(lambda sim: not any(message.buttons for message in sim.visible(dm)))
    whole(discord.bot_texts(dm))


async def test_a_message_during_a_turn_joins_it(
    bot: StartBot, discord: DiscordSim, llm: LlmSim, dm: Channel, ann: Person
) -> None:
    llm.script(
        answer(text("Let me look at the clock. "), gate("g"), call("c1", "now", ("{}",))),
        answer(text("It is late, and yes, in Rome as well.")),
    )
    async with bot():
        await discord.say(dm, ann, "what time is it?")
        await llm.at("g")
        await discord.say(dm, ann, "in Rome too?")
        await asyncio.sleep(0.3)
        llm.release("g")
        await discord.until(lambda sim: "in Rome as well." in "".join(sim.bot_texts(dm)))
        await discord.until(lambda sim: not any(message.buttons for message in sim.visible(dm)))
        await asyncio.sleep(0.5)
    assert "".join(discord.bot_texts(dm)).count("It is late, and yes, in Rome as well.") == 1
    assert len(discord.bot_texts(dm)) == 1 and len(llm.requests) == 2
    assert "in Rome too?" in str(llm.requests[-1].body)


async def test_an_edit_of_the_question_begins_the_answer_anew_in_its_message(
    bot: StartBot, discord: DiscordSim, llm: LlmSim, dm: Channel, ann: Person
) -> None:
    llm.script(
        answer(text("In Paris, as far as I can tell, it is "), gate("g"), text("late."), when=When(user="in Paris")),
        answer(text("In Rome it is early, which may surprise you."), when=When(user="in Rome")),
    )
    async with bot():
        asked = await discord.say(dm, ann, "what time is it in Paris?")
        await discord.until(lambda sim: sim.bot_texts(dm))
        await discord.edit(dm, asked["id"], "what time is it in Rome?")
        await discord.until(lambda sim: "which may surprise you." in "".join(sim.bot_texts(dm)))
        await discord.until(lambda sim: not any(message.buttons for message in sim.visible(dm)))
        await asyncio.sleep(0.3)
    assert discord.bot_texts(dm) == ["In Rome it is early, which may surprise you."]


async def test_a_question_that_is_deleted_stops_its_turn(
    bot: StartBot, discord: DiscordSim, llm: LlmSim, dm: Channel, ann: Person
) -> None:
    llm.script(answer(text("In Paris, as far as I can tell, it is "), gate("never"), text("late.")))
    async with bot():
        asked = await discord.say(dm, ann, "what time is it?")
        await discord.until(lambda sim: sim.bot_texts(dm))
        await discord.delete(dm, asked["id"])
        await discord.until(
            lambda sim: "Stopped." in sim.bot_texts(dm)[-1] and "Stop" not in labels(sim.visible(dm)[-1])
        )
    assert len(discord.bot_texts(dm)) == 1


async def test_a_thumb_down_has_the_question_answered_again_in_a_message_of_its_own(
    bot: StartBot, discord: DiscordSim, llm: LlmSim, general: Channel, ann: Person
) -> None:
    llm.script(answer(text("A first answer, which is not good.")), answer(text("A second answer, which is better.")))
    async with bot():
        await discord.say(general, ann, "<@BOT> well?")
        await discord.until(lambda sim: sim.bot_texts(general))
        await asyncio.sleep(0.3)
        await discord.react(general, discord.visible(general)[-1].id, ann, "👎")
        await discord.until(lambda sim: len(sim.bot_texts(general)) == 2)
    assert discord.bot_texts(general)[-1] == "A second answer, which is better."


async def test_a_link_that_discord_looks_up_and_a_repeated_event_start_no_turn(
    bot: StartBot, discord: DiscordSim, llm: LlmSim, dm: Channel, ann: Person
) -> None:
    llm.script(answer(text("A fine page, I should say.")))
    async with bot():
        asked = await discord.say(dm, ann, "see https://example.org/page")
        await discord.unfurl(dm, asked["id"], "https://example.org/page")
        await discord.feed("MESSAGE_CREATE", asked)
        await discord.until(lambda sim: sim.bot_texts(dm) == ["A fine page, I should say."])
        await asyncio.sleep(0.5)
    assert len(discord.bot_texts(dm)) == 1 and len(llm.requests) == 1


async def test_an_answer_that_begins_with_what_nobody_sees_is_shown_once_it_can_be_seen(
    bot: StartBot, discord: DiscordSim, llm: LlmSim, dm: Channel, ann: Person
) -> None:
    llm.script(answer(text("\ufeff\u200b"), sleep(2.5), text("Hello there, nice to meet you.")))
    async with bot():
        await discord.say(dm, ann, "hello")
        await discord.until(lambda sim: "nice to meet you" in "".join(sim.bot_texts(dm)))
    assert {one.status for one in discord.called("POST /channels/{id}/messages")} == {200}


async def test_when_no_model_answers_the_person_is_told_and_typing_ends(
    bot: StartBot, discord: DiscordSim, llm: LlmSim, dm: Channel, ann: Person
) -> None:
    llm.script(answer(status(401, "invalid_api_key")))
    async with bot():
        await discord.say(dm, ann, "hello")
        await discord.until(lambda sim: "does not accept its key" in "".join(sim.bot_texts(dm)))
        typed = len(discord.called("POST /channels/{id}/typing"))
        await asyncio.sleep(0.5)
        assert len(discord.called("POST /channels/{id}/typing")) == typed <= 1
        assert labels(discord.visible(dm)[-1]) == ["Try again"]


async def test_b272_nobody_is_pinged_by_what_a_model_writes(
    bot: StartBot, discord: DiscordSim, llm: LlmSim, general: Channel, ann: Person
) -> None:
    llm.script(
        answer(text("@everyone and @here and <@7> and <@&9001>, "), gate("rest"), text("once more: @everyone <@7>"))
    )
    async with bot():
        await discord.say(general, ann, "<@BOT> shout")
        await discord.until(lambda sim: "once" not in "".join(sim.bot_texts(general)) and sim.bot_texts(general))
        llm.release("rest")
        await discord.until(lambda sim: "once more" in "".join(sim.bot_texts(general)))
    assert [message.mentions for message in discord.visible(general) if message.from_bot] == [()]
