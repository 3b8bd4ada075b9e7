"""`tool_allowlist`: only what is listed runs; an empty list restricts nothing."""

from __future__ import annotations

from ..conftest import Ask


def test_exact(ask: Ask) -> None:
    """A listed tool runs under its own spelling and no other."""
    policy = {"tool_allowlist": ["read_doc"]}
    assert ask(policy, {}, tool="read_doc").word == "allow"
    for name in ("READ_DOC", "read_doc ", "functions.read_doc", "read_docs"):
        verdict = ask(policy, {}, tool=name)
        assert verdict.word == "block"
        assert "is not on the allowlist" in verdict.reason


def test_empty(ask: Ask) -> None:
    """An empty or absent list lets any tool pass."""
    assert ask({"tool_allowlist": []}, {}, tool="anything").word == "allow"
    assert ask({}, {}, tool="anything").word == "allow"
