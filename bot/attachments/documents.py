"""Documents as text, each by the library that knows its kind. Runs in the child process only."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Final
from xml.etree.ElementTree import iterparse
from zipfile import ZipFile

from bot.attachments.ends import Ends
from bot.attachments.pages import read_page

MOST_ENTRIES: Final = 20_000
MOST_UNPACKED_BYTES: Final = 400 * 1024 * 1024
"""What the parts of an archive come to by its own account. Whoever lies about it meets the limits of the process."""
MOST_PROSE_BYTES: Final = 64 * 1024 * 1024
"""Of a Word document's own text as XML, about a million words: its converter holds all of it."""

_ENCRYPTED: Final = "EncryptedPackage".encode("utf-16-le")
_SLIDE: Final = re.compile(r"ppt/slides/slide(\d+)\.xml")
_DRAWN: Final = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
_WRITTEN: Final = "{urn:oasis:names:tc:opendocument:xmlns:text:1.0}"


class Locked(Exception):
    """It is protected by a password."""


class TooMuch(Exception):
    """It holds more than is read."""


class Unknown(Exception):
    """It is nothing that is read here."""


def read_pdf(path: Path, ends: Ends) -> None:
    """The first pages until the head is full, then as many of the last ones as the tail takes: however many lie between,
    they cost nothing."""
    import pypdfium2  # type: ignore[import-untyped]

    try:
        document = pypdfium2.PdfDocument(path)
    except pypdfium2.PdfiumError as error:
        raise (Locked if "assword" in str(error) else Unknown)(str(error)) from None
    count = len(document)
    number = 0
    while number < count and ends.wants_head:
        ends.add(_pdf_page(document, number))
        number += 1
    last: list[str] = []
    room = ends.tail_chars
    before = count
    while before > number and room > 0:
        before -= 1
        last.append(_pdf_page(document, before))
        room -= len(last[-1])
    if before > number:
        ends.skip(f"\n[… pages {number + 1} to {before} left out …]\n")
    for page in reversed(last):
        ends.add(page)


def _pdf_page(document: object, number: int) -> str:
    page = document[number]  # type: ignore[index]
    words = page.get_textpage()
    try:
        text = str(words.get_text_bounded()).replace("\r\n", "\n").strip()
    finally:
        words.close()
        page.close()
    return f"[page {number + 1}]\n{text}\n\n" if text else ""


def read_office(path: Path, ends: Ends) -> None:
    """A Word, Excel or PowerPoint file, or one of OpenDocument's."""
    with ZipFile(path) as archive:
        entries = archive.infolist()
        names = {entry.filename for entry in entries}
        if any(entry.flag_bits & 1 for entry in entries):
            raise Locked
        if len(entries) > MOST_ENTRIES or sum(entry.file_size for entry in entries) > MOST_UNPACKED_BYTES:
            raise TooMuch
        if "word/document.xml" in names:
            if archive.getinfo("word/document.xml").file_size > MOST_PROSE_BYTES:
                raise TooMuch
            _read_word(path, ends)
        elif "ppt/presentation.xml" in names:
            _read_slides(archive, ends)
        elif "content.xml" in names and _is_sheet_of_open_document(archive, names):
            read_sheets(path, ends)
        elif "content.xml" in names:
            with archive.open("content.xml") as content:
                _add_all(_paragraphs(content, {f"{_WRITTEN}p", f"{_WRITTEN}h"}, ""), ends)
        elif "xl/workbook.xml" in names or "xl/workbook.bin" in names:
            read_sheets(path, ends)
        else:
            raise Unknown


def read_old_office(path: Path, ends: Ends) -> None:
    """Excel's format before 2007. Word's and PowerPoint's are not read; in this shape also come newer files with a
    password."""
    with path.open("rb") as file:
        if _ENCRYPTED in file.read():
            raise Locked
    read_sheets(path, ends)


def read_sheets(path: Path, ends: Ends) -> None:
    """Each sheet under its name, cells between tabs."""
    import python_calamine

    try:
        workbook = python_calamine.CalamineWorkbook.from_path(path)
    except python_calamine.PasswordError:
        raise Locked from None
    except python_calamine.CalamineError as error:
        raise Unknown(str(error)) from None
    for name in workbook.sheet_names:
        ends.add(f"## {name}\n")
        for row in workbook.get_sheet_by_name(name).iter_rows():
            cells = "\t".join(str(cell) for cell in row).rstrip()
            if cells:
                ends.add(f"{cells}\n")
        ends.add("\n")


def _read_word(path: Path, ends: Ends) -> None:
    import mammoth  # type: ignore[import-untyped]

    with path.open("rb") as file:
        made = mammoth.convert_to_html(file, convert_image=mammoth.images.img_element(lambda image: {}))
    read_page(made.value, ends)


def _read_slides(archive: ZipFile, ends: Ends) -> None:
    slides = sorted((int(found[1]), name) for name in archive.namelist() if (found := _SLIDE.fullmatch(name)))
    for number, name in slides:
        ends.add(f"[slide {number}]\n")
        with archive.open(name) as slide:
            _add_all(_paragraphs(slide, {f"{_DRAWN}p"}, f"{_DRAWN}t"), ends)
        ends.add("\n")


def _paragraphs(xml: IO[bytes], paragraphs: set[str], run: str) -> Iterator[str]:
    """The text of each paragraph; of its ``run``s alone where that is no ""."""
    for _, element in iterparse(xml):
        if element.tag in paragraphs:
            texts = (part.text or "" for part in element.iter(run)) if run else element.itertext()
            yield "".join(texts).strip()
            element.clear()


def _add_all(texts: Iterator[str], ends: Ends) -> None:
    for text in texts:
        if text:
            ends.add(f"{text}\n")


def _is_sheet_of_open_document(archive: ZipFile, names: set[str]) -> bool:
    kind = archive.read("mimetype")[:100] if "mimetype" in names else b""
    return b"spreadsheet" in kind
