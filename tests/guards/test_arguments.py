"""Arguments are parsed once, strictly, and what is not a JSON object is a fault."""

from __future__ import annotations

import pytest

from edgeward.guards.arguments import parse_arguments


@pytest.mark.parametrize("raw", ["", "  \n", "{}"])
def test_no_arguments(raw: str) -> None:
    """Blank text and an empty object are a call without arguments."""
    assert parse_arguments(raw) == ({}, None)


def test_values() -> None:
    """An object comes back as plain data."""
    assert parse_arguments(' {"a": [1, "x", null, true]} ') == ({"a": [1, "x", None, True]}, None)


@pytest.mark.parametrize(
    ("raw", "fault"),
    [
        ('{"path": "a.txt"', "not valid JSON"),
        ("please read a.txt", "not valid JSON"),
        ('{"a":1}{"b":2}', "not valid JSON"),
        ("[1]", "JSON list"),
        ("null", "JSON null"),
        ("true", "JSON boolean"),
        ("3", "JSON number"),
        ('"x"', "JSON string"),
        ('{"a":1,"a":2}', "same key twice"),
        ('{"x":{"a":1,"a":2}}', "same key twice"),
        ('{"a":NaN}', "NaN"),
        ('{"a":-Infinity}', "-Infinity"),
        ('{"a":1e400}', "too large"),
        ('{"a":[-1e999]}', "too large"),
        ('{"a":' + "[" * 100 + "]" * 100 + "}", "nested too deeply"),
        ('{"a":' * 50_000 + "1" + "}" * 50_000, "nested too deeply"),
        ('{"a":' + "9" * 9_000 + "}", "too long"),
        ('{"a":"' + "x" * 4_000_000 + '"}', "longer than"),
    ],
)  # fmt: skip
def test_fault(raw: str, fault: str) -> None:
    """The fault says what is wrong and quotes nothing of the arguments."""
    arguments, said = parse_arguments(raw)
    assert arguments is None
    assert said is not None
    assert fault in said
    assert "a.txt" not in said
