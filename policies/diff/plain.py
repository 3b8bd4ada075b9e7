"""A rule's value as text, whatever it is made of: equal texts say the same."""

from __future__ import annotations

from pydantic_core import to_jsonable_python

from ...guards.verdict import canonical_json


def as_text(value: object) -> str:
    """The value as canonical JSON."""
    return canonical_json(to_jsonable_python(value, by_alias=True))
