"""The table of 120 messages: written before the code, from the names and descriptions of the intents alone."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, Final

import pytest

from bot.brain.routing.catalogue import built_in
from bot.brain.routing.intents import Guess, Intents
from bot.memory.embedding import EmbeddedEmbedder, is_installed

TABLE: Final[dict[str, Any]] = json.loads((Path(__file__).parent / "messages.json").read_text(encoding="utf-8"))
MESSAGES: Final = TABLE["messages"]
GOAL: Final = 0.85
"""At the first run 108 of 120 were right; the half that nothing was tuned by has 54 of 60 now, at the first run 53."""


def share(guesses: list[Guess], **of: str) -> float:
    picked: list[bool] = [
        guess.intent == message["intent"]
        for guess, message in zip(guesses, MESSAGES, strict=True)
        if all(message[key] == value for key, value in of.items())
    ]
    return sum(picked) / len(picked)


def test_the_table_has_sixty_messages_in_each_language_half_of_them_held_out() -> None:
    for language in ("en", "zh"):
        assert sum(one["language"] == language for one in MESSAGES) == 60
    assert sum(one["half"] == "held" for one in MESSAGES) == 60
    assert {one["intent"] for one in MESSAGES} == {"", *(slot.name for slot in built_in())} == {*TABLE["intents"]}


def test_no_message_of_the_table_is_an_example_of_the_catalogue() -> None:
    examples = {text.casefold() for slot in built_in() for text in slot.examples}
    assert not examples & {message["text"].casefold() for message in MESSAGES}


@pytest.fixture
async def embedder() -> AsyncIterator[EmbeddedEmbedder]:
    one = EmbeddedEmbedder()
    yield one
    await one.aclose()


@pytest.mark.skipif(not is_installed(), reason="the package with the embedded model is not installed")
async def test_the_intents_of_the_table_are_found(embedder: EmbeddedEmbedder) -> None:
    intents = Intents(built_in())
    examples = await embedder.embed(intents.texts)
    vectors = await embedder.embed([message["text"] for message in MESSAGES])
    guesses = [
        intents.by_vectors(message["text"], vector, examples) for message, vector in zip(MESSAGES, vectors, strict=True)
    ]
    figures = {
        "all": share(guesses),
        "held out": share(guesses, half="held"),
        "English": share(guesses, language="en"),
        "Chinese": share(guesses, language="zh"),
    }
    assert min(figures.values()) >= GOAL, figures
    wrong_though_sure = [
        message["text"]
        for guess, message in zip(guesses, MESSAGES, strict=True)
        if guess.sure and guess.intent != message["intent"]
    ]
    assert len(wrong_though_sure) <= 3, wrong_though_sure


def test_words_alone_find_most_of_them() -> None:
    intents = Intents(built_in())
    assert share([intents.by_words(message["text"]) for message in MESSAGES]) >= 0.8
