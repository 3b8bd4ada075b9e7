"""Text files: plain text, Markdown and reStructuredText by heading, and whatever else is text."""

from __future__ import annotations

import codecs
from collections.abc import Iterator

from .content import Gathered, NotExtracted, Source, StructuredChunk

_BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_UNDERLINES = frozenset("=-~^\"'`#*+:.")
_MARKDOWN = frozenset({".md", ".markdown", ".mdx"})


def decoded(data: bytes) -> str:
    """The text of a file: by its mark, as UTF-8, else as the old Western European code page.

    Raises:
        NotExtracted: it is no text.
    """
    for mark, encoding in _BOMS:
        if data.startswith(mark):
            return data.decode(encoding, "replace")
    head = data[:8192]
    if b"\0" in head:
        raise NotExtracted("is no text")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        text = data.decode("cp1252", "replace")
    odd = sum(1 for letter in text[:8192] if letter < " " and letter not in "\t\n\r\f\x1b")
    if odd * 20 > len(text[:8192]):
        raise NotExtracted("is no text")
    return text


class PlainTextExtractor:
    """Any file that turns out to be text; asked last."""

    def supports(self, source: Source) -> bool:
        """Everything: what is no text is refused on reading."""
        return True

    def extract(self, source: Source) -> list[StructuredChunk]:
        """Markdown and reStructuredText by heading, other text in one piece."""
        text = decoded(source.read_bytes())
        if not text.strip():
            raise NotExtracted("is empty")
        found = Gathered()
        if source.suffix in _MARKDOWN:
            parts = _by_heading(text)
        elif source.suffix == ".rst":
            parts = _by_underline(text)
        else:
            parts = iter([("", text)])
        for section, part in parts:
            found.add(part, section=section)
            if found.full:
                break
        return found.result()


def _by_heading(text: str) -> Iterator[tuple[str, str]]:
    """Markdown's sections: heading, and text with the heading's own line."""
    section, lines, fence = "", list[str](), ""
    for line in text.splitlines():
        bare = line.lstrip()
        mark = bare[:3]
        if mark in ("```", "~~~") and (not fence or mark == fence):
            fence = "" if fence else mark
        title = "" if fence else _heading(line)
        if title:
            yield section, "\n".join(lines)
            section, lines = title, []
        lines.append(line)
    yield section, "\n".join(lines)


def _heading(line: str) -> str:
    level = len(line) - len(line.lstrip("#"))
    if not 1 <= level <= 6 or line[level : level + 1] not in (" ", "\t"):
        return ""
    return line[level:].strip().rstrip("#").rstrip()


def _by_underline(text: str) -> Iterator[tuple[str, str]]:
    """reStructuredText's sections: a line, and one of marks below that is at least as long."""
    section, lines = "", list[str]()
    for line in text.splitlines():
        title = lines[-1].strip() if lines else ""
        mark = line.rstrip()
        if title and len(mark) >= max(len(title), 3) and set(mark) <= {mark[0]} & _UNDERLINES:
            yield section, "\n".join(lines[:-1])
            section, lines = title, [lines[-1]]
        lines.append(line)
    yield section, "\n".join(lines)
