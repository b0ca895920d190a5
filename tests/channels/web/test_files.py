"""Files over real HTTP: what is taken in, what goes into a message, what is handed out and as what."""

from __future__ import annotations

import asyncio
import io
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from PIL import Image
from pydantic import SecretStr
from starlette.requests import Request
from yarl import URL

from bot.attachments.intake import MOST_BYTES, MOST_FILES
from bot.core.inbound import UserMessage
from channels.web.channel import Config
from channels.web.files import arriving
from channels.web.refusal import Refused
from tests.attachments import made
from tests.channels.web.house import House, Turn

MB = 1024 * 1024


def picture(kind: str = "PNG", width: int = 40) -> bytes:
    out = io.BytesIO()
    Image.new("RGB", (width, 30), (200, 40, 40)).save(out, kind)
    return out.getvalue()


async def silent(turn: Turn) -> None:
    await asyncio.Event().wait()


async def put(
    http: aiohttp.ClientSession,
    house: House,
    content: bytes | Any,
    name: str = "a.txt",
    kind: str = "text/plain",
    **more: str,
) -> tuple[int, dict[str, Any]]:
    url = URL(house.url + "/v1/files").with_query({"name": name})
    body = io.BytesIO(content) if isinstance(content, bytes) and content else content
    async with http.post(url, data=body, headers={"Content-Type": kind, **more}) as answer:
        return answer.status, await answer.json()


async def uploaded(http: aiohttp.ClientSession, house: House, content: bytes, name: str, kind: str = "") -> str:
    status, told = await put(http, house, content, name, kind)
    assert status == 201, told
    return str(told["file"])


async def post(http: aiohttp.ClientSession, house: House, **body: Any) -> tuple[int, dict[str, Any]]:
    async with http.post(house.url + "/v1/messages", json={"chat": "a", **body}) as answer:
        return answer.status, await answer.json()


async def frames(http: aiohttp.ClientSession, house: House) -> list[dict[str, Any]]:
    async with http.get(house.url + "/v1/history?chat=a") as answer:
        return list((await answer.json())["frames"])


def messages(house: House) -> list[UserMessage]:
    return [one for one in house.inbound if isinstance(one, UserMessage)]


async def test_a_file_goes_up_and_then_into_a_message(tmp_path: Path) -> None:
    house = House(script=silent, data_dir=tmp_path)
    async with house.open(), aiohttp.ClientSession() as http:
        status, told = await put(http, house, b"milk", "list.txt", "text/plain; charset=utf-8")
        assert status == 201
        assert (told["filename"], told["bytes"], told["file"]) == ("list.txt", 4, told["id"])
        assert told["expires_at"] == told["created_at"] + 3600
        assert house.inbound == []
        other = await uploaded(http, house, picture(), "../../p.png", "image/png")
        assert await post(http, house, id="1", text=" Look ", files=[told["file"], other, told["file"]]) == (
            202,
            {"turn": "turn1"},
        )
        (message,) = messages(house)
        assert message.text == "Look"
        assert [(ref.name, ref.media_type, ref.size_bytes) for ref in message.files] == [
            ("list.txt", "text/plain", 4),
            ("p.png", "image/png", len(picture())),
        ]
        assert [await house.channel.fetch(ref) for ref in message.files] == [b"milk", picture()]


async def test_a_message_with_files_is_taken_once_however_often_it_is_sent(tmp_path: Path) -> None:
    house = House(script=silent, data_dir=tmp_path)
    async with aiohttp.ClientSession() as http:
        async with house.open():
            body = {"id": "once", "text": "", "files": [await uploaded(http, house, b"x", "a.txt")]}
            house.full = True
            assert (await post(http, house, **body))[0] == 503
            house.full = False
            assert await post(http, house, **body) == (202, {"turn": "turn1"})
            assert await post(http, house, **body) == (202, {"turn": "turn1"})
        async with house.open():
            assert await post(http, house, **body) == (202, {"turn": "turn1"})
            assert len(messages(house)) == 1
            async with http.ws_connect(f"{house.url}/v1/ws?chat=a") as line:
                assert (await line.receive_json())["type"] == "hello"
                await line.send_json({"type": "message", **body})
                while (receipt := await line.receive_json())["type"] != "receipt":
                    pass
                assert receipt == {"type": "receipt", "id": "once", "turn": "turn1"}
                await line.send_json({"type": "message", **body, "id": "twice"})
                while (receipt := await line.receive_json())["type"] != "receipt":
                    pass
                assert receipt["turn"] == "turn2"
        assert [await house.channel.fetch(message.files[0]) for message in messages(house)] == [b"x", b"x"]


@pytest.mark.parametrize(
    ("files", "status"),
    [
        ("file-x", 400),
        ({}, 400),
        ([7], 400),
        ([["file"]], 400),
        ([f"file-{n:024}" for n in range(MOST_FILES + 1)], 400),
        (["file-" + "0" * 24], 410),
        (["../bowerbird.db"], 410),
        (["files/00/" + "0" * 64], 410),
        ([], 400),
    ],
)
async def test_files_that_make_no_sense_are_refused_with_a_sentence(tmp_path: Path, files: Any, status: int) -> None:
    house = House(script=silent, data_dir=tmp_path, language="en")
    async with house.open(), aiohttp.ClientSession() as http:
        code, told = await post(http, house, id="1", text="", files=files)
        assert (code, told["error"].endswith(".")) == (status, True)
        async with http.ws_connect(f"{house.url}/v1/ws?chat=a") as line:
            await line.receive_json()
            await line.send_json({"type": "message", "id": "1", "text": "", "files": files})
            assert (await line.receive_json())["error"] == told["error"]
        assert house.inbound == []


async def test_what_is_refused_is_refused_in_a_sentence_and_leaves_nothing(tmp_path: Path) -> None:
    house = House(script=silent, data_dir=tmp_path, language="en")

    async def endless() -> AsyncIterator[bytes]:
        for _ in range(25):
            yield b"x" * MB

    async with house.open(), aiohttp.ClientSession() as http:
        large = (413, {"error": "“film.mp4” is too large: a file may have up to 20 MB."})
        assert await put(http, house, b"x" * (MOST_BYTES + MB), "film.mp4") == large
        assert await put(http, house, b"x" * (MOST_BYTES + 1), "film.mp4") == large
        assert await put(http, house, endless(), "film.mp4") == large
        assert await put(http, house, b"", "blank.txt") == (400, {"error": "“blank.txt” is empty."})
        for kind in ("multipart/form-data", "multipart/form-data; boundary=x"):
            status, told = await put(http, house, b"no form at all", kind=kind)
            assert (status, told["error"].endswith(".")) == (400, True)
        assert list((tmp_path / "uploads").iterdir()) == []
        assert (await put(http, house, b"x" * MOST_BYTES, "film.mp4"))[0] == 201


async def test_an_upload_whose_line_breaks_leaves_nothing(tmp_path: Path) -> None:
    house = House(script=silent, data_dir=tmp_path)
    async with house.open():
        _, line = await asyncio.open_connection("127.0.0.1", house.port)
        head = "POST /v1/files?name=a HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 900000\r\n\r\n"
        line.write(head.encode() + b"x" * 600_000)
        await line.drain()
        folder = tmp_path / "uploads"
        async with asyncio.timeout(5):
            while not folder.exists() or not list(folder.iterdir()):
                await asyncio.sleep(0.01)
            line.close()
            while list(folder.iterdir()):
                await asyncio.sleep(0.01)


async def test_an_upload_that_falls_silent_is_given_up() -> None:
    told = False

    async def receive() -> dict[str, Any]:
        nonlocal told
        if told:
            await asyncio.Event().wait()
        told = True
        return {"type": "http.request", "body": b"first", "more_body": True}

    got = []
    with pytest.raises(Refused) as refused:
        async for piece in arriving(Request({"type": "http", "method": "POST", "headers": []}, receive), 0.05):
            got.append(piece)
    assert (got, refused.value.status) == ([b"first"], 408)


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 401),
        ({"Authorization": "Bearer wrong"}, 401),
        ({"Authorization": "Bearer right"}, 201),
        ({"Authorization": "Bearer right", "Host": "evil.example"}, 201),
    ],
)
async def test_with_a_token_files_need_it(tmp_path: Path, headers: dict[str, str], status: int) -> None:
    house = House(Config(port=0, token=SecretStr("right"), loopback="token"), data_dir=tmp_path)
    async with house.open(), aiohttp.ClientSession() as http:
        assert (await put(http, house, b"x", **headers))[0] == status
        for method, path in (("DELETE", "/v1/files/file-0"), ("GET", "/v1/files/t/said"), ("GET", "/v1/files/t/0")):
            async with http.request(method, house.url + path, headers=headers) as answer:
                assert answer.status == (401 if status == 401 else 404)


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Host": "evil.example"},
        {"X-Forwarded-For": "203.0.113.9"},
    ],
)
async def test_another_site_can_neither_send_nor_see_files(tmp_path: Path, headers: dict[str, str]) -> None:
    house = House(data_dir=tmp_path)
    async with house.open(), aiohttp.ClientSession() as http:
        for kind in ("text/plain", "multipart/form-data; boundary=x", "application/octet-stream"):
            assert (await put(http, house, b"x", kind=kind, **headers))[0] == 403
        async with http.get(house.url + "/v1/files/t/0", headers=headers) as answer:
            assert answer.status == 403
        assert not (tmp_path / "uploads").exists()


async def test_a_file_is_taken_back_before_it_is_sent(tmp_path: Path) -> None:
    house = House(script=silent, data_dir=tmp_path)
    async with house.open(), aiohttp.ClientSession() as http:
        id_ = await uploaded(http, house, b"x", "a.txt")
        for status in (200, 404):
            async with http.delete(f"{house.url}/v1/files/{id_}") as answer:
                assert answer.status == status
        assert (await post(http, house, id="1", text="x", files=[id_]))[0] == 410


async def test_forms_are_taken_as_well(tmp_path: Path) -> None:
    house = House(script=silent, data_dir=tmp_path)
    async with house.open(), aiohttp.ClientSession() as http:
        form = aiohttp.FormData()
        form.add_field("purpose", "user_data")
        form.add_field("file", picture() * 3000, filename="报告.png", content_type="image/png")
        async with http.post(house.url + "/v1/files", data=form) as answer:
            told = await answer.json()
        assert (answer.status, told["filename"], told["bytes"]) == (201, "报告.png", len(picture()) * 3000)


async def test_the_page_knows_what_a_message_may_hold() -> None:
    house = House()
    async with house.open(), aiohttp.ClientSession() as http, http.get(house.url + "/v1/about") as answer:
        limits = (await answer.json())["limits"]
    assert limits == {"files": MOST_FILES, "file_bytes": MOST_BYTES, "text_chars": 100_000}


async def test_a_document_that_a_person_attached_is_a_file_of_theirs(tmp_path: Path) -> None:
    """What a form says of itself does not make a recording the person's own voice."""
    house = House(script=silent, data_dir=tmp_path)
    async with house.open(), aiohttp.ClientSession() as http:
        ids = [
            await uploaded(http, house, b"OggS....", "voice.ogg", "audio/ogg"),
            await uploaded(http, house, made.pdf(["Rent"]), "a.pdf", "application/pdf"),
        ]
        await post(http, house, id="1", text="", files=ids)
        assert [ref.spoken for ref in messages(house)[0].files] == [False, False]
