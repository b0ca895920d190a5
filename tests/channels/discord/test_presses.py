"""Buttons: whose press counts, once, on which question, and that Discord never waits for longer than it does."""

from __future__ import annotations

import asyncio

import pytest

from bot.core.errors import StoreBusy
from bot.core.inbound import ButtonPress, Inbound, Receipt, UserMessage
from tests.channels.discord.conftest import StartBot
from tests.channels.discord.stage import Stage, stage
from tests.sim.discord import Channel, DiscordSim, Guild, Person, Shown
from tests.sim.llm import LlmSim, When, answer, call, text

CALLBACK = "POST /interactions/{id}/{token}/callback"
MILK = answer(text("I note it."), call("c1", "note_write", ('{"text": "milk"}',)), when=When(user="milk"))
BREAD = answer(text("So be it."), call("c2", "note_write", ('{"text": "bread"}',)), when=When(user="bread"))
DONE = answer(text("It is noted down for you."), when=When(tool_result=True), repeat=True)


def asking(sim: DiscordSim, channel: Channel) -> list[Shown]:
    """Messages with an open question."""
    return [shown for shown in sim.visible(channel) if any(label == "Deny" for label, _, _ in shown.buttons)]


def told(sim: DiscordSim, channel: Channel, person: Person) -> list[str]:
    """What only this person sees."""
    return [shown.text for shown in sim.visible(channel, person) if shown.ephemeral]


def notes(llm: LlmSim) -> int:
    """How many results of tools the model was told of, in its last request."""
    return sum(message.get("role") == "tool" for message in llm.requests[-1].body["messages"])


async def test_the_second_of_two_questions_is_decided_alone(
    bot: StartBot, discord: DiscordSim, llm: LlmSim, dm: Channel, ann: Person
) -> None:
    llm.script(MILK, BREAD, DONE)
    async with bot():
        await discord.say(dm, ann, "note milk")
        await discord.until(lambda sim: len(asking(sim, dm)) == 1)
        await discord.say(dm, ann, "note bread")
        await discord.until(lambda sim: len(asking(sim, dm)) == 2)
        first, second = asking(discord, dm)
        await discord.press(dm, ann, second.id, "Allow once")
        await discord.until(lambda sim: "noted down" in sim.bot_texts(dm)[-1])
        assert [shown.id for shown in asking(discord, dm)] == [first.id]
        await discord.press(dm, ann, first.id, "Deny")
        await discord.until(lambda sim: not asking(sim, dm))
    assert told(discord, dm, ann) == ["Approved once.", "Denied."]


async def test_a_press_by_somebody_else_is_refused_and_the_right_one_still_counts(
    bot: StartBot, discord: DiscordSim, llm: LlmSim, team: Guild, general: Channel, ann: Person
) -> None:
    llm.script(MILK, DONE)
    bob = discord.person(66, "Bob")
    async with bot():
        await discord.say(general, ann, "<@BOT> note milk")
        await discord.until(lambda sim: asking(sim, general))
        [asked] = asking(discord, general)
        for label in ("Allow once", "Stop"):
            await discord.press(general, bob, asked.id, label)
        await discord.until(lambda sim: len(told(sim, general, bob)) == 2)
        assert asking(discord, general) and not told(discord, general, ann)
        await discord.press(general, ann, asked.id, "Allow once")
        await discord.until(lambda sim: "noted down" in sim.bot_texts(general)[-1])
    assert sorted(told(discord, general, bob)) == [
        "Only an owner can decide this.",
        "Only the person who asked, or an owner, can stop this.",
    ]


async def test_pressed_twice_counts_once_and_a_button_that_is_gone_says_so(
    bot: StartBot, discord: DiscordSim, llm: LlmSim, dm: Channel, ann: Person
) -> None:
    llm.script(MILK, DONE)
    async with bot():
        await discord.say(dm, ann, "note milk")
        await discord.until(lambda sim: asking(sim, dm))
        [asked] = asking(discord, dm)
        once, deny = (next(key for label, key, _ in asked.buttons if label == name) for name in ("Allow once", "Deny"))
        await discord.press(dm, ann, asked.id, once)
        await discord.press(dm, ann, asked.id, deny)
        await discord.until(lambda sim: "noted down" in sim.bot_texts(dm)[-1] and not sim.visible(dm)[-1].buttons)
        await discord.press(dm, ann, asked.id, once, stale=True)
        for unknown in ("b:0123456789ab:once", "b:0123456789ab:stop", "something-else", "b::", "x" * 100):
            await discord.press(dm, ann, asked.id, unknown, stale=True)
        await discord.until(lambda sim: len(told(sim, dm, ann)) == 8)
    first, *others = told(discord, dm, ann)
    assert first == "Approved once." and "Approved once." not in others
    assert notes(llm) == 1 and {one.status for one in discord.called(CALLBACK)} == {204}


async def test_a_button_works_after_a_restart(
    bot: StartBot, discord: DiscordSim, llm: LlmSim, dm: Channel, ann: Person
) -> None:
    llm.script(MILK, DONE)
    async with bot():
        await discord.say(dm, ann, "note milk")
        await discord.until(lambda sim: asking(sim, dm))
    async with bot():
        [asked] = asking(discord, dm)
        await discord.press(dm, ann, asked.id, "Allow once")
        await discord.until(lambda sim: "noted down" in sim.bot_texts(dm)[-1] and not sim.visible(dm)[-1].buttons)
        await discord.until(lambda sim: told(sim, dm, ann) == ["Approved once."])
    assert len(discord.bot_texts(dm)) == 1 and notes(llm) == 1


@pytest.mark.parametrize("trouble", [{"retry_after": 1}, {"action": "drop"}, {"action": "drop", "effect": "done"}])
async def test_b096_a_press_is_decided_and_answered_although_the_first_try_to_answer_failed(
    bot: StartBot, discord: DiscordSim, llm: LlmSim, dm: Channel, ann: Person, trouble: dict[str, object]
) -> None:
    llm.script(MILK, DONE)
    async with bot():
        await discord.say(dm, ann, "note milk")
        await discord.until(lambda sim: asking(sim, dm))
        discord.fail(CALLBACK, **trouble)  # type: ignore[arg-type]
        await discord.press(dm, ann, asking(discord, dm)[0].id, "Allow once")
        await discord.until(lambda sim: told(sim, dm, ann) == ["Approved once."])
        await discord.until(lambda sim: "noted down" in sim.bot_texts(dm)[-1])
        await asyncio.sleep(0.2)
    assert told(discord, dm, ann) == ["Approved once."]


class Deciding:
    """Receives as the inbox does: a press is answered once it is stored. Each takes the store ``seconds``, and the first
    ``failures`` cannot be stored."""

    def __init__(self, house: Stage, seconds: float, failures: int = 0) -> None:
        self.house, self.seconds, self.failures = house, seconds, failures
        self.pressed: list[ButtonPress] = []

    async def __call__(self, inbound: Inbound) -> Receipt:
        await self.house.clock.sleep(self.seconds)
        if self.failures:
            self.failures -= 1
            raise StoreBusy("the store is busy")
        if isinstance(inbound, ButtonPress):
            self.pressed.append(inbound)
            await self.house.channel.answer(inbound, "Approved once.")
        return Receipt()


async def offered(house: Stage) -> tuple[Channel, Person, int]:
    """A message with a button, of an earlier life."""
    ann = house.sim.person(7, "Ann")
    dm = house.sim.dm(ann)
    message = house.sim.write(dm, house.sim.bot, "May I?")
    message.components = [
        {"type": 1, "components": [{"type": 2, "style": 1, "label": "Yes", "custom_id": "b:0123:once"}]}
    ]
    return dm, ann, message.id


@pytest.mark.parametrize(("seconds", "failures"), [(0.0, 0), (1.0, 0), (6.0, 0), (1.0, 3)])
async def test_however_slow_the_store_discord_hears_of_a_press_in_time_and_the_presser_in_the_end(
    seconds: float, failures: int
) -> None:
    async with stage() as house:
        dm, ann, message = await offered(house)
        deciding = Deciding(house, seconds, failures)
        async with house.hearing(deciding):
            await house.sim.press(dm, ann, message, "Yes")
            await house.passed(lambda: told(house.sim, dm, ann), within=20)
            await house.clock.advance(5)
            assert told(house.sim, dm, ann) == ["Approved once."] and len(deciding.pressed) == 1
            assert house.sim.interaction_answers[0].after < 3


async def test_a_press_does_not_wait_behind_a_message_that_waits_for_the_store() -> None:
    async with stage() as house:
        dm, ann, message = await offered(house)
        deciding = Deciding(house, 10.0)
        async with house.hearing(deciding):
            await house.sim.say(dm, ann, "hello")
            await house.sim.press(dm, ann, message, "Yes")
            await house.passed(lambda: told(house.sim, dm, ann), within=30)
            assert house.sim.interaction_answers[0].after < 3


async def test_an_answer_to_a_press_whose_token_is_over_or_unknown_harms_nobody() -> None:
    async with stage() as house:
        dm, ann, message = await offered(house)
        heard: list[Inbound] = []

        async def keep(inbound: Inbound) -> Receipt:
            heard.append(inbound)
            return Receipt()

        async with house.hearing(keep) as running:
            await house.sim.press(dm, ann, message, "Yes")
            await house.passed(lambda: heard, within=1)
            await house.clock.advance(16 * 60)
            [press] = heard
            assert isinstance(press, ButtonPress)
            await house.channel.answer(press, "Too late.")
            await house.clock.advance(40)
            assert not running.done() and told(house.sim, dm, ann) == []
            await house.sim.say(dm, ann, "still there?")
            await house.passed(lambda: isinstance(heard[-1], UserMessage), within=1)
