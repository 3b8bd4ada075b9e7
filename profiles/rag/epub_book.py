"""EPUB books: their chapters in reading order, each read as a page."""

from __future__ import annotations

import posixpath
import zipfile
from typing import Any
from urllib.parse import unquote

from .content import Gathered, NotExtracted, Source, StructuredChunk
from .html_page import add_page
from .packed import unpacked

_CONTAINER = "META-INF/container.xml"


class EpubExtractor:
    """An archive of XHTML pages and a list that puts them in order."""

    def supports(self, source: Source) -> bool:
        """By name."""
        return source.suffix == ".epub"

    def extract(self, source: Source) -> list[StructuredChunk]:
        """The sections of every chapter."""
        found = Gathered()
        with unpacked(source.read_bytes()) as book:
            for name in _chapters(book):
                if found.full:
                    break
                try:
                    page = book.read(name)
                except (KeyError, zipfile.BadZipFile, NotImplementedError, EOFError):
                    continue
                add_page(found, page)
        return found.result()


def _chapters(book: zipfile.ZipFile) -> list[str]:
    try:
        root = _xml(book.read(_CONTAINER)).find(".//{*}rootfile")
        path = "" if root is None else str(root.get("full-path"))
        package = _xml(book.read(path))
    except (KeyError, ValueError, zipfile.BadZipFile) as error:
        raise NotExtracted("is no book: its list of chapters is missing") from error
    items = {
        item.get("id"): unquote(str(item.get("href")))
        for item in package.iterfind(".//{*}manifest/{*}item")
    }
    folder = posixpath.dirname(path)
    spine = (item.get("idref") for item in package.iterfind(".//{*}spine/{*}itemref"))
    return [posixpath.normpath(posixpath.join(folder, items[ref])) for ref in spine if ref in items]


def _xml(data: bytes) -> Any:
    """XML without entities, network or huge trees."""
    from lxml import etree

    parser = etree.XMLParser(resolve_entities=False, no_network=True, huge_tree=False)
    try:
        return etree.fromstring(data, parser)
    except etree.XMLSyntaxError as error:
        raise ValueError("no XML") from error
