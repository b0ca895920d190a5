"""What a file is, whatever it is called; which characters a text file holds."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.attachments.ends import Ends
from bot.attachments.kinds import HEAD_BYTES, Kind, kind_of
from bot.attachments.plain import decoded
from tests.attachments import made


@pytest.mark.parametrize(
    ("head", "name", "media_type", "kind"),
    [
        (made.picture(), "notes.txt", "text/plain", Kind.PICTURE),
        (made.picture(kind="WEBP"), "sticker", "image/webp", Kind.PICTURE),
        (b"\x00\x00\x00 ftypheic", "photo.heic", "", Kind.PICTURE),
        (b"junk\n%PDF-1.4", "x", "application/octet-stream", Kind.PDF),
        (made.docx("x"), "letter.docx", "", Kind.OFFICE),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "old.xls", "", Kind.OLD_OFFICE),
        (b"OggS" + bytes(20), "voice", "audio/ogg", Kind.SOUND),
        (b"ID3\x04" + bytes(20), "song.mp3", "audio/mpeg", Kind.SOUND),
        (b"\xff\xfb\x90\x00", "song", "audio/mpeg", Kind.SOUND),
        (b"\x00\x00\x00 ftypM4A ", "memo.m4a", "", Kind.SOUND),
        (b"\x00\x00\x00 ftypisom", "memo.m4a", "audio/mp4", Kind.SOUND),
        (b"\x00\x00\x00 ftypisom", "film.mp4", "video/mp4", Kind.OTHER),
        (b"\x1aE\xdf\xa3" + bytes(9), "voice.webm", "audio/webm;codecs=opus", Kind.SOUND),
        (b"\x1aE\xdf\xa3" + bytes(9), "sticker", "video/webm", Kind.OTHER),
        (b"\x1f\x8b\x08\x00" + bytes(9), "sticker.tgs", "", Kind.OTHER),
        (b"{\\rtf1 hello}", "letter.rtf", "", Kind.OTHER),
        (b"MZ\x90\x00" + bytes(9), "setup.exe", "", Kind.OTHER),
        (b"<html><p>x", "x", "", Kind.PAGE),
        (b"<p>x", "x.HTM", "", Kind.PAGE),
        (b"a,b\n1,2\n", "x.csv", "text/csv", Kind.TEXT),
        ("你好".encode("utf-16"), "x.txt", "text/plain", Kind.TEXT),
        (b"", "x", "", Kind.TEXT),
    ],
)
def test_the_first_bytes_say_what_a_file_is(head: bytes, name: str, media_type: str, kind: Kind) -> None:
    assert kind_of(head[:HEAD_BYTES], name, media_type) is kind


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "gb18030"])
def test_chinese_is_read_in_any_of_its_usual_encodings(encoding: str) -> None:
    assert decoded("你好，世界。今天 3 月".encode(encoding)) == "你好，世界。今天 3 月"


def test_western_text_without_unicode_is_read() -> None:
    assert decoded("Café naïve – “quoted” für 5 €\r\nüber".encode("cp1252")) == "Café naïve – “quoted” für 5 €\nüber"


@pytest.mark.parametrize("content", [bytes(range(32)) * 40, bytes(range(256)) * 10])
def test_noise_is_no_text(content: bytes) -> None:
    assert decoded(content) is None


@given(st.binary(max_size=300))
def test_any_bytes_are_text_or_not(content: bytes) -> None:
    text = decoded(content)
    assert text is None or isinstance(text, str)


@given(st.lists(st.text(max_size=30), max_size=30), st.integers(min_value=4, max_value=200))
def test_ends_keep_head_and_tail_and_count_the_rest(pieces: list[str], chars: int) -> None:
    ends, whole = Ends(chars), "".join(pieces)
    for piece in pieces:
        ends.add(piece)
    if len(whole) <= chars:
        assert (ends.text, ends.is_cut) == (whole, False)
        return
    head, tail = chars - chars // 4, chars // 4
    gap = f"\n[… {len(whole) - chars} characters left out …]\n"
    assert (ends.text, ends.is_cut) == (whole[:head] + gap + whole[len(whole) - tail :], True)
