"""`tool_allowlist`: the only tools that may run."""

from __future__ import annotations

import pytest

from .deciding import verdict, word

RULES: dict[str, object] = {"tool_allowlist": ["read_doc", "search"]}


def test_a_listed_tool_may_run() -> None:
    """Its own name, as it is registered."""
    assert word(RULES, "read_doc") == "allow"


@pytest.mark.parametrize("tool", ["send", "READ_DOC", "read_doc ", "mcp__read_doc", "read_docs"])
def test_no_other_spelling_may_run(tool: str) -> None:
    """What allows matches exactly: another spelling may be another tool."""
    assert word(RULES, tool) == "block"


@pytest.mark.parametrize("rules", [{}, {"tool_allowlist": []}, {"tool_allowlist": None}])
def test_an_empty_list_restricts_nothing(rules: dict[str, object]) -> None:
    """Without entries, the rule has no say."""
    assert word(rules, "anything") == "allow"


def test_the_refusal_names_the_tool_and_the_rule() -> None:
    """The tool's name is shown in plain ASCII, however it was written."""
    (finding,) = verdict(RULES, "läuft").deciding
    assert finding.rule == "tool_allowlist"
    assert finding.reason == r"tool 'l\xe4uft' is not on the allowlist"


def test_a_glob_in_the_list_is_a_plain_name() -> None:
    """`*` allows no more than a tool of that very name."""
    assert word({"tool_allowlist": ["*"]}, "read_doc") == "block"
