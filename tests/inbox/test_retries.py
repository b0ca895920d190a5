"""The last question once more: by a command, and by a thumb turned down."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from bot.core.address import Sender
from bot.core.errors import ContextTooLong, ProviderUnreachable
from bot.core.inbound import ButtonPress, Reaction, UserMessage
from bot.core.model import ModelStop, ModelStopReason, ModelText
from bot.core.stop import StopReason
from bot.core.transcript import UserRow
from bot.inbox.access import Access
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


# the button below an answer that ended badly

FAILS = [ProviderUnreachable("no way there")]


def offered(house: House) -> list[bool]:
    """Message by message, whether there is the button."""
    shown = house.channel.messages.values()
    return [any(button.payload.endswith(":retry") for button in message.part.buttons) for message in shown]


async def test_an_answer_that_failed_offers_another_and_a_press_asks_the_same_once(open_house: OpenHouse) -> None:
    async with open_house(FAILS, says("There it is."), says("Thanks.")) as house:
        await house.say("what is the sea?")
        await house.idle()
        assert offered(house) == [True]
        button = next(iter(house.channel.messages.values())).part.buttons[0]
        assert button.label == "Try again" and len(button.payload.encode()) <= 64
        assert await house.press("retry") == "Trying once more."
        await house.idle()
        assert house.shown[1:] == ["There it is."] and offered(house) == [True, False]
        assert str(house.provider.requests[-1].messages).count("what is the sea?") == 1
        assert await house.press("retry", 2) == "This has been tried again already."
        await house.idle()
        assert len(house.shown) == 2
        await house.say("thanks", number=2)
        await house.idle()
        assert await house.press("retry", 3) == "This has been tried again already."


async def test_what_was_good_or_cannot_come_out_otherwise_offers_nothing(open_house: OpenHouse) -> None:
    refuses = [ModelText("No."), ModelStop(ModelStopReason.REFUSED)]
    async with open_house(says("Good."), refuses, [ContextTooLong("too long")]) as house:
        for number in (1, 2, 3):
            await house.say(f"question {number}", number=number)
            await house.idle()
        await house.say("/help", number=4)
        await house.idle()
        assert offered(house) == [False] * 4


async def test_a_stopped_answer_is_tried_again_until_something_newer_was_asked(open_house: OpenHouse) -> None:
    never = asyncio.Event()
    async with open_house([ModelText("This will take a while, and"), never], says("Newer.")) as house:
        await house.say("hello")
        await house.press("stop")
        await house.idle()
        assert offered(house) == [True]
        await house.say("something else", number=2)
        await house.idle()
        assert await house.press("retry", 2) == "You have asked something newer since; /retry answers that once more."
        await house.idle()
        assert len(house.shown) == 2 and len(house.provider.requests) == 2


async def test_a_new_conversation_leaves_nothing_to_try_again(open_house: OpenHouse) -> None:
    async with open_house(FAILS) as house:
        await house.say("hello")
        await house.idle()
        await house.say("/new", number=2)
        await house.idle()
        assert "newer" in await house.press("retry")
        await house.idle()
        assert len(house.shown) == 2


async def test_only_the_asker_or_an_owner_may_try_again_and_it_stays_the_askers_question(open_house: OpenHouse) -> None:
    eve = Sender("fake", "9", "Eve")
    async with open_house(FAILS, says("For Bob."), access=Access(owners=("7",), users=("8", "9"))) as house:
        await house.say("I am Bob", sender=BOB)
        await house.idle()
        assert await house.press("retry", 1, eve) == "Only the person who asked, or an owner, can try this again."
        assert await house.press("retry", 2, OWNER) == "Trying once more."
        await house.idle()
        assert house.shown[1:] == ["For Bob."]
        assert await house.press("retry", 3, BOB) == "This has been tried again already."
        rows = await house.store.transcript.rows(HERE, 50)
        asked = [row.body.sender.id for row in rows if isinstance(row.body, UserRow)]
        assert asked == ["8", "8"]


async def test_a_press_in_another_chat_or_of_a_turn_that_is_not_known_does_nothing(open_house: OpenHouse) -> None:
    async with open_house(FAILS) as house:
        await house.say("hello")
        await house.idle()
        payload = await house.button("retry")
        elsewhere = replace(HERE, chat="2")
        for number, (where, pressed) in enumerate(((elsewhere, payload), (HERE, "b:0123456789ab:retry"))):
            await house.inbox.receive(ButtonPress(f"q{number}", where, OWNER, pressed, 1.0))
            assert house.channel.answers[-1][1] == "This button no longer does anything."
        await house.idle()
        assert len(house.shown) == 1


async def test_a_second_try_that_fails_offers_a_third(open_house: OpenHouse) -> None:
    async with open_house(FAILS, FAILS, says("At last.")) as house:
        await house.say("hello")
        await house.idle()
        await house.press("retry", 1)
        await house.idle()
        assert offered(house) == [True, True]
        assert await house.press("retry", 2) == "Trying once more."
        await house.idle()
        assert house.shown[-1] == "At last." and len(house.shown) == 3


async def test_the_button_works_after_a_restart_and_a_press_that_was_only_recorded_is_applied_once(
    open_house: OpenHouse,
) -> None:
    async with open_house(FAILS) as house:
        await house.say("hello")
        await house.idle()
        payload = await house.button("retry")
    async with open_house(says("There it is.")) as house:
        press = ButtonPress("p1", HERE, OWNER, payload, 1.0)
        await house.store.inbox.record(press, "", 1.0)
        assert await house.inbox.resume() == 0
        await house.idle()
        assert house.shown == ["There it is."]
        await house.inbox.receive(press)
        await house.inbox.receive(replace(press, id="p2"))
        await house.idle()
        assert house.shown == ["There it is."] and house.channel.answers[-1][1] == "This has been tried again already."


async def test_two_presses_at_once_are_one(open_house: OpenHouse) -> None:
    async with open_house(FAILS, says("There it is.")) as house:
        await house.say("hello", sender=BOB)
        await house.idle()
        payload = await house.button("retry")
        presses = [ButtonPress(f"p{n}", HERE, sender, payload, 1.0) for n, sender in enumerate((OWNER, BOB))]
        await asyncio.gather(*map(house.inbox.receive, presses))
        await house.idle()
        assert house.shown[1:] == ["There it is."] and len(house.provider.requests) == 2
