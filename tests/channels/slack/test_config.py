"""The section of the file: what is refused with a sentence that helps, and what the doctor learns online."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import pytest
from pydantic import ValidationError

from bot.core.errors import ChannelError, ChannelUnreachable, Unauthorised
from channels.slack.channel import probe
from channels.slack.config import Config
from tests.channels.slack.stage import stage
from tests.sim.slack import SlackSim

BOTH = {"bot_token": "xoxb-1-2-abc", "app_token": "xapp-1-A1-2-abc"}


def test_without_tokens_the_channel_is_off_and_with_both_it_is_on() -> None:
    assert "no bot_token" in Config().missing()
    config = Config.model_validate(BOTH)
    assert config.missing() == "" and config.api_base == "https://slack.com/api/" and config.streaming == "native"
    assert "abc" not in repr(config)
    assert Config.model_validate({**BOTH, "api_base": "http://127.0.0.1:8000/api"}).api_base.endswith("/api/")


@pytest.mark.parametrize(
    ("section", "words"),
    [
        ({"bot_token": BOTH["app_token"], "app_token": BOTH["bot_token"]}, "swapped"),
        ({"bot_token": BOTH["app_token"]}, "swapped"),
        ({"bot_token": BOTH["bot_token"]}, "app_token is missing"),
        ({"app_token": BOTH["app_token"]}, "bot_token is missing"),
        ({**BOTH, "bot_token": "xoxp-1-2-abc"}, "person's token"),
        ({**BOTH, "bot_token": "xoxb-1 2"}, "no token has"),
        ({**BOTH, "bot_token": "https://hooks.slack.com/services/T/B/x"}, "webhook"),
        ({**BOTH, "api_base": "slack.com/api"}, "http"),
        ({**BOTH, "api_base": "https://user:pass@slack.com/api"}, "host"),
        ({**BOTH, "streaming": "sometimes"}, "native"),
        ({**BOTH, "no_such_key": 1}, "no_such_key"),
    ],
)
def test_what_is_wrong_is_named(section: dict[str, Any], words: str) -> None:
    with pytest.raises(ValidationError, match=words) as refused:
        Config.model_validate(section)
    assert "abc" not in "".join(error["msg"] for error in refused.value.errors())


def config_of(sim: SlackSim, **changes: str) -> Config:
    tokens = {"bot_token": sim.bot_token, "app_token": sim.app_token}
    return Config.model_validate({**tokens, "api_base": sim.api_base, **changes})


async def test_the_probe_says_how_slack_gets_to_show_a_stop_button() -> None:
    async with SlackSim() as sim:
        assert "agent" not in await probe(config_of(sim))
        sim.missing_scope("assistant:write")
        assert "declare the app as an agent" in await probe(config_of(sim))
        assert "agent" not in await probe(config_of(sim, streaming="edit"))


async def test_the_probe_proves_both_tokens_and_opens_nothing() -> None:
    async with SlackSim() as sim:
        assert "@bowerbird in Simulated Workspace" in await probe(config_of(sim))
        assert [call.method for call in sim.calls] == ["auth.test", "apps.connections.open"]
        assert sim.sockets.opened == 0
        with pytest.raises(Unauthorised, match="bot_token"):
            await probe(config_of(sim, bot_token="xoxb-other"))
        with pytest.raises(Unauthorised, match="app_token"):
            await probe(config_of(sim, app_token="xapp-other"))
        sim.missing_scope("im:history")
        sim.missing_scope("users:read")
        with pytest.raises(ChannelError, match="im:history, users:read"):
            await probe(config_of(sim))
        sim.fail("auth.test", status=503)
        with pytest.raises(ChannelUnreachable):
            await probe(config_of(sim))


@pytest.fixture
def environment() -> Iterator[None]:
    """Whatever Slack's libraries would take from it."""
    names = {
        "SLACK_BOT_TOKEN": "xoxb-env",
        "SLACK_APP_TOKEN": "xapp-env",
        "SLACK_SIGNING_SECRET": "env",
        "SLACK_CLIENT_ID": "1.2",
        "SLACK_CLIENT_SECRET": "env",
        "SLACK_SCOPES": "chat:write",
        "HTTPS_PROXY": "http://127.0.0.1:9",
        "HTTP_PROXY": "http://127.0.0.1:9",
        "ALL_PROXY": "http://127.0.0.1:9",
    }
    before = {name: os.environ.get(name) for name in names}
    os.environ.update(names)
    yield
    for name, value in before.items():
        if value is None:
            del os.environ[name]
        else:
            os.environ[name] = value


async def test_nothing_of_the_environment_reaches_slacks_libraries(environment: None) -> None:
    async with stage() as house:
        turn = await house.ask(house.dm())
        turn.say("An answer that is long enough to be shown.")
        turn.end()
        await turn.delivered(within=4)
        assert turn.texts == ["An answer that is long enough to be shown."] and house.sim.violations == []
        assert {call.method for call in house.sim.calls} == {
            "auth.test",
            "apps.connections.open",
            "users.info",
            "chat.postMessage",
        }
