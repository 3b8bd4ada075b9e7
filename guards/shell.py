"""What a shell makes of a command line: the views that rules get besides the typed text.

This raises the bar and is no sandbox: variables get the plain values that the same text gives them,
`$(echo word)` is the word; globs and substitutions with effects of their own are not evaluated.
"""

from __future__ import annotations

import re

_SPECIAL = re.compile(r"""['"\\$`;|&\n{<>]""")
_IFS = re.compile(r"\$\{IFS[^{}\s]{0,16}\}|\$IFS(?![A-Za-z0-9_])(?:\$[0-9])?")
_EMPTY = re.compile(r"\$\{?[@*]\}?|\$[0-9]|\$\(\)|``")
_ECHOED = re.compile(
    r"""(?:\$\(|`)\s{0,9}(?:echo|printf)\s{1,9}(?:-n\s{1,9})?(['"]?)([\w./:@-]{1,200})\1\s{0,9}(?:\)|`)"""
)
_VARIABLE = re.compile(
    r"""(?<![\w$\\-])([A-Za-z_]\w{0,40})=(['"]?)([\w./:@-]{1,200})\2(?![^\s;&|)])"""
    r"""|\$(?:\{([A-Za-z_]\w{0,40})\}|([A-Za-z_]\w{0,40}))"""
)
"""A plain value that a variable gets, and where one is used."""
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

MAX_VARIABLES = 1_000
"""Uses of variables in one text up to which they get their values."""


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
    if "echo" in view or "printf" in view:
        view = _ECHOED.sub(r"\2", view)
    if "=" in view and "$" in view and not too_many_variables(view):
        view = _with_values(view)
    view = _ANSI_C.sub(lambda m: _ANSI_ESCAPE.sub(_ansi, m[1]), view)
    return _EMPTY.sub("", view)


def too_many_variables(text: str) -> bool:
    """Whether a text gives variables values and uses more of them than are read."""
    if text.count("$") <= MAX_VARIABLES:
        return False
    return any(match[1] for match in _VARIABLE.finditer(text))


def _with_values(text: str) -> str:
    """Variables as what the text last gave them before, where that is a plain word."""
    values: dict[str, str] = {}

    def read(match: re.Match[str]) -> str:
        name, _, value, braced, used = match.groups()
        if name:
            values[name] = value
            return match[0]
        return values.get(braced or used, match[0])

    return _VARIABLE.sub(read, text)


def _ansi(match: re.Match[str]) -> str:
    two, four, eight, octal, letter = match.groups()
    if letter:
        return _ANSI_LETTERS.get(letter, letter)
    number = int(octal, 8) if octal else int(two or four or eight, 16)
    return chr(number) if number <= 0x10FFFF and not 0xD800 <= number < 0xE000 else ""
