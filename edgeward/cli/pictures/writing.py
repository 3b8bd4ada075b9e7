"""Text of others as HTML: masked, printable, cut, escaped."""

from __future__ import annotations

import re
from html import escape

from ...guards.redact import Redactor
from ...guards.vault import PLACEHOLDER
from ..printable import one_line, printable
from .story import MASK

MAX_CHARS = 4_000
"""Characters of one text that are shown."""
MAX_NAME = 200
WORDS = frozenset({"allow", "redact", "ask", "block", "waits"})
_TIME = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]{8,15}(?:\+00:00|Z)")
_MASK = re.compile(f"{MASK.pattern}|{PLACEHOLDER.pattern}")


class Writer:
    """Writes texts that anybody may have written."""

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor

    def masked(self, text: str, path: str = "") -> str:
        """A text with its secrets masked; `path`: of which argument it is the value, where it is.

        Some secrets are known only by the name that they stand under.
        """
        name = path.rpartition(".")[2].partition("[")[0]
        masked: dict[str, str] = self._redactor.value({name: text})
        return next(iter(masked.values()))

    def text(self, text: str, limit: int = MAX_CHARS, *, path: str = "") -> str:
        """A text as it may stand in the page, what was masked in it marked."""
        text = self.masked(text, path)
        left = len(text) - limit
        shown = printable(text[:limit])
        pieces, done = [], 0
        for mask in _MASK.finditer(shown):
            pieces += [escape(shown[done : mask.start()]), tag("span", escape(mask[0]), "masked")]
            done = mask.end()
        pieces.append(escape(shown[done:]))
        if left > 0:
            pieces.append(tag("span", f" … and {left:,} more characters", "soft"))
        return "".join(pieces)

    def name(self, text: str) -> str:
        """A name, an id or a digest, on one line."""
        return tag("code", self.text(one_line(text), MAX_NAME))

    def time(self, text: str) -> str:
        """A moment as receipts and checkpoints write it; anything else as a text."""
        if not _TIME.fullmatch(text):
            return tag("span", self.text(text, MAX_NAME), "soft") if text else ""
        day, _, hour = text.partition("T")
        return f'<time datetime="{text}">{day} {hour[:8]} UTC</time>'

    def word(self, word: str) -> str:
        """The word of a verdict as a badge."""
        known = word if word in WORDS else "other"
        return tag("span", self.text(word, MAX_NAME) or "no verdict", f"word {known}")


def tag(name: str, inside: str, kind: str = "") -> str:
    """An element around HTML."""
    return f'<{name} class="{kind}">{inside}</{name}>' if kind else f"<{name}>{inside}</{name}>"


def masks_in(text: str) -> list[str]:
    """What is masked in a text, each as it is marked there."""
    return [mask[0] for mask in _MASK.finditer(text)]
