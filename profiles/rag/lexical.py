"""Words in common, by BM25: finds the part number that no embedder has ever seen.

    k1 = 1.2, b = 0.75 (Robertson, Zaragoza: The Probabilistic Relevance Framework, 2009)

The score is put into 0 to 1: what a passage of average length that holds every word of the query
once would get is 1.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

K1 = 1.2
B = 0.75

_WORD = re.compile(r"\w+", re.UNICODE)
_UNSPACED = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff]")


def words(text: str) -> list[str]:
    """The words of a text as they are compared: in small letters; of scripts without spaces, each
    pair of neighbours."""
    found: list[str] = []
    for word in _WORD.findall(text.casefold()):
        if word.isascii() or not _UNSPACED.search(word):
            found.append(word)
        else:
            found += [word[at : at + 2] for at in range(max(len(word) - 1, 1))]
    return found


class WordIndex:
    """Which texts hold which word, and how often. Made once, in one pass; then only read."""

    def __init__(self, texts: Sequence[str]) -> None:
        import numpy as np

        holders: dict[str, tuple[list[int], list[int]]] = {}
        lengths = []
        for at, text in enumerate(texts):
            counted = Counter(words(text))
            lengths.append(counted.total())
            for word, times in counted.items():
                places, counts = holders.setdefault(word, ([], []))
                places.append(at)
                counts.append(times)
        self._size = len(texts)
        size = np.asarray(lengths, dtype=np.float32)
        mean = float(size.mean()) if self._size else 0.0
        self._norm: Any = K1 * (1 - B + B * size / max(mean, 1.0))
        self._holders = {
            word: (np.asarray(places, dtype=np.int32), np.asarray(counts, dtype=np.float32))
            for word, (places, counts) in holders.items()
        }

    def scores(self, query: str) -> Any:
        """A float32 array: for each text, how much of the query is in it, from 0 to 1."""
        import numpy as np

        total = np.zeros(self._size, dtype=np.float32)
        most = 0.0
        for word in dict.fromkeys(words(query)):
            found = self._holders.get(word)
            held = 0 if found is None else len(found[0])
            weight = math.log(1 + (self._size - held + 0.5) / (held + 0.5))
            most += weight
            if found is not None:
                places, counts = found
                total[places] += weight * counts * (K1 + 1) / (counts + self._norm[places])
        return np.minimum(total / most, 1.0) if most else total
