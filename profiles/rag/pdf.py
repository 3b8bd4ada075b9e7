"""PDF files, page by page: text, tables as Markdown, images."""

from __future__ import annotations

import io
from typing import Any

from .content import MAX_IMAGE_BYTES, Gathered, NotExtracted, Resource, Source, StructuredChunk
from .content import table as table_of
from .markdown import markdown_table

MAX_PAGES = 5_000
MAX_LINES = 3_000
"""Lines of one page up to which tables are looked for; drawings have more."""
MAX_LETTERS = 50_000
MAX_IMAGES = 20
"""Of one page."""
MIN_IMAGE_POINTS = 24
"""Smaller ones are bullets and rules."""
MAX_IMAGE_POINTS = 2_000_000
"""Area of an image; a page of A4 has half a million."""
MAX_PAGE_POINTS = 10_000_000
"""Area of a page whose images are looked at."""
DOTS_PER_INCH = 100


class PyPdfExtractor:
    """Reads with pdfplumber. Scanned pages have no text and are left out."""

    def supports(self, source: Source) -> bool:
        """By name, or by how it begins."""
        return source.suffix == ".pdf" or source.read_bytes()[:5] == b"%PDF-"

    def extract(self, source: Source) -> list[StructuredChunk]:
        """One stretch a page."""
        import pdfplumber

        found = Gathered()
        try:
            with pdfplumber.open(io.BytesIO(source.read_bytes())) as document:
                for page in document.pages[:MAX_PAGES]:
                    _add(found, page)
                    page.close()
                    if found.full:
                        break
        except Exception as error:
            locked = "Password" in type(error).__name__ or "Password" in repr(error)
            why = "is locked with a password" if locked else "is damaged: no readable PDF"
            raise NotExtracted(why) from error
        if not any(chunk.text.strip() for chunk in found.chunks):
            raise NotExtracted("has no text (scanned pages?)")
        return found.result()


def _add(found: Gathered, page: Any) -> None:
    """Add one page. What cannot be read of it is noted, and costs nothing else."""
    number = page.page_number
    try:
        parts, resources = _read(page)
    except Exception:  # noqa: BLE001 - whatever a damaged page does to the library
        found.note(f"page {number} could not be read")
        return
    try:
        images = _images(page)
    except Exception:  # noqa: BLE001 - the same for its pictures
        images = []
        found.note(f"the images of page {number} could not be read")
    parts += [f"[{image.caption}]" for image in images]
    whole = "\n\n".join(part for part in parts if part)
    found.add(whole, page=number, resources=[*resources, *images])


def _read(page: Any) -> tuple[list[str], list[Resource]]:
    """The text of a page without its tables, and then these."""
    tables = []
    drawn = len(page.lines) + len(page.rects) + len(page.curves)
    if len(page.chars) <= MAX_LETTERS and drawn <= MAX_LINES:
        tables = page.find_tables()
    rest = page
    parts, resources = [], list[Resource]()
    for number, table in enumerate(tables, 1):
        markdown = markdown_table(table.extract())
        if markdown and "\n" in markdown:
            parts.append(markdown)
            caption = f"table {number} on page {page.page_number}"
            resources.append(table_of(markdown, caption))
            rest = rest.outside_bbox(_within(table.bbox, page.bbox))
    return [(rest.extract_text() or "").strip(), *parts], resources


def _within(box: Any, bounds: Any) -> Any:
    """The box, kept inside of its page: what sticks out is refused by the library."""
    left, top, right, bottom = box
    return (
        max(left, bounds[0]),
        max(top, bounds[1]),
        min(right, bounds[2]),
        min(bottom, bounds[3]),
    )


def _images(page: Any) -> list[Resource]:
    """The pictures of a page as PNG, as they look there."""
    found: list[Resource] = []
    if page.width * page.height > MAX_PAGE_POINTS:
        return found  # it is drawn as a whole
    for number, image in enumerate(page.images[:MAX_IMAGES], 1):
        box = _within((image["x0"], image["top"], image["x1"], image["bottom"]), page.bbox)
        width, height = box[2] - box[0], box[3] - box[1]
        if min(width, height) < MIN_IMAGE_POINTS or width * height > MAX_IMAGE_POINTS:
            continue
        drawn = io.BytesIO()
        page.crop(box).to_image(resolution=DOTS_PER_INCH).original.save(drawn, "PNG")
        if drawn.tell() <= MAX_IMAGE_BYTES:
            caption = f"image {number} on page {page.page_number}, {width:.0f}x{height:.0f} points"
            found.append(Resource("image", drawn.getvalue(), "image/png", caption))
    return found
