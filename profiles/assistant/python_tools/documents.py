"""Documents: text, HTML and CSV files in a folder, and plain reading of any file.

These tools have no policy of their own. `read_document` gives all text of an HTML page, what a
browser would hide included; `read_file` opens whatever path it is given, seen from the workspace,
also outside of it. What may be read is for the guard to decide. Which folder they work in: see
`edgeward.profiles.workspace`.
"""

from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path

from edgeward.profiles.workspace import workspace

SEED = Path(__file__).resolve().parents[1] / "workspace"
MAX_CHARS = 50_000


def list_documents() -> list[dict[str, str]]:
    """List the documents: name and size in bytes of each."""
    files = sorted(path for path in _documents().iterdir() if path.is_file())
    return [{"name": path.name, "bytes": str(path.stat().st_size)} for path in files]


def read_document(name: str) -> str:
    """Read the text of a document.

    Args:
        name: The name of the document, as `list_documents` gives it.
    """
    path = _existing(name)
    text = path.read_text(encoding="utf-8", errors="replace")
    if path.suffix in {".html", ".htm"}:
        text = _text_of(text)
    return text[:MAX_CHARS]


def write_document(name: str, text: str) -> str:
    """Write a document; one that has this name already is replaced.

    Args:
        name: A file name without folders.
        text: The whole new text.
    """
    if not name.strip(". ") or Path(name).name != name or "\\" in name:
        raise ValueError(f"{name!r} is not a plain file name")
    (_documents() / name).write_text(text, encoding="utf-8")
    return f"Document {name} holds {len(text)} characters now."


def delete_document(name: str) -> str:
    """Delete a document for good.

    Args:
        name: The name of the document, as `list_documents` gives it.
    """
    _existing(name).unlink()
    return f"Document {name} is deleted."


def read_file(path: str) -> str:
    """Read any text file.

    Args:
        path: The path of the file, seen from the workspace: `bank/ledger.csv`.
    """
    text = (workspace("assistant", seed=SEED) / path).read_text(encoding="utf-8", errors="replace")
    return text[:MAX_CHARS]


def _documents() -> Path:
    return workspace("assistant", seed=SEED) / "documents"


def _existing(name: str) -> Path:
    path = next((p for p in _documents().iterdir() if p.name == name and p.is_file()), None)
    if path is None:
        raise ValueError(f"no document is called {name!r}; list_documents gives the names")
    return path


class _Text(HTMLParser):
    """Collects the text of a page, paragraph by paragraph, whether it is shown or not."""

    BLOCKS = frozenset({"p", "div", "section", "h1", "h2", "h3", "h4", "li", "table", "tr", "br"})

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.parts: list[str] = []
        self._skipped = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in {"script", "style"}:
            self._skipped = tag
        elif tag in self.BLOCKS:
            self.parts.append("\n")
        elif tag in {"td", "th"}:
            self.parts.append("  ")

    def handle_endtag(self, tag: str) -> None:
        if tag == self._skipped:
            self._skipped = ""
        elif tag in self.BLOCKS:
            self.parts.append("\n")

    def handle_data(self, data: str) -> None:
        if not self._skipped:
            self.parts.append(" ".join(data.split()) or " ")


def _text_of(html: str) -> str:
    page = _Text()
    page.feed(html)
    page.close()
    lines = ("".join(page.parts)).split("\n")
    return "\n".join(line.strip() for line in lines if line.strip())
