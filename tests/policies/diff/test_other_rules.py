"""Rules of other packages: what they mean is not known, so that a change of one is not decided."""

from __future__ import annotations

from pathlib import Path

import pytest

from edgeward.policies.diff import compare

from ..test_plugin_rules import RULE, install, site

__all__ = ["site"]


@pytest.fixture
def sunday(site: Path) -> None:
    """An installed distribution that offers a rule kind."""
    install(site, "sunday_diff", RULE.format(key="not_on_sunday"))


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
