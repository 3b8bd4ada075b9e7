"""Text into chunks of at most so many tokens, each with the end of the one before.

A chunk ends at the end of a paragraph, a line or a sentence where one is near. Text is counted
word by word, once: the work grows with the text and with nothing else.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

Count = Callable[[Sequence[str]], list[int]]
"""How many tokens each of some words is."""

MAX_WORD_CHARS = 48
"""Longer words are divided: an embedder takes a very long one for a single token."""

_WORD = re.compile(rf"\s+|[^\s]{{1,{MAX_WORD_CHARS}}}")
_SENTENCE_ENDS = tuple(".!?。！？…")
_CLOSING = "\"')]»”’"
_NEAR = 0.5
"""How full a chunk is at least before it ends at a better place than the bound."""


def split(text: str, *, size: int, overlap: int, count: Count) -> list[str]:
    """The chunks of `text`: each of at most `size` tokens, with up to `overlap` in common with the
    one before. Blank text has none.

    A single word of more tokens than `size` is divided by letters.
    """
    pieces = _pieces(text, size, count)
    chunks: list[str] = []
    first = 0
    while first < len(pieces):
        end = _end(pieces, first, size)
        chunk = "".join(word for word, _, _ in pieces[first:end]).strip()
        if chunk:
            chunks.append(chunk)
        if end >= len(pieces):
            break
        first = _back(pieces, first, end, overlap)
    return chunks


Piece = tuple[str, int, int]
"""A word or a gap, its tokens (none for a gap), and how good it is to end behind it."""


def _pieces(text: str, size: int, count: Count) -> list[Piece]:
    words = _WORD.findall(text)
    spoken = [word for word in words if not word.isspace()]
    tokens = iter(count(spoken))
    pieces: list[Piece] = []
    for word in words:
        if word.isspace():
            if pieces:
                last, number, _ = pieces[-1]
                pieces[-1] = (last, number, _worth(last, word))
            pieces.append((word, 0, 0))
            continue
        number = max(next(tokens), 1)
        if number <= size:
            pieces.append((word, number, 0))
        else:
            pieces += [(letter, 1, 0) for letter in word]
    return pieces


def _worth(word: str, gap: str) -> int:
    """How good it is to end between a word and a gap: paragraph, line, sentence, word."""
    if gap.count("\n") > 1:
        return 4
    ends = word.rstrip(_CLOSING).endswith(_SENTENCE_ENDS)
    if "\n" in gap:
        return 3
    return 2 if ends else 1


def _end(pieces: list[Piece], first: int, size: int) -> int:
    """Behind which piece a chunk that begins with `first` ends."""
    used, at = 0, first
    best, best_worth = first, -1
    while at < len(pieces):
        _, number, worth = pieces[at]
        if used + number > size:
            break
        used += number
        at += 1
        if used >= size * _NEAR and worth >= max(best_worth, 1):
            best, best_worth = at, worth
    if at == len(pieces):
        return at
    return best if best > first else max(at, first + 1)


def _back(pieces: list[Piece], first: int, end: int, overlap: int) -> int:
    """Where the next chunk begins: with the last words of this one, and always further on."""
    used, at = 0, end
    while at > first + 1 and used + pieces[at - 1][1] <= overlap:
        at -= 1
        used += pieces[at][1]
    while at < end and pieces[at][1] == 0:
        at += 1
    return at
