"""A streamed text on its way out: masked, and its images and links made harmless.

Text goes on as it comes as long as nothing in it begins a link, an image or a tag. What does waits
for the end of its paragraph, for no link goes on behind a blank line; an image that is named
elsewhere, what such a name stands for, and a tag without an end wait for the end of the text. A
piece costs its own length, and what waits is looked at again only when it has grown by an eighth.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from .defuse import Private, by_name, ends_in_style, ends_in_tag
from .holdback import Holdback
from .results import answered

if TYPE_CHECKING:
    from .decide import Policy

_BEGINS = re.compile(
    r"!?\[|<[a-z/!?]|(?:https?|ftp|wss?):|url\(|image-set\(|@import", re.IGNORECASE
)
_MAY_BEGIN = re.compile(
    r"(?:!|<|h(?:t(?:t(?:ps?)?)?)?|f(?:tp?)?|w(?:ss?)?|u(?:rl?)?"
    r"|i(?:m(?:a(?:g(?:e(?:-(?:s(?:et?)?)?)?)?)?)?)?|@(?:i(?:m(?:p(?:or?)?)?)?)?)\Z",
    re.IGNORECASE,
)
"""The end of a text that could become one of these with what follows."""

_COULD = re.compile(r"[\[<:(@]|[!hfwutpsrlimoage-]\Z", re.IGNORECASE)
"""What stands in all that either of them finds."""

_BLANK = re.compile(r"\n[ \t\r]*\n")
_LOOKED_AT = 1_024
"""Characters that may wait and be looked at with every piece."""


class Streamed:
    """One text. `labels`, after `close`: what was masked and made harmless."""

    def __init__(self, held: Holdback, policy: Policy, *, private: Private) -> None:
        self._held = held
        self._policy = policy
        self._private = private
        self._defuses = policy.results.defuses
        self._waits = ""
        self._at = 0
        self._more: list[str] = []
        self._missing = 0
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
        if not self._begun and not self._waits and not self._more and _COULD.search(text) is None:
            return text  # nearly all there is
        self._more.append(text)
        self._missing -= len(text)
        if self._missing > 0 or self._to_the_end:
            return ""
        self._waits = "".join((self._waits, *self._more))
        self._more.clear()
        out = []
        while (passed := self._next()) is not None:
            out.append(passed)
        self._waits, self._from = self._waits[self._at :], max(self._from - self._at, 0)
        self._at = 0
        waiting = len(self._waits)
        self._missing = waiting // 8 if waiting > _LOOKED_AT else 0
        return "".join(out)

    def close(self) -> str:
        """The rest."""
        text = self._held.close()
        if not self._defuses:
            return text
        rest = "".join((self._waits, *self._more, text))
        self._waits = ""
        self._more.clear()
        return self._shown(rest)

    def _next(self) -> str | None:
        """What may go on of what waits; None where nothing may."""
        if self._to_the_end:
            return None
        start = self._at
        if not self._begun:
            begins = _BEGINS.search(self._waits, start)
            end = begins or _MAY_BEGIN.search(self._waits, start)
            self._at = self._from = len(self._waits) if end is None else end.start()
            self._begun = begins is not None
            return self._waits[start : self._at] or ("" if self._begun else None)
        blank = _BLANK.search(self._waits, self._from)
        if blank is None:
            # The next piece may bring the rest of a blank line.
            self._from = max(self._waits.rfind("\n"), self._from)
            return None
        block = self._waits[start : blank.end()]
        if ends_in_tag(block) or ends_in_style(block) or by_name(block):
            self._to_the_end = True
            return None
        self._at, self._begun = blank.end(), False
        return self._shown(block)

    def _shown(self, text: str) -> str:
        shown, labels = answered(self._policy, text, private=self._private)
        self._labels.update(dict.fromkeys(labels))
        return shown
