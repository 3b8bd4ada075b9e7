"""`mode` names rules as verdicts name them; a name that is none is refused with its line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from edgeward.policies.modes import rule_names
from edgeward.policies.problems import ConfigError
from edgeward.policies.schema import load_policy

from ..guards.test_shadow import RULES


def problems(mode: object, **more: Any) -> list[str]:
    """What is wrong with a `mode`."""
    with pytest.raises(ConfigError) as raised:
        load_policy({"version": 2, **more, "mode": mode})
    return [str(problem) for problem in raised.value.problems]


def test_the_names_are_those_of_verdicts() -> None:
    """Every key that speaks, and every entry that has a name."""
    names = set(rule_names(load_policy(RULES).checks))
    assert names >= {"tools", "tools.send_*", "default", "arg_rules.env", "secret_patterns.badge"}
    assert names >= {"limits.run.calls", "limits.thread.tokens", "sequence.after_page", "private"}


def test_a_name_that_is_none_is_told_with_the_nearest(tmp_path: Path) -> None:
    """File, line, what there is, what to do."""
    path = tmp_path / "p.yaml"
    path.write_text(
        "version: 2\narg_rules: [{name: traversal, regex: x}]\n"
        "mode:\n  arg_rules.traversl: shadow\n",
        encoding="utf-8",
    )
    with pytest.raises(ConfigError) as raised:
        load_policy(path)
    assert str(raised.value) == (
        f"{path}:4: mode.arg_rules.traversl: is no rule of this policy; allowed: arg_rules,"
        " arg_rules.traversal or secret_patterns; did you mean arg_rules.traversal?"
    )


def test_a_rule_that_is_not_there_has_no_mode() -> None:
    """A key that the file does not have, an entry of another name."""
    assert "is no rule" in problems({"egress_allowlist": "shadow"})[0]
    assert "is no rule" in problems({"tools.pay": "shadow"}, tools={"pay_*": "ask"})[0]


SILENT = {
    "trust": [{"tool": "find"}],
    "approvals": "once",
    "pii": {"regions": ["DE"]},
    "placeholders": {"kinds": ["email"]},
    "injection_phrases": ["system override"],
    "injection_threshold": 0.7,
    "results": {"hidden": "show"},
}


@pytest.mark.parametrize("key", SILENT)
def test_what_says_nothing_of_calls_has_no_mode(key: str) -> None:
    """It could not be seen to be in shadow."""
    (problem,) = problems({key: "shadow"}, **{key: SILENT[key]})
    assert f"mode.{key}: says nothing of calls" in problem


@pytest.mark.parametrize("mode", ["shado", ["tools"], 1, {"tools": "off"}, {"tools": True}])
def test_a_mode_is_one_of_two_words(mode: object) -> None:
    """For all, or for each rule."""
    assert "allowed: enforce or shadow" in problems(mode, tools={"a": "allow"})[0]


def test_version_1_has_it_too() -> None:
    """A file of agent-defender's can be tried out before it is enforced."""
    policy = load_policy(
        {"version": 1, "tool_denylist": ["rm"], "mode": {"tool_denylist": "shadow"}}
    )
    assert policy.shadow is not None


def test_in_an_entry_it_is_said_where_it_belongs() -> None:
    """There is one way to write it."""
    for more in (
        {"arg_rules": [{"name": "a", "regex": "x", "mode": "shadow"}]},
        {"tools": {"pay": {"mode": "shadow"}}},
    ):
        (problem,) = problems("enforce", **more)
        assert "write `mode: {NAME: shadow}` at the top, with the rule's name" in problem
