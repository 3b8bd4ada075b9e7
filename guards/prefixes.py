"""Regular expressions that also match the beginning of a match, where the text ends in it.

Every atom of a pattern becomes `(?:atom|end of text)`: then a path through the pattern either
completes or runs into the end, and RE2 finds the leftmost place where one does, in linear time.
What is found to run into the end may still match once more text is there; what is found to complete
is a match already, whatever comes; where nothing is found nothing will ever match.

`watched` gives such a pattern for many at once, for a text of bytes in which one byte stands for
one character (`as_bytes`). It is coarser than the patterns: it may see a beginning where there is
none, and never misses one. That keeps its automaton small.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable, Iterable

import re2

MAX_BYTES = 64 << 20
"""Memory that an automaton may take; it takes what it needs."""

_LETTER, _OTHER = r"\xff", r"\xa0"
"""Bytes that stand for a letter or digit, and for anything else, beyond ASCII."""
_ANY = r"[\x00-\xff]"

_TOKEN = re.compile(
    r"""
    (?P<quoted>\\Q(?:(?!\\E).)*(?:\\E|\Z))
  | (?P<assertion>\\[bBAz]|[\^$])
  | (?P<atom>\\[pP](?:\{\^?\w+\}|\w)|\\x(?:\{[0-9A-Fa-f]+\}|[0-9A-Fa-f]{2})|\\[0-7]{1,3}|\\.
           | \[\^?\]?(?:\[:\^?\w+:\]|\\.|[^\]\\])*\]|\.)
  | (?P<capture>\(\?P?<\w+>|\((?!\?))
  | (?P<other>\(\?[a-zA-Z-]*[:)]|[)|])
  | (?P<repeat>[*+?]\??|\{\d+(?:,\d*)?\}\??)
  | (?P<literal>.)
    """,
    re.VERBOSE | re.DOTALL,
)
_WIDE = re.compile(
    r"\\[pP](?:\{\^?\w+\}|\w)|\\x\{[0-9A-Fa-f]+\}|\\x[89A-Fa-f][0-9A-Fa-f]|[^\x00-\x7f]"
)
_FOLDED = frozenset("kKsS")
"""Letters that without case are also signs beyond ASCII."""

_MOST_REPEATS = 8
_FEWEST_REPEATS = 4


def is_lazy(pattern: str) -> bool:
    """Whether some part of the pattern takes as little as it can."""
    tokens = [(token[0], token.lastgroup) for token in _TOKEN.finditer(pattern)]
    return any(
        (kind == "repeat" and len(text) > 1 and text[-1] == "?")
        or (kind == "other" and "U" in text)
        for text, kind in tokens
    )


def partial(pattern: str) -> str:
    """The pattern, which also matches its own beginning at the end of a text. Groups stay."""
    return "".join(_escaping(token[0], token.lastgroup) for token in _TOKEN.finditer(pattern))


def _escaping(text: str, kind: str | None) -> str:
    if kind == "quoted":
        body = text[2:].removesuffix(r"\E")
        return "".join(rf"(?:{re2.escape(char)}|\z)" for char in body)
    return rf"(?:{text}|\z)" if kind in ("assertion", "atom", "literal") else text


def coarse(pattern: str) -> str:
    """The pattern over bytes, as `partial` gives it, and more: see above. It has no groups.

    Long counted repeats are left open, and beyond ASCII there are only letters and others.
    """
    folds = "(?i" in pattern or "(?-i" in pattern
    return "".join(_coarse(t[0], t.lastgroup, folds) for t in _TOKEN.finditer(pattern))


def _coarse(text: str, kind: str | None, folds: bool) -> str:
    if kind == "quoted":
        body = text[2:].removesuffix(r"\E")
        return "".join(_coarse(re2.escape(char), "atom", folds) for char in body)
    if kind == "capture":
        return "(?:"
    if kind == "repeat" and text[0] == "{":
        return _loose(text)
    if kind not in ("assertion", "atom", "literal"):
        return text
    if kind != "assertion":
        text = _bytes_of(text, folds)
    return rf"(?:{text}|\z)"


def _loose(repeat: str) -> str:
    low, comma, high = repeat.strip("{}?").partition(",")
    most = int(high) if high else None if comma else int(low)
    if most is not None and most <= _MOST_REPEATS:
        return repeat
    if most is None and int(low) <= _FEWEST_REPEATS:
        return repeat
    return f"{{{min(int(low), _FEWEST_REPEATS)},}}"


def _bytes_of(atom: str, folds: bool) -> str:
    """An atom as it reads in the text of bytes, or more."""
    if atom in (r"\PL", r"\PN", r"\C") or atom.startswith((r"\P", r"\p{^")):
        return _ANY
    if not atom.startswith("["):
        if _WIDE.match(atom):
            return f"[{_ascii_of(atom)}{_LETTER}{_OTHER}]"
        return f"[{atom}{_LETTER}]" if folds and (atom in _FOLDED or atom == r"\w") else atom
    wide = _WIDE.findall(atom)
    if atom.startswith("[^"):
        return _ANY if wide else atom
    if any(w.startswith((r"\P", r"\p{^")) for w in wide):
        return _ANY
    if not wide and not folds:
        return atom
    rest = _WIDE.sub("", atom[1:-1])
    first, last = rest[:1] in ("-", "]"), atom[-2] == "-" and rest[-1:] == "-"
    rest = ("\\" if first else "") + (rest[:-1] + r"\-" if last and len(rest) > 1 else rest)
    letters = all(w in (r"\pL", r"\pN") for w in wide)
    return f"[{''.join(map(_ascii_of, wide))}{rest}{_LETTER}{'' if letters else _OTHER}]"


def _ascii_of(atom: str) -> str:
    # Without case the Kelvin sign is a k, and the long s an s.
    other = r"\x00-\x7f" if atom[:2] == r"\p" else "kKsS"
    return {r"\pL": "A-Za-z", r"\pN": "0-9"}.get(atom, other)


def _stand_ins(error: UnicodeError) -> tuple[bytes, int]:
    assert isinstance(error, UnicodeEncodeError)
    chars = error.object[error.start : error.end]
    return b"".join(b"\xff" if char.isalnum() else b"\xa0" for char in chars), error.end


codecs.register_error("edgeward.stand_ins", _stand_ins)


def as_bytes(text: str) -> bytes:
    """The text with one byte for each character."""
    return text.encode("ascii", "edgeward.stand_ins")


def watched(patterns: Iterable[str]) -> re2.Pattern:
    """One pattern over bytes for all of these, given as `coarse` gives them.

    Raises:
        ValueError: they are too many or too large for one automaton.
    """
    return _compiled("|".join(f"(?:{pattern})" for pattern in patterns))


def ending(patterns: Iterable[str]) -> re2.Pattern:
    """The same, of which only what runs into the end of the text counts.

    Raises:
        ValueError: as above.
    """
    return _compiled("(?:" + "|".join(f"(?:{pattern})" for pattern in patterns) + r")\z")


def places(pattern: re2.Pattern) -> Callable[[bytes, int], tuple[int, int]]:
    """`pattern.search(data, start).span()` of a pattern that always matches; without the object of
    a match in between, where the library has such a way: this runs for every streamed word."""
    match = getattr(getattr(pattern, "_regexp", None), "Match", None)
    anchor = getattr(re2, "_Anchor", None)
    if match is None or anchor is None:
        return lambda data, start: pattern.search(data, start).span()
    anywhere = anchor.UNANCHORED
    return lambda data, start: match(anywhere, data, start, len(data))[0]


def _compiled(pattern: str) -> re2.Pattern:
    chosen = re2.Options()
    chosen.log_errors = False
    chosen.max_mem = MAX_BYTES
    chosen.encoding = re2.Options.Encoding.LATIN1
    try:
        return re2.compile(pattern.encode("latin-1"), chosen)
    except re2.error:
        raise ValueError("the patterns are too large to be watched") from None
