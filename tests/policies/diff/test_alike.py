"""Policies that mean the same and are written differently: neither is looser, nothing is open."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml  # type: ignore[import-untyped]

from edgeward.policies.diff import compare

Policy = dict[str, Any]

PAIRS: list[tuple[Policy, Policy]] = [
    (pair["one"], pair["other"])
    for pair in yaml.safe_load((Path(__file__).parent / "alike.yaml").read_text(encoding="utf-8"))
]


@pytest.mark.parametrize(("one", "other"), PAIRS)
def test_neither_is_looser(one: Policy, other: Policy) -> None:
    """Whichever is the new one."""
    for old, new in ((one, other), (other, one)):
        open_ended = {} if {"tools", "default"} & old.keys() else {"default": "allow"}
        found = compare({"version": 2, **open_ended, **old}, {"version": 2, **open_ended, **new})
        told = [(o.tool, o.what, o.witness or o.shown) for o in found.looser]
        assert (told, found.undecided) == ([], ())
