"""What YAML readers take for something else is named and refused, never guessed at."""

from __future__ import annotations

import pytest

from bot.config.problems import every_problem
from bot.core.errors import ConfigError

from .conftest import Load


def refused(read: Load, text: str) -> str:
    with pytest.raises(ConfigError) as caught:
        read(text)
    (line,) = every_problem(caught.value)
    return line


@pytest.mark.parametrize(
    ("text", "key", "words"),
    [
        ("channels: {web: {port: 010}}", "channels.web.port", "without the zero in front"),
        ("channels: {web: {port: '010'}}", "channels.web.port", "without the zero in front"),
        ("brain: {limits: {tool_calls: 007}}", "brain.limits.tool_calls", "octal"),
        ("brain: {money: {day_usd: -05}}", "brain.money.day_usd", "without the zero in front"),
        ("channels: {web: {token: 01234567}}", "channels.web.token", "in quotes to keep its zero"),
        ("name: 0123", "name", "in quotes to keep its zero"),
        ("brain: {limits: {turn_seconds: 1:30}}", "brain.limits.turn_seconds", "base sixty"),
        ("brain: {limits: {turn_seconds: no}}", "brain.limits.turn_seconds", "take this word for true or false"),
        ("brain: {limits: {turn_seconds: off}}", "brain.limits.turn_seconds", "take this word for true or false"),
        ("channels: {web: {port: yes}}", "channels.web.port", "take this word for true or false"),
        ("channels: {web: {port: false}}", "channels.web.port", "must be a number, not false"),
    ],
)
def test_a_trap_is_explained_with_what_to_write(read: Load, text: str, key: str, words: str) -> None:
    line = refused(read, text)
    assert f"config.yaml:1: {key}: " in line and words in line
    assert "01234567" not in line


def test_a_number_from_the_environment_is_held_to_the_same_rule(read: Load) -> None:
    assert "without the zero" in refused(read, "channels: {web: {port: '${PORT:-010}'}}")


def test_zeros_that_are_no_trap_are_taken(read: Load) -> None:
    config = read("channels: {web: {port: 0, token: '0123'}}\nbrain: {money: {day_usd: 0.5, person_day_usd: 0}}")
    assert config.brain.money.day_usd == 0.5
    assert config.channels["web"].config.token.get_secret_value() == "0123"  # type: ignore[attr-defined]
