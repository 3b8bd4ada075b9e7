"""What lies inside plain data."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any


def mappings_in(value: object) -> Iterator[dict[str, Any]]:
    """Every mapping in `value`, itself included."""
    if isinstance(value, dict):
        yield value
        for inner in value.values():
            yield from mappings_in(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from mappings_in(inner)
