"""Groups that the bot is added to: hello where it may answer, a question to the owners elsewhere."""

from __future__ import annotations

from bot.core.address import Address, Sender
from bot.core.inbound import ButtonPress, Joined, UserMessage
from bot.inbox.access import Access
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
