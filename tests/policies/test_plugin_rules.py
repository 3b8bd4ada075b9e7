"""Rule kinds of other packages: found by entry point, in force like ours, never just missing."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from edgeward.guards.decide import decide
from edgeward.guards.ledger import History
from edgeward.guards.rules import rule_modules
from edgeward.guards.verdict import ToolCall
from edgeward.policies.schema import load_policy, policy_model
from edgeward.policies.yaml_file import ConfigError, ConfigValidationError

RULE = """
from dataclasses import dataclass
from edgeward.guards.verdict import Finding

KEY = "{key}"
Field = list[str]
DEFAULT = []

@dataclass(frozen=True)
class Check:
    words: tuple
    place: str
    rule: str = KEY

    def __call__(self, call, history):
        if call.name in self.words:
            yield Finding(KEY, "block", "not on a Sunday", self.place)

def build(value, where, context):
    return Check(tuple(value), where(0)) if value else None
"""


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder on the import path, with the caches emptied before and after."""
    monkeypatch.syspath_prepend(tmp_path)
    before = set(sys.modules)
    rule_modules.cache_clear()  # type: ignore[attr-defined]
    policy_model.cache_clear()
    yield tmp_path
    rule_modules.cache_clear()  # type: ignore[attr-defined]
    policy_model.cache_clear()
    for name in set(sys.modules) - before:
        if name.startswith("sunday"):
            del sys.modules[name]


def install(site: Path, module: str, code: str) -> None:
    """An installed distribution that offers `module` as a rule kind."""
    (site / f"{module}.py").write_text(code, encoding="utf-8")
    info = site / f"{module}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {module}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[edgeward.rules]\n{module} = {module}\n")


def test_a_rule_kind_of_another_package_is_a_key_of_the_file(site: Path) -> None:
    """Its key is known, its value checked, its check in force, its line named."""
    install(site, "sunday_one", RULE.format(key="not_on_sunday"))
    path = site / "policy.yaml"
    path.write_text("version: 1\nnot_on_sunday:\n  - ring_bell\n")
    verdict = decide(load_policy(path), ToolCall("ring_bell"), History())
    assert (verdict.word, verdict.reason) == ("block", "not on a Sunday")
    assert verdict.deciding[0].where == f"{path}:3"
    assert decide(load_policy(path), ToolCall("knock"), History()).word == "allow"
    with pytest.raises(ConfigValidationError, match="list_type"):
        load_policy({"not_on_sunday": "ring_bell"})
    with pytest.raises(ConfigValidationError, match="did you mean not_on_sunday"):
        load_policy({"not_on_sundays": ["ring_bell"]})


@pytest.mark.parametrize(
    ("code", "message"),
    [
        (RULE.format(key="tool_denylist"), "tool_denylist"),
        (RULE.format(key="fail_closed"), "fail_closed"),
        ("KEY = 'x'\n", "lacks Field, DEFAULT, build"),
        ("import no_such_module_at_all\n", "no_such_module_at_all"),
    ],
)
def test_a_broken_rule_kind_stops_every_policy(site: Path, code: str, message: str) -> None:
    """A rule that is missing, or replaces ours, would allow what it should block."""
    install(site, "sunday_two", code)
    with pytest.raises(ConfigError, match=message):
        load_policy("default")
