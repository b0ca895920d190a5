from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.memory.nearness import VectorTable, WordIndex, similarities
from bot.memory.stems import pieces, stem, stems
from tests.fakes.embedder import FakeEmbedder


@pytest.mark.parametrize(
    "same",
    [
        ("book", "books", "booked", "booking", "bookings"),
        ("summarize", "summarized", "summarizing", "summarization"),
        ("study", "studies"),
        ("plan", "planning", "planner", "plans"),
        ("price", "prices", "pricing"),
    ],
)
def test_forms_of_a_word_have_one_stem(same: tuple[str, ...]) -> None:
    assert len({stem(word) for word in same}) == 1, [stem(word) for word in same]


def test_chinese_keeps_its_pairs_and_has_no_stem() -> None:
    assert stems("天气预报") == ["天", "气", "天气", "预", "气预", "报", "预报"]


def test_compounds_are_taken_apart_and_single_letters_left_out() -> None:
    assert stems("A one-bedroom flat, plan b") == ["one", "bedroom", "flat", "plan"]


def test_pieces_find_what_is_inside_of_a_word() -> None:
    index = WordIndex(["ChatOCR", "airqualityforecast"], pieces)
    assert index.scores("the forecast of the air")[1] > 0 == index.scores("the forecast of the air")[0]


@given(st.text(max_size=200))
def test_any_text_has_stems_and_pieces(text: str) -> None:
    assert all(stems(text)) and all(len(piece) in (3, 4, 5) for piece in pieces(text))


async def test_a_table_tells_the_same_as_one_comparison_each_and_can_leave_out_what_is_common() -> None:
    embedder = FakeEmbedder("cat", "dog")
    cat, dog, both = await embedder.embed(["cat", "dog", "cat dog"])
    table = VectorTable([cat, dog])
    assert table.near(both) == pytest.approx(similarities(both, [cat, dog]))
    assert table.near(both, both) == pytest.approx([0.0, 0.0])
    assert list(table.mean()) == pytest.approx([0.5, 0.5, 0.0])
    assert VectorTable([]).near(cat) == []
