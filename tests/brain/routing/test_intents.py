from __future__ import annotations

import re

import pytest

from bot.brain.routing.catalogue import PRIVATE, THRESHOLD, Slot, built_in, with_own
from bot.brain.routing.fillers import telling
from bot.brain.routing.intents import NEAR_SHARE, Guess, Intents
from bot.memory.likeness import Likeness
from tests.brain.routing.conftest import GuessAll
from tests.fakes.embedder import FakeEmbedder

CATS = Slot("cats", "about cats", ("the cat sleeps", "cat food"), ("kitten", "猫咪"), (r"\bmeo+w\b",))
DOGS = Slot("dogs", "about dogs", ("the dog barks",), ("puppy",))
SLOTS = (CATS, DOGS)


async def guess(text: str, *slots: Slot, private: bool = False) -> Guess:
    intents, embedder = Intents(slots or SLOTS), FakeEmbedder("cat", "dog", "bird")
    owners = [number for number, slot in enumerate(intents.slots) for _ in slot.texts]
    vectors = await embedder.embed([text for slot in intents.slots for text in slot.texts])
    likeness = Likeness.learnt(vectors, owners, len(intents.slots), [private] * len(owners))
    (vector,) = await embedder.embed([text])
    return intents.by_vectors(text, vector, likeness)


async def test_the_likest_examples_decide() -> None:
    found = await guess("my cat will not come down from the roof")
    assert (found.intent, found.sure, found.near) == ("cats", True, ())
    assert list(found.scores) == ["cats"] and 0.9 < found.scores["cats"] <= 1


async def test_between_two_it_is_unsure_and_says_which_it_may_be_as_well() -> None:
    found = await guess("does a cat or a dog need more room at home")
    assert not found.sure and {found.intent, *found.near} == {"cats", "dogs"}
    assert min(found.scores.values()) >= NEAR_SHARE
    assert sum(found.scores.values()) == pytest.approx(1, abs=0.01)


async def test_a_keyword_corrects_what_likeness_leaves_open() -> None:
    before = await guess("does a cat or a dog need more room")
    after = await guess("does a cat or a dog need more room, and a puppy")
    assert after.intent == "dogs" and after.scores["dogs"] > before.scores["dogs"] + 0.1


async def test_what_only_two_of_many_slots_could_be_has_a_name_but_is_not_sure() -> None:
    others = [Slot(f"slot{number}", "", ("a bird",)) for number in range(6)]
    found = await guess("the bird flew over the lake this morning", *SLOTS, *others)
    assert (found.intent, found.sure) == ("", False), "six are alike: none has its share"
    assert max(found.scores.values()) < THRESHOLD


async def test_a_slot_has_a_threshold_of_its_own() -> None:
    text = "does a cat or a dog need more room at home"
    share = (await guess(text)).scores
    first = max(share, key=lambda name: share[name])
    raised = [Slot(one.name, "", one.examples, one.keywords, threshold=0.95) for one in SLOTS]
    assert (await guess(text)).intent == first
    found = await guess(text, *raised)
    assert found.intent == "" and set(found.near) == {"cats", "dogs"} and not found.sure


@pytest.mark.parametrize(("text", "intent"), [("cat dog", ""), ("cat dog " + "and so on " * 3, "x")])
async def test_short_messages_need_more(text: str, intent: str) -> None:
    """Half a share is a little more than the threshold here, and less than what two words are asked for."""
    slots = [
        Slot(one.name, "", one.examples, threshold=0.47) for one in (CATS, Slot("dogs", "", ("the dog", "dog food")))
    ]
    found = await guess(text, *slots)
    assert max(found.scores.values()) == pytest.approx(0.5, abs=0.025)
    assert bool(found.intent) is bool(intent)


async def test_of_long_messages_the_request_is_only_a_part() -> None:
    slots = [
        Slot(one.name, "", one.examples, threshold=0.54) for one in (CATS, Slot("dogs", "", ("the dog", "dog food")))
    ]
    assert (await guess("cat dog and so on and so forth", *slots)).intent == ""
    assert (await guess("cat dog " + "and so on " * 20, *slots)).intent


@pytest.mark.parametrize("text", ["and the other one?", "why not", "第二个呢", "", "???"])
async def test_what_only_the_conversation_could_tell_has_no_intent_and_nobody_is_asked(text: str) -> None:
    assert await guess(text) == Guess("", sure=True)
    assert Intents(SLOTS).by_words(text) == Guess("", sure=True)


@pytest.mark.parametrize(
    ("text", "intent"),
    [("A KITTEN!", "cats"), ("这只猫咪好可爱", "cats"), ("meooow", "cats"), ("puppyish", ""), ("he barks", "dogs")],
)
def test_words_alone_know_whole_words_and_those_of_the_examples(text: str, intent: str) -> None:
    assert Intents(SLOTS).by_words(text).intent == intent


def test_words_that_call_two_slots_leave_it_open() -> None:
    found = Intents(SLOTS).by_words("puppy, kitten")
    assert not found.sure and {found.intent, *found.near} == {"cats", "dogs"}


def test_a_long_message_is_read_at_both_ends() -> None:
    intents = Intents(SLOTS)
    assert intents.by_words("x " * 5_000 + "kitten").intent == "cats"
    assert intents.by_words("x " * 2_000 + "kitten " + "x " * 2_000).intent == ""


async def test_what_may_be_private_is_said_by_the_share_of_such_slots_or_by_likeness_alone() -> None:
    assert {"personal_info", "local_data"} <= PRIVATE
    own = Slot("personal_info", "", ("my cat is ill",))
    assert (await guess("the cat and the dog", own, DOGS)).private, "it may be either"
    assert not (await guess("the dog dog dog", own, DOGS)).private
    assert not (await guess("the cat")).private
    assert (await guess("the cat", private=True)).private, "those like it were"
    assert Intents([own, DOGS]).by_words("so ill").private


def test_an_owners_words_are_added_and_his_threshold_and_description_hold() -> None:
    slots = {slot.name: slot for slot in with_own([Slot("code", "", ("fix it",), ("cobol",), threshold=0.6), CATS])}
    code = next(slot for slot in built_in() if slot.name == "code")
    assert slots["code"].examples == (*code.examples, "fix it")
    assert slots["code"].keywords == (*code.keywords, "cobol")
    assert (slots["code"].description, slots["code"].least) == (code.description, 0.6)
    assert (slots["code"].firm, code.firm, slots["cats"].firm) == (("cobol",), (), CATS.keywords)
    assert slots["cats"].examples is CATS.examples
    assert list(slots)[: len(built_in())] == [slot.name for slot in built_in()]


TULIPS = Slot(
    "gardening", "", ("when do I plant tulips", "my roses have lice", "how short do I cut the hedge"), ("tulip",)
)


def test_an_owners_keyword_wins_over_what_was_learnt() -> None:
    text = "remind me to write python code for the tulip"
    assert Intents(with_own([TULIPS])).by_words(text).intent == "gardening"
    assert Intents(built_in()).by_words(text).intent != "gardening"


@pytest.mark.timeout(120)
def test_an_owners_slot_weighs_against_the_built_in_ones_by_its_few_examples(guess_all: GuessAll) -> None:
    mine = ["when should the tulips go into the ground", "there are lice on the roses again", "郁金香什么时候种"]
    others = ["what is the capital of Peru", "remind me at five to call Ann", "fix this python function", "谢谢你"]
    found = [guess.intent for guess in guess_all([*mine, *others], with_own([Slot("gardening", "", TULIPS.examples)]))]
    assert found[: len(mine)].count("gardening") >= 2
    assert found[len(mine) :] == ["knowledge", "reminder", "code", "small_talk"]


def test_a_slot_without_examples_is_compared_by_its_description() -> None:
    assert Slot("cats", "all about the cat").texts == ("all about the cat",)
    assert Slot("none", "").texts == ()
    assert Intents([Slot("cats", "all about the cat"), Slot("none", "", (), ("dog",))]).by_words("dog").intent == "none"


def test_the_built_in_patterns_are_expressions_and_no_keyword_stands_twice_in_a_slot() -> None:
    for slot in built_in():
        assert slot.description and len(slot.examples) >= 180
        assert len(set(slot.keywords)) == len(slot.keywords), slot.name
        assert len(set(slot.examples)) == len(slot.examples), slot.name
        for pattern in slot.patterns:
            re.compile(pattern)


def test_the_words_that_say_something() -> None:
    assert telling("What did we decide about the kitchen tiles last week?") == ["decide", "kitchen", "tiles", "week"]
    assert telling("我们上次说的厨房瓷砖") == ["厨房瓷砖"]
    assert telling("why not, and the other one?") == []
