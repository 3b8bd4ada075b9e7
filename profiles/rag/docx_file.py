"""Word documents: paragraphs by heading, and tables."""

from __future__ import annotations

import io
from typing import Any

from .content import Gathered, NotExtracted, Resource, Source, StructuredChunk, table
from .markdown import markdown_table
from .packed import unpacked


class DocxExtractor:
    """The body of a document, one stretch a heading."""

    def supports(self, source: Source) -> bool:
        """By name."""
        return source.suffix == ".docx"

    def extract(self, source: Source) -> list[StructuredChunk]:
        """The sections, each with its tables."""
        import docx

        data = source.read_bytes()
        unpacked(data).close()  # its bounds
        try:
            document = docx.Document(io.BytesIO(data))
        except Exception as error:
            raise NotExtracted(f"is damaged: no Word document ({type(error).__name__})") from error
        found = Gathered()
        section, lines, resources = "", list[str](), list[Resource]()
        for block in document.iter_inner_content():
            if hasattr(block, "rows"):
                markdown = markdown_table(_cells(block))
                if markdown:
                    resources.append(table(markdown, section))
                    lines += ["", markdown, ""]
                continue
            text = block.text.strip()
            if text and str(getattr(block.style, "name", "")).startswith(("Heading", "Title")):
                found.add("\n".join(lines).strip(), section=section, resources=resources)
                section, lines, resources = text, [text], []
            elif text:
                lines.append(text)
            if found.full:
                break
        found.add("\n".join(lines).strip(), section=section, resources=resources)
        return found.result()


def _cells(block: Any) -> list[list[str]]:
    """The cells' text. Taken from the rows' own elements: the library looks for the cells of each
    row in the whole table."""
    return [[_text(cell) for cell in row._tr.tc_lst] for row in block.rows]


def _text(cell: Any) -> str:
    return " ".join("".join(part.itertext("{*}t")) for part in cell.iterfind("{*}p"))
