"""A detector: texts that shout are suspicious."""

from __future__ import annotations


def detect(text: str) -> float:
    """The share of capitals among the letters."""
    letters = [char for char in text if char.isalpha()]
    return sum(map(str.isupper, letters)) / len(letters) if letters else 0.0
