"""Which model answers in a chat, and why the last answer came about as it did."""

from __future__ import annotations

import pytest

from bot.core.tool import ToolCall
from bot.inbox.access import Access
from tests.fakes.provider import calls, says
from tests.inbox.conftest import OWNER, OpenHouse
from tests.inbox.test_settings import BOB, GROUP, told


async def test_a_model_is_picked_for_the_chat_kept_and_undone(open_house: OpenHouse) -> None:
    async with open_house() as house:
        assert "Picked for this chat: a/big" in await told(house, "/model big", 1)
    async with open_house() as house:
        assert "Picked for this chat: a/big" in await told(house, "/model", 2)
        assert "chosen for each message again" in await told(house, "/model auto", 3)
        assert "Picked" not in await told(house, "/model", 4)


@pytest.mark.parametrize(
    ("wish", "answer"),
    [("/model gpt-17", "no model `gpt-17`"), ("/model `x`", "no model `x`"), ("/model reset", "from now on: a")],
)
async def test_other_wishes(open_house: OpenHouse, wish: str, answer: str) -> None:
    async with open_house() as house:
        assert answer in await told(house, wish, 1)


async def test_in_a_group_only_an_owner_picks(open_house: OpenHouse) -> None:
    async with open_house(access=Access(owners=("7",), groups=("-5",))) as house:
        assert "owner" in (await told(house, "/model big", 1, BOB, GROUP)).lower()
        assert "Picked" in await told(house, "/model big", 2, OWNER, GROUP)


async def test_why_tells_how_the_last_answer_came_about(open_house: OpenHouse) -> None:
    async with open_house(calls(ToolCall("c", "calculate", {"expression": "1+1"})), says("2")) as house:
        assert "no answer in this chat yet" in await told(house, "/why", 1)
        await told(house, "1+1?", 2)
        await told(house, "/status", 3)
        why = await told(house, "/why", 4)
        assert "Models, in this order: a/big (decided by: default)" in why
        assert "Model calls: 2 (answer × 1, tools × 1), by a/big" in why
        assert "Ended: answered" in why
