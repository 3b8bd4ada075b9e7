"""What lint finds in a policy, each with its line; and that it does not cry wolf."""

from __future__ import annotations

from pathlib import Path

import pytest

from edgeward.policies.lint import CHECKS, SUSPICIOUS, lint_policy, mismatches
from edgeward.policies.schema import shipped_policies

KEY = "sk-proj-" + "Ab1" * 16


def found(tmp_path: Path, text: str) -> list[tuple[int, str, str]]:
    """Line, kind and field of each problem of a policy."""
    path = tmp_path / "p.yaml"
    path.write_text(text, encoding="utf-8")
    return [
        (int(problem.where.rpartition(":")[2]), problem.kind, problem.field)
        for problem in lint_policy(path)
    ]


@pytest.mark.parametrize(
    ("rules", "line", "kind", "field"),
    [
        ("tools: {x_a: allow}\ntool_denylist: ['X-*']", 2, "unreachable", "tools.x_a"),
        ("tools: {x_a: allow, y: ask}\ntool_allowlist: [x_a]", 2, "unreachable", "tools.y"),
        ("tools:\n  'get_*': allow\n  get_x: allow", 4, "shadowed", "tools.get_x"),
        (
            "egress_allowlist:\n  - a.example\n  - x.a.example",
            4,
            "shadowed",
            "egress_allowlist[1]",
        ),
        (
            "arg_rules:\n  - {name: a, regex: abc}\n  - {name: b, regex: abc}",
            4,
            "shadowed",
            "arg_rules[1]",
        ),
        (
            "tool_allowlist: [a, b_x]\ntool_denylist: ['B-*']",
            2,
            "unreachable",
            "tool_allowlist[1]",
        ),
        (
            "tools: {x: block, y: ask}\ntool_allowlist: [y, x]",
            3,
            "unreachable",
            "tool_allowlist[1]",
        ),
        ("tools: {x: {args: {a: {in: []}}}}", 2, "unreachable", "tools.x.args.a.in"),
        (
            "tools: {x: [{args: {a: [{hosts: []}]}}]}",
            2,
            "unreachable",
            "tools.x[0].args.a[0].hosts",
        ),
        ("tool_allowlist: ['get_*', get_x]", 2, "shadowed", "tool_allowlist[1]"),
        ("tool_denylist: [a, a]", 2, "shadowed", "tool_denylist[1]"),
        ("egress_allowlist: [a.example, A.example]", 2, "shadowed", "egress_allowlist[1]"),
        ("tools: {x: allow}\nprivate: [y]", 3, "never_runs", "private[0]"),
        ("tools: {x: block}\nprivate: [x]", 3, "never_runs", "private[0]"),
        (
            "tools: {x: allow}\ntrust:\n  - {tool: [x, 'y*'], fields: [a]}",
            4,
            "never_runs",
            "trust[0].tool",
        ),
        (
            "tools: {x: allow}\nsequence:\n  - {after: x, block: z}",
            4,
            "never_runs",
            "sequence[0].block",
        ),
        ("tools:\n  pay_bill: ask\n  send_mail: allow", 4, "bare_sink", "tools.send_mail"),
        ("tools:\n  pay_bill: ask\n  a__send_mail: allow", 4, "bare_sink", "tools.a__send_mail"),
        ("tools:\n  send_mail: allow\n  get_x: allow", 3, "open_egress", "tools.send_mail"),
        ("tools: {web.fetch_url: allow}", 2, "open_egress", "tools.web.fetch_url"),
        ("tools:\n  pay: {args: {to: any}}", 3, "anything", "tools.pay.args.to"),
        ("tools: {x: [{args: {a: [known, any]}}]}", 2, "anything", "tools.x[0].args.a[1]"),
        (
            "tools:\n  order: ask\n  drop: {args: {id: created}}",
            4,
            "never_created",
            "tools.drop.args.id",
        ),
        ("default: allow\ntools: {x: ask}", 2, "open_default", "default"),
        ("tools: {x: ask}\nmode: shadow", 3, "in_shadow", "mode"),
        (
            "arg_rules:\n  - {name: a, regex: '.*'}",
            3,
            "matches_everything",
            "arg_rules[0].regex",
        ),
        ("arg_rules:\n  - {name: a, regex: '.+'}", 3, "matches_everything", "arg_rules[0].regex"),
        (
            "tools: {x: {args: {a: {match: '.*'}}}}",
            2,
            "matches_everything",
            "tools.x.args.a.match",
        ),
        (
            "secret_patterns:\n  - {name: a, regex: 'B-[0-9]', examples: [B-1, C-1]}",
            3,
            "misses_example",
            "secret_patterns[0].examples[1]",
        ),
        (f"me: ['{KEY}']", 2, "secret", "me[0]"),
        (f"tools: {{x: ask}}  # {KEY}", 2, "secret", ""),
        ("tols: {}", 2, "extra_forbidden", "tols"),
        ("arg_rules:\n  - {name: a, regex: '(?=x)'}", 3, "value_error", "arg_rules[0].regex"),
    ],
)
def test_what_is_found(tmp_path: Path, rules: str, line: int, kind: str, field: str) -> None:
    """One problem, with its line and kind."""
    assert found(tmp_path, f"version: 2\n{rules}\n") == [(line, kind, field)]


@pytest.mark.parametrize(
    "rules",
    [
        "tools:\n  'get_*': allow\n  get_x: ask\n  'get_y*': block\ntool_denylist: [get_z]",
        "tools:\n  get_x: {args: {a: known}}\n  'get_*': {}",
        "egress_allowlist: [a.example, '*.b.example', 10.0.0.0/8, ba.example]",
        "tools: {'read_*': allow}\nprivate: ['read_account*', 'r*']",
        "default: ask\ntools: {x: allow}\nprivate: [y]",
        "tools: {send_mail: allow, pay_bill: ask}\negress_allowlist: [a.example]",
        "arg_rules:\n  - {name: a, regex: abc, tools: [x]}\n  - {name: b, regex: abc, tools: [y]}",
        "arg_rules:\n  - {name: a, regex: '\\S', args: [url]}",
        "tools: {send_mail: {args: {to: known}}}",
        "tools: {send_mail: ask, 'fetch_*': block}",
        "tools: {send_mail: allow}\negress_allowlist: []",
        "tools: {write_file: {args: {content: any}}, 'get_*': {args: {'*': any}}}",
        "tools: {pay: {args: {to: stated, sum: any}, together: [to, sum]}}",
        "tools: {refund: {args: {order: stated, sum: any}, at_most: {sum: order}}}",
        "tools: {new_order: ask, drop: {args: {id: created}}}",
        "tools: {'*_order': ask, drop: {args: {id: created}}}",
        "default: ask\ntools: {drop: {args: {id: created}}}",
        f"secret_patterns:\n  - {{name: a, regex: 'sk-proj-.*', examples: ['{KEY}']}}",
    ],
)
def test_what_is_left_alone(tmp_path: Path, rules: str) -> None:
    """What is meant as it stands."""
    assert not found(tmp_path, f"version: 2\n{rules}\n")


@pytest.mark.parametrize("name", shipped_policies())
def test_shipped_policies_are_clean(name: str) -> None:
    """Not a word against any of them."""
    assert not lint_policy(name)


def test_no_secret_is_repeated(tmp_path: Path) -> None:
    """The problem names the kind of key, not the key."""
    path = tmp_path / "p.yaml"
    path.write_text(f"version: 2\ndescription: {KEY}\n", encoding="utf-8")
    (problem,) = lint_policy(path)
    assert KEY not in str(problem)
    assert "openai" in str(problem)


def test_an_agent_and_its_policy(tmp_path: Path) -> None:
    """What one has and the other lacks, both ways."""
    path = tmp_path / "p.yaml"
    path.write_text("version: 2\ntools:\n  'get_*': allow\n  pay: ask\n", encoding="utf-8")
    both = [(p.kind, p.field) for p in mismatches(path, ["get_x", "send"])]
    assert both == [("no_such_tool", "tools.pay"), ("unnamed_tool", "tools")]
    assert [p.kind for p in mismatches(path, ["get_x"], whole=False)] == []


def test_every_kind_of_suspicion_is_tried() -> None:
    """Each check of the list says what it looks for."""
    assert all(check.__doc__ for check in CHECKS)
    assert {"unreachable", "shadowed", "bare_sink"} <= SUSPICIOUS
