"""What is a command and what only looks like one."""

from __future__ import annotations

import pytest

from bot.inbox.commands import Command, command_of


@pytest.mark.parametrize(
    ("text", "command"),
    [
        ("/help", Command("help", "", True)),
        ("  /HELP  ", Command("help", "", True)),
        ("/new@my_bot let us start", Command("new", "let us start", True)),
        ("/stop\nnow", Command("stop", "now", True)),
        ("/pair 7KD4 MTQX", Command("pair", "7KD4 MTQX", True)),
        ("/frobnicate all", Command("frobnicate", "all", False)),
        ("/etc/hosts is broken", None),
        ("/", None),
        ("//help", None),
        ("/你好", None),
        ("help", None),
        ("and /help", None),
        ("", None),
        ("/50% off", None),
    ],
)
def test_only_a_word_behind_a_slash_is_a_command(text: str, command: Command | None) -> None:
    assert command_of(text) == command
