"""Keys that are nearly right: what is said of them, and what a blank one means."""

from __future__ import annotations

from pathlib import Path

import pytest

from edgeward.guards.decide import decide
from edgeward.guards.ledger import History
from edgeward.guards.verdict import ToolCall
from edgeward.policies.problems import ConfigError
from edgeward.policies.schema import load_policy


@pytest.mark.parametrize(
    ("condition", "said"),
    [
        ("{}", "an empty condition; write one of max, min, in, match, hosts, under"),
        ("{min: 3, max: 1}", "max is less than min: no value can be in this range"),
        ("[known, {min: 3, max: 1}]", "max is less than min: no value can be in this range"),
    ],
)
def test_a_condition_of_the_right_shape_that_says_nothing(
    condition: str, said: str, tmp_path: Path
) -> None:
    """One line says what is wrong with it, not which other shapes there are."""
    path = tmp_path / "p.yaml"
    text = f"version: 2\ntools:\n  pay:\n    args:\n      amount: {condition}\n"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError) as found:
        load_policy(path)
    assert f"{path}:5: tools.pay.args.amount" in str(found.value)
    assert said in str(found.value)
    assert len(str(found.value).splitlines()) == 1


def test_a_blank_list_of_tools_allows_none(tmp_path: Path) -> None:
    """Whoever has written `tools:` and not yet which does not mean that every tool may run."""
    path = tmp_path / "p.yaml"
    path.write_text("version: 2\ntools:\n", encoding="utf-8")
    assert decide(load_policy(path), ToolCall("pay", {}), History()).word == "block"
