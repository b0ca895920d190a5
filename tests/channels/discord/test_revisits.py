"""What happened to a question while nobody listened, and where the bot may not write what it was asked for."""

from __future__ import annotations

import asyncio

import pytest

from bot.core.texts import say
from tests.channels.discord.conftest import CONFIG, StartBot
from tests.sim.discord import Channel, DiscordSim, Guild, Person
from tests.sim.llm import LlmSim, When, answer, gate, text

AUTO = CONFIG.replace("    access:", "    threads: auto\n    access:")
OLD = answer(text("The old answer begins with words. "), gate("never"), when=When(user="old"), repeat=True)


def asked(llm: LlmSim) -> str:
    return str(llm.requests[-1].body["messages"])


@pytest.mark.parametrize("where", ["dm", "general", "thread", "own thread"])
async def test_a_question_that_was_changed_while_the_bot_was_down_is_answered_as_it_reads_now(
    bot: StartBot, discord: DiscordSim, llm: LlmSim, dm: Channel, general: Channel, ann: Person, where: str
) -> None:
    llm.script(OLD, answer(text("The new answer, in a few words."), when=When(user="brand new"), repeat=True))
    config = AUTO if where == "own thread" else CONFIG
    place = {"dm": dm, "thread": discord.thread(general, "Plans", owner=ann)}.get(where, general)
    async with bot(config):
        said = await discord.say(place, ann, "<@BOT> old question")
        await discord.until(lambda sim: "old answer" in str(everything(sim)))
    await discord.edit(place, said["id"], "<@BOT> brand new question")
    async with bot(config):
        await discord.until(lambda sim: "The new answer, in a few words." in str(everything(sim)))
        await asyncio.sleep(0.5)
    assert "old question" not in asked(llm) and str(everything(discord)).count("new answer") == 1


@pytest.mark.parametrize("where", ["dm", "general"])
async def test_a_question_that_was_deleted_while_the_bot_was_down_stops_its_turn(
    bot: StartBot, discord: DiscordSim, llm: LlmSim, dm: Channel, general: Channel, ann: Person, where: str
) -> None:
    llm.script(OLD, answer(gate("not yet"), text("Never said."), repeat=True))
    place = dm if where == "dm" else general
    async with bot():
        said = await discord.say(place, ann, "<@BOT> old question")
        await discord.until(lambda sim: "old answer" in str(sim.bot_texts(place)))
    await discord.delete(place, said["id"])
    async with bot():
        await discord.until(lambda sim: "Stopped." in str(sim.bot_texts(place)))
    assert "Never said." not in str(discord.bot_texts(place))


async def test_what_has_not_changed_goes_on_and_a_command_is_no_message_that_could_be_gone(
    bot: StartBot, discord: DiscordSim, llm: LlmSim, dm: Channel, ann: Person
) -> None:
    llm.script(OLD)
    async with bot():
        await discord.until(lambda sim: sim.commands.syncs)
        await discord.say(dm, ann, "old question")
        await discord.until(lambda sim: "old answer" in str(sim.bot_texts(dm)))
        await discord.slash(dm, ann, "retry")
        await discord.until(lambda sim: len(sim.bot_texts(dm)) == 2)
    llm.reset()
    llm.script(answer(text("It goes on and comes to its end."), repeat=True))
    async with bot():
        await discord.until(lambda sim: "comes to its end" in sim.bot_texts(dm)[-1])
        await asyncio.sleep(0.5)
    assert "Stopped." not in discord.bot_texts(dm)[-1]


async def test_where_the_bot_may_not_write_its_owner_is_told_until_it_may(
    bot: StartBot, discord: DiscordSim, llm: LlmSim, team: Guild, general: Channel, dm: Channel, ann: Person
) -> None:
    llm.script(answer(text("Hello there, nice to meet you."), repeat=True))
    reason = say("mute_discord", "en", places="#general")
    async with bot():
        discord.forbid(general)
        await discord.say(general, ann, "<@BOT> hello")
        await discord.until(lambda sim: any(call.status == 403 for call in sim.calls))
        await discord.say(dm, ann, "/status")
        await discord.until(lambda sim: len(sim.bot_texts(dm)) == 1)
        discord.allow(general)
        thread = discord.thread(general, "Plans", owner=ann)
        await discord.say(thread, ann, "<@BOT> hello")
        await discord.until(lambda sim: sim.bot_texts(thread))
        discord.archive(thread, locked=True)
        await discord.say(dm, ann, "/status")
        await discord.until(lambda sim: len(sim.bot_texts(dm)) == 2)
    assert [reason in shown for shown in discord.bot_texts(dm)] == [True, False]


def everything(discord: DiscordSim) -> list[str]:
    """Whatever the bot shows anywhere."""
    return [shown for channel in list(discord.world.channels.values()) for shown in discord.bot_texts(channel)]
