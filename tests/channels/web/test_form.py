"""Forms that carry a file, in whatever pieces they arrive."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.net.multipart import FormFile as Sent
from bot.net.multipart import multipart
from channels.web.form import FormFile
from channels.web.refusal import Refused


async def pieces(body: bytes, sizes: Sequence[int] = (7,)) -> AsyncIterator[bytes]:
    at = turn = 0
    while at < len(body):
        size = max(1, sizes[turn % len(sizes)])
        yield body[at : at + size]
        at, turn = at + size, turn + 1


async def read(body: bytes, content_type: str, sizes: Sequence[int] = (7,)) -> tuple[str, str, bytes]:
    form = FormFile(pieces(body, sizes), content_type)
    name, media_type = await form.head()
    return name, media_type, b"".join([piece async for piece in form.body()])


SIZES = st.lists(st.integers(1, 40), min_size=1, max_size=5)


@given(content=st.binary(max_size=400) | st.sampled_from([b"\r\n--", b"--\r\n", b"\r\n\r\n--x"]), sizes=SIZES)
async def test_the_file_arrives_as_it_was(content: bytes, sizes: list[int]) -> None:
    body, kind = multipart({"purpose": "user_data"}, [Sent("file", "a b.txt", "text/plain", content)])
    assert await read(body, kind, sizes) == ("a b.txt", "text/plain", content)


BOUNDARY = "multipart/form-data; boundary=bb"
HEAD = b"--bb\r\nContent-Disposition: form-data; name=file; "


@pytest.mark.parametrize(
    ("named", "name"),
    [
        (b'filename="plain.txt"', "plain.txt"),
        (b"filename=bare.txt", "bare.txt"),
        (b'filename="with \\"quotes\\".txt"', 'with "quotes".txt'),
        (b"filename=\"x\"; filename*=UTF-8''%E6%8A%A5%E5%91%8A.pdf", "报告.pdf"),
        ('filename="报告.pdf"'.encode(), "报告.pdf"),
        (b'filename="%E6%8A%A5%E5%91%8A.pdf"', "报告.pdf"),
        (b'filename="a %22quote%22, 100%25.pdf"', 'a "quote", 100%25.pdf'),
        (b'filename="%ff.pdf"', "%ff.pdf"),
        (b'filename=""', ""),
    ],
)
async def test_the_name_is_found_in_each_of_its_forms(named: bytes, name: str) -> None:
    body = HEAD + named + b"\r\n\r\nx\r\n--bb--\r\n"
    assert await read(body, BOUNDARY) == (name, "", b"x")
    assert await read(b"some preamble\r\n" + body + b"and an epilogue", 'multipart/form-data; boundary="bb"', (3,)) == (
        name,
        "",
        b"x",
    )


async def test_what_comes_behind_the_file_is_read_to_its_end() -> None:
    rest = pieces(HEAD + b'filename="a"\r\n\r\nx\r\n--bb\r\n' + b"y" * 60_000, (4096,))
    form = FormFile(rest, BOUNDARY)
    await form.head()
    assert [piece async for piece in form.body()] == [b"x"]
    assert await anext(rest, None) is None


FIELD = b'--bb\r\nContent-Disposition: form-data; name="purpose"\r\n\r\nuser_data\r\n'


@pytest.mark.parametrize(
    ("body", "content_type", "word"),
    [
        (b"", BOUNDARY, "file_broken"),
        (FIELD, BOUNDARY, "file_broken"),
        (FIELD + b"--bb--\r\n", BOUNDARY, "no_form_file"),
        (HEAD + b'filename="a"\r\n\r\nhalf of it', BOUNDARY, "file_broken"),
        (HEAD + b'filename="a"\r\nX: ' + b"y" * 20_000, BOUNDARY, "no_form_file"),
        (b"z" * 200_000, BOUNDARY, "no_form_file"),
        ((FIELD + b"\r\n") * 3000, BOUNDARY, "no_form_file"),
        (HEAD + b'filename="a"\r\n\r\nx\r\n--bb\r\n' + b"y" * 80_000, BOUNDARY, "no_form_file"),
        (b"x", "multipart/form-data", "no_form_file"),
        (b"x", "multipart/form-data; boundary=" + "b" * 200, "no_form_file"),
    ],
)
async def test_what_is_no_form_with_a_file_is_refused(body: bytes, content_type: str, word: str) -> None:
    with pytest.raises(Refused) as refused:
        await read(body, content_type, (1000,))
    assert refused.value.word == word


@given(st.binary(max_size=300), SIZES)
async def test_noise_is_refused_or_read_and_never_breaks(noise: bytes, sizes: list[int]) -> None:
    for body in (noise, HEAD + noise, HEAD + b'filename="a"\r\n\r\n' + noise):
        try:
            await read(body, BOUNDARY, sizes)
        except Refused as refused:
            assert refused.status == 400
