"""`edgeward.guards`: its public names are the objects of the modules that define them."""

from __future__ import annotations

from importlib import import_module

import pytest

from edgeward import guards

HOMES = {
    "Examined": "normalise",
    "Finding": "verdict",
    "History": "ledger",
    "Ledger": "ledger",
    "Origin": "verdict",
    "Policy": "decide",
    "Redactor": "redact",
    "ToolCall": "verdict",
    "Verdict": "verdict",
    "Word": "verdict",
    "parse_arguments": "normalise",
}


def test_every_public_name_is_there() -> None:
    """All that `__all__` promises can be had, and is the one object there is of it."""
    assert set(guards.__all__) == set(HOMES)
    for name, home in HOMES.items():
        assert getattr(guards, name) is getattr(import_module(f"edgeward.guards.{home}"), name)


def test_unknown_name() -> None:
    """A misspelt name is an AttributeError that says it, as of any module."""
    with pytest.raises(AttributeError, match=r"'edgeward\.guards' has no attribute 'Verdikt'"):
        guards.Verdikt
    assert not hasattr(guards, "allow")
