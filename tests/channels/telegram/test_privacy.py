"""A bot in privacy mode hears little in groups: whoever wants it to answer everything is told."""

from __future__ import annotations

import logging
from typing import Any

import pytest

from bot.core.texts import say
from channels.telegram.channel import probe
from channels.telegram.config import Config
from tests.channels.telegram.conftest import CONFIG, StartBot
from tests.sim.llm import LlmSim
from tests.sim.telegram import TelegramSim

ALL = {"groups": ["*"], "trigger": "always"}


@pytest.mark.parametrize(
    ("access", "privacy", "told"),
    [
        (ALL, True, True),
        (ALL, False, False),
        ({"groups": ["*"]}, True, False),
        ({"trigger": "always"}, True, False),
    ],
)
async def test_the_doctor_names_a_privacy_mode_that_hides_what_shall_be_answered(
    access: dict[str, Any], privacy: bool, told: bool
) -> None:
    async with TelegramSim() as sim:
        sim.group(-1001, "Team", bot_privacy=privacy)
        said = await probe(Config.model_validate({"token": sim.token, "api_base": sim.url, "access": access}))
    assert said.startswith("the token is @bowerbird_bot's")
    assert ("privacy mode" in said and "/setprivacy" in said) == told


async def test_the_log_names_it_once_at_the_start(
    bot: StartBot, telegram: TelegramSim, llm: LlmSim, caplog: pytest.LogCaptureFixture
) -> None:
    telegram.group(-1001, "Team", members=[telegram.person(7, "Ann")])
    with caplog.at_level(logging.WARNING):
        async with bot(CONFIG.replace("groups: [-1001]", "groups: [-1001], trigger: always")):
            await telegram.until(lambda sim: sim.called("getUpdates"))
    assert len([one for one in caplog.records if "privacy mode" in one.getMessage()]) == 1


@pytest.mark.parametrize(("privacy", "language"), [(True, "en"), (True, "zh"), (False, "en")])
async def test_the_owner_is_told_in_their_own_language(
    bot: StartBot, telegram: TelegramSim, llm: LlmSim, privacy: bool, language: str
) -> None:
    chat = telegram.private(ann := telegram.person(7, "Ann", language=language))
    telegram.group(-1001, "Team", members=[ann], bot_privacy=privacy)
    async with bot(CONFIG.replace("groups: [-1001]", "groups: [-1001], trigger: always")):
        await telegram.say(chat, ann, "/status")
        await telegram.until(lambda sim: sim.bot_texts(chat))
    assert (say("deaf_telegram", language) in telegram.bot_texts(chat)[0]) == privacy
