"""When a group message is meant for the bot by its name, and when two bots have talked enough."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bot.core.address import Address, Sender
from bot.core.inbound import UserMessage
from bot.inbox.access import Access
from bot.inbox.manners import BOT_MESSAGES, Manners
from tests.fakes.clock import FakeClock
from tests.fakes.provider import says
from tests.inbox.conftest import HERE, OpenHouse

GROUP = Address("fake", "main", "-5")
ANN = Sender("fake", "7", "Ann")
ROBOT = Sender("fake", "70", "Robot", is_bot=True)


def said(text: str, sender: Sender = ANN) -> UserMessage:
    return UserMessage("1", GROUP, sender, text, 1.0, direct=False, addressed=False)


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        ("Bower, what time is it?", "what time is it?"),
        ("bower what time is it?", "what time is it?"),
        ("@Bower: what time is it?", "what time is it?"),
        ("Hey Bower! what time is it?", "what time is it?"),
        ("hello, bower: what time is it?", "what time is it?"),
        ("Bower", "Bower"),
    ],
)
def test_who_is_called_by_name_is_meant(text: str, rest: str) -> None:
    message = Manners("Bower", FakeClock()).meant(said(text))
    assert message.addressed and message.text == rest


@pytest.mark.parametrize("text", ["Bowerbirds are blue", "I like Bower", "is Bower here?", "Bowery street", "hibower"])
def test_who_is_only_spoken_of_is_not(text: str) -> None:
    assert not Manners("Bower", FakeClock()).meant(said(text)).addressed


def test_a_chinese_name_needs_nothing_behind_it() -> None:
    manners = Manners("小园丁", FakeClock())
    assert manners.meant(said("小园丁现在几点？")).text == "现在几点？"
    assert manners.meant(said("你好，小园丁，现在几点？")).text == "现在几点？"
    assert not manners.meant(said("问问小园丁")).addressed


def test_a_bot_is_cut_off_after_twenty_messages_a_minute() -> None:
    clock = FakeClock()
    manners = Manners("Bower", clock)
    assert not any(manners.too_talkative(said("beep", ROBOT)) for _ in range(BOT_MESSAGES))
    assert manners.too_talkative(said("beep", ROBOT))
    assert not manners.too_talkative(said("hello", ANN))
    clock._now += 61
    assert not manners.too_talkative(said("beep", ROBOT))


async def test_a_bot_is_cut_off_although_it_opens_a_thread_with_every_message(open_house: OpenHouse) -> None:
    """As in Slack, where every question in a channel opens one, in threads on Discord and in topics on Telegram."""
    access = Access(owners=("7",), groups=("-5",), bots=True)
    async with open_house(*[says("boop")] * 40, access=access) as house:
        for number in range(30):
            thread = replace(GROUP, thread=f"t{number}")
            await house.inbox.receive(replace(said("beep", ROBOT), id=str(number), address=thread, addressed=True))
            await house.idle()
        assert len(house.provider.requests) == BOT_MESSAGES


def test_a_bot_that_is_cut_off_in_one_chat_is_heard_in_another() -> None:
    manners = Manners("Bower", FakeClock())
    for number in range(BOT_MESSAGES + 1):
        cut = manners.too_talkative(replace(said("beep", ROBOT), address=replace(GROUP, thread=str(number))))
    assert cut
    assert not manners.too_talkative(replace(said("beep", ROBOT), address=replace(GROUP, chat="-6")))


async def test_two_bots_come_to_an_end(open_house: OpenHouse) -> None:
    """The reason for the silence is kept."""
    access = Access(owners=("7",), users=("*",), bots=True)
    async with open_house(*[says("boop")] * 30, access=access) as house:
        for number in range(25):
            await house.say("beep", number=number, sender=ROBOT, address=HERE)
            await house.idle()
        assert len(house.provider.requests) == BOT_MESSAGES
        assert (await house.outcomes())["24"] == "a bot that talks too much"
