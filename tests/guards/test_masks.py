"""Masks in JSON: numbers become strings, texts stay, what is no JSON is left as it is."""

from __future__ import annotations

import pytest

from edgeward.guards.masks import replaced, runs_of


def masked(text: str, *parts: str) -> str:
    """The text with these parts masked."""
    spans = [(text.index(part), text.index(part) + len(part), "x") for part in parts]
    return replaced(text, runs_of(spans), lambda _, label: f"[{label}]")


@pytest.mark.parametrize(
    ("text", "parts", "expected"),
    [
        ('{"a": 411}', ["411"], '{"a": "[x]"}'),
        ('[411, "b 522"]', ["411", "522"], '["[x]", "b [x]"]'),
        ('{"a": "411"}', ["411"], '{"a": "[x]"}'),
        (r'{"a": "\"411", "b": 522}', ["411", "522"], r'{"a": "\"[x]", "b": "[x]"}'),
        ("{a: 411}", ["411"], "{a: [x]}"),
        ("[411]", [], "[411]"),
        ("411, 522", ["411"], "[x], 522"),
        ('{"a": 411} tail', ["411"], '{"a": [x]} tail'),
    ],
)
def test_json(text: str, parts: list[str], expected: str) -> None:
    """A bare number becomes a string where the whole text is JSON; nothing else changes."""
    assert masked(text, *parts) == expected
