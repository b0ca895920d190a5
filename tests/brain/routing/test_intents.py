from __future__ import annotations

import re

import pytest

from bot.brain.routing.catalogue import THRESHOLD, Slot, built_in, with_own
from bot.brain.routing.fillers import telling
from bot.brain.routing.intents import LONG_LESS, Guess, Intents
from tests.fakes.embedder import FakeEmbedder

CATS = Slot("cats", "about cats", ("the cat sleeps", "cat food"), ("kitten", "猫咪"), (r"\bmeo+w\b",))
DOGS = Slot("dogs", "about dogs", ("the dog barks",), ("puppy",))
SLOTS = (CATS, DOGS)


async def guess(text: str, *slots: Slot) -> Guess:
    intents, embedder = Intents(slots or SLOTS), FakeEmbedder("cat", "dog", "bird")
    (vector,) = await embedder.embed([text])
    return intents.by_vectors(text, vector, await embedder.embed(intents.texts))


async def test_the_nearest_example_decides() -> None:
    found = await guess("my cat will not come down from the roof")
    assert (found.intent, found.sure) == ("cats", True)
    assert list(found.scores) == ["cats"]


async def test_between_two_it_is_unsure() -> None:
    found = await guess("does a cat or a dog need more room at home")
    assert (found.intent, found.sure) == ("", False)
    found = await guess("does a cat or a dog need more room than a dog on a farm with another dog and a cat at home")
    assert (found.intent, found.sure) == ("dogs", True)
    found = await guess("cat " * 21 + "dog " * 20)
    assert (found.intent, found.sure) == ("cats", False)


async def test_a_keyword_corrects_what_nearness_leaves_open() -> None:
    found = await guess("does a cat or a dog need more room, and a puppy")
    assert (found.intent, found.sure) == ("dogs", True)


async def test_what_is_near_to_nothing_has_no_intent() -> None:
    found = await guess("the bird flew over the lake this morning")
    assert (found.intent, found.sure) == ("", False)


async def test_a_slot_has_a_threshold_of_its_own() -> None:
    strict = Slot("dogs", "", DOGS.examples, threshold=0.9)
    text = "cat dog dog and so on and so forth"  # cosine 0.89 to dogs, 0.45 to cats
    assert (await guess(text, Slot("dogs", "", DOGS.examples))).intent == "dogs"
    assert (await guess(text, strict)).intent == ""


@pytest.mark.parametrize(
    ("text", "intent"), [("bird cat bird", ""), ("a bird and a cat and then another bird", "cats")]
)
async def test_short_messages_need_more(text: str, intent: str) -> None:
    """Both have a cosine of 0.447, a little above the usual threshold."""
    assert THRESHOLD < 0.447 < THRESHOLD + 0.06
    assert (await guess(text)).intent == intent


async def test_of_long_messages_the_request_is_only_a_part() -> None:
    text = "bird bird bird bird cat cat " + "and so on " * 20  # cosine 0.447
    slot = Slot("cats", "", CATS.examples, threshold=0.447 + LONG_LESS / 2)
    assert (await guess(text, slot)).intent == "cats"
    assert (await guess(text[:60], slot)).intent == ""


@pytest.mark.parametrize("text", ["and the other one?", "why not", "第二个呢", "", "???"])
async def test_what_only_the_conversation_could_tell_has_no_intent_and_nobody_is_asked(text: str) -> None:
    assert await guess(text) == Guess("", sure=True)


@pytest.mark.parametrize(
    ("text", "intent"),
    [("A KITTEN!", "cats"), ("这只猫咪好可爱", "cats"), ("meooow", "cats"), ("puppyish", ""), ("puppy, kitten", "")],
)
def test_words_alone_know_whole_words_and_say_nothing_where_two_slots_are_called(text: str, intent: str) -> None:
    assert Intents(SLOTS).by_words(text).intent == intent


def test_a_long_message_is_read_at_both_ends() -> None:
    intents = Intents(SLOTS)
    assert intents.by_words("x " * 5_000 + "kitten").intent == "cats"
    assert intents.by_words("x " * 2_000 + "kitten " + "x " * 2_000).intent == ""


def test_an_owners_words_are_added_and_his_threshold_and_description_hold() -> None:
    slots = {slot.name: slot for slot in with_own([Slot("code", "", ("fix it",), ("cobol",), threshold=0.6), CATS])}
    code = next(slot for slot in built_in() if slot.name == "code")
    assert slots["code"].examples == (*code.examples, "fix it")
    assert slots["code"].keywords == (*code.keywords, "cobol")
    assert (slots["code"].description, slots["code"].least) == (code.description, 0.6)
    assert slots["cats"] is CATS
    assert list(slots)[: len(built_in())] == [slot.name for slot in built_in()]


def test_a_slot_without_examples_is_compared_by_its_description() -> None:
    assert Intents([Slot("cats", "all about the cat")]).texts == ["all about the cat"]
    assert Intents([Slot("none", "")]).texts == []


def test_the_built_in_patterns_are_expressions_and_no_keyword_stands_twice_in_a_slot() -> None:
    for slot in built_in():
        assert slot.description and len(slot.examples) >= 12
        assert len(set(slot.keywords)) == len(slot.keywords), slot.name
        for pattern in slot.patterns:
            re.compile(pattern)


def test_the_words_that_say_something() -> None:
    assert telling("What did we decide about the kitchen tiles last week?") == ["decide", "kitchen", "tiles", "week"]
    assert telling("我们上次说的厨房瓷砖") == ["厨房瓷砖"]
    assert telling("why not, and the other one?") == []
