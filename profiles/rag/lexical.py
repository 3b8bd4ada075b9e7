"""Words in common, by BM25: finds the part number that no embedder has ever seen.

    k1 = 1.2, b = 0.75 (Robertson, Zaragoza: The Probabilistic Relevance Framework, 2009)

The score is put into 0 to 1: what a passage of average length that holds every word of the query
once would get is 1. Words are kept as numbers (CRC-32), counted once when a passage comes into the
index, so that an index of ten thousand passages is ready in a fraction of a second.
"""

from __future__ import annotations

import math
import re
import struct
from collections import Counter
from collections.abc import Sequence
from typing import Any
from zlib import crc32

K1 = 1.2
B = 0.75

_WORD = re.compile(r"\w+", re.UNICODE)
_UNSPACED = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff]")
_PAIR = struct.Struct("<IH")
"""A word's number, and how often it stands there."""
_MOST = 0xFFFF


def words(text: str) -> list[str]:
    """The words of a text as they are compared: in small letters; of scripts without spaces, each
    pair of neighbours."""
    folded = text.casefold()
    plain: list[str] = _WORD.findall(folded)
    if folded.isascii() or not _UNSPACED.search(folded):
        return plain
    found: list[str] = []
    for word in plain:
        if _UNSPACED.search(word):
            found += [word[at : at + 2] for at in range(max(len(word) - 1, 1))]
        else:
            found.append(word)
    return found


def counted(text: str) -> bytes:
    """The words of a text, counted, in the form in which `WordIndex` takes them."""
    numbers = Counter(_number(word) for word in words(text))
    return b"".join(_PAIR.pack(number, min(times, _MOST)) for number, times in numbers.items())


def _number(word: str) -> int:
    return crc32(word.encode("utf-8", "replace"))


class WordIndex:
    """Which texts hold which word, and how often. Made once; then only read."""

    def __init__(self, texts: Sequence[bytes]) -> None:
        """`texts` are counted."""
        import numpy as np

        pairs = np.frombuffer(b"".join(texts), dtype=[("word", "<u4"), ("times", "<u2")])
        owners = np.repeat(np.arange(len(texts)), [len(text) // _PAIR.size for text in texts])
        self._size = len(texts)
        lengths = np.bincount(owners, weights=pairs["times"], minlength=self._size)
        mean = float(lengths.mean()) if self._size else 0.0
        self._norm: Any = K1 * (1 - B + B * lengths / max(mean, 1.0))
        order = np.argsort(pairs["word"], kind="stable")
        self._words: Any = pairs["word"][order]
        self._owners: Any = owners[order]
        self._times: Any = pairs["times"][order].astype(np.float64)

    def scores(self, query: str) -> Any:
        """A float array: for each text, how much of the query is in it, from 0 to 1."""
        import numpy as np

        total = np.zeros(self._size)
        most = 0.0
        for number in dict.fromkeys(map(_number, words(query))):
            first = int(np.searchsorted(self._words, number, side="left"))
            behind = int(np.searchsorted(self._words, number, side="right"))
            held = behind - first
            weight = math.log(1 + (self._size - held + 0.5) / (held + 0.5))
            most += weight
            places, times = self._owners[first:behind], self._times[first:behind]
            total[places] += weight * times * (K1 + 1) / (times + self._norm[places])
        return np.minimum(total / most, 1.0) if most else total
