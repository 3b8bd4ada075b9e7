"""One plain form of what looks alike or is invisible: NFKC, without what no reader sees."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from .sign import Sign

_IGNORABLE = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e"
    "\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3"
    "\U0001d173-\U0001d17a\U000e0000-\U000e0fff]+"
)
"""Default-ignorable code points, tag characters among them (Unicode, DerivedCoreProperties)."""

_SIGNS = {
    # NFKC would make three dots of one character of prose.
    "\u2026": "\u2026",
    # Slashes and backslashes that NFKC leaves alone and file layers fold.
    **dict.fromkeys("\u2044\u2215\u29f8\u2571", "/"),
    **dict.fromkeys("\u2216\u29f5\u29f9\u2572", "\\"),
}
_SIGN = re.compile("([" + re.escape("".join(_SIGNS)) + "])")
_WIDE = {0x3000: " "} | {wide: chr(wide - 0xFEE0) for wide in range(0xFF01, 0xFF5F)}
"""What NFKC makes of full-width signs: done first, and where that is all, without slow NFKC."""
_HOLDS_WIDE = re.compile("[\u3000\uff01-\uff5e]")


def folded(text: str) -> str:
    """Without invisible characters, compatibility forms made plain (NFKC), slashes folded."""
    if text.isascii():
        return text
    return _folded_kept(text) if len(text) <= _KEPT else _folded(text)


def _folded(text: str) -> str:
    text = _without_ignorable(text)
    if _is_plain(text):
        return text
    if _HOLDS_WIDE.search(text):
        text = text.translate(_WIDE)
        if _is_plain(text):
            return text
    parts = _SIGN.split(text)
    return "".join(_SIGNS.get(p) or unicodedata.normalize("NFKC", p) for p in parts)


def visible(text: str) -> str:
    """The folded text, also without control characters and the colours of a terminal."""
    if _UNSEEN_SIGN.found(text):
        if "\x1b" in text:
            text = _COLOUR.sub("", text)
        for sign in _UNSEEN:
            if sign in text:
                text = text.replace(sign, "")
    return folded(text)


_UNSEEN_SIGN = Sign(r"[\x00-\x08\x0E-\x1F\x7F]", 1)
_COLOUR = re.compile("\x1b\\[[0-9;?]{0,20}[A-Za-z]|\x1b\\][^\x07\x1b]{0,2000}(?:\x07|\x1b\\\\)")
"""Colours of a terminal, and its links."""
_UNSEEN = (*map(chr, range(9)), *map(chr, range(14, 32)), "\x7f")


def _without_ignorable(text: str) -> str:
    """Sign by sign: there are few different ones, however many, and a text of its own for each of
    them would cost far more."""
    for _ in range(_FEW):
        found = _IGNORABLE.search(text)
        if found is None:
            return text
        text = text.replace(text[found.start()], "")
        if text.isascii():
            return text
    return _IGNORABLE.sub("", text)


_FEW = 8
_KEPT = 100_000
"""Characters of a text that is kept for a while: several rules ask the same of each of a call."""
_folded_kept = lru_cache(maxsize=16)(_folded)


def _is_plain(text: str) -> bool:
    return unicodedata.is_normalized("NFKC", text) and _SIGN.search(text) is None


_MARKS = re.compile("(?<=[A-Za-z])[\u0300-\u036f]+")
_LETTERS = str.maketrans(
    {"ł": "l", "Ł": "L", "ø": "o", "Ø": "O", "đ": "d", "Đ": "D", "ı": "i", "æ": "ae", "œ": "oe"}
)
"""Latin letters of which Unicode's decomposition makes nothing plainer."""


def without_accents(text: str) -> str:
    """The text with Latin letters as they are typed where there are no accents: `Sliwa`, `Zoe`."""
    if text.isascii():
        return text
    plain = _MARKS.sub("", unicodedata.normalize("NFD", text.translate(_LETTERS)))
    return unicodedata.normalize("NFC", plain)
