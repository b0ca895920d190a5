"""Opening files in the child process: what each kind gives, and what the hostile ones cost."""

from __future__ import annotations

import asyncio
import io
import os
import re
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from PIL import Image

from bot.attachments.kinds import HEAD_BYTES, Kind, kind_of
from bot.attachments.opening import Opened, Opener
from tests.attachments import made

CHARS = 4000
SECONDS = 20.0

Open = Callable[..., Awaitable[Opened]]


@pytest.fixture
def open_file(tmp_path: Path) -> Open:
    async def opened(content: bytes, name: str = "", kind: Kind | None = None, chars: int = CHARS) -> Opened:
        place = tmp_path / "content"
        place.write_bytes(content)
        return await Opener().open(place, kind or kind_of(content[:HEAD_BYTES], name, ""), chars)

    return opened


def text(opened: Opened) -> str:
    return opened.body.decode()


def image(opened: Opened) -> Image.Image:
    return Image.open(io.BytesIO(opened.body))


# documents


async def test_a_pdf_is_read_page_by_page(open_file: Open) -> None:
    opened = await open_file(made.pdf(["Rent: 900", "Deposit: 1800\nDue: May"]))
    assert (text(opened), opened.trouble) == ("[page 1]\nRent: 900\n\n[page 2]\nDeposit: 1800\nDue: May", "")


async def test_a_word_document_keeps_headings_lists_and_tables(open_file: Open) -> None:
    cell = "<w:tc><w:p><w:r><w:t>{}</w:t></w:r></w:p></w:tc>"
    table = "".join(f"<w:tr>{cell.format(a)}{cell.format(b)}</w:tr>" for a, b in (("Name", "Age"), ("Ann", "40")))
    opened = await open_file(made.docx("Plain 你好 & more", heading="Lease"))
    assert text(opened) == "# Lease\n\nPlain 你好 & more"
    words = text(await open_file(made.docx_of(f"<w:tbl>{table}</w:tbl>"))).split()
    assert words == ["|", "Name", "|", "Age", "|", "Ann", "|", "40"]


async def test_a_picture_outside_a_word_document_is_not_read(open_file: Open, tmp_path: Path) -> None:
    (tmp_path / "secret.txt").write_text("the secret")
    drawing = (
        '<w:p><w:r><w:drawing><wp:inline xmlns:wp="http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing">'
        '<a:graphic xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"><a:graphicData><pic:pic'
        ' xmlns:pic="http://schemas.openxmlformats.org/drawingml/2006/picture"><pic:blipFill><a:blip'
        f' xmlns:r="{made.OFFICE}" r:link="r9"/></pic:blipFill></pic:pic></a:graphicData></a:graphic></wp:inline>'
        "</w:drawing></w:r></w:p><w:p><w:r><w:t>words</w:t></w:r></w:p>"
    )
    link = f'<Relationship Id="r9" Type="{made.OFFICE}/image" TargetMode="External" Target="file://{tmp_path}/secret.txt"/>'
    opened = await open_file(made.docx_of(drawing, relations=link))
    assert (text(opened), opened.trouble) == ("words", "")


async def test_a_spreadsheet_is_read_sheet_by_sheet(open_file: Open) -> None:
    opened = await open_file(made.xlsx({"Costs": [["what", "usd"], ["rent", 900]], "Notes": [["你好"]]}))
    assert text(opened) == "## Costs\nwhat\tusd\nrent\t900.0\n\n## Notes\n你好"


async def test_slides_come_in_their_order(open_file: Open) -> None:
    slides = [[f"Slide {n}", "point"] for n in range(1, 12)]
    lines = text(await open_file(made.pptx(*slides))).split("\n")
    assert [line for line in lines if line.startswith("Slide")] == [f"Slide {n}" for n in range(1, 12)]
    assert lines[:3] == ["[slide 1]", "Slide 1", "point"]


async def test_an_open_document_is_read(open_file: Open) -> None:
    assert text(await open_file(made.odt("One", "Two 二"))) == "One\nTwo 二"


async def test_a_web_page_is_read_without_its_scripts(open_file: Open) -> None:
    page = (
        "<!DOCTYPE html><title>T</title><script>evil()</script><h1>Hi</h1><p>a <b>bold</b> word<ul><li>one<li>two</ul>"
    )
    assert text(await open_file(page.encode())) == "T\n\n# Hi\n\na bold word\n\n- one\n- two"


@pytest.mark.parametrize(
    ("content", "trouble"),
    [
        (made.locked_pdf(), "locked"),
        (made.pdf([""]), "blank"),
        (made.pdf(["x"])[:200], "kind"),
        (b"%PDF-1.7 and then nothing", "kind"),
        (made.zipped({"readme.txt": "x"}), "kind"),
        (b"PK\x03\x04 broken archive", "broken"),
        (made.docx("x")[:-30], "broken"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600), "kind"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + "EncryptedPackage".encode("utf-16-le"), "locked"),
        (b"\x89PNG\r\n\x1a\nnoise", "kind"),
        (b"\xff\xd8\xff" + bytes(100), "kind"),
        (made.picture(200, 200)[:400], "broken"),
    ],
)
async def test_what_cannot_be_read_says_why(open_file: Open, content: bytes, trouble: str) -> None:
    opened = await open_file(content)
    assert (opened.trouble, opened.body) == (trouble, b"")


# long ones


async def test_of_a_long_pdf_the_first_and_the_last_pages_are_read(open_file: Open) -> None:
    began = time.monotonic()
    opened = await open_file(made.pdf([f"page number {n}" for n in range(1, 10_001)]))
    assert opened.trouble == "cut" and len(text(opened)) < CHARS + 200
    assert text(opened).startswith("[page 1]\npage number 1\n") and text(opened).endswith("page number 10000")
    assert re.search(r"\n\[… pages 1\d\d to 99\d\d left out …\]\n", text(opened))
    assert time.monotonic() - began < SECONDS


async def test_of_a_long_table_head_and_tail_are_read(open_file: Open) -> None:
    rows = [[f"row {n}", n] for n in range(1, 20_001)]
    opened = await open_file(made.xlsx({"Data": rows}))
    assert opened.trouble == "cut" and len(text(opened)) < CHARS + 100
    assert text(opened).startswith("## Data\nrow 1\t") and text(opened).rstrip().endswith("row 20000\t20000.0")
    assert "characters left out" in text(opened)


# pictures


async def test_a_picture_is_turned_upright_and_loses_what_the_camera_wrote(open_file: Open) -> None:
    opened = await open_file(made.turned_picture())
    assert (image(opened).size, image(opened).format) == ((40, 60), "JPEG")
    assert not image(opened).getexif() and b"Spy Camera" not in opened.body


async def test_a_large_picture_is_made_small(open_file: Open) -> None:
    opened = await open_file(made.picture(6000, 3000))
    assert image(opened).size == (1568, 784) and len(opened.body) < 3 * 1024 * 1024
    noise = io.BytesIO()
    Image.effect_noise((1700, 1700), 120).convert("RGB").save(noise, "PNG")
    opened = await open_file(noise.getvalue())
    assert max(image(opened).size) == 1568 and len(opened.body) < 3 * 1024 * 1024


@pytest.mark.parametrize("kind", ["PNG", "WEBP", "GIF", "BMP", "TIFF", "AVIF"])
async def test_every_kind_of_picture_becomes_a_jpeg(open_file: Open, kind: str) -> None:
    opened = await open_file(made.picture(kind=kind))
    assert (image(opened).format, image(opened).size, opened.trouble) == ("JPEG", (60, 40), "")


@pytest.mark.parametrize("mode", ["RGBA", "LA", "P", "L", "CMYK", "1", "I;16"])
async def test_every_way_of_colouring_becomes_a_jpeg(open_file: Open, mode: str) -> None:
    out = io.BytesIO()
    base = Image.new(mode, (60, 40)) if mode in ("I;16", "CMYK") else Image.new("RGBA", (60, 40)).convert(mode)
    base.save(out, "TIFF" if mode == "CMYK" else "PNG")
    assert image(await open_file(out.getvalue())).mode == "RGB"


async def test_what_is_transparent_lies_on_white(open_file: Open) -> None:
    shown = image(await open_file(made.picture(kind="PNG", mode="RGBA")))
    assert shown.getpixel((5, 5)) == (255, 255, 255)


@pytest.mark.parametrize("kind", ["GIF", "WEBP", "PNG"])
async def test_of_a_moving_picture_the_first_one_is_seen(open_file: Open, kind: str) -> None:
    opened = await open_file(made.moving_picture(kind))
    assert opened.trouble == "still" and image(opened).size == (30, 20)
    red, _, blue = image(opened).getpixel((15, 10))  # type: ignore[misc]
    assert red > 200 > blue


# hostile ones


@pytest.mark.parametrize(
    "content",
    [
        made.pixel_bomb(),
        made.zip_bomb("word/document.xml", 200),
        made.zip_bomb("content.xml", 500),
        made.lying_bomb("word/document.xml", 200),
        made.lying_bomb("xl/workbook.xml", 200),
        made.docx_of("<w:p><w:r><w:t>&l9;</w:t></w:r></w:p>", made.laughs()),
        made.docx_of("<w:p>" * 100_000),
        made.zipped({f"word/{n}": "" for n in range(30_000)} | {"word/document.xml": "<x/>"}),
    ],
    ids=["pixels", "zip", "odt", "liar", "xlsx liar", "laughs", "nested", "entries"],
)
async def test_a_hostile_file_costs_a_bounded_amount_and_gets_a_word(open_file: Open, content: bytes) -> None:
    began = time.monotonic()
    opened = await open_file(content)
    assert opened.trouble in ("broken", "kind") and not opened.body
    assert time.monotonic() - began < SECONDS


async def test_a_page_of_open_tags_is_read_all_the_same(open_file: Open) -> None:
    opened = await open_file(b"<html>" + b"<div><table><tr><td>" * 50_000 + b"the end")
    assert "the end" in text(opened)


async def test_a_child_that_never_ends_is_killed(tmp_path: Path, open_file: Open) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    began = time.monotonic()
    assert await Opener(seconds=1.0).open(pipe, Kind.TEXT, CHARS) == Opened("slow")
    assert time.monotonic() - began < 5


async def test_whoever_stops_waiting_leaves_no_child(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    task = asyncio.ensure_future(Opener().open(pipe, Kind.TEXT, CHARS))
    await asyncio.sleep(0.5)
    task.cancel()
    began = time.monotonic()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert time.monotonic() - began < 3


@pytest.mark.skipif(sys.platform != "linux", reason="other systems take away less")
async def test_the_child_is_confined(tmp_path: Path) -> None:
    """What it may not do, it is asked to do: take memory, write a file, reach the network."""
    script = (
        "import os, socket, sys\n"
        "from bot.attachments.child import confine\n"
        "confine()\n"
        "said = []\n"
        "try: bytearray(900 * 1024 * 1024); said.append('memory')\n"
        "except MemoryError: pass\n"
        "try: os.write(os.open(sys.argv[2], os.O_CREAT | os.O_WRONLY), b'x'); said.append('file')\n"
        "except OSError: pass\n"
        "try: socket.create_connection(('127.0.0.1', int(sys.argv[1])), 1); said.append('network')\n"
        "except OSError: pass\n"
        "print(' '.join(said) or 'nothing')\n"
    )
    server = await asyncio.start_server(lambda reader, writer: writer.close(), "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    async with server:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-c", script, str(port), str(tmp_path / "file")),
            env={"PYTHONPATH": str(Path(__file__).parents[2])},
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        out, err = await process.communicate()
    allowed = b"nothing\n" if await _may_unshare() else b"network\n"
    assert out == allowed, (out, err)


async def _may_unshare() -> bool:
    """Some containers forbid it; there the child keeps the network."""
    try:
        process = await asyncio.create_subprocess_exec(
            "unshare", "--user", "--net", "true", stderr=asyncio.subprocess.DEVNULL
        )
    except FileNotFoundError:
        return False
    return await process.wait() == 0


@pytest.mark.parametrize(
    ("library", "kind", "content"),
    [
        ("pypdfium2", Kind.PDF, made.pdf(["x"])),
        ("mammoth", Kind.OFFICE, made.docx("x")),
        ("python_calamine", Kind.OFFICE, made.xlsx({"a": [["x"]]})),
        ("PIL", Kind.PICTURE, made.picture()),
    ],
    ids=["pdf", "docx", "xlsx", "picture"],
)
async def test_b110_where_a_library_is_missing_that_is_said(
    tmp_path: Path, library: str, kind: Kind, content: bytes
) -> None:
    (tmp_path / "file").write_bytes(content)
    script = (
        "import sys\n"
        f"sys.modules[{library!r}] = None\n"
        "from bot.attachments.child import main\n"
        "main(*sys.argv[1:], '1000', sys.stdout.buffer)\n"
    )
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", script, kind.value, str(tmp_path / "file")),
        env={"PYTHONPATH": str(Path(__file__).parents[2])},
        stdout=asyncio.subprocess.PIPE,
    )
    out, _ = await process.communicate()
    assert out == b'{"trouble": "reader"}\n'
