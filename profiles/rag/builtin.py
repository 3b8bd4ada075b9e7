"""The built-in extractors, in the order in which they are asked."""

from __future__ import annotations

from .content import NotExtracted, Source, StructuredChunk, StructuredExtractor
from .csv_file import CsvExtractor
from .docx_file import DocxExtractor
from .epub_book import EpubExtractor
from .html_page import HtmlExtractor
from .pdf import PyPdfExtractor
from .plain import PlainTextExtractor

BY_NAME: tuple[StructuredExtractor, ...] = (
    PyPdfExtractor(),
    HtmlExtractor(),
    CsvExtractor(),
    DocxExtractor(),
    EpubExtractor(),
)
PLAIN = PlainTextExtractor()
_PLAIN_NAMES = frozenset({".md", ".markdown", ".mdx", ".txt", ".rst", ".text"})


def by_name(source: Source) -> StructuredExtractor | None:
    """The extractor that knows such files; None where it takes a look whether they are text."""
    for one in BY_NAME:
        if one.supports(source):
            return one
    return PLAIN if source.suffix in _PLAIN_NAMES else None


def extract(source: Source) -> list[StructuredChunk]:
    """The file's text.

    Raises:
        NotExtracted: there is none to be had, for the reason in the message.
    """
    if not source.read_bytes().strip():
        raise NotExtracted("is empty")
    found = by_name(source)
    if found is None:
        try:
            return list(PLAIN.extract(source))
        except NotExtracted as error:
            ending = source.suffix or "files without an ending"
            raise NotExtracted(f"{error}, and nothing here reads {ending}") from error
    return list(found.extract(source))
