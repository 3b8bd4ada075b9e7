"""Texts that a regular expression finds something in: a bounded sample, to look for witnesses.

A pattern that Python's reader does not know (RE2 has some of its own) has no samples; then nothing
is known of it.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any

from ...guards.patterns import compile_pattern

try:
    from re import _parser as _reader  # type: ignore[attr-defined]
except ImportError:  # Python 3.10
    import sre_parse as _reader

MOST = 60
"""Samples of one pattern."""

_MOST_TRIED = 2_000
_REPEATED = 3
_CLASSES = {
    "CATEGORY_DIGIT": "7",
    "CATEGORY_SPACE": " ",
    "CATEGORY_WORD": "qQ7",
    "CATEGORY_NOT_DIGIT": "q-",
    "CATEGORY_NOT_SPACE": "q7",
    "CATEGORY_NOT_WORD": "-",
}


@lru_cache(maxsize=512)
def samples(pattern: str) -> tuple[str, ...]:
    """Texts in which the pattern finds something, short ones first; none where it is not read."""
    try:
        read = _reader.parse(_python(pattern))
    except (re.error, RecursionError, OverflowError):
        return ()
    compiled = compile_pattern(pattern)
    found: dict[str, None] = {}
    for text in itertools.islice(_texts(read), _MOST_TRIED):
        for whole in (text, f" {text} "):
            if compiled.search(whole) is not None:
                found.setdefault(whole)
                break
        if len(found) >= MOST:
            break
    return tuple(sorted(found, key=len))


def _python(pattern: str) -> str:
    """The pattern as Python's `re` reads it."""
    return re.sub(r"\\z", r"\\Z", pattern).replace("(?P=", "(?P=")


def _texts(parts: Sequence[tuple[Any, Any]]) -> Iterator[str]:
    """Texts for a run of parts: each part's choices, changed one at a time and then all."""
    each = [list(itertools.islice(_of(kind, value), 12)) for kind, value in parts]
    if not all(each):
        return
    plain = [choices[0] for choices in each]
    yield "".join(plain)
    for at, choices in enumerate(each):
        for choice in choices[1:]:
            yield "".join([*plain[:at], choice, *plain[at + 1 :]])
    yield from map("".join, itertools.islice(itertools.product(*each), _MOST_TRIED))


def _of(kind: Any, value: Any) -> Iterator[str]:
    """Texts for one part."""
    name = str(kind)
    if name == "LITERAL":
        yield chr(value)
    elif name == "NOT_LITERAL":
        yield from (sign for sign in "q7 /" if ord(sign) != value)
    elif name == "ANY":
        yield from "q/ "
    elif name == "IN":
        yield from _signs(value)
    elif name == "BRANCH":
        for branch in value[1]:
            yield from itertools.islice(_texts(branch), 6)
    elif name == "SUBPATTERN":
        yield from _texts(value[-1])
    elif name in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"):
        yield from _repeated(*value)
    elif name == "AT":
        yield ""
    else:  # look-around and back-references: RE2 has none
        return


def _repeated(low: int, high: int, inner: Sequence[tuple[Any, Any]]) -> Iterator[str]:
    choices = list(itertools.islice(_texts(inner), 8)) or [""]
    for times in dict.fromkeys((max(low, 1) if high else 0, low, min(int(high), low + _REPEATED))):
        for choice in choices[:6]:
            yield choice * times
    mixed = itertools.cycle(choices)
    yield "".join(itertools.islice(mixed, max(low, min(int(high), 2))))


def _signs(items: Sequence[tuple[Any, Any]]) -> Iterator[str]:
    """Signs of a class; of a negated one some that are not in it."""
    negated = bool(items) and str(items[0][0]) == "NEGATE"
    found: list[str] = []
    for kind, value in items[1:] if negated else items:
        if str(kind) == "LITERAL":
            found.append(chr(value))
        elif str(kind) == "RANGE":
            found += [chr(value[0]), chr(value[1])]
            if not negated and value[1] - value[0] < 64:
                found += [chr(c) for c in range(value[0] + 1, value[1])]
        elif str(kind) == "CATEGORY":
            found += _CLASSES.get(str(value), "")
    if not negated:
        yield from dict.fromkeys(found)
        return
    read = re.compile("[" + "".join(re.escape(sign) for sign in found) + "]" if found else "(?!)")
    ranges = [value for kind, value in items if str(kind) == "RANGE"]
    for sign in "q7 -/.@Q\u00e9":
        inside = any(low <= ord(sign) <= high for low, high in ranges)
        if not inside and read.match(sign) is None:
            yield sign
