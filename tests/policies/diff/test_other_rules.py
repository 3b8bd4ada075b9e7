"""Rules of other packages: what they mean is not known, so that a change of one is not decided."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from edgeward.guards.rules import rule_modules
from edgeward.policies.diff import compare
from edgeward.policies.schema import policy_model

RULE = """
from dataclasses import dataclass
from edgeward.guards.verdict import Finding

KEY = "not_on_sunday"
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
def sunday(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """An installed distribution that offers a rule kind."""
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "sunday_diff.py").write_text(RULE, encoding="utf-8")
    info = tmp_path / "sunday_diff-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: sunday_diff\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[edgeward.rules]\nsunday = sunday_diff\n")
    for cached in (rule_modules, policy_model):
        cached.cache_clear()  # type: ignore[attr-defined]
    yield
    for cached in (rule_modules, policy_model):
        cached.cache_clear()  # type: ignore[attr-defined]
    sys.modules.pop("sunday_diff", None)


OPEN = {"version": 2, "default": "allow"}


@pytest.mark.usefixtures("sunday")
def test_what_is_written_otherwise_is_not_decided() -> None:
    """Also where it looks stricter, and where it is gone; with the places of both."""
    for new in (["ring"], ["ring", "knock", "call"], []):
        found = compare(
            {**OPEN, "not_on_sunday": ["ring", "knock"]}, {**OPEN, "not_on_sunday": new}
        )
        assert not found.looser
        assert [one.old_place.rule for one in found.undecided] == ["not_on_sunday"]


@pytest.mark.usefixtures("sunday")
def test_what_is_written_the_same_is_no_looser() -> None:
    """Nor is one that was not there before."""
    policy = {**OPEN, "not_on_sunday": ["ring"]}
    assert compare(policy, policy).undecided == ()
    assert compare(OPEN, policy).undecided == ()


@pytest.mark.usefixtures("sunday")
def test_in_shadow_it_decides_nothing() -> None:
    """So that putting one in shadow is not decided, and taking it out is no looser."""
    enforced = {**OPEN, "not_on_sunday": ["ring"]}
    shadowed = {**enforced, "mode": {"not_on_sunday": "shadow"}}
    assert [one.tool for one in compare(enforced, shadowed).undecided] == ["any other tool"]
    assert compare(shadowed, enforced).undecided == ()
