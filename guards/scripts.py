"""Scripts that are written without blanks between words: Chinese, Japanese, Korean, Thai.

`请给王芳发邮件` names 王芳. Each sign of such a script is a word of its own where values compare:
a value is found wherever its signs stand in a row, and what they touch (`给a@x.example发`) is cut
off. Signs within an address or a host stay where they are: `银行.cn` is no part of `大银行.cn`.
Texts in ASCII never come here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

_SIGNS = (
    "\u0e00-\u0eff\u0f00-\u0fff\u1000-\u109f\u1780-\u17ff\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029"
    "\u3031-\u3035\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u3105-\u312f\u3400-\u4dbf"
    "\u4e00-\u9fff\ua960-\ua97c\uac00-\ud7a3\uf900-\ufaff\U00020000-\U0003fffd"
)
_SIGN = re.compile(f"[{_SIGNS}]")
_RUN = re.compile(f"[{_SIGNS}]+")
_LOOSE = re.compile(rf"(?<![{_SIGNS}@./\\_%-])[{_SIGNS}]+(?![{_SIGNS}]|[@./\\_%-]\S)")
"""Signs that touch nothing that makes an address of them."""
_ADDRESS = re.compile(
    rf"[{_SIGNS}]@|@[\w.-]{{0,200}}[{_SIGNS}]|[{_SIGNS}]\.(?:[{_SIGNS}]|[a-z]{{2,24}}(?![a-z0-9]))"
    rf"|[{_SIGNS}]\.xn--|\.[{_SIGNS}]|//[^\s/]{{0,200}}[{_SIGNS}]",
    re.IGNORECASE,
)
_FILE = re.compile(
    r"(?:docx?|xlsx?|pptx?|pdf|txt|md|csv|json|ya?ml|png|jpe?g|gif|zip|html?|xml|log|py|js|eml|rtf)",
    re.IGNORECASE,
)
_ENDING = re.compile(rf"[{_SIGNS}]\.([a-z]{{2,24}})(?![a-z0-9])", re.IGNORECASE)

WIDE = "\u2e80"
"""From here on one sign says as much as two letters."""


def apart(text: str) -> str:
    """The text with a blank around each sign of these scripts that is no part of an address."""
    if text.isascii() or _SIGN.search(text) is None:
        return text
    return " ".join(map(_word_apart, text.split(" ")))


def _word_apart(word: str) -> str:
    """One word: where it holds an address, what belongs to that stays whole."""
    if word.isascii():
        return word
    holds_address = _ADDRESS.search(word) is not None and not _is_file(word)
    return (_LOOSE if holds_address else _RUN).sub(_spaced, word)


def _is_file(word: str) -> bool:
    """Whether all that looks like a host is a file's name: `报告.docx`."""
    endings = _ENDING.findall(word)
    return (
        bool(endings)
        and "@" not in word
        and "//" not in word
        and all(_FILE.fullmatch(ending) for ending in endings)
        and not re.search(rf"\.[{_SIGNS}]", word)
    )


def _spaced(match: re.Match[str]) -> str:
    return f" {' '.join(match[0])} "


def parted(word: str) -> Iterator[str]:
    """The words of a word: pairs of neighbouring signs, and what stands between runs of signs.

    Pairs, because single signs would make nearly every text one of known words.
    """
    if word.isascii() or _SIGN.search(word) is None:
        yield word
        return
    end = 0
    for match in _RUN.finditer(word):
        if match.start() > end:
            yield word[end : match.start()]
        run = match[0]
        yield from (run[n : n + 2] for n in range(max(len(run) - 1, 1)))
        end = match.end()
    if end < len(word):
        yield word[end:]


def weight(token: str) -> int:
    """How much a token tells, in letters."""
    return len(token) if token.isascii() or token < WIDE else 2 * len(token)
