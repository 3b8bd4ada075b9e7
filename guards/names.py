"""Tool names: exact where they allow, forgiving where they block.

A dispatcher may trim, fold case, normalise Unicode or strip a server prefix; what blocks must
therefore match every such spelling, and what allows must match none but its own.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from functools import lru_cache

from .folding import folded

_PREFIX = re.compile(r"__|[./:]")
_SHOWN = 80

MAX_NAME = 512
"""Characters of a tool's name; no provider allows a quarter of it."""

# Letters that look like ASCII ones (from Unicode's confusables, those of common keyboards).
_LOOKALIKES = dict(
    zip(
        "асеорхуіјѕһԁԛԝքոցԍӏЬгмтнквАВСЕНІЈКМОРЅТУХԌοαρντυικχγεΑΒΕΖΗΙΚΜΝΟΡΤΥΧɡıɩⅼ",
        "aceopxyijshdqwpngglbrmthkbABCEHIJKMOPSTYXGoapvtuikxyeABEZHIKMNOPTYXgiil",
        strict=True,
    )
)
_FOLD = str.maketrans(_LOOKALIKES)
_SEPARATOR = re.compile(r"[\s-]")


@lru_cache(maxsize=2_048)
def folded_name(name: str) -> str:
    """The name as the most forgiving reader would take it: trimmed, plain, without case, `_` for
    a blank or a hyphen.
    """
    text = _SEPARATOR.sub("_", folded(name).strip())
    if not text.isascii():
        text = text.translate(_FOLD)
    return text.casefold()


@lru_cache(maxsize=2_048)
def spellings(name: str) -> tuple[str, ...]:
    """`folded_name` and what is left of it without its server prefixes."""
    whole = folded_name(name)
    return (whole, *(whole[m.end() :] for m in _PREFIX.finditer(whole) if m.end() < len(whole)))


def name_fault(name: str) -> str:
    """Why no policy could allow a tool of this name; empty where nothing is wrong with it."""
    if not isinstance(name, str) or not name.strip():
        return "the tool name is empty"
    if len(name) > MAX_NAME:
        return f"the tool name is longer than {MAX_NAME} characters"
    return _fault(name)


@lru_cache(maxsize=2_048)
def _fault(name: str) -> str:
    if name.isascii():
        return "" if name.strip().isprintable() else _HIDDEN.format(shown_name(name))
    if any(unicodedata.category(c) in ("Cf", "Cc", "Co", "Cs", "Cn") for c in name):
        return _HIDDEN.format(shown_name(name))
    plain = unicodedata.normalize("NFKC", name)
    if plain != unicodedata.normalize("NFC", name) and plain.isascii():
        return _DISGUISED.format(shown_name(name))
    letters = [c for c in plain if c.isalpha()]
    latin = [c for c in letters if unicodedata.name(c, "").startswith("LATIN")]
    mixed = latin and len(latin) < len(letters)
    if mixed or plain.translate(_FOLD).isascii():
        return _DISGUISED.format(shown_name(name))
    return ""


_HIDDEN = "tool name {} holds invisible characters"
_DISGUISED = "tool name {} imitates another with look-alike letters"


@lru_cache(maxsize=256)
def shown_name(name: str) -> str:
    """The name in quotes, in plain ASCII and at most 80 characters."""
    return ascii(name if len(name) <= _SHOWN else name[:_SHOWN] + "...")


class ForbiddenNames:
    """Names and globs (`*`, `?`) that block: each matches every spelling of a name."""

    __slots__ = ("_exact", "_globs")

    def __init__(self, names: Iterable[str]) -> None:
        self._exact: dict[str, int] = {}
        self._globs: list[tuple[re.Pattern[str], int]] = []
        for number, name in enumerate(names):
            text = folded_name(name)
            if "*" in text or "?" in text:
                self._globs.append((glob_pattern(text), number))
            else:
                self._exact.setdefault(text, number)

    def find(self, name: str) -> int | None:
        """The number of the first entry that matches, or None."""
        for text in spellings(name):
            number = self._exact.get(text)
            if number is not None:
                return number
            for pattern, number in self._globs:
                if pattern.fullmatch(text):
                    return number
        return None


@lru_cache(maxsize=4_096)
def glob_pattern(glob: str) -> re.Pattern[str]:
    """The glob as a pattern: `*` any characters, `?` one; nothing else is special."""
    # Runs of * would make the match slow and mean no more than one.
    parts = re.split(r"(\*+|\?)", glob)
    signs: Mapping[str, str] = {"*": ".*", "?": "."}
    return re.compile("".join(signs.get(p[:1], re.escape(p)) for p in parts), re.DOTALL)
