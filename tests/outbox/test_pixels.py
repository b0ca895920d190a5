"""The size of a picture from its first bytes, against what Pillow says."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.outbox.pixels import size_of
from tests.attachments import made


@pytest.mark.parametrize(("width", "height"), [(1, 1), (640, 480), (9000, 2000), (17, 4001)])
@pytest.mark.parametrize(
    ("kind", "options"),
    [
        ("PNG", {}),
        ("JPEG", {}),
        ("JPEG", {"progressive": True}),
        ("JPEG", {"comment": b"x" * 60_000}),
        ("WEBP", {}),
        ("WEBP", {"lossless": True}),
        ("WEBP", {"exif": b"Exif\x00\x00x"}),
    ],
)
def test_the_size_of_every_kind(kind: str, options: dict[str, object], width: int, height: int) -> None:
    assert size_of(made.picture(width, height, kind, **options)) == (width, height)


@pytest.mark.parametrize("content", [b"", b"GIF89a" + bytes(20), b"\x89PNG\r\n\x1a\n", b"RIFF\x00\x00\x00\x00WEBPVP8 "])
def test_of_anything_else_nothing_is_told(content: bytes) -> None:
    assert size_of(content) is None


@given(
    st.binary(max_size=60), st.sampled_from([b"\xff\xd8\xff", b"RIFF\x00\x00\x00\x00WEBPVP8X", b"\x89PNG\r\n\x1a\n"])
)
def test_any_bytes_are_borne(content: bytes, head: bytes) -> None:
    size = size_of(head + content)
    assert size is None or min(size) >= 0
