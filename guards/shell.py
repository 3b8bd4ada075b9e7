"""What a shell makes of a command line: the views that rules get besides the typed text.

This raises the bar and is no sandbox: variables, globs and substitutions with effects of their own
are not evaluated.
"""

from __future__ import annotations

import re

_SPECIAL = re.compile(r"""['"\\$`;|&\n{<>]""")
_IFS = re.compile(r"\$\{IFS[^{}\s]{0,16}\}|\$IFS(?![A-Za-z0-9_])(?:\$[0-9])?")
_EMPTY = re.compile(r"\$\{?[@*]\}?|\$[0-9]|\$\(\)|``")
_ANSI_C = re.compile(r"\$'((?:[^'\\]|\\.)*)'", re.DOTALL)
_ANSI_ESCAPE = re.compile(
    r"\\(?:x([0-9A-Fa-f]{1,2})|u([0-9A-Fa-f]{1,4})|U([0-9A-Fa-f]{1,8})|([0-7]{1,3})|(.))", re.DOTALL
)
_ANSI_LETTERS = {"a": "\a", "b": "\b", "e": "\x1b", "E": "\x1b", "f": "\f"} | {
    "n": "\n", "r": "\r", "t": "\t", "v": "\v"
}  # fmt: skip
_BRACES = re.compile(r"\{([^{}\s,]*(?:,[^{}\s,]*)+)\}")
_QUOTES = re.compile(r"""\\\n|\\(.)|["']|\$(?=["'])""", re.DOTALL)
_CHAIN = re.compile(r"[;\n]|\|\|?|&&?")
_BLANKS = re.compile(r"[ \t\r\f\v]+")

MAX_PARTS = 2_000
"""Commands of one text that are looked at on their own."""


def shell_views(text: str) -> list[str]:
    """The text as the shell reads it, and each command of it alone; none where that is the text."""
    if _SPECIAL.search(text) is None:
        return []
    view = _QUOTES.sub(lambda m: m[1] or "", expanded(text))
    view = _BRACES.sub(lambda m: m[1].replace(",", " "), view)
    view = _BLANKS.sub(" ", view)
    parts = [part.strip() for part in _CHAIN.split(view)[:MAX_PARTS]]
    return [v for v in dict.fromkeys((view, *parts)) if v and v != text]


def expanded(text: str) -> str:
    """The text with what needs no knowledge of the shell's variables put in its place."""
    view = _IFS.sub(" ", text)
    view = _ANSI_C.sub(lambda m: _ANSI_ESCAPE.sub(_ansi, m[1]), view)
    return _EMPTY.sub("", view)


def _ansi(match: re.Match[str]) -> str:
    two, four, eight, octal, letter = match.groups()
    if letter:
        return _ANSI_LETTERS.get(letter, letter)
    number = int(octal, 8) if octal else int(two or four or eight, 16)
    return chr(number) if number <= 0x10FFFF and not 0xD800 <= number < 0xE000 else ""
