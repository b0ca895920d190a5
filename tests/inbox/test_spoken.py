"""What is said to the bot where no slash can be typed, and is a command all the same."""

from __future__ import annotations

import pytest

from bot.inbox.commands import spoken


@pytest.mark.parametrize(
    ("said", "command"),
    [
        ("stop", "/stop"),
        ("Stop!", "/stop"),
        ("help", "/help"),
        ("settings language zh", "/settings language zh"),
        ("settings", "/settings"),
        ("link 7KD4MTQX", "/link 7KD4MTQX"),
        ("link off", "/link off"),
        ("pair 7kd4 mtqx", "/pair 7kd4 mtqx"),
        ("pair approve 7KD4MTQX", "/pair approve 7KD4MTQX"),
        ("pair list", "/pair list"),
        ("pair revoke slack:U0EVE", "/pair revoke slack:U0EVE"),
        ("model gpt-5.4-mini", "/model gpt-5.4-mini"),
        ("model auto", "/model auto"),
        ("skill translate", "/skill translate"),
        ("why", "/why"),
    ],
)
def test_a_commands_word_alone_or_with_what_the_command_takes_is_the_command(said: str, command: str) -> None:
    assert spoken(said) == command


@pytest.mark.parametrize(
    "said",
    [
        "stop the music please",
        "help me with this",
        "why?",
        "why is the sky blue",
        "new ideas, please",
        "model trains are fun",
        "settings of my phone",
        "pair programming",
        "pair me with Bob",
        "link to the page",
        "status of the build",
        "retry the upload",
        "你好",
        "/stop",
        "",
    ],
)
def test_whatever_else_begins_with_such_a_word_is_a_message(said: str) -> None:
    assert spoken(said) == said
