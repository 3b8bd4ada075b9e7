"""docs/strategies.md: every shipped strategy with its picture, every node kind with its fields."""

from __future__ import annotations

import re

import pytest

from edgeward.cli.pictures.drawing import drawing
from edgeward.cli.pictures.mermaid import as_mermaid
from edgeward.graphs.result import StopReason
from edgeward.graphs.schema import load_strategy, shipped_strategies
from edgeward.nodes import KINDS, kinds

from .blocks import ROOT, blocks_of

PAGE = ROOT / "docs" / "strategies.md"
TEXT = PAGE.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", shipped_strategies())
def test_the_picture_is_what_edgeward_graph_prints(name: str) -> None:
    """Below the strategy's heading, to the character."""
    section = TEXT.split(f"\n## {name}\n")[1].split("\n## ")[0]
    assert f"```mermaid\n{as_mermaid(drawing(load_strategy(name)))}\n```" in section
    assert f"| `{name}` |" in TEXT


def test_no_picture_is_left_over() -> None:
    """As many as there are strategies."""
    pictures = [block for block in blocks_of(PAGE) if block.language == "mermaid"]
    assert len(pictures) == len(shipped_strategies())


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_has_its_row(kind: str) -> None:
    """With each field that a strategy may set."""
    (row,) = re.findall(rf"^\| `{kind}` \|.*$", TEXT, re.MULTILINE)
    named = set(re.findall(r"`(\w+)`", row.rsplit("|", 2)[1]))
    assert named == set(kinds()[kind].spec.model_fields) - {"kind"}


def test_every_reason_to_stop_is_explained() -> None:
    """Those of a run by name; those of the policy's limits on their own page."""
    limits = (ROOT / "docs" / "limits.md").read_text(encoding="utf-8")
    for reason in StopReason.__args__:
        assert f"`{reason}`" in TEXT or f"`{reason}`" in limits, reason
