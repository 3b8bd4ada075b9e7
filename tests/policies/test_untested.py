"""Which rules no case would miss: found by leaving each out."""

from __future__ import annotations

from pathlib import Path

from edgeward.guards.conversation import ModelTurn, Proposed, ToolResult, UserText
from edgeward.guards.verdict import ToolCall
from edgeward.policies.cases import Case
from edgeward.policies.schema import policy_document
from edgeward.policies.untested import parts, untested

POLICY = """\
version: 2
description: A clerk.
default: block
tools:
  find_person: allow
  send_email: {args: {to: known}}
  "list_*": allow
  rm: block
trust:
  - {tool: find_person, fields: [email]}
  - {tool: find_thing, fields: [id]}
egress_allowlist: [x.example, y.example]
arg_rules:
  - {name: traversal, reason: no, regex: '\\.\\./'}
  - {name: exec, reason: no, regex: '--exec'}
token_budget_per_session: 1000
"""
ASKED = (
    UserText("Mail Ann."),
    ModelTurn((Proposed("find_person", {"name": "Ann"}, "c1"),)),
    ToolResult("c1", '[{"email": "ann@x.example"}]'),
)
CASES = [
    Case(ToolCall("find_person", {"name": "../x"})),
    Case(ToolCall("find_person", {"name": "x"})),
    Case(ToolCall("send_email", {"to": "ann@x.example"}), ASKED),
]


def policy(tmp_path: Path) -> str:
    """The policy in a file."""
    path = tmp_path / "clerk.yaml"
    path.write_text(POLICY, encoding="utf-8")
    return str(path)


def test_every_entry_is_a_part(tmp_path: Path) -> None:
    """Entries of lists and mappings, and single values; the head's words are no rules."""
    found = parts(policy_document(policy(tmp_path)))
    assert [part.name for part in found] == [
        *("tools.find_person", "tools.send_email", "tools.list_*", "tools.rm"),
        *("trust.find_person", "trust.find_thing"),
        *("egress_allowlist.x.example", "egress_allowlist.y.example"),
        *("arg_rules.traversal", "arg_rules.exec", "token_budget_per_session"),
    ]
    assert found[4].where.endswith("clerk.yaml:10")


def test_what_no_case_reaches(tmp_path: Path) -> None:
    """What permits is reached by what it lets through, what forbids by what it stops."""
    steps: list[int] = []
    found = untested(policy(tmp_path), CASES, step=lambda: steps.append(1))
    assert [part.name for part in found] == [
        *("tools.list_*", "tools.rm", "trust.find_thing", "egress_allowlist.y.example"),
        *("arg_rules.exec", "token_budget_per_session"),
    ]
    assert len(steps) == 11


def test_without_cases_nothing_is_reached(tmp_path: Path) -> None:
    """Every part is untested."""
    assert len(untested(policy(tmp_path), [])) == 11


def test_what_is_in_shadow_is_read_as_enforced(tmp_path: Path) -> None:
    """The same parts are missed, whatever the mode says of them."""
    path, found = tmp_path / "clerk.yaml", []
    modes = "", "mode: shadow\n", "mode: {tools.rm: shadow, arg_rules.traversal: shadow}\n"
    for mode in modes:
        path.write_text(POLICY + mode, encoding="utf-8")
        found.append([part.name for part in untested(str(path), CASES)])
    assert found[0] == found[1] == found[2]
    assert "tools.rm" in found[0]


def test_what_no_call_can_show_is_not_missed(tmp_path: Path) -> None:
    """How long an approval lasts, and when a run is warned or ends: no verdict says it."""
    said = "approvals: {max_s: 60, once: [pay]}\nlimits: {near: 0.9, repeats: {pay: 9}, calls: 3}\n"
    path = tmp_path / "clerk.yaml"
    path.write_text(f"version: 2\ntools: {{pay: ask}}\n{said}", encoding="utf-8")
    assert [part.name for part in untested(str(path), [])] == ["tools.pay", "limits.calls"]
