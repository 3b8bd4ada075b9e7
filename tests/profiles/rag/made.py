"""Documents made here, a few bytes each: PDF, Word, EPUB."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Sequence


def pdf(*pages: Sequence[str], table: Sequence[Sequence[str]] = (), image: bool = False) -> bytes:
    """A PDF: lines of text on each page; below those of the last a table with ruled lines, and a
    picture."""
    contents = [_text(lines) for lines in pages]
    contents[-1] += _table(table) + (b"q 80 0 0 80 400 100 cm /Im Do Q\n" if image else b"")
    objects = [b"<< /Type /Catalog /Pages 2 0 R >>", b""]
    objects.append(b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>")
    pixels = bytes(range(256)) * 12  # 32 x 32, three colours
    objects.append(
        _stream(
            pixels,
            b"/Type /XObject /Subtype /Image /Width 32 /Height 32 /ColorSpace /DeviceRGB"
            b" /BitsPerComponent 8",
        )
    )
    kids = []
    for content in contents:
        objects.append(_stream(content))
        objects.append(
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents %d 0 R /Resources"
            b" << /Font << /F 3 0 R >> /XObject << /Im 4 0 R >> >> >>" % len(objects)
        )
        kids.append(b"%d 0 R" % len(objects))
    objects[1] = b"<< /Type /Pages /Kids [%s] /Count %d >>" % (b" ".join(kids), len(kids))
    return _file(objects)


def _text(lines: Sequence[str]) -> bytes:
    parts = [
        b"BT /F 12 Tf 50 %d Td (%s) Tj ET\n" % (800 - 16 * number, line.encode())
        for number, line in enumerate(lines)
    ]
    return b"".join(parts)


def _table(rows: Sequence[Sequence[str]]) -> bytes:
    parts: list[bytes] = []
    if not rows:
        return b""
    for down in range(len(rows) + 1):
        parts.append(
            b"50 %d m %d %d l S\n" % (600 - 20 * down, 50 + 100 * len(rows[0]), 600 - 20 * down)
        )
    for across in range(len(rows[0]) + 1):
        parts.append(
            b"%d 600 m %d %d l S\n" % (50 + 100 * across, 50 + 100 * across, 600 - 20 * len(rows))
        )
    for down, row in enumerate(rows):
        for across, cell in enumerate(row):
            place = (55 + 100 * across, 586 - 20 * down, cell.encode())
            parts.append(b"BT /F 10 Tf %d %d Td (%s) Tj ET\n" % place)
    return b"".join(parts)


def _stream(data: bytes, more: bytes = b"") -> bytes:
    return b"<< /Length %d %s >>\nstream\n%s\nendstream" % (len(data), more, data)


def _file(objects: Sequence[bytes]) -> bytes:
    out = io.BytesIO(b"%PDF-1.4\n")
    out.seek(0, 2)
    places = []
    for number, body in enumerate(objects, 1):
        places.append(out.tell())
        out.write(b"%d 0 obj\n%s\nendobj\n" % (number, body))
    start = out.tell()
    out.write(b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1))
    out.write(b"".join(b"%010d 00000 n \n" % place for place in places))
    out.write(
        b"trailer << /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (len(objects) + 1, start)
    )
    return out.getvalue()


def docx(*blocks: object) -> bytes:
    """A Word document: `# text` is a heading, other text a paragraph, a list of rows a table."""
    import docx as library

    document = library.Document()
    for block in blocks:
        if isinstance(block, str) and block.startswith("# "):
            document.add_heading(block[2:], 1)
        elif isinstance(block, str):
            document.add_paragraph(block)
        else:
            assert isinstance(block, list)
            table = document.add_table(len(block), len(block[0]))
            for row, cells in zip(table.rows, block, strict=True):
                for cell, text in zip(row.cells, cells, strict=True):
                    cell.text = text
    out = io.BytesIO()
    document.save(out)
    return out.getvalue()


CONTAINER = (
    '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
    '<rootfile full-path="OEBPS/book.opf"/></rootfiles></container>'
)


def epub(**chapters: str) -> bytes:
    """A book of XHTML chapters, in the order given; their files lie in the opposite order."""
    items = "".join(
        f'<item id="{name}" href="{name}.xhtml" media-type="application/xhtml+xml"/>'
        for name in reversed(chapters)
    )
    spine = "".join(f'<itemref idref="{name}"/>' for name in chapters)
    package = (
        '<package xmlns="http://www.idpf.org/2007/opf">'
        f"<manifest>{items}</manifest><spine>{spine}</spine></package>"
    )
    parts = {"META-INF/container.xml": CONTAINER, "OEBPS/book.opf": package}
    for name in reversed(chapters):
        page = f"<html><body>{chapters[name]}</body></html>"
        parts[f"OEBPS/{name}.xhtml"] = page
    return packed(parts)


def packed(parts: dict[str, str], *, method: int = zipfile.ZIP_DEFLATED) -> bytes:
    """An archive of these parts."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as archive:
        for name, text in parts.items():
            archive.writestr(name, text)
    return out.getvalue()
