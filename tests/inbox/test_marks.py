"""A heart, a star or a pin on a question or its answer marks the turn, for the one who asked."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bot.core.address import Sender
from bot.core.inbound import Reaction
from bot.core.transcript import MarkRow
from bot.inbox.marks import is_keep
from tests.fakes.provider import says
from tests.inbox.conftest import HERE, OWNER, House, OpenHouse


async def marks(house: House) -> list[MarkRow]:
    rows = await house.store.transcript.history(HERE, 2**62, 100)
    return [row.body for row in rows if isinstance(row.body, MarkRow)]


async def react(
    house: House, emoji: str, message: str, number: int = 1, sender: Sender = OWNER, added: bool = True
) -> None:
    await house.inbox.receive(Reaction(f"r{number}", HERE, sender, message, emoji, added, 3.0))


@pytest.mark.parametrize("emoji", ["❤", "❤️", "⭐", "👍🏽", "📌", "heart", "+1::skin-tone-3", ":star:"])
def test_what_every_platform_calls_them_is_known(emoji: str) -> None:
    assert is_keep(emoji)


@pytest.mark.parametrize("emoji", ["👎", "-1", "eyes", "", "heartbreak", "😀"])
def test_others_mark_nothing(emoji: str) -> None:
    assert not is_keep(emoji)


async def test_the_question_and_its_answer_can_be_marked_and_the_mark_taken_back(open_house: OpenHouse) -> None:
    async with open_house(says("It is salt water.")) as house:
        await house.say("what is the sea?")
        await house.idle()
        shown = str(list(house.channel.messages)[-1])
        await react(house, "❤", shown, 1)
        await react(house, "❤", shown, 1)
        await react(house, "❤", shown, 2, added=False)
        await react(house, "📌", "1", 3)
        who = OWNER.identity
        assert await marks(house) == [MarkRow(f"{who} ❤"), MarkRow(f"{who} ❤", False), MarkRow(f"{who} 📌")]
        assert len(house.provider.requests) == 1


async def test_nobody_marks_what_another_asked(open_house: OpenHouse) -> None:
    async with open_house(says("It is salt water.")) as house:
        await house.say("what is the sea?")
        await house.idle()
        shown = str(list(house.channel.messages)[-1])
        await react(house, "❤", shown, 1, sender=replace(OWNER, id="8"))
        await react(house, "❤", "no such message", 2)
        assert await marks(house) == []
