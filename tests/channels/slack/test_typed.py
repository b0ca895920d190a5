"""What the bot tells people to type is something that Slack lets them type."""

from __future__ import annotations

import re

import pytest

from bot.core.address import Address
from bot.core.texts import TEXTS
from channels.slack.typed import typed
from tests.channels.slack.conftest import StartBot
from tests.channels.slack.test_dialogues import at_rest, texts
from tests.sim.llm import LlmSim, answer, text
from tests.sim.slack import SlackSim

DM, THREAD = Address("slack", "main", "D1"), Address("slack", "main", "C1", "1.000001")


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("key", [key for key, entry in TEXTS.items() if "/" in entry["en"] and "terminal" not in key])
def test_no_sentence_names_a_command_that_slack_would_keep(key: str, language: str) -> None:
    for to, lead in ((DM, "/bowerbird "), (THREAD, "@bot ")):
        told = typed(TEXTS[key][language], to, "bot")
        for found in re.finditer(r"(?<![\w/.:])/(?:new|help|pair|settings|model|skills?|stop|retry|why|usage)\b", told):
            assert "/bowerbird" in told, (told, found[0])
        if re.search(r"(?<![\w/.:])/(?:new|help|pair)\b", TEXTS[key][language]):
            assert lead in told


def test_paths_and_addresses_stay_as_they_are() -> None:
    told = "see /etc/hosts, https://a.example/new, /newer and and/new"
    assert typed(told, DM, "bot") == told
    assert typed("用 /new 开始，或 `/model auto`", DM, "bot") == "用 /bowerbird new 开始，或 `/bowerbird model auto`"


async def test_its_own_sentences_are_so_and_the_models_are_the_models(
    bot: StartBot, slack: SlackSim, llm: LlmSim
) -> None:
    llm.script(answer(text("The folders /new and /help are empty, say I.")))
    ann, eve = slack.person("U0ANN", "Ann"), slack.person("U0EVE", "Eve")
    team = slack.channel("C0TEAM", "team", members=[ann])
    async with bot():
        await slack.say(slack.dm(eve), eve, "let me in")
        await slack.say(slack.dm(ann), ann, "<@BOT> help")
        asked = await slack.say(team, ann, "<@BOT> which folders are empty?")
        await slack.until(lambda sim: texts(sim, team) and at_rest(sim, team))
        await slack.say(team, ann, "<@BOT> settings", thread=asked["ts"])
        await slack.until(
            lambda sim: len(texts(sim, team)) == 2 and texts(sim, sim.dm(ann)) and texts(sim, sim.dm(eve))
        )
    assert "/bowerbird pair" in texts(slack, slack.dm(eve))[0] and "/bowerbird stop" in texts(slack, slack.dm(ann))[0]
    assert texts(slack, team)[0] == "The folders /new and /help are empty, say I."
    assert any("@bowerbird settings NAME VALUE" in words for words in texts(slack, team))
