"""The last question once more: by a command, and by a thumb turned down."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from bot.core.address import Sender
from bot.core.inbound import Reaction, UserMessage
from bot.core.model import ModelText
from bot.core.stop import StopReason
from tests.fakes.provider import says
from tests.inbox.conftest import HERE, OWNER, House, OpenHouse

BOB = Sender("fake", "8", "Bob")


async def react(house: House, emoji: str, sender: Sender = OWNER, message: int = -1, number: int = 1) -> None:
    ref = list(house.channel.messages)[message]
    await house.inbox.receive(Reaction(f"r{number}", HERE, sender, str(ref), emoji, True, 3.0))


async def test_retry_answers_the_last_message_in_a_new_one_without_the_old_answer(open_house: OpenHouse) -> None:
    async with open_house(says("A poor answer."), says("A better answer."), says("Thanks.")) as house:
        await house.say("what is the sea?")
        await house.idle()
        await house.say("/retry", number=2)
        await house.idle()
        assert house.shown == ["A poor answer.", "A better answer."]
        asked = str(house.provider.requests[1].messages)
        assert asked.count("what is the sea?") == 1 and "A poor answer." not in asked
        await house.say("good", number=3)
        await house.idle()
        later = str(house.provider.requests[2].messages)
        assert "A better answer." in later and "A poor answer." not in later
        assert later.count("what is the sea?") == 1


async def test_retry_takes_the_place_of_an_answer_that_is_being_written(open_house: OpenHouse) -> None:
    never = asyncio.Event()
    async with open_house([ModelText("This will take a while, and"), never], says("Quick.")) as house:
        await house.say("hello")
        async with asyncio.timeout(5):
            while not house.shown:
                await asyncio.sleep(0.002)
        await house.say("/retry", number=2)
        await house.idle()
        assert house.ended == [StopReason.STOPPED, StopReason.ANSWERED]
        assert house.shown[-1] == "Quick."


async def test_a_retry_that_is_delivered_twice_neither_stops_nor_repeats_itself(open_house: OpenHouse) -> None:
    later = asyncio.Event()
    async with open_house(says("Poor."), [ModelText("Better, "), later, *says("and whole.")]) as house:
        await house.say("hello")
        await house.idle()
        first = await house.say("/retry", number=2)
        async with asyncio.timeout(5):
            while len(house.shown) < 2:
                await asyncio.sleep(0.002)
        again = await house.say("/retry", number=2)
        assert (again.turn, again.duplicate) == (first.turn, True)
        later.set()
        await house.idle()
        assert house.shown == ["Poor.", "Better, and whole."] and len(house.provider.requests) == 2


async def test_retry_with_nothing_to_answer_says_so(open_house: OpenHouse) -> None:
    async with open_house() as house:
        await house.say("/help")
        await house.idle()
        await house.say("/retry", number=2)
        await house.idle()
        assert "nothing in this conversation" in house.shown[-1]


async def test_a_question_that_begins_with_a_path_is_asked_again_too(open_house: OpenHouse) -> None:
    async with open_house(says("Names."), says("A file of names.")) as house:
        await house.say("/etc/hosts, what is it for?")
        await house.idle()
        await house.say("/retry", number=2)
        await house.idle()
        assert house.shown == ["Names.", "A file of names."]
        assert "what is it for?" in str(house.provider.requests[1].messages)


async def test_retry_repeats_only_what_its_sender_asked(open_house: OpenHouse) -> None:
    async with open_house(says("For Ann."), says("For Bob.")) as house:
        await house.say("I am Ann")
        await house.idle()
        await house.say("/retry", number=2, sender=BOB)
        await house.idle()
        assert len(house.provider.requests) == 1 and "nothing in this conversation" in house.shown[-1]


async def test_a_new_conversation_leaves_nothing_to_retry(open_house: OpenHouse) -> None:
    async with open_house(says("Old.")) as house:
        await house.say("old")
        await house.say("/new", number=2)
        await house.idle()
        await house.say("/retry", number=3)
        await house.idle()
        assert "nothing in this conversation" in house.shown[-1]


async def test_a_thumb_down_at_the_last_answer_asks_again_once(open_house: OpenHouse) -> None:
    async with open_house(says("Poor."), says("Better.")) as house:
        await house.say("hello")
        await house.idle()
        await react(house, "👎")
        await react(house, "👎")
        await house.idle()
        assert house.shown == ["Poor.", "Better."] and len(house.provider.requests) == 2


@pytest.mark.parametrize(("emoji", "sender"), [("👍", OWNER), ("👎", BOB)])
async def test_other_reactions_and_other_people_change_nothing(
    open_house: OpenHouse, emoji: str, sender: Sender
) -> None:
    async with open_house(says("Hello.")) as house:
        await house.say("hello")
        await house.idle()
        await react(house, emoji, sender)
        await house.idle()
        assert house.shown == ["Hello."]


async def test_a_thumb_down_finds_its_answer_where_the_platform_does_not_tell_the_thread(open_house: OpenHouse) -> None:
    topic = replace(HERE, thread="12")
    async with open_house(says("Poor."), says("Elsewhere."), says("Better.")) as house:
        await house.inbox.receive(UserMessage("1", topic, OWNER, "hello", 1.0))
        await house.idle()
        await house.say("hello from outside the topic", number=2)
        await house.idle()
        await react(house, "👎", message=0)
        await house.idle()
        last = list(house.channel.messages.values())[-1]
        assert (last.text, last.to) == ("Better.", topic)


async def test_a_thumb_down_at_an_older_answer_changes_nothing(open_house: OpenHouse) -> None:
    async with open_house(says("One."), says("Two.")) as house:
        for number in (1, 2):
            await house.say(f"question {number}", number=number)
            await house.idle()
        await react(house, "👎", message=0)
        await house.idle()
        assert house.shown == ["One.", "Two."]


async def test_what_had_joined_the_question_is_asked_again_with_it(open_house: OpenHouse) -> None:
    async with open_house(says("Poor."), says("Better.")) as house:
        for number, words in ((1, "the first half"), (2, "the second half")):
            await house.inbox.receive(UserMessage(str(number), HERE, OWNER, words, 1.0, fragment="paste-1"))
        await house.idle()
        assert house.shown == ["Poor."]
        await house.say("/retry", number=3)
        await house.idle()
        asked = str(house.provider.requests[-1].messages)
        assert asked.count("the first half") == asked.count("the second half") == 1
