"""What is set for one chat alone, and one person on several platforms."""

from __future__ import annotations

import re

import pytest

from bot.core.address import Address, Sender
from bot.core.inbound import UserMessage
from bot.inbox.access import Access
from tests.fakes.provider import says
from tests.inbox.conftest import HERE, OWNER, House, OpenHouse

GROUP = Address("fake", "main", "-5")
THERE = Address("other", "main", "70")
ANN_THERE = Sender("other", "70", "Ann B")
EVE = Sender("other", "66", "Eve")
OTHERS = {"other": Access(users=("*",))}
BOB = Sender("fake", "8", "Bob")


async def told(house: House, text: str, number: int, sender: Sender = OWNER, address: Address = HERE) -> str:
    """What is shown last after ``text`` was said."""
    await house.inbox.receive(UserMessage(str(number), address, sender, text, 1.0, direct=address != GROUP))
    await house.idle()
    return house.shown[-1]


async def test_settings_are_listed_changed_and_kept(open_house: OpenHouse) -> None:
    async with open_house() as house:
        assert "`timezone`): as configured" in await told(house, "/settings", 1)
        assert "Europe/Rome" in await told(house, "/settings timezone europe/rome", 2)
        assert "`language` 现在是：zh" in await told(house, "/settings language zh", 3)
    async with open_house() as house:
        assert "本聊天的设置" in await told(house, "/settings", 4)
        assert "按配置" in await told(house, "/settings language auto", 5)
        assert "as configured" in await told(house, "/settings", 6)


@pytest.mark.parametrize(
    ("wish", "answer"),
    [
        ("/settings colour blue", "no setting `colour`"),
        ("/settings work loud", "all, brief, none"),
        ("/settings timezone Mars/Phobos", "Europe/Rome"),
        ("/settings trigger always", "for groups"),
    ],
)
async def test_a_wish_that_cannot_be_is_answered(open_house: OpenHouse, wish: str, answer: str) -> None:
    async with open_house() as house:
        assert answer in await told(house, wish, 1)


async def test_the_model_is_told_the_time_of_the_chat(open_house: OpenHouse) -> None:
    async with open_house(says("Late.")) as house:
        await told(house, "/settings timezone Asia/Tokyo", 1)
        await told(house, "what time is it?", 2)
        assert "Asia/Tokyo" in str(house.provider.requests[-1].messages)


async def test_in_a_group_an_owner_sets_when_the_bot_answers(open_house: OpenHouse) -> None:
    access = Access(owners=("7",), groups=("-5",))
    async with open_house(says("Yes?"), access=access) as house:
        assert "owner" in (await told(house, "/settings trigger always", 1, BOB, GROUP)).lower()
        assert "always" in await told(house, "/settings trigger always", 2, OWNER, GROUP)
        aside = UserMessage("3", GROUP, BOB, "anybody there?", 1.0, direct=False, addressed=False)
        await house.inbox.receive(aside)
        await house.idle()
        assert house.shown[-1] == "Yes?"


def code_of(text: str) -> str:
    found = re.search(r"/link ([A-Z0-9]{8})", text)
    assert found
    return found[1]


async def test_one_person_is_linked_by_a_code_on_both_sides(open_house: OpenHouse) -> None:
    async with open_house(others=OTHERS) as house:
        code = code_of(await told(house, "/link", 1))
        await told(house, f"/link {code}", 2, ANN_THERE, THERE)
        assert any("where you began" in shown for shown in house.shown)
        assert any("`Ann B` (`other:70`) sent me your code" in shown for shown in house.shown)
        assert await house.store.links.identities("fake:7") == ["fake:7"]
        await told(house, f"/link {code.lower()}", 3)
        assert any("you and `Ann B` (`other:70`) are one person" in shown for shown in house.shown)
        assert await house.store.links.identities("other:70") == ["fake:7", "other:70"]
        assert "do not know this code" in await told(house, f"/link {code}", 4, EVE, Address("other", "main", "66"))
        assert "on its own again" in await told(house, "/link off", 5, ANN_THERE, THERE)
        assert await house.store.links.identities("fake:7") == ["fake:7"]


async def test_who_only_saw_the_code_is_not_linked(open_house: OpenHouse) -> None:
    async with open_house(others=OTHERS) as house:
        code = code_of(await told(house, "/link", 1))
        await told(house, f"/link {code}", 2, EVE, Address("other", "main", "66"))
        assert "do not know this code" in await told(house, f"/link {code}", 3, ANN_THERE, THERE)
        assert await house.store.links.identities("fake:7") == ["fake:7"]


async def test_guessing_codes_ends_soon(open_house: OpenHouse) -> None:
    async with open_house(others=OTHERS) as house:
        for number in range(5):
            await told(house, f"/link ABCDEFG{number}", number)
        assert "Too many wrong codes" in await told(house, "/link ABCDEFGH", 9)


async def test_permissions_and_usage_are_the_persons(open_house: OpenHouse) -> None:
    async with open_house(others=OTHERS) as house:
        await house.store.links.link("fake:7", "other:70")
        await house.store.database.write(
            lambda db: db.execute("INSERT INTO permissions VALUES ('note_write', 'always', 'fake:7', 'fake:7', 1.0)")
        )
        assert await house.store.approvals.permitted("note_write", THERE, "other:70")
        assert not await house.store.approvals.permitted("note_write", THERE, "other:66")
