from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.outbox.graphemes import aligned, length

WHOLE = ["e\u0301", "👨‍👩‍👧", "👍🏽", "🇳🇴", "❤️", "\r\n", "각", "🏴󠁧󠁢󠁥󠁮󠁧󠁿", "\ud83d\ude00", "क्षि", "1️⃣", "นี้"]


@pytest.mark.parametrize("character", WHOLE)
def test_what_a_reader_takes_for_one_character_is_not_parted(character: str) -> None:
    text = f"a{character}b"
    for at in range(1, len(text)):
        assert aligned(text, at, 0) in (1, 1 + len(character))


def test_flags_part_in_pairs() -> None:
    flags = "🇳🇴🇸🇪🇩🇰"
    assert [aligned(flags, at, 0) for at in range(2, 6)] == [2, 2, 4, 4]


def test_a_character_longer_than_everything_is_parted_anywhere() -> None:
    assert aligned("a" + "\u0301" * 500, 100, 0) == 100


def test_lengths_are_in_the_unit_of_the_platform() -> None:
    assert [length("aé👍🏽", unit) for unit in ("chars", "utf16", "bytes")] == [4, 6, 11]
    assert length("\ud83d", "bytes") == 3


@given(st.text())
def test_lengths_agree_with_the_encoders(text: str) -> None:
    assert length(text, "utf16") == len(text.encode("utf-16-le", "surrogatepass")) // 2
    assert length(text, "bytes") == len(text.encode("utf-8", "surrogatepass"))
