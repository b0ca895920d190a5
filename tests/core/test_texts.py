"""The one table of sentences is whole in both languages."""

from __future__ import annotations

import re
import string
from pathlib import Path
from typing import get_args

import pytest

from bot.core.stop import StopReason
from bot.core.text import clipped, storable
from bot.core.texts import TEXTS, language_of, say
from bot.core.tool import Effect
from bot.core.transcript import Fault


@pytest.mark.parametrize("key", TEXTS)
def test_both_languages_say_the_same_with_the_same_values(key: str) -> None:
    fields = [{name for _, name, _, _ in string.Formatter().parse(text) if name} for text in TEXTS[key].values()]
    assert set(TEXTS[key]) == {"en", "zh"}
    assert fields[0] == fields[1]


def test_every_sentence_is_said_somewhere() -> None:
    sources = "".join(
        file.read_text(encoding="utf-8") for room in ("bot", "channels") for file in Path(room).rglob("*.py")
    )
    made = (
        "end_",
        "effect_",
        "decision_",
        "button_",
        "refused_",
        "press_",
        "terminal_",
        "get_",
        "command_",
        "instead_",
        "pair_",
        "menu_",
        "fault_",
        "file_",
        "setting_",
        "outside_",
    )
    unsaid = [key for key in TEXTS if not key.startswith(made) and len(re.findall(rf"""['"]{key}['"]""", sources)) < 2]
    assert unsaid == []


def test_every_stop_reason_and_effect_has_its_sentence() -> None:
    assert {f"end_{reason.value}" for reason in StopReason} <= set(TEXTS)
    assert {f"effect_{effect.value}" for effect in Effect} <= set(TEXTS)


def test_every_fault_of_the_model_that_was_wanted_has_its_own_sentence() -> None:
    said = [say(f"instead_{fault}", "en", wanted="A", model="B") for fault in get_args(Fault)]
    assert len(set(said)) == len(said) == 11
    assert all("(" in one for one in said), "each says what to do"


def test_the_language_follows_the_text_unless_it_is_set() -> None:
    assert (language_of("你好"), language_of("hello"), language_of("你好", "en")) == ("zh", "en", "en")


@pytest.mark.parametrize(("text", "language"), [("/help", "zh-CN"), ("3+4", "zh-CN"), ("", "zh-CN"), ("hello", "en")])
def test_where_the_text_says_nothing_the_language_of_the_person_counts(text: str, language: str) -> None:
    assert language_of(text, "auto", "zh-CN") == language
    assert (language_of(text, "en", "zh-CN"), language_of(text)) == ("en", "en")
    assert say("end_stopped", "zh-CN") == "已停止。"


def test_text_that_no_store_takes_is_made_storable() -> None:
    assert storable("a\x00b\ud800c") == "ab?c"
    assert storable("你好 👋🏽") == "你好 👋🏽"
    assert (clipped("a  b\nc", 5), clipped("a  b\nc", 4)) == ("a b c", "a b…")
