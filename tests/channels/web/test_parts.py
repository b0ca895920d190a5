"""Pictures, files and recordings inside OpenAI requests, sent by the official client."""

from __future__ import annotations

import base64
import io
from pathlib import Path
from typing import Any

import openai
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.attachments.intake import MOST_BYTES, MOST_FILES
from bot.core.inbound import FileRef, UserMessage
from bot.core.model import Message, TextBlock
from channels.web.caller import asked as understood
from channels.web.parts import GONE, Malformed
from channels.web.refusal import Refused
from tests.channels.web.house import House, Turn
from tests.channels.web.official import asked, client

PNG = b"\x89PNG\r\n\x1a\n and so on"


def data_url(content: bytes, kind: str) -> str:
    return f"data:{kind};base64,{base64.b64encode(content).decode()}"


def image(content: bytes = PNG, kind: str = "image/png") -> Any:
    return {"type": "image_url", "image_url": {"url": data_url(content, kind), "detail": "high"}}


def text(words: str) -> Any:
    return {"type": "text", "text": words}


def user(*parts: Any) -> Any:
    return {"role": "user", "content": list(parts)}


def told(file: FileRef) -> tuple[str, str, int | None, bool]:
    return file.name, file.media_type, file.size_bytes, file.spoken


async def test_each_kind_of_part_becomes_a_file_of_the_message(tmp_path: Path) -> None:
    got: list[bytes] = []

    async def script(turn: Turn) -> None:
        got.extend([await turn.house.channel.fetch(file) for file in turn.message.files])
        await turn.write("Seen.")
        await turn.end()

    house = House(script=script, data_dir=tmp_path)
    content = [
        text("What are these?"),
        image(),
        image(b"GIF8", "image/gif"),
        {
            "type": "file",
            "file": {"filename": "C:\\docs\\lease.pdf", "file_data": data_url(b"%PDF-", "application/pdf")},
        },
        {"type": "file", "file": {"file_data": base64.b64encode(b"bare").decode()}},
        {"type": "input_audio", "input_audio": {"data": base64.b64encode(b"RIFFxxxxWAVE").decode(), "format": "wav"}},
    ]
    async with client(house) as ai:
        answer = await ai.chat.completions.create(model="bowerbird", messages=[user(*content)])
    assert answer.choices[0].message.content == "Seen."
    assert asked(house).text == "What are these?"
    assert [told(file) for file in asked(house).files] == [
        ("picture-1", "image/png", len(PNG), False),
        ("picture-2", "image/gif", 4, False),
        ("lease.pdf", "application/pdf", 5, False),
        ("attachment-2", "", 4, False),
        ("recording-1.wav", "audio/wav", 12, True),
    ]
    assert got == [PNG, b"GIF8", b"%PDF-", b"bare", b"RIFFxxxxWAVE"]


async def test_files_are_uploaded_and_named_the_way_openai_does_it(tmp_path: Path) -> None:
    house = House(data_dir=tmp_path)
    async with client(house) as ai:
        file = await ai.files.create(file=("报告.pdf", io.BytesIO(b"%PDF-1.4"), "application/pdf"), purpose="user_data")
        assert (file.object, file.filename, file.bytes, file.status) == ("file", "报告.pdf", 8, "processed")
        messages = [user(text("Read it"), {"type": "file", "file": {"file_id": file.id}})]
        for _ in range(2):
            await ai.chat.completions.create(model="bowerbird", messages=messages)
        with pytest.raises(openai.APIStatusError) as unknown:
            gone = {"type": "file", "file": {"file_id": "file-" + "0" * 24}}
            await ai.chat.completions.create(model="bowerbird", messages=[user(gone)])
        assert (unknown.value.status_code, unknown.value.type) == (410, "invalid_request_error")
        other = await ai.files.create(file=b"x", purpose="user_data")
        assert (await ai.files.delete(other.id)).deleted
        with pytest.raises(openai.NotFoundError):
            await ai.files.delete(other.id)
    said = [one for one in house.inbound if isinstance(one, UserMessage)]
    assert [told(one.files[0]) for one in said] == [("attachment-1 报告.pdf", "application/pdf", 8, False)] * 2


def test_words_between_pictures_say_where_each_of_them_stood() -> None:
    wanted = understood({"messages": [user(text("First:"), image(), text("Second:"), image())]})
    assert wanted.text == "First:\n[picture-1]\nSecond:\n[picture-2]"


def test_what_was_brought_before_comes_along_under_its_name() -> None:
    """The client sends its whole history each time; the newest files of it are seen, whichever message they came with."""
    first = {"type": "input_audio", "input_audio": {"data": "eA==", "format": "mp3"}}
    report = {"type": "file", "file": {"filename": "report.txt", "file_data": "eA=="}}
    old = [image(b"x%d" % n) for n in range(MOST_FILES)]
    history = [user(first, text("Look"), *old), {"role": "assistant", "content": "Nice."}]
    wanted = understood({"messages": [*history, user(text("And this?"), report)]})
    assert wanted.text == "And this?"
    assert [file.name for file in wanted.files] == [*(f"picture-{n}" for n in range(2, MOST_FILES + 1)), "report.txt"]
    assert not any(file.spoken for file in wanted.files)
    words = [block.text for block in wanted.caller.history[0].content if isinstance(block, TextBlock)]
    assert words == [
        f"[recording-1.mp3{GONE}]",
        "Look",
        f"[picture-1{GONE}]",
        *(f"[picture-{n}]" for n in range(2, MOST_FILES + 1)),
    ]
    assert wanted.caller.history[1] == Message("assistant", (TextBlock("Nice."),))
    later = understood({"messages": [*history, user(text("And now?"))]})
    assert [file.name for file in later.files] == [f"picture-{n}" for n in range(1, MOST_FILES + 1)]


def test_files_stay_with_a_conversation_that_goes_on_from_a_tools_result() -> None:
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    messages = [user(text("Use it"), image()), {"role": "assistant", "tool_calls": [call]}]
    wanted = understood({"messages": [*messages, {"role": "tool", "tool_call_id": "c", "content": "done"}]})
    assert (wanted.text, [file.name for file in wanted.files]) == ("", ["picture-1"])


BAD = [
    ({"type": "image_url", "image_url": {"url": "https://example.org/x.png"}}, "I fetch nothing from http"),
    ({"type": "image_url", "image_url": {"url": "HTTP://example.org/x.png"}}, "I fetch nothing from http"),
    ({"type": "image_url", "image_url": {"url": "file:///etc/passwd"}}, "must be an address that begins with data:"),
    ({"type": "image_url", "image_url": {"url": "data:image/png,x"}}, "must be an address that begins with data:"),
    ({"type": "image_url", "image_url": {"url": data_url(b"x", "text/html")}}, "data:image/"),
    ({"type": "image_url", "image_url": {"url": "data:image/png;base64,!!!"}}, "not valid base64"),
    ({"type": "image_url", "image_url": {"url": "data:image/png;base64,"}}, "is empty"),
    ({"type": "image_url", "image_url": {}}, "only parts of type"),
    ({"type": "image_url"}, "only parts of type"),
    ({"type": "file"}, "only parts of type"),
    ({"type": "file", "file": {}}, "file_data"),
    ({"type": "file", "file": {"filename": "a"}}, "file_data"),
    ({"type": "file", "file": {"file_data": "eA==", "file_id": "file-1"}}, "file_data"),
    ({"type": "file", "file": {"file_data": "eA==", "filename": 7}}, "file_data"),
    ({"type": "file", "file": {"file_data": 7}}, "base64"),
    ({"type": "file", "file": {"file_data": "https://example.org/x.pdf"}}, "not valid base64"),
    ({"type": "file", "file": {"file_id": 7}}, "file_id"),
    ({"type": "input_audio", "input_audio": {"data": "eA==", "format": "ogg"}}, "wav or mp3"),
    ({"type": "input_audio", "input_audio": {"data": "eA=="}}, "only parts of type"),
    ({"type": "video_url", "video_url": {"url": "data:video/mp4;base64,eA=="}}, "only parts of type"),
    (7, "only parts of type"),
]


@pytest.mark.parametrize(("part", "sentence"), BAD, ids=range(len(BAD)))
async def test_a_wrong_part_is_refused_in_openais_shape(tmp_path: Path, part: Any, sentence: str) -> None:
    house = House(data_dir=tmp_path)
    async with client(house) as ai:
        with pytest.raises(openai.BadRequestError, match=sentence) as refused:
            await ai.chat.completions.create(model="bowerbird", messages=[user(text("Look"), part)])
    assert refused.value.param == "messages[0].content"
    assert house.inbound == [] and list(tmp_path.iterdir()) == []


async def test_what_is_too_large_or_too_much_is_refused(tmp_path: Path) -> None:
    house = House(data_dir=tmp_path)
    async with client(house) as ai:
        with pytest.raises(openai.BadRequestError, match="up to 20 MB"):
            await ai.chat.completions.create(model="bowerbird", messages=[user(image(b"x" * (MOST_BYTES + 1)))])
        with pytest.raises(openai.BadRequestError, match="up to 10 files"):
            await ai.chat.completions.create(model="bowerbird", messages=[user(*[image()] * (MOST_FILES + 1))])
        with pytest.raises(openai.APIStatusError) as large:
            await ai.chat.completions.create(model="bowerbird", messages=[user(*[image(b"x" * MOST_BYTES)] * 2)])
        assert large.value.status_code == 413
        assert house.inbound == [] and list(tmp_path.iterdir()) == []
        await ai.chat.completions.create(model="bowerbird", messages=[user(image(b"x" * MOST_BYTES))])
    assert asked(house).files[0].size_bytes == MOST_BYTES
    assert [place.stat().st_size for place in tmp_path.rglob("*") if place.is_file()] == [MOST_BYTES]


async def test_pictures_make_no_sense_in_what_a_tool_or_the_system_says(tmp_path: Path) -> None:
    house = House(data_dir=tmp_path)
    async with client(house) as ai:
        with pytest.raises(openai.BadRequestError, match="must be text"):
            await ai.chat.completions.create(
                model="bowerbird", messages=[{"role": "system", "content": [image()]}, user(text("x"))]
            )


LEAVES: st.SearchStrategy[Any] = st.none() | st.booleans() | st.integers() | st.text(max_size=20)
PARTS = st.dictionaries(
    st.sampled_from(
        ["type", "text", "image_url", "file", "input_audio", "url", "file_data", "file_id", "filename", "data"]
    ),
    st.sampled_from(["text", "image_url", "file", "input_audio", "data:image/png;base64,eA==", "eA=="])
    | LEAVES
    | st.dictionaries(st.sampled_from(["url", "file_data", "file_id", "filename", "data", "format"]), LEAVES),
)


@given(st.lists(PARTS | LEAVES, max_size=4))
def test_whatever_stands_in_a_message_is_understood_or_refused(content: list[Any]) -> None:
    try:
        understood({"messages": [{"role": "user", "content": content}]})
    except (Malformed, Refused) as refused:
        assert str(refused)
