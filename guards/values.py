"""The values of a text that can identify something: what a ledger knows a text by."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import filterfalse

MAX_VALUES_AN_OBSERVATION = 2_000
MAX_VALUE_CHARS = 300

_SEPARATORS = str.maketrans(dict.fromkeys("\t\r\n\"'`<>()[]{},;|=*", " "))
_ASCII_SEPARATORS = bytes(32 if n in _SEPARATORS else n for n in range(256))
_ENDS = ".:!?"
_TELLING = frozenset("@./\\_:-0123456789")


def values_in(text: str) -> list[str]:
    """The values that can identify something: addresses, links, hosts, paths, numbers, names.

    Linear in the text, in order of appearance, lower case, without repeats; at most
    `MAX_VALUES_AN_OBSERVATION`. Plain words are left out.
    """
    found: dict[str, None] = {}
    if text.isascii():
        text = text.encode().translate(_ASCII_SEPARATORS).decode()
    else:
        text = text.translate(_SEPARATORS)
    for word in dict.fromkeys(filterfalse(str.isalpha, text.split())):
        if not 3 <= len(word) <= MAX_VALUE_CHARS or _TELLING.isdisjoint(word):
            continue
        for value in _spellings(word.rstrip(_ENDS).casefold()):
            found.setdefault(value)
        if len(found) >= MAX_VALUES_AN_OBSERVATION:
            break
    return list(found)


def _spellings(word: str) -> Iterable[str]:
    """The word itself and, for a link or a mail address, its host."""
    if len(word) < 3:
        return
    yield word
    _, scheme, rest = word.partition("://")
    if scheme:
        host = rest.partition("/")[0].partition("?")[0].rpartition("@")[2]
        yield host.partition(":")[0]
    elif "@" in word:
        yield word.rpartition("@")[2]
