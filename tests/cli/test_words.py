from __future__ import annotations

import re
from pathlib import Path
from string import Formatter

import pytest

from bot.cli.words import WORDS, language_of, word

SOURCES = "".join(
    file.read_text() for file in (Path(__file__).parents[2] / "bot" / "cli").glob("*.py") if file.name != "words.py"
)


def fields(text: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(text) if name}


@pytest.mark.parametrize("key", WORDS)
def test_every_sentence_is_used_and_says_the_same_in_both_languages(key: str) -> None:
    assert f'"{key}"' in SOURCES
    assert set(WORDS[key]) == {"en", "zh"}
    assert fields(WORDS[key]["en"]) == fields(WORDS[key]["zh"])
    assert re.search("[\u4e00-\u9fff]", WORDS[key]["zh"])


@pytest.mark.parametrize(
    ("environ", "language"),
    [
        ({}, "en"),
        ({"LANG": "zh_CN.UTF-8"}, "zh"),
        ({"LANG": "zh_CN.UTF-8", "LC_ALL": "de_DE"}, "de"),
        ({"LANG": "C.UTF-8"}, "c.utf-8"),
    ],
)
def test_the_language_is_that_of_the_locale(environ: dict[str, str], language: str) -> None:
    assert language_of(environ) == language
    expected = "zh" if language == "zh" else "en"
    assert word("terminal_thinking", language) == WORDS["terminal_thinking"][expected]
