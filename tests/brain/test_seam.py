"""Answers that go on behind a cut: nothing is said twice, and nothing that was meant is lost."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.brain.seam import REACH, Seam, continued
from tests.brain.samples import SPOKEN, texts

CODE = 'Here it is:\n\n```python\ndef area(radius):\n    """Of a circle."""\n    return 3.14159 * radius'


@pytest.mark.parametrize(
    ("said", "goes_on", "rest"),
    [
        # exact: nothing is left out
        ("One, two, th", "ree.", "ree."),
        ("One, two,", " three.", " three."),
        ("今天我们去图书", "馆看书。", "馆看书。"),
        ("A family: 👨‍", "👩‍👧.", "👩‍👧."),
        ("A flag: 🇩", "🇪.", "🇪."),
        ("It is very", " very good.", " very good."),
        ("hel", "lo", "lo"),
        ("人", "人平等", "人平等"),
        ("1,000", "000", "000"),
        ("na na na na ", "na na", "na na"),
        ("| --- | --- |\n", "| --- | --- |\n", "| --- | --- |\n"),
        ("First.\n", "\nSecond.", "\nSecond."),
        ("a = [\n    1,\n", "    1,\n]", "    1,\n]"),
        # the last word, or what there was of it
        ("This needs elec", "electricity, of course.", "tricity, of course."),
        ("This is the end", "end of it.", " of it."),
        ("This is **very impor", "**very important**.", "tant**."),
        ("今天我们去图书", "图书馆看书。", "馆看书。"),
        ("A family: 👨‍👩‍", "👨‍👩‍👧.", "👧."),
        ("A flag: 🇩", "🇩🇪.", "🇪."),
        ("Well done 👍", "👍🏽!", "🏽!"),
        # half a sentence, with and without blanks around it
        ("We met. The quick brown fox ju", "The quick brown fox jumps.", "mps."),
        ("We met. The quick brown ", "the quick brown", "the quick brown"),
        ("We met. The quick brown ", "The quick brown fox.", "fox."),
        ("We met. The quick brown", " The quick brown fox.", " fox."),
        ("We met. The quick brown", "\n\nThe quick brown fox.", " fox."),
        ("你好。我记得我们谈到了楼上浴室", "我记得我们谈到了楼上浴室漏水的事。", "漏水的事。"),
        # the line of a list or a table from its beginning
        ("They are:\n\n1. One\n2. Tw", "2. Two\n3. Three", "o\n3. Three"),
        ("They are:\n\n- alpha\n- be", "- beta\n- gamma", "ta\n- gamma"),
        ("| a | b |\n|---|---|\n| 3 |", "| 3 | 4 |\n| 5 | 6 |", " 4 |\n| 5 | 6 |"),
        ("| a | b |\n|---|---|\n| 3 |", " 4 |\n| 5 | 6 |", " 4 |\n| 5 | 6 |"),
        ("Text.\n\n## Wha", "## What next\n", "t next\n"),
        ("1. One\n2. One\n", "3. One\n", "3. One\n"),
        # in a block of code
        (CODE, " ** 2\n```", " ** 2\n```"),
        (CODE, "```python\n    return 3.14159 * radius ** 2\n```", " ** 2\n```"),
        (CODE, "```\n    return 3.14159 * radius ** 2\n```", " ** 2\n```"),
        (CODE, "```\nThat is all.", "\n```\nThat is all."),
        (f"{CODE}\n", "```\nThat is all.", "```\nThat is all."),
        (f"{CODE}\n", "```python\nprint(area(2))\n```", "print(area(2))\n```"),
        # excuses, in the middle of a sentence
        ("The quick brown", "Sorry for the interruption. Continuing:\n\n fox.", " fox."),
        ("The quick brown fox ju", "Continuing from where I left off:\n\nThe quick brown fox jumps.", "mps."),
        ("Ok. The value of x", "Sure, here's the continuation:\n\n is 5.", " is 5."),
        ("Let me expl", "(continued)\n\nexplain it.", "ain it."),
        ("He asked. And of co", "urse, OK.\n\nFine.", "urse, OK.\n\nFine."),
        ("He said: ", "Sure, but wait.\nThen he left.", "Sure, but wait.\nThen he left."),
        ("我们应该先检查电", "抱歉，我继续：\n\n源。", "源。"),
        ("Dear Sir.\n\n", "Sorry for the delay.\n", "Sorry for the delay.\n"),
        # half a sign that a server made of the cut
        ("Good 😀", "\ufffd\ufffd morning", " morning"),
    ],
)
def test_what_is_said_again_is_left_out_and_nothing_else(said: str, goes_on: str, rest: str) -> None:
    assert continued(said, goes_on) == rest


@pytest.mark.parametrize(
    ("said", "goes_on", "rest"),
    [
        ("Hello ", " world", "world"),
        ("Hello\n\n", "\n\nworld", "world"),
        ("Hello\n", "\n\nworld", "\nworld"),
        ("def f():\n", "    return 1", "    return 1"),
        ("def f():\n    ", "\n    return 1", "return 1"),
        ("Hello ", "world", "world"),
    ],
)
def test_blanks_that_the_model_was_not_shown_are_not_doubled(said: str, goes_on: str, rest: str) -> None:
    assert continued(said, goes_on, stripped=True) == rest


@pytest.mark.parametrize("name", texts())
def test_wherever_real_text_is_cut_an_exact_continuation_is_left_alone(name: str) -> None:
    whole = texts()[name]
    wrong = [at for at in range(1, len(whole)) if continued(whole[:at], whole[at:]) != whole[at:]]
    assert len(wrong) <= len(whole) // 500, [whole[at - 20 : at] + "|" + whole[at : at + 20] for at in wrong[:5]]


@pytest.mark.parametrize("name", ["english", "german", "french", "chinese", "russian", "japanese", "greek"])
def test_wherever_real_text_is_cut_a_sentence_begun_again_is_joined(name: str) -> None:
    whole = SPOKEN[name]
    for at in range(30, len(whole)):
        again = max(whole.rfind(sign, 0, at - 12) for sign in " 。，.") + 1
        again = again + 1 if whole[again] == " " else again
        assert continued(whole[:at], whole[again:]) == whole[at:], whole[again:at]


@given(st.sampled_from(sorted(SPOKEN)), st.integers(20, 120), st.integers(0, 40), st.integers(1, 9))
def test_pieces_are_joined_as_the_whole_would_be(name: str, at: int, back: int, size: int) -> None:
    whole = SPOKEN[name]
    said, text = whole[:at], whole[max(0, at - back) :]
    seam = Seam(said)
    pieces = [seam.take(text[start : start + size]) for start in range(0, len(text), size)]
    assert "".join((*pieces, seam.rest())) == continued(said, text)


@pytest.mark.parametrize("size", [1, 7, 9999])
@pytest.mark.parametrize("excuse", ["", "Here is the complete answer:\n\n"])
def test_an_answer_that_is_begun_anew_goes_on_where_it_was(size: int, excuse: str) -> None:
    whole = texts()["readme"]
    said = whole[:3000]
    again = excuse + whole[:4000]
    seam = Seam(said)
    pieces = [seam.take(again[start : start + size]) for start in range(0, len(again), size)]
    assert said + "".join((*pieces, seam.rest())) == whole[:4000]
    other = whole[:2000] + " and so on."
    assert Seam(said).take(other) == other, "another answer is none that goes on"


def test_no_more_than_what_could_be_a_repetition_waits() -> None:
    seam = Seam("The quick brown fox ju")
    assert seam.take("mps over") == "mps over"
    assert seam.take("The quick") == "The quick"
    seam = Seam("a" + "x" * 9999)
    assert sum(len(seam.take("x" * 50)) for _ in range(40)) >= 2000 - REACH


def test_without_a_cut_nothing_waits() -> None:
    seam = Seam("")
    assert (seam.take("Sorry"), seam.rest()) == ("Sorry", "")
