"""A rule's value as text, whatever it is made of: equal texts say the same."""

from __future__ import annotations

from typing import Any

from pydantic import TypeAdapter

from ...guards.verdict import canonical_json

_ANYTHING: TypeAdapter[Any] = TypeAdapter(Any)


def as_text(value: object) -> str:
    """The value as canonical JSON."""
    return canonical_json(_ANYTHING.dump_python(value, mode="json", by_alias=True))
