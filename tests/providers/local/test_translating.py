"""Requests for a translation into Chinese reach the small model in Chinese; everything else reaches it as it was written."""

from __future__ import annotations

import pytest

from bot.providers.local.prompt import chat_turns, turns_of
from bot.providers.local.translating import as_asked_in_chinese
from tests.providers.local.test_prompt import user


@pytest.mark.parametrize(
    "words",
    [
        "Translate to Chinese: Good morning",
        "Please translate this sentence into Chinese: Good morning",
        'translate the following sentence to simplified Chinese: "Good morning"',
        "Could you translate the text below into Mandarin:\nGood morning",
        "Translate 'Good morning' into Chinese.",
        "translate “Good morning” to chinese",
        "How do you say 'Good morning' in Chinese?",
        'What\'s "Good morning" in Chinese?',
        "how to say 'Good morning' in Mandarin",
    ],
)
def test_a_request_for_chinese_is_put_in_chinese(words: str) -> None:
    assert as_asked_in_chinese(words) == "把下面这句话翻译成中文：Good morning"
    assert chat_turns("", turns_of([user(words)]), ())[-1]["content"].endswith("翻译成中文：Good morning")


@pytest.mark.parametrize(
    "words",
    [
        "Translate to French: Good morning",
        "How do you say 'Good morning' in Spanish?",
        "What is the capital of China?",
        "Is it hard to translate into Chinese: yes or no?",
        "What is 'guanxi' in Chinese culture?",
        "把“早上好”翻译成英文。",
        "Translate to Chinese:",
        "",
    ],
)
def test_other_words_stay_as_they_are(words: str) -> None:
    assert as_asked_in_chinese(words) == words
