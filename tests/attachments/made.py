"""Small real files of each kind, and hostile ones."""

from __future__ import annotations

import io
import random
import struct
import zlib
from collections.abc import Mapping, Sequence
from xml.sax.saxutils import escape
from zipfile import ZIP_DEFLATED, ZipFile

from PIL import Image

WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PACKAGE = "http://schemas.openxmlformats.org/package/2006"


def zipped(parts: Mapping[str, str | bytes]) -> bytes:
    out = io.BytesIO()
    with ZipFile(out, "w", ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return out.getvalue()


def pdf(pages: Sequence[str], extra: bytes = b"") -> bytes:
    """A page for each text, whose lines stand below each other. ``extra`` goes into the trailer."""
    objects = [b"<< /Type /Catalog /Pages 2 0 R >>", b"", b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"]
    kids = []
    for text in pages:
        lines = b"".join(b"(%b) Tj T* " % line.encode() for line in text.split("\n"))
        content = zlib.compress(b"BT /F1 10 Tf 40 800 Td 14 TL " + lines + b"ET")
        objects.append(b"<< /Length %d /Filter /FlateDecode >>\nstream\n%b\nendstream" % (len(content), content))
        objects.append(
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents %d 0 R /Resources"
            b" << /Font << /F1 3 0 R >> >> >>" % len(objects)
        )
        kids.append(b"%d 0 R" % len(objects))
    objects[1] = b"<< /Type /Pages /Count %d /Kids [%b] >>" % (len(kids), b" ".join(kids))
    out = io.BytesIO(b"%PDF-1.4\n")
    out.seek(0, io.SEEK_END)
    offsets = []
    for number, body in enumerate(objects, 1):
        offsets.append(out.tell())
        out.write(b"%d 0 obj\n%b\nendobj\n" % (number, body))
    start = out.tell()
    out.write(b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1))
    out.write(b"".join(b"%010d 00000 n \n" % offset for offset in offsets))
    out.write(b"trailer << /Size %d /Root 1 0 R %b >>\nstartxref\n%d\n%%%%EOF" % (len(objects) + 1, extra, start))
    return out.getvalue()


def locked_pdf() -> bytes:
    """Encrypted with a password that nobody knows (its check value is noise)."""
    noise = b"<" + b"5a" * 32 + b">"
    return pdf(
        ["secret"], b"/ID [<61><61>] /Encrypt << /Filter /Standard /V 1 /R 2 /P -4 /O %b /U %b >>" % (noise, noise)
    )


def docx(*paragraphs: str, heading: str = "") -> bytes:
    body = f'<w:p><w:pPr><w:pStyle w:val="Heading1"/></w:pPr><w:r><w:t>{escape(heading)}</w:t></w:r></w:p>'
    body += "".join(f"<w:p><w:r><w:t>{escape(text)}</w:t></w:r></w:p>" for text in paragraphs)
    return docx_of(body)


def docx_of(body: str, before: str = "", relations: str = "") -> bytes:
    return zipped(
        {
            "[Content_Types].xml": f'<Types xmlns="{PACKAGE}/content-types">'
            '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
            '<Override PartName="/word/document.xml" ContentType="application/vnd.openxmlformats-officedocument'
            '.wordprocessingml.document.main+xml"/></Types>',
            "_rels/.rels": f'<Relationships xmlns="{PACKAGE}/relationships"><Relationship Id="r1"'
            f' Type="{OFFICE}/officeDocument" Target="word/document.xml"/></Relationships>',
            "word/_rels/document.xml.rels": f'<Relationships xmlns="{PACKAGE}/relationships">{relations}</Relationships>',
            "word/document.xml": f'<?xml version="1.0"?>{before}<w:document xmlns:w="{WORD}"><w:body>{body}'
            "</w:body></w:document>",
        }
    )


def xlsx(sheets: Mapping[str, Sequence[Sequence[str | int]]]) -> bytes:
    """Each sheet with its rows, texts inline."""
    main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    parts: dict[str, str | bytes] = {
        "[Content_Types].xml": f'<Types xmlns="{PACKAGE}/content-types"><Default Extension="xml" ContentType="application/xml"/></Types>',
        "_rels/.rels": f'<Relationships xmlns="{PACKAGE}/relationships"><Relationship Id="r1"'
        f' Type="{OFFICE}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
    }
    names, relations = "", ""
    for number, (name, rows) in enumerate(sheets.items(), 1):
        names += f'<sheet name="{escape(name)}" sheetId="{number}" r:id="r{number}"/>'
        target = f"worksheets/sheet{number}.xml"
        relations += f'<Relationship Id="r{number}" Type="{OFFICE}/worksheet" Target="{target}"/>'
        cells = "".join(f'<row r="{at}">{"".join(map(_cell, row))}</row>' for at, row in enumerate(rows, 1))
        parts[f"xl/{target}"] = f'<worksheet xmlns="{main}"><sheetData>{cells}</sheetData></worksheet>'
    parts["xl/workbook.xml"] = f'<workbook xmlns="{main}" xmlns:r="{OFFICE}"><sheets>{names}</sheets></workbook>'
    parts["xl/_rels/workbook.xml.rels"] = f'<Relationships xmlns="{PACKAGE}/relationships">{relations}</Relationships>'
    return zipped(parts)


def _cell(value: str | int) -> str:
    if isinstance(value, int):
        return f"<c><v>{value}</v></c>"
    return f'<c t="inlineStr"><is><t>{escape(value)}</t></is></c>'


def pptx(*slides: Sequence[str]) -> bytes:
    """A slide for each list of paragraphs."""
    drawn = "http://schemas.openxmlformats.org/drawingml/2006/main"
    parts: dict[str, str | bytes] = {"ppt/presentation.xml": "<presentation/>"}
    for number, paragraphs in enumerate(slides, 1):
        said = "".join(f"<a:p><a:r><a:t>{escape(text)}</a:t></a:r></a:p>" for text in paragraphs)
        parts[f"ppt/slides/slide{number}.xml"] = f'<sld xmlns:a="{drawn}"><txBody>{said}</txBody></sld>'
    return zipped(parts)


def odt(*paragraphs: str) -> bytes:
    text = "urn:oasis:names:tc:opendocument:xmlns:text:1.0"
    said = "".join(f"<text:p>{escape(one)}</text:p>" for one in paragraphs)
    content = f'<office:document-content xmlns:office="x" xmlns:text="{text}">{said}</office:document-content>'
    return zipped({"mimetype": "application/vnd.oasis.opendocument.text", "content.xml": content})


def picture(width: int = 60, height: int = 40, kind: str = "JPEG", mode: str = "RGB", **options: object) -> bytes:
    out = io.BytesIO()
    Image.new(mode, (width, height), 200 if mode == "L" else (200, 30, 30, 0)[: len(mode)]).save(out, kind, **options)  # type: ignore[arg-type]
    return out.getvalue()


def turned_picture() -> bytes:
    """Lying on its side, with the note of a camera that it is to be turned: upright it is 40 by 60."""
    exif = Image.Exif()
    exif[0x0112] = 6
    exif[0x010F] = "Spy Camera"
    return picture(60, 40, exif=exif)


def moving_picture(kind: str = "GIF") -> bytes:
    out = io.BytesIO()
    frames = [Image.new("RGB", (30, 20), color) for color in ("red", "blue")]
    frames[0].save(out, kind, save_all=True, append_images=frames[1:], duration=100)
    return out.getvalue()


def pixel_bomb(side: int = 60_000) -> bytes:
    """A PNG of a few kilobytes that says it is ``side`` by ``side`` pixels."""

    def chunk(name: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))

    head = struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(bytes(10_000))) + chunk(b"IEND", b"")
    )


def laughs() -> str:
    """The declaration of an entity that would be a thousand million letters."""
    levels = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 10))
    return f'<!DOCTYPE x [<!ENTITY l0 "ha">{levels}]>'


def zip_bomb(part: str, megabytes: int) -> bytes:
    """``part`` is that many megabytes of blanks in an archive of a thousandth of it."""
    return zipped({part: b" " * (megabytes * 1024 * 1024)})


def lying_bomb(part: str, megabytes: int) -> bytes:
    """The same, but its directory says that the part is small."""
    honest = bytearray(zip_bomb(part, megabytes))
    size = struct.pack("<I", megabytes * 1024 * 1024)
    while (at := honest.find(size)) >= 0:
        honest[at : at + 4] = struct.pack("<I", 1000)
    return bytes(honest)


def noise(width: int, height: int) -> bytes:
    """A PNG that nothing makes smaller."""
    out = io.BytesIO()
    Image.frombytes("RGB", (width, height), random.Random(1).randbytes(width * height * 3)).save(out, "PNG")
    return out.getvalue()
