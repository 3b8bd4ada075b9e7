"""Scripts that are written without blanks between words: Chinese, Japanese, Korean, Thai.

`请给王芳发邮件` names 王芳. Each sign of such a script is a word of its own where values compare:
a value is found wherever its signs stand in a row, and what they touch (`给a@x.example发`) is cut
off. Signs within an address or a host stay where they are: `银行.cn` is no part of `大银行.cn`.
Texts in ASCII never come here.
"""

from __future__ import annotations

import re
from functools import cache
from operator import add

_SIGNS = (
    "\u0e00-\u0eff\u0f00-\u0fff\u1000-\u109f\u1780-\u17ff\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029"
    "\u3031-\u3035\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u3105-\u312f\u3400-\u4dbf"
    "\u4e00-\u9fff\ua960-\ua97c\uac00-\ud7a3\uf900-\ufaff\U00020000-\U0003fffd"
)
_FAR = re.compile("(?=[^\x00-\u0dff])[^\u2000-\u2e7f]")
"""What may be one of them: no letter of Europe, the Near East or India, and no typographic sign."""
_S = "\u4e00"
"""Stands for every sign in the texts that the patterns below are asked of: a pattern with all of
them takes milliseconds to compile, and is made once, when the first text may hold one."""
_LETTERS = "A-Za-z\u0130\u0131\u017f\u212a"
"""Letters that are some of a to z without case."""
_RUN = re.compile(f"{_S}+")
_LOOSE = re.compile(rf"(?<![{_S}@./\\_%-]){_S}+(?![{_S}]|[@./\\_%-]\S)")
"""Signs that touch nothing that makes an address of them."""
_ADDRESS = re.compile(
    rf"{_S}@|@[\w.-]{{0,200}}{_S}|{_S}\.(?:{_S}|[{_LETTERS}]{{2,24}}(?![{_LETTERS}0-9]))"
    rf"|{_S}\.[xX][nN]--|\.{_S}|//[^\s/]{{0,200}}{_S}"
)
_FILE = re.compile(
    r"(?:docx?|xlsx?|pptx?|pdf|txt|md|csv|json|ya?ml|png|jpe?g|gif|zip|html?|xml|log|py|js|eml|rtf)",
    re.IGNORECASE,
)
_ENDING = re.compile(rf"{_S}\.([{_LETTERS}]{{2,24}})(?![{_LETTERS}0-9])")

WIDE = "\u2e80"
"""From here on one sign says as much as two letters."""


@cache
def _sign() -> re.Pattern[str]:
    return re.compile(f"[{_SIGNS}]")


@cache
def _signs() -> re.Pattern[str]:
    return re.compile(f"([{_SIGNS}]+)")


def _holds_none(text: str) -> bool:
    return text.isascii() or _FAR.search(text) is None or _sign().search(text) is None


def apart(text: str) -> str:
    """The text with a blank around each sign of these scripts that is no part of an address."""
    if _holds_none(text):
        return text
    return " ".join(map(_word_apart, text.split(" ")))


def _word_apart(word: str) -> str:
    """One word: where it holds an address, what belongs to that stays whole."""
    if word.isascii():  # as most words of a text that holds such signs
        return word
    alike = _sign().sub(_S, word)
    holds_address = _ADDRESS.search(alike) is not None and not _is_file(alike)
    parts, end = [], 0
    for match in (_LOOSE if holds_address else _RUN).finditer(alike):
        start, stop = match.span()
        parts += [word[end:start], " ", " ".join(word[start:stop]), " "]
        end = stop
    return "".join([*parts, word[end:]])


def _is_file(alike: str) -> bool:
    """Whether all that looks like a host is a file's name: `报告.docx`."""
    endings = _ENDING.findall(alike)
    return (
        bool(endings)
        and "@" not in alike
        and "//" not in alike
        and all(_FILE.fullmatch(ending) for ending in endings)
        and f".{_S}" not in alike
    )


def parted(words: list[str]) -> list[str]:
    """The words within words: pairs of neighbouring signs, and what stands between runs of signs.

    Pairs, because single signs would make nearly every text one of known words.
    """
    text = " ".join(words)
    if _holds_none(text):
        return words
    found: list[str] = []
    for number, part in enumerate(_signs().split(text)):
        if number % 2:
            found += map(add, part, part[1:]) if len(part) > 1 else (part,)
        elif part != " ":
            found += part.split()
    return found


def weight(token: str) -> int:
    """How much a token tells, in letters."""
    return len(token) if token.isascii() or token < WIDE else 2 * len(token)
