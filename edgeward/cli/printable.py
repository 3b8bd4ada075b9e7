"""Text of others on a terminal: what would steer it, or hide something, is shown as an escape.

Tool results and arguments are written by anybody. A control sequence in them could redraw the
screen that a person reads before an approval; a bidirectional override could turn an address round.
"""

from __future__ import annotations

import unicodedata

_KEPT = frozenset("\n\t")
_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
"""Unicode categories: control, format, surrogate, private, unassigned, line and paragraph ends."""


def printable(text: str) -> str:
    """`text` with every character that shows nothing of itself written as its escape."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(map(_shown, text))


def one_line(text: str) -> str:
    """`text` as one line: printable, runs of blanks as one blank."""
    return printable(" ".join(text.split()))


def counted(number: int, thing: str) -> str:
    """`1 file`, `2 files`."""
    return f"{number:,} {thing}{'' if number == 1 else 's'}"


def _shown(letter: str) -> str:
    if letter in _KEPT or unicodedata.category(letter) not in _HIDDEN:
        return letter
    code = ord(letter)
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
