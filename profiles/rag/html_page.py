"""HTML pages by section, with their tables and what they say of their images."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from .content import Gathered, Resource, Source, StructuredChunk, table
from .markdown import markdown_table

if TYPE_CHECKING:
    from bs4 import Tag

_HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
_UNSEEN = (
    "script, style, template, noscript, head, iframe, object, svg, [hidden],"
    ' [style*="display:none" i], [style*="display: none" i], [style*="visibility:hidden" i]'
)
_BREAKS = frozenset(
    {"address", "article", "aside", "blockquote", "br", "dd", "div", "dl", "dt", "figcaption"}
    | {"figure", "footer", "form", "header", "hr", "li", "main", "nav", "ol", "p", "pre"}
    | {"section", "td", "th", "tr", "ul"}
)


class HtmlExtractor:
    """A page's body, one stretch a heading. What a browser does not show is left out."""

    def supports(self, source: Source) -> bool:
        """By name."""
        return source.suffix in (".html", ".htm", ".xhtml")

    def extract(self, source: Source) -> list[StructuredChunk]:
        """The sections, each with its tables (as Markdown, too) and images."""
        found = Gathered()
        add_page(found, source.read_bytes())
        return found.result()


def add_page(found: Gathered, data: bytes) -> None:
    """Add the sections of one page to what was found."""
    from bs4 import BeautifulSoup

    page = BeautifulSoup(data, "lxml")
    title = page.title.get_text(" ", strip=True) if page.title else ""
    for unseen in page.select(_UNSEEN):
        unseen.extract()
    _Reading(found, title).read(page.body or page)


class _Reading:
    """The way through one page, in its order; without recursion, however deep the page is."""

    def __init__(self, found: Gathered, title: str) -> None:
        self.found, self.section = found, title
        self.words: list[str] = []
        self.resources: list[Resource] = []

    def read(self, top: Tag) -> None:
        from bs4 import Tag

        open_tags: list[tuple[str, Iterator[Any]]] = [("", iter(top.contents))]
        while open_tags and not self.found.full:
            name, nodes = open_tags[-1]
            node = next(nodes, None)
            if node is None:
                open_tags.pop()
                if name in _BREAKS:
                    self.words.append("\n")
            elif not isinstance(node, Tag):
                self.text(node)
            elif self.enter(node):
                open_tags.append((node.name, iter(node.contents)))
        self.end()

    def text(self, node: Any) -> None:
        from bs4.element import PreformattedString  # comments and the like

        if not isinstance(node, PreformattedString):
            self.words.append(" ".join(f"|{node}|".split())[1:-1])

    def enter(self, node: Tag) -> bool:
        """Take what the tag itself says; whether its parts are to be read, too."""
        if node.name in _HEADINGS:
            self.end()
            self.section = " ".join(node.get_text(" ").split()) or self.section
            self.words.append(f"{self.section}\n")
            return False
        if node.name == "table":
            markdown = markdown_table(list(_rows(node)))
            if markdown:
                caption = node.caption.get_text(" ", strip=True) if node.caption else self.section
                self.resources.append(table(markdown, caption))
                self.words += ["\n\n", markdown, "\n\n"]
            return False
        if node.name == "img":
            self.resources += _image(node, self.words)
        if node.name in _BREAKS:
            self.words.append("\n")
        return True

    def end(self) -> None:
        """The section is over."""
        self.found.add(_joined(self.words), section=self.section, resources=self.resources)
        self.words, self.resources = [], []


def _joined(words: list[str]) -> str:
    lines = "".join(words).splitlines()
    text = "\n".join(line.strip() for line in lines)
    while "\n\n\n" in text:
        text = text.replace("\n\n\n", "\n\n")
    return text.strip()


def _rows(node: Tag) -> Iterator[list[str]]:
    for row in node.find_all("tr"):
        if row.find_parent("table") is node:
            cells = row.find_all(["td", "th"], recursive=False)
            yield [cell.get_text(" ") for cell in cells]


def _image(node: Tag, words: list[str]) -> list[Resource]:
    """What the page says of an image; the image itself is not fetched."""
    about = " ".join(str(node.get("alt") or node.get("title") or "").split())
    where = str(node.get("src") or "")
    if where.startswith("data:"):
        where = ""
    if not about and not where:
        return []
    words.append(f" [image: {about or where[:200]}] ")
    return [Resource("image", b"", "text/uri-list", about or where[:500])]
