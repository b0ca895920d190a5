"""Groups that the bot is added to: hello where it may answer, a question to the owners elsewhere."""

from __future__ import annotations

from dataclasses import replace

from bot.core.address import Address, Sender
from bot.core.inbound import ButtonPress, Joined, UserMessage
from bot.inbox.access import Access
from tests.fakes.clock import FakeClock
from tests.fakes.provider import says
from tests.inbox.conftest import HERE, OWNER, House, OpenHouse

GROUP = Address("fake", "main", "-5")
MALLORY = Sender("fake", "66", "Mall`ory")
BOB = Sender("fake", "8", "Bob")


async def added(house: House, number: int = 1) -> None:
    await house.inbox.receive(Joined(f"j{number}", GROUP, MALLORY, "-5", "The `Team`", 2.0))
    await house.idle()


async def press(house: House, sender: Sender, number: int = 1) -> str:
    payload = await house.button("allow")
    await house.inbox.receive(ButtonPress(f"p{number}", HERE, sender, payload, 3.0))
    await house.idle()
    return house.channel.answers[-1][1]


async def ask(house: House, number: int) -> None:
    await house.inbox.receive(UserMessage(str(number), GROUP, BOB, "hi", 4.0, direct=False, addressed=True))
    await house.idle()


async def test_where_it_may_answer_the_bot_says_hello_once(open_house: OpenHouse) -> None:
    async with open_house(access=Access(owners=("7",), groups=("-5",))) as house:
        await added(house)
        await added(house)
        assert len(house.shown) == 1 and "Hello, I am Bower" in house.shown[0]


async def test_elsewhere_an_owner_is_asked_and_allows_the_group_by_a_button(open_house: OpenHouse) -> None:
    async with open_house(says("Hi."), says("Welcome.")) as house:
        await house.say("hello")
        await house.idle()
        await added(house)
        assert "`Mallory` has added me to the group `The Team` (`-5`)" in house.shown[-1]
        await ask(house, 10)
        assert len(house.provider.requests) == 1
        assert "Only" in await press(house, BOB)
        assert await press(house, OWNER, 2) == "I answer there now."
        assert "Hello, I am Bower" in house.shown[-1]
        assert await press(house, OWNER, 3) == "I answer there already."
        await ask(house, 11)
        assert house.shown[-1] == "Welcome."
    async with open_house(says("Still here.")) as house:
        await ask(house, 12)
        assert house.shown[-1] == "Still here."


async def test_where_nobody_knows_who_added_the_bot_nobody_is_named(open_house: OpenHouse) -> None:
    async with open_house(says("Hi.")) as house:
        await house.say("hello")
        await house.idle()
        await house.inbox.receive(Joined("j1", GROUP, Sender("fake", ""), "-5", "Team", 2.0))
        await house.idle()
        assert house.shown[-1].startswith("I was added to the group `Team` (`-5`).")
        await press(house, OWNER)
        await house.inbox.receive(Joined("j2", GROUP, Sender("fake", ""), "-5", "Team", 3.0))
        await house.idle()
        assert sum("Hello, I am Bower" in shown for shown in house.shown) == 2, "it was thrown out meanwhile"


async def test_without_an_owner_who_could_be_asked_nothing_is_said(open_house: OpenHouse) -> None:
    async with open_house() as house:
        await added(house)
        assert house.shown == []
        assert (await house.outcomes())["j1"] == "asked 0 owners"


async def test_an_offer_counts_only_where_it_was_made(open_house: OpenHouse) -> None:
    async with open_house(says("Hi.")) as house:
        await house.say("hello")
        await house.idle()
        await added(house)
        payload = await house.button("allow")
        await house.inbox.receive(ButtonPress("p1", GROUP, OWNER, payload, 3.0))
        assert "no longer" in house.channel.answers[-1][1]


# called where it may not answer


async def called(house: House, number: int, text: str = "hi", chat: Address = GROUP, sender: Sender = BOB) -> str:
    """What is said there."""
    message = UserMessage(str(number), chat, sender, text, 4.0, direct=False, addressed=True)
    receipt = await house.inbox.receive(message)
    await house.idle()
    return receipt.refused


async def test_called_where_it_may_not_answer_it_says_once_a_day_how_that_is_allowed(open_house: OpenHouse) -> None:
    clock = FakeClock()
    async with open_house(says("Hi."), clock=clock, language="auto") as house:
        await house.say("hello")
        await house.idle()
        thread, other = replace(GROUP, thread="9"), replace(GROUP, chat="-6")
        told = await called(house, 10)
        assert told.startswith("I may not answer here yet.") and "a button in our private chat" in told
        assert "-5 under channels.fake.access.groups" in told
        assert [await called(house, 11), await called(house, 12, chat=thread)] == ["", ""]
        assert "-6 under" in await called(house, 13, chat=other)
    async with open_house(clock=clock, language="auto") as house:
        assert await called(house, 14) == "", "it knows after a restart"
        await clock.advance(86_401)
        assert "还不能在这里回答" in await called(house, 15, "你好，在吗？")
        assert len(house.provider.requests) == 0


async def test_its_owner_gets_the_button_and_the_next_call_is_answered(open_house: OpenHouse) -> None:
    async with open_house(says("Hi."), says("Here I am.")) as house:
        await house.say("hello")
        await house.idle()
        await called(house, 10)
        assert house.shown[-1].startswith("`Bob` has called me in the group `-5` (`-5`). I do not answer there until")
        assert await press(house, OWNER) == "I answer there now."
        assert "Hello, I am Bower" in house.shown[-1]
        assert await called(house, 11) == "" and house.shown[-1] == "Here I am."


async def test_nothing_is_said_where_no_person_has_called(open_house: OpenHouse) -> None:
    async with open_house(access=Access(owners=("7",), bots=True)) as house:
        await house.inbox.receive(UserMessage("9", GROUP, BOB, "hi", 4.0, direct=False, addressed=False))
        assert await called(house, 10, sender=replace(BOB, is_bot=True)) == "" and house.shown == []
        assert {*(await house.outcomes()).values()} == {"group not allowed"}


async def test_where_it_is_never_to_answer_in_groups_it_says_nothing(open_house: OpenHouse) -> None:
    async with open_house(access=Access(owners=("7",), trigger="never")) as house:
        assert await called(house, 10) == ""


async def test_nobody_makes_it_ask_without_end(open_house: OpenHouse) -> None:
    async with open_house() as house:
        told = [await called(house, number, chat=replace(GROUP, chat=f"-{number}")) for number in range(100, 130)]
    assert sum(map(bool, told)) == 20 and "button" not in told[0], "there is no owner whom it could ask"
