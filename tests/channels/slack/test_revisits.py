"""What happened to a question while nobody listened."""

from __future__ import annotations

import asyncio

import pytest

from tests.channels.slack.conftest import StartBot
from tests.channels.slack.test_dialogues import at_rest, texts
from tests.sim.llm import LlmSim, When, answer, gate, text
from tests.sim.slack import Channel, Person, SlackSim

OLD = answer(text("The old answer begins with words. "), gate("never"), when=When(user="old"), repeat=True)
WHERE = ["dm", "channel", "thread"]


@pytest.fixture
def ann(slack: SlackSim) -> Person:
    return slack.person("U0ANN", "Ann")


async def place(slack: SlackSim, ann: Person, where: str) -> tuple[Channel, str | None]:
    if where == "dm":
        return slack.dm(ann), None
    team = slack.channel("C0TEAM", "team", members=[ann])
    return team, str((await slack.say(team, ann, "plans"))["ts"]) if where == "thread" else None


@pytest.mark.parametrize("where", WHERE)
async def test_a_question_that_was_changed_while_the_bot_was_down_is_answered_as_it_reads_now(
    bot: StartBot, slack: SlackSim, llm: LlmSim, ann: Person, where: str
) -> None:
    llm.script(OLD, answer(text("The new answer, in a few words."), when=When(user="brand new"), repeat=True))
    channel, thread = await place(slack, ann, where)
    async with bot():
        said = await slack.say(channel, ann, "<@BOT> old question", thread=thread)
        await slack.until(lambda sim: "old answer" in str(texts(sim, channel)))
    await slack.edit(channel, said["ts"], "<@BOT> brand new question")
    async with bot():
        await slack.until(lambda sim: "The new answer" in str(texts(sim, channel)) and at_rest(sim, channel))
        await asyncio.sleep(0.5)
    assert "old question" not in str(llm.requests[-1].body["messages"])
    assert texts(slack, channel) == ["The new answer, in a few words."]


@pytest.mark.parametrize("where", WHERE)
async def test_a_question_that_was_deleted_while_the_bot_was_down_stops_its_turn(
    bot: StartBot, slack: SlackSim, llm: LlmSim, ann: Person, where: str
) -> None:
    llm.script(OLD, answer(gate("not yet"), text("Never said."), repeat=True))
    channel, thread = await place(slack, ann, where)
    async with bot():
        said = await slack.say(channel, ann, "<@BOT> old question", thread=thread)
        await slack.until(lambda sim: "old answer" in str(texts(sim, channel)))
    await slack.delete(channel, said["ts"])
    async with bot():
        await slack.until(lambda sim: "Stopped." in str(texts(sim, channel)) and at_rest(sim, channel))
    assert "Never said." not in str(texts(slack, channel))


async def test_what_has_not_changed_goes_on(bot: StartBot, slack: SlackSim, llm: LlmSim, ann: Person) -> None:
    llm.script(OLD)
    dm = slack.dm(ann)
    async with bot():
        await slack.say(dm, ann, "old question")
        await slack.until(lambda sim: "old answer" in str(texts(sim, dm)))
    llm.reset()
    llm.script(answer(text("It goes on and comes to its end."), repeat=True))
    async with bot():
        await slack.until(lambda sim: "comes to its end" in texts(sim, dm)[-1] and at_rest(sim, dm))
        await asyncio.sleep(0.5)
    assert "Stopped." not in texts(slack, dm)[-1]
