"""Names of files: whatever comes in, what is shown is short, of one line, and hides nothing."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.attachments.names import NAME_CHARS, file_name, shown_name

ODD = st.text(st.characters() | st.sampled_from("/\\.\x00\n\u202e\u2066\ud800 "), max_size=300)


@pytest.mark.parametrize(
    ("sent", "shown"),
    [
        ("lease.pdf", "lease.pdf"),
        ("../../etc/passwd", "passwd"),
        ("C:\\fakepath\\photo 1.jpg", "photo 1.jpg"),
        ("folder/", "folder"),
        ("报告 (最终).docx", "报告 (最终).docx"),
        ("a\r\nb\tc.txt", "a b c.txt"),
        ("invoice\u202efdp.exe", "invoice fdp.exe"),
        ("👩\u200d💻.png", "👩\u200d💻.png"),
        ("\x00", "file"),
        ("..", "file"),
        ("  . ", "file"),
        ("", "file"),
        (".env", ".env"),
        ("x" * 200 + ".tar.gz", "x" * 76 + "….gz"),
        ("y" * 200, "y" * 79 + "…"),
        ("z" * 100 + "." + "e" * 50, "z" * 79 + "…"),
    ],
)
def test_a_name_is_its_last_part_as_it_is_written(sent: str, shown: str) -> None:
    assert file_name(sent) == shown


def test_a_title_with_a_stroke_stays_whole() -> None:
    assert shown_name("either/or.txt") == "either/or.txt"


@given(ODD)
def test_any_name_can_be_shown_stored_and_sent(sent: str) -> None:
    shown = file_name(sent)
    assert 0 < len(shown) <= NAME_CHARS
    assert shown.strip(". ")
    assert "/" not in shown and "\\" not in shown
    assert not any(unicodedata.category(char) in ("Cc", "Zl", "Zp", "Cs") for char in shown)
    assert shown == " ".join(shown.split())
    assert shown.encode().decode() == shown
    assert file_name(shown) == shown
