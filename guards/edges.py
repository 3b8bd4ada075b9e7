"""Where a number or an address in a text begins and ends, so that it is no part of a longer one."""

from __future__ import annotations

import re
from collections.abc import Iterator

from .key_formats import ESCAPED

_JOINERS = frozenset("._-/:@#=+~\\")


def is_clean(text: str, start: int, end: int) -> bool:
    """Neither a letter, a digit nor a joining sign (`.5`, `-a`) stands at either end."""
    before, after = text[max(start - 1, 0) : start], text[end : end + 2]
    if before and (in_word(text, start) or before in _JOINERS - {":", "=", "#"}):
        return False
    if not after:
        return True
    if after[0].isalnum() or after[0] in "_@":
        return False
    joins = after[0] in _JOINERS and after not in _ESCAPES
    return not (joins and len(after) == 2 and after[1].isalnum())


def in_word(text: str, at: int) -> bool:
    """Whether a letter or digit stands before this place, and is one: in JSON `\\n` is none."""
    if not text[max(at - 1, 0) : at].isalnum():
        return False
    return _ESCAPED_END.search(text, max(at - _LONGEST_ESCAPE, 0), at) is None


def beginnings(text: str, start: int, end: int) -> Iterator[int]:
    """Where a number may begin of whose digits the first may end an escape (`%20`, `\\u0020`)."""
    yield start
    before = text[max(start - _LONGEST_ESCAPE, 0) : start]
    if "%" in before or "\\" in before:
        for at in range(start + 1, min(start + _LONGEST_ESCAPE, end)):
            if _ESCAPED_END.search(text, max(at - _LONGEST_ESCAPE, 0), at):
                yield at


_ESCAPES = frozenset(f"\\{letter}" for letter in "bfnrtvux")
ESCAPED_START, _ESCAPED_END = re.compile(rf"(?:{ESCAPED})\B"), re.compile(rf"(?:{ESCAPED})\Z")
_LONGEST_ESCAPE = len(r"\u000a")
