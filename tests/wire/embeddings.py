"""OpenAI's embeddings, as the wire server answers them: vectors made of the words of a text."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable
from typing import Any

from .server import Raw, Seen


def vector(text: str, dims: int) -> list[float]:
    """The same text, the same vector; texts that share words lie close together."""
    found = [0.0] * dims
    for word in text.casefold().split():
        number = int.from_bytes(hashlib.sha256(word.encode()).digest()[:8], "big")
        found[number % dims] += 1.0 if number >> 63 else -1.0
    found[0] += 0.01
    length = math.sqrt(sum(number * number for number in found))
    return [number / length for number in found]


def vectors(dims: int) -> Callable[[Seen], Raw]:
    """A reply with one vector for each text of the request, in no particular order."""

    def reply(seen: Seen) -> Raw:
        texts: Any = seen.body["input"]
        data = [
            {"object": "embedding", "index": index, "embedding": vector(text, dims)}
            for index, text in enumerate(texts)
        ]
        usage = {"prompt_tokens": len(texts), "total_tokens": len(texts)}
        model = seen.body["model"]
        return Raw({"object": "list", "model": model, "data": data[::-1], "usage": usage})

    return reply
