"""Buttons in rows: five at most, of five at most, and Stop always among them."""

from __future__ import annotations

import pytest

from bot.core.address import Address
from bot.core.stop import StopReason
from bot.core.view import Button, Part, Rendered, View
from channels.discord.buttons import rows
from tests.channels.discord.stage import stage

STOP = Button("Stop", "b:turn:stop")


def cards(count: int) -> list[Button]:
    return [Button(verb, f"b:card{n}:{verb}") for n in range(count) for verb in ("once", "chat", "always", "deny")]


def labels(buttons: list[Button]) -> list[list[str]]:
    return [[button["label"] for button in row["components"]] for row in rows(buttons)]


def test_a_card_has_its_row_and_stop_its_own() -> None:
    assert labels([]) == [] and labels([STOP]) == [["Stop"]]
    assert labels([*cards(2), STOP]) == [["once", "chat", "always", "deny"]] * 2 + [["Stop"]]


@pytest.mark.parametrize("count", range(10))
async def test_however_many_questions_are_open_discord_takes_the_message(count: int) -> None:
    laid = labels([*cards(count), STOP])
    assert len(laid) <= 5 and all(len(row) <= 5 for row in laid) and laid[-1][-1] == "Stop"
    assert sum(map(len, laid)) == min(4 * count + 1, 25)
    async with stage() as house:
        dm = house.dm(7)
        to = Address("discord", "main", str(dm.id))
        view = View("t1", stop=StopReason.ANSWERED)
        part = Part("t1", 0, 0, "Well?", Rendered("Well?", 5), view, (*cards(count), STOP), True, True)
        await house.channel.show(to, None, part)
        assert [label for label, _, _ in house.sim.visible(dm)[0].buttons] == [word for row in laid for word in row]
