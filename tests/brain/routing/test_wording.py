from __future__ import annotations

from bot.brain.routing.wording import WordOdds, marks

CATS, DOGS = ("the cat purrs", "a cat on the mat", "猫咪睡觉"), ("the dog barks", "a dog in the park")


def test_words_pairs_and_of_chinese_characters_and_their_pairs() -> None:
    assert marks("Wake me, 7:30!") == {"wake", "me", "wake_me", "#1", "me_#1", "#2", "#1_#2", "!", "#2_!"}
    assert marks("叫我 up") == {"叫", "我", "叫_我", "up", "我_up"}
    assert "我_你" not in marks("我。你")
    assert marks("") == set()


def test_a_word_speaks_for_where_it_was_seen() -> None:
    odds = WordOdds([CATS, DOGS])
    cats, dogs = odds.scores("a purring cat")
    assert cats > dogs > 0, "both have the article"
    assert odds.scores("猫")[0] > 0 == odds.scores("猫")[1]


def test_what_was_never_seen_says_nothing() -> None:
    assert WordOdds([CATS, DOGS]).scores("xylophone") == [0.0, 0.0]
    assert WordOdds([CATS, ()]).scores("cat")[1] == 0.0
    assert WordOdds([]).scores("cat") == []


def test_a_slot_of_few_examples_is_not_preferred_for_what_nobody_knows() -> None:
    odds = WordOdds([CATS * 30, ("tulips in spring",)])
    assert odds.scores("a cat in spring")[0] > 0
    assert odds.scores("tulips")[1] > odds.scores("tulips")[0] == 0.0
