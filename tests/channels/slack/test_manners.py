"""What people do in Slack's channels beside asking: thumbs, invitations, commands, words to each other."""

from __future__ import annotations

import asyncio

import pytest

from tests.channels.slack.conftest import CONFIG, StartBot
from tests.channels.slack.test_dialogues import at_rest, said, texts
from tests.sim.llm import LlmSim, answer, gate, text
from tests.sim.slack import Channel, Person, SlackSim


@pytest.fixture
def ann(slack: SlackSim) -> Person:
    return slack.person("U0ANN", "Ann")


@pytest.fixture
def bob(slack: SlackSim) -> Person:
    return slack.person("U0BOB", "Bob")


@pytest.fixture
def team(slack: SlackSim, ann: Person, bob: Person) -> Channel:
    return slack.channel("C0TEAM", "team", members=[ann, bob])


@pytest.mark.parametrize("streaming", ["native", "edit", "off"])
async def test_a_thumb_down_asks_again_however_the_answer_was_shown_and_after_a_restart(
    bot: StartBot, slack: SlackSim, llm: LlmSim, ann: Person, bob: Person, team: Channel, streaming: str
) -> None:
    llm.script(*(answer(text(f"Answer number {number}, in more than a few words.")) for number in (1, 2, 3)))
    async with bot(streaming):
        await slack.say(team, ann, "<@BOT> go")
        await slack.until(lambda sim: len(texts(sim, team)) == 1 and at_rest(sim, team))
        await slack.react(team, said(slack, team)[0].ts, bob, "-1")
        await asyncio.sleep(0.5)
        await slack.react(team, said(slack, team)[0].ts, ann, "-1")
        await slack.until(lambda sim: len(texts(sim, team)) == 2 and at_rest(sim, team))
    async with bot(streaming):
        await slack.react(team, said(slack, team)[1].ts, ann, "thumbsdown")
        await slack.until(lambda sim: len(texts(sim, team)) == 3 and at_rest(sim, team))
    assert texts(slack, team) == [f"Answer number {number}, in more than a few words." for number in (1, 2, 3)]
    assert len(llm.requests) == 3
