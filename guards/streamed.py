"""A streamed text on its way out: masked, and its images and links made harmless.

Text goes on as it comes as long as nothing in it begins a link, an image or a tag. What does waits
for the end of its paragraph, for no link goes on behind a blank line; an image that is named
elsewhere, what such a name stands for, and a tag without an end wait for the end of the text. It
costs the text's own length.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from .defuse import Private, by_name
from .holdback import Holdback
from .results import answered

if TYPE_CHECKING:
    from .decide import Policy

_BEGINS = re.compile(r"!?\[|<[a-z/!?]|(?:https?|ftp|wss?):|url\(|@import", re.IGNORECASE)
_MAY_BEGIN = re.compile(
    r"(?:!|<|h(?:t(?:t(?:ps?)?)?)?|f(?:tp?)?|w(?:ss?)?|u(?:rl?)?"
    r"|@(?:i(?:m(?:p(?:or?)?)?)?)?)\Z",
    re.IGNORECASE,
)
"""The end of a text that could become one of these with what follows."""

_BLANK = re.compile(r"\n[ \t\r]*\n")
_OPEN_TAG = re.compile(r"<[A-Za-z/!?][^<>]*\Z")


class Streamed:
    """One text. `labels`, after `close`: what was masked and made harmless."""

    def __init__(self, held: Holdback, policy: Policy, *, private: Private) -> None:
        self._held = held
        self._policy = policy
        self._private = private
        self._defuses = policy.results.links
        self._waits = ""
        self._begun = False
        self._from = 0
        self._to_the_end = False
        self._labels: dict[str, None] = {}

    @property
    def labels(self) -> tuple[str, ...]:
        """What was masked, and what was made harmless."""
        return (*self._held.labels, *self._labels)

    def feed(self, piece: str) -> str:
        """What may go on once this piece has come."""
        text = self._held.feed(piece)
        if not self._defuses or not text:
            return text
        self._waits += text
        out = ""
        while (passed := self._next()) is not None:
            out += passed
        return out

    def close(self) -> str:
        """The rest."""
        text = self._held.close()
        if not self._defuses:
            return text
        rest, self._waits = self._waits + text, ""
        return self._shown(rest)

    def _next(self) -> str | None:
        """What may go on of what waits; None where nothing may."""
        if self._to_the_end:
            return None
        if not self._begun:
            begins = _BEGINS.search(self._waits)
            end = begins or _MAY_BEGIN.search(self._waits)
            at = len(self._waits) if end is None else end.start()
            passed, self._waits = self._waits[:at], self._waits[at:]
            self._begun, self._from = begins is not None, 0
            return passed or ("" if self._begun else None)
        blank = _BLANK.search(self._waits, self._from)
        if blank is None:
            # The next piece may bring the rest of a blank line.
            self._from = max(self._waits.rfind("\n"), self._from)
            return None
        block = self._waits[: blank.end()]
        if _OPEN_TAG.search(block) or by_name(block):
            self._to_the_end = True
            return None
        self._waits, self._begun = self._waits[blank.end() :], False
        return self._shown(block)

    def _shown(self, text: str) -> str:
        shown, labels = answered(self._policy, text, private=self._private)
        self._labels.update(dict.fromkeys(labels))
        return shown
