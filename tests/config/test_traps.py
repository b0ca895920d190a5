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
        ("channels: {web: {token: 01234567}}", "channels.web.token", "in quotes to stay as it is written"),
        ("name: 0123", "name", "in quotes to stay as it is written"),
        ("name: no", "name", "in quotes to stay as it is written: some YAML readers take this word for true or false"),
        ("data_dir: no", "data_dir", "in quotes to stay as it is written"),
        ("name: 22:00", "name", "base sixty"),
        ("name: 8_717", "name", "in quotes to stay as it is written"),
        ("tools: {secrets: {debug: on}}", "tools.secrets.debug", "in quotes to stay as it is written"),
        ("tools: {approve: {note_write: no}}", "tools.approve.note_write", "take this word for true or false"),
        ("brain: {when_busy: no}", "brain.when_busy", "take this word for true or false"),
        ("language: no", "language", "take this word for true or false"),
        ("schedule: {quiet_hours: 22:00}", "schedule.quiet_hours", "22:00-07:00"),
        ("schedule: {quiet_hours: 22:00}", "schedule.quiet_hours", "base sixty"),
        ("channels: {web: {port: 8_717}}", "channels.web.port", "without underscores"),
        ("brain: {llm: {default: {provider: local, price: [1_0, 2]}}}", "brain.llm.default.price[0]", "underscores"),
        ("brain: {money: {day_usd: 1_0.5}}", "brain.money.day_usd", "without underscores"),
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


def test_in_quotes_every_text_stays_as_it_is_written(read: Load) -> None:
    config = read("name: 'no'\ndata_dir: '8_717'\nbrain: {constraints: ['off', '22:00']}")
    assert (config.name, config.data_dir.name, config.brain.constraints) == ("no", "8_717", ("off", "22:00"))


def test_a_word_for_off_still_switches_off(read: Load) -> None:
    config = read("schedule: {quiet_hours: no}\nmemory: {embedder: off}\nskills: no")
    assert (config.schedule.quiet_hours, config.memory.embedder.provider, config.skills) == (None, "none", ())


def test_zeros_that_are_no_trap_are_taken(read: Load) -> None:
    config = read("channels: {web: {port: 0, token: '0123'}}\nbrain: {money: {day_usd: 0.5, person_day_usd: 0}}")
    assert config.brain.money.day_usd == 0.5
    assert config.channels["web"].config.token.get_secret_value() == "0123"  # type: ignore[attr-defined]
