"""What is said of an argument that is of no type that it may have."""

from __future__ import annotations

from types import UnionType
from typing import Any


def require(name: str, given: object, kinds: type[Any] | UnionType, wanted: str) -> None:
    """Refuse an argument that is none of `kinds`; `wanted` says in words what it may be.

    Raises:
        TypeError: what `refusal` says.
    """
    if not isinstance(given, kinds):
        raise refusal(name, given, wanted)


def refusal(name: str, given: object, wanted: str) -> TypeError:
    """The error about an argument: with its type, and not its value, which may be a secret."""
    if isinstance(given, type):
        return TypeError(f"{name} is the class {given.__name__}; allowed: {wanted}")
    return TypeError(f"{name} is of type {type(given).__name__}; allowed: {wanted}")
