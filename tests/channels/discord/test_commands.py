"""Discord's own menu of commands: told once, answered in its place, and where that is not possible, all the same."""

from __future__ import annotations

import asyncio

import pytest

from bot.core.inbound import Inbound, Receipt, UserMessage
from tests.channels.discord.conftest import CONFIG, StartBot
from tests.channels.discord.stage import Stage, Turn, stage
from tests.sim.discord import Channel, DiscordSim, Person
from tests.sim.llm import LlmSim, answer, gate, text

CALLBACK = "POST /interactions/{id}/{token}/callback"
ORIGINAL = "PATCH /webhooks/{id}/{token}/messages/@original"
MENU = "PUT /applications/{id}/commands"


async def test_the_menu_is_told_once_over_two_starts_and_again_when_it_is_another(
    bot: StartBot, discord: DiscordSim, llm: LlmSim
) -> None:
    async with bot():
        await discord.until(lambda sim: sim.commands.syncs)
        await asyncio.sleep(0.2)
    async with bot():
        await asyncio.sleep(0.5)
    assert discord.commands.syncs == 1
    assert {"new", "stop", "status", "usage", "model", "help"} <= set(discord.commands.names)


async def test_another_menu_is_told_and_a_failure_to_tell_it_is_made_good() -> None:
    async with stage() as house:
        async with house.hearing(nobody):
            await house.passed(lambda: house.sim.commands.syncs == 1)
        house.notes.values["commands"] = "the digest of an older menu"
        house.sim.fail(MENU, status=500)
        async with house.reborn().hearing(nobody):
            await house.passed(lambda: house.sim.commands.syncs == 2)
        assert [one.status for one in house.sim.called(MENU)] == [200, 500, 200]


async def test_a_command_is_answered_in_its_place(
    bot: StartBot, discord: DiscordSim, llm: LlmSim, dm: Channel, general: Channel, ann: Person
) -> None:
    async with bot():
        await discord.until(lambda sim: sim.commands.syncs)
        for channel in (dm, general):
            await discord.slash(channel, ann, "status")
            await discord.until(lambda sim: any("up for" in shown for shown in sim.bot_texts(channel)))  # noqa: B023
            [shown] = discord.visible(channel)
            assert (shown.type, shown.thinking, shown.ephemeral, shown.reply_to) == (20, False, False, None)
    assert [one.type for one in discord.interaction_answers] == [5, 5]


async def test_stop_from_the_menu_stops_a_running_turn(
    bot: StartBot, discord: DiscordSim, llm: LlmSim, dm: Channel, ann: Person
) -> None:
    llm.script(answer(text("This is going to be a very long answer. "), gate("never"), text("No.")))
    async with bot():
        await discord.until(lambda sim: sim.commands.syncs)
        await discord.say(dm, ann, "go")
        await discord.until(lambda sim: sim.bot_texts(dm))
        await discord.slash(dm, ann, "stop")
        await discord.until(lambda sim: "Stopped." in sim.bot_texts(dm)[0])
        await discord.until(lambda sim: "Stopping." in sim.bot_texts(dm)[-1])
        stopped, told = discord.visible(dm)[-2:]
        assert [label for label, _, _ in stopped.buttons] == ["Try again"] and not (told.buttons or told.thinking)


async def test_a_command_where_the_bot_may_not_answer_gets_a_sentence_and_a_stranger_a_code(
    bot: StartBot, discord: DiscordSim, llm: LlmSim, ann: Person
) -> None:
    elsewhere = discord.channel(discord.guild(9002, "Others", members=[ann]), "general")
    theirs = discord.dm(eve := discord.person(66, "Eve"))
    async with bot():
        await discord.until(lambda sim: sim.commands.syncs)
        await discord.slash(elsewhere, ann, "status")
        await discord.until(lambda sim: "I may not answer here yet" in "".join(sim.bot_texts(elsewhere)))
        await discord.slash(elsewhere, ann, "status")
        await discord.until(lambda sim: "I do not answer in this chat" in "".join(sim.bot_texts(elsewhere)))
        await discord.slash(theirs, eve, "status")
        await discord.until(lambda sim: "Your code is" in "".join(sim.bot_texts(theirs)))
        await asyncio.sleep(0.2)
    assert (len(discord.visible(elsewhere)), len(discord.visible(theirs))) == (2, 1)


async def test_a_command_speaks_the_language_of_the_person(bot: StartBot, discord: DiscordSim, llm: LlmSim) -> None:
    wei = discord.person(8, "Wei", language="zh")
    dm = discord.dm(wei)
    async with bot(CONFIG):
        await discord.until(lambda sim: sim.commands.syncs)
        await discord.slash(dm, wei, "usage")
        await discord.until(lambda sim: "你今天" in "".join(sim.bot_texts(dm)))


async def nobody(inbound: Inbound) -> Receipt:
    return Receipt()


class Asked:
    """Takes every message for a turn of its own, named after it, which the test writes."""

    def __init__(self, house: Stage) -> None:
        self.house, self.turns = house, list[Turn]()

    async def __call__(self, inbound: Inbound) -> Receipt:
        if not isinstance(inbound, UserMessage):
            return Receipt()
        chat = self.house.sim.channel_by_id(int(inbound.address.thread or inbound.address.chat))
        name = f"t{int(inbound.id) % 10**9}"
        self.turns.append(self.house.turn(chat, name))
        return Receipt(name)

    async def slash(self, channel: Channel, person: Person, name: str) -> Turn:
        known = len(self.turns)
        await self.house.sim.slash(channel, person, name)
        await self.house.passed(lambda: len(self.turns) > known)
        return self.turns[-1]


@pytest.mark.parametrize("minutes", [13, 16])
async def test_an_answer_that_comes_after_the_token_is_over_is_an_ordinary_message(minutes: int) -> None:
    async with stage() as house:
        dm = house.sim.dm(ann := house.sim.person(7, "Ann"))
        asked = Asked(house)
        async with house.hearing(asked):
            await house.passed(lambda: house.sim.commands.syncs)
            turn = await asked.slash(dm, ann, "status")
            await house.clock.advance(minutes * 60)
            turn.say("It took me a while, but here I am.")
            turn.end()
            await turn.delivered(within=10)
        promised, *ordinary = house.sim.visible(dm)
        expected = "It took me a while, but here I am."
        assert [one.text for one in (ordinary if minutes > 15 else [promised])] == [expected]
        assert {call.status for call in house.sim.calls} <= {200, 204}


@pytest.mark.parametrize("minutes", [14, 20])
async def test_an_answer_goes_on_in_the_same_message_when_the_token_is_over_meanwhile(minutes: int) -> None:
    async with stage() as house:
        dm = house.sim.dm(ann := house.sim.person(7, "Ann"))
        asked = Asked(house)
        async with house.hearing(asked):
            await house.passed(lambda: house.sim.commands.syncs)
            turn = await asked.slash(dm, ann, "status")
            turn.say("The first half, which everybody can read. ")
            await house.clock.advance(minutes * 60)
            turn.say("And the second.")
            turn.end()
            await turn.delivered(within=10)
        assert turn.texts == ["The first half, which everybody can read. And the second."]


@pytest.mark.parametrize(
    "trouble",
    [
        {"retry_after": 1},
        {"retry_after": 8},
        {"action": "drop"},
        {"action": "drop", "effect": "done"},
        {"action": "garbage", "effect": "done"},
        {"code": 10062},
    ],
)
async def test_when_the_promise_of_an_answer_fails_nobody_waits_for_ever(trouble: dict[str, object]) -> None:
    async with stage() as house:
        dm = house.sim.dm(ann := house.sim.person(7, "Ann"))
        asked = Asked(house)
        async with house.hearing(asked):
            await house.passed(lambda: house.sim.commands.syncs)
            house.sim.fail(CALLBACK, **trouble)  # type: ignore[arg-type]
            turn = await asked.slash(dm, ann, "status")
            turn.say("Here I am, whatever has happened.")
            turn.end()
            await turn.delivered(within=20)
            await house.clock.advance(20)
        assert [shown.text for shown in house.sim.visible(dm)] == ["Here I am, whatever has happened."]
        assert not any(shown.thinking for shown in house.sim.visible(dm))
        house.sim.violations[:] = [one for one in house.sim.violations if "not answered in 3 s" not in one]


@pytest.mark.parametrize(
    "trouble",
    [{"retry_after": 4}, {"action": "drop"}, {"action": "drop", "effect": "done"}, {"code": 50027}, {"code": 10008}],
)
async def test_when_the_answer_cannot_take_the_place_of_the_promise_it_stands_elsewhere_once(
    trouble: dict[str, object],
) -> None:
    async with stage() as house:
        dm = house.sim.dm(ann := house.sim.person(7, "Ann"))
        asked = Asked(house)
        async with house.hearing(asked):
            await house.passed(lambda: house.sim.commands.syncs)
            house.sim.fail(ORIGINAL, **trouble)  # type: ignore[arg-type]
            turn = await asked.slash(dm, ann, "status")
            turn.say("Here I am, whatever has happened.")
            turn.end()
            await turn.delivered(within=20)
        assert [shown.text for shown in house.sim.visible(dm) if not shown.thinking] == [
            "Here I am, whatever has happened."
        ]


async def test_a_promise_that_somebody_removed_does_not_take_the_answer_with_it() -> None:
    async with stage() as house:
        dm = house.sim.dm(ann := house.sim.person(7, "Ann"))
        asked = Asked(house)
        async with house.hearing(asked):
            await house.passed(lambda: house.sim.commands.syncs)
            turn = await asked.slash(dm, ann, "status")
            await house.passed(lambda: house.sim.visible(dm))
            await house.sim.delete(dm, house.sim.visible(dm)[0].id)
            turn.say("Here I am, whatever has happened.")
            turn.end()
            await turn.delivered(within=20)
        assert turn.texts == ["Here I am, whatever has happened."]


async def test_link_previews_stay_off_in_the_place_of_a_promise() -> None:
    async with stage() as house:
        dm = house.sim.dm(ann := house.sim.person(7, "Ann"))
        asked = Asked(house)
        async with house.hearing(asked):
            await house.passed(lambda: house.sim.commands.syncs)
            turn = await asked.slash(dm, ann, "status")
            turn.say("See https://example.org/page for more of it.")
            turn.end()
            await turn.delivered(within=20)
        [shown] = house.sim.visible(dm)
        assert shown.flags & 4
