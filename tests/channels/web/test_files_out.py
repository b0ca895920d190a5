"""Files that are handed out: as downloads, or as pictures made anew, and from nowhere but the data folder."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import aiohttp
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PIL import Image
from yarl import URL

from bot.core.address import Address
from bot.core.ports import owner_of
from bot.core.stop import StopReason
from bot.core.transcript import EndRow, KeptFile, ResultRow, UserRow
from bot.core.view import OutFile
from bot.store.files import Files
from tests.channels.web.house import House
from tests.channels.web.test_files import frames, messages, picture, post, put, silent, uploaded


async def handed_out(http: aiohttp.ClientSession, house: House, href: str) -> tuple[int, Any, bytes]:
    async with http.get(URL(f"{house.url}/{href}", encoded=True)) as answer:
        assert answer.headers["x-content-type-options"] == "nosniff"
        return answer.status, answer.headers, await answer.read()


async def test_a_page_is_shown_what_was_attached_now_and_after_a_restart(tmp_path: Path) -> None:
    house = House(script=silent, data_dir=tmp_path)
    async with aiohttp.ClientSession() as http:
        async with house.open():
            sent = [
                await uploaded(http, house, picture("GIF"), "p.gif", "image/gif"),
                await uploaded(http, house, b"<script>alert(1)</script>", "page.html", "text/html"),
                await uploaded(http, house, b"<svg onload='alert(1)'/>", "p.svg", "image/svg+xml"),
                await uploaded(http, house, b"<html>no picture", "p.png", "image/png"),
            ]
            line = await http.ws_connect(f"{house.url}/v1/ws?chat=a")
            await post(http, house, id="m/1?&", text="", files=sent)
            while (news := await line.receive_json()).get("data", {}).get("type") != "message":
                pass
            live = news["data"]["files"]
            await line.close()
            assert (await frames(http, house))[0]["files"] == live  # nothing of the turn is shown yet
            house.turns["turn1"].record(StopReason.ANSWERED)
        async with house.open():
            (told, *_) = await frames(http, house)
            listed = told["said"][0]["files"]
            assert listed == live
            assert [(one["name"], one["size"], bool(one["picture"])) for one in listed] == [
                ("p.gif", len(picture("GIF")), True),
                ("page.html", 25, False),
                ("p.svg", 24, False),
                ("p.png", 16, False),
            ]
            status, headers, body = await handed_out(http, house, listed[0]["picture"])
            assert (status, headers["content-type"], body[:3]) == (200, "image/jpeg", b"\xff\xd8\xff")
            assert "default-src 'none'" in headers["content-security-policy"]
            for one in listed:
                status, headers, body = await handed_out(http, house, one["href"])
                assert (status, headers["content-type"]) == (200, "application/octet-stream")
                assert headers["content-disposition"].startswith("attachment; ")
            for one in listed[1:]:
                assert (await handed_out(http, house, one["href"] + "&picture=1"))[0] == 404


async def test_what_the_house_made_of_a_picture_is_what_a_page_sees(tmp_path: Path) -> None:
    kept = Files(tmp_path)
    path, jpeg = await kept.keep(picture()), picture("JPEG", 7)
    file = KeptFile("p.png", "image/png", path, picture=await kept.keep(jpeg), text="and its text")
    gone = KeptFile("q.png", "image/png", "files/00/" + "0" * 64, picture="files/11/" + "1" * 64)
    evil = KeptFile("r.png", "image/png", "../bowerbird.db", picture="/etc/passwd")
    never = KeptFile("film.mp4", "video/mp4", trouble="large")
    house = House(data_dir=tmp_path)
    row = UserRow("", owner_of("web"), "m", files=(file, gone, evil, never))
    house.archive.append(house.address("a"), "t", 1.0, row, EndRow(StopReason.ANSWERED))
    async with house.open(), aiohttp.ClientSession() as http:
        (told, *_) = await frames(http, house)
        first, *others = told["said"][0]["files"]
        assert (await handed_out(http, house, first["picture"]))[2] == jpeg
        assert (await handed_out(http, house, first["href"]))[2] == picture()
        assert "and its text" not in str(told)
        assert [(one["name"], one["href"], one["picture"]) for one in others] == [
            ("q.png", "", ""),
            ("r.png", "", ""),
            ("film.mp4", "", ""),
        ]
        for n in ("1", "2", "3", "4", "-1", "", "x", "%EF%BC%91", "99999999999999999999"):
            for as_picture in ("", "&picture=1"):
                assert (await handed_out(http, house, f"v1/files/t/said?message=m&n={n}{as_picture}"))[0] == 404
        assert (await handed_out(http, house, "v1/files/t/said?message=other&n=0"))[0] == 404
        assert (await handed_out(http, house, "v1/files/other/said?message=m&n=0"))[0] == 404


async def test_a_picture_of_an_answer_is_made_anew_and_the_rest_is_a_download(tmp_path: Path) -> None:
    (tmp_path / "chart.png").write_bytes(picture(width=4000))
    (tmp_path / "broken.png").write_bytes(picture()[:60])
    (tmp_path / "t.csv").write_bytes(b"a,b\n")
    house = House(data_dir=tmp_path)
    async with house.open(), aiohttp.ClientSession() as http:
        turn = house.start("a")
        names = ("chart.png", "broken.png", "t.csv", "gone.png")
        await turn.show(files=tuple(OutFile(name, "image/png", str(tmp_path / name)) for name in names))
        (told, *_) = await frames(http, house)
        files = told["files"]
        assert [(one["name"], one["size"]) for one in files[2:]] == [("t.csv", 4), ("gone.png", 0)]
        assert [bool(one["picture"]) for one in files] == [True, True, False, False]
        status, headers, body = await handed_out(http, house, files[0]["picture"])
        assert (status, headers["content-type"]) == (200, "image/jpeg")
        assert Image.open(io.BytesIO(body)).size == (1568, 12)
        assert (await handed_out(http, house, files[0]["picture"]))[2] == body
        assert (await handed_out(http, house, files[1]["picture"]))[0] == 404
        assert (await handed_out(http, house, files[0]["href"]))[2] == picture(width=4000)
        assert files[3]["href"] == ""


@given(name=st.text(max_size=120))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40, deadline=None)
async def test_any_name_survives_the_way_up_and_down(tmp_path: Path, name: str) -> None:
    house = House(script=silent, data_dir=tmp_path)
    async with house.open(), aiohttp.ClientSession() as http:
        status, told = await put(http, house, b"x", name.encode("utf-8", "replace").decode())
        assert status == 201
        await post(http, house, id="1", text="", files=[told["file"]])
        (ref,) = messages(house)[0].files
        assert ref.name == told["filename"]
        href = "v1/files/turn1/said?message=1&n=0"
        status, headers, body = await handed_out(http, house, href)
        assert (status, body) == (200, b"x")
        assert headers["content-disposition"].isascii()
    assert {place.parent.name for place in tmp_path.rglob("*") if place.is_file()} <= {"uploads", "2d"}


async def test_files_are_handed_out_as_downloads_only(tmp_path: Any) -> None:
    (tmp_path / "page.html").write_text("<script>alert(1)</script>")
    house = House()
    async with house.open(), aiohttp.ClientSession() as http:
        turn = house.start("a")
        files = (
            OutFile('报告 "x"\r\n.html', "text/html", str(tmp_path / "page.html")),
            OutFile("gone", "x/y", "/no/such"),
        )
        await turn.write("Here.")
        await turn.show(files=files)
        async with http.get(f"{house.url}/v1/files/{turn.id}/0") as answer:
            assert answer.status == 200
            assert answer.headers["content-type"] == "application/octet-stream"
            assert answer.headers["content-disposition"].startswith("attachment; filename*=UTF-8''%E6%8A%A5")
            assert await answer.text() == "<script>alert(1)</script>"
        for path in (f"{turn.id}/1", f"{turn.id}/2", "other/0", f"{turn.id}/%2e%2e/0", f"{turn.id}/..%2F0"):
            async with http.get(URL(f"{house.url}/v1/files/{path}", encoded=True)) as answer:
                assert answer.status == 404


async def test_files_of_the_past_are_listed_and_handed_out_from_the_data_folder_only(tmp_path: Any) -> None:
    kept = Files(tmp_path)
    path = await kept.keep(b"a,b\n")
    (tmp_path / "bowerbird.db").write_text("everything")
    house = House(data_dir=tmp_path)
    files = tuple(
        OutFile(f"{n}.csv", "text/csv", at) for n, at in enumerate((path, "files/../bowerbird.db", "/etc/passwd"))
    )
    for chat, channel in (("a", "web"), ("b", "telegram")):
        to = Address(channel, "main", chat)
        house.archive.append(to, f"turn{chat}", 1.0, UserRow("files, please", owner_of(channel), "1"))
        house.archive.append(to, f"turn{chat}", 2.0, ResultRow("c1", "export", "done", files=files))
        house.archive.append(to, f"turn{chat}", 3.0, EndRow(StopReason.ANSWERED))
    async with house.open(), aiohttp.ClientSession() as http:
        async with http.get(f"{house.url}/v1/history?chat=a") as answer:
            listed = [frame["files"] for frame in (await answer.json())["frames"] if "files" in frame]
        assert (listed[0][0]["name"], listed[0][0]["href"]) == ("0.csv", "v1/files/turna/0")
        async with http.get(f"{house.url}/v1/files/turna/0") as answer:
            assert (answer.status, await answer.read()) == (200, b"a,b\n")
        for place in ("turna/1", "turna/2", "turna/3", "turnb/0", "turna/-1"):
            async with http.get(f"{house.url}/v1/files/{place}") as answer:
                assert answer.status == 404, place
