"""Pieces of one album or long text are one message and one turn."""

from __future__ import annotations

import asyncio

from bot.core.inbound import UserMessage
from bot.inbox.lanes import FRAGMENT_SECONDS
from tests.fakes.provider import says
from tests.inbox.conftest import HERE, OWNER, House, OpenHouse


async def piece(house: House, text: str, number: int, fragment: str = "album-1") -> None:
    await house.inbox.receive(UserMessage(str(number), HERE, OWNER, text, 1.0, fragment=fragment))


async def test_pieces_that_arrive_after_each_other_are_one_question(open_house: OpenHouse) -> None:
    async with open_house(says("All three.")) as house:
        for number in range(3):
            await piece(house, f"piece {number}", number)
            await asyncio.sleep(FRAGMENT_SECONDS / 2)
        await house.idle()
        assert house.shown == ["All three."] and len(house.provider.requests) == 1
        asked = str(house.provider.requests[0].messages)
        assert asked.index("piece 0") < asked.index("piece 1") < asked.index("piece 2")


async def test_another_message_in_between_keeps_its_place(open_house: OpenHouse) -> None:
    async with open_house(says("The album."), says("The other."), when_busy="queue") as house:
        await piece(house, "piece 0", 0)
        await piece(house, "something else", 5, fragment="")
        await piece(house, "piece 1", 1)
        await house.idle()
        assert house.shown == ["The album.", "The other."]
        assert "something else" not in str(house.provider.requests[0].messages)


async def test_pieces_of_two_albums_are_two_questions(open_house: OpenHouse) -> None:
    async with open_house(says("One."), says("Two."), when_busy="queue") as house:
        await piece(house, "first a", 0)
        await piece(house, "second a", 1, fragment="album-2")
        await piece(house, "first b", 2)
        await piece(house, "second b", 3, fragment="album-2")
        await house.idle()
        assert house.shown == ["One.", "Two."]


async def test_a_crash_between_the_pieces_loses_none(open_house: OpenHouse) -> None:
    async with open_house(die=True) as house:
        await piece(house, "piece 0", 0)
        await piece(house, "piece 1", 1)
        await asyncio.sleep(0.05)
    async with open_house(says("Both.")) as house:
        await house.inbox.resume()
        await house.idle()
        assert house.shown[-1] == "Both."
        asked = str(house.provider.requests[-1].messages)
        assert "piece 0" in asked and "piece 1" in asked and len(house.provider.requests) == 1
