"""Variables in the file, and the .env beside it."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.config.dotenv import read_dotenv
from bot.config.expand import Expansion
from bot.config.problems import Findings

from .conftest import Complain, Load

ENV = {"KEY": "value", "EMPTY": "", "YAML": "off: [1]"}


@pytest.mark.parametrize(
    ("written", "becomes"),
    [
        ("${KEY}", "value"),
        ("a ${KEY}/${KEY} b", "a value/value b"),
        ("${EMPTY}", ""),
        ("${EMPTY:-d}", "d"),
        ("${ABSENT:-d}", "d"),
        ("${ABSENT:-}", ""),
        ("${ABSENT:-http://h:1/x y}", "http://h:1/x y"),
        ("$${KEY}", "${KEY}"),
        ("x $${ABSENT:-1} ${KEY}", "x ${ABSENT:-1} value"),
        ("$KEY $ 5$", "$KEY $ 5$"),
        ("${YAML}", "off: [1]"),
    ],
)
def test_b235_references_expand_inside_text_and_are_not_read_as_yaml_again(written: str, becomes: str) -> None:
    findings = Findings("c.yaml")
    assert Expansion(ENV, findings).tree({"a": [written], "b": {"c": written}}) == {"a": [becomes], "b": {"c": becomes}}
    assert not findings.problems


@pytest.mark.parametrize("written", ["${", "${}", "${1A}", "${KEY-x}", "${KEY", "${ KEY }", "${A:-${KEY}}"])
def test_b235_what_is_no_reference_is_told(written: str) -> None:
    findings = Findings("c.yaml")
    Expansion(ENV, findings).tree({"a": written})
    assert [problem.key for problem in findings.problems] == ["a"]
    assert "write ${NAME} or ${NAME:-default}" in findings.problems[0].sentence


def test_b235_an_unset_variable_names_key_line_and_variable(complaints: Complain) -> None:
    text = """\
        brain:
          constraints:
            - fine
            - "${BOWERBIRD_RULES}"
        """
    (line,) = complaints(text, {"BOWERBIRD_RULE": "x"})
    assert line.startswith("config.yaml:4: brain.constraints[1]: the environment variable BOWERBIRD_RULES is not set")
    assert 'did you mean "BOWERBIRD_RULE"?' in line


def test_keys_are_not_expanded_and_values_in_every_corner_are(read: Load) -> None:
    config = read(
        """\
        tools:
          secrets: {deploy: "${KEY}"}
          mcp: {box: {command: [serve, "--as=${KEY}"]}}
        brain: {llm: {routing: {intents: {x: {examples: ["${KEY}"]}}}}}
        """,
        ENV,
    )
    assert config.tools.secrets["deploy"].get_secret_value() == "value"
    assert config.tools.mcp["box"].command == ("serve", "--as=value")
    assert config.brain.llm.routing.intents["x"].examples == ("value",)


def test_the_environment_wins_over_the_file_beside_the_config(read: Load, tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("A=file\nB=file\n")
    config = read('brain: {constraints: ["${A}", "${B}"]}', {"B": "environment"})
    assert config.brain.constraints == ("file", "environment")


def test_a_line_of_dotenv_that_is_none_is_told_without_its_text(complaints: Complain, tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("A=1\nhunter2secret\n")
    assert complaints("name: x") == [".env:2: this line does not read as NAME=value"]


def test_dotenv_reads_quotes_comments_export_and_dollars_as_they_are() -> None:
    text = '\ufeffA=1\r\n\n# c\nexport B="x # y\\n\\"z\\"" # c\nC=\'a$b \\n\' \nD=a#b #c\nE=\nF = x=y \nG=${A}\n'
    findings = Findings(".env")
    assert read_dotenv(text.encode(), findings) == {
        "A": "1",
        "B": 'x # y\n"z"',
        "C": "a$b \\n",
        "D": "a#b",
        "E": "",
        "F": "x=y",
        "G": "${A}",
    }
    assert not findings.problems


@given(st.binary(max_size=80))
def test_any_bytes_are_read_as_dotenv_or_told(data: bytes) -> None:
    findings = Findings(".env")
    variables = read_dotenv(data, findings)
    assert all(name.isidentifier() for name in variables)
