"""`tool_denylist`: tools that may never run, in whatever spelling."""

from __future__ import annotations

from pathlib import Path

import pytest

from edgeward.guards.decide import decide
from edgeward.guards.ledger import History
from edgeward.guards.verdict import ToolCall
from edgeward.policies.schema import load_policy

from .deciding import word

RULES: dict[str, object] = {"tool_denylist": ["send_email", "delete_*", "drop_?"]}


@pytest.mark.parametrize(
    "tool",
    [
        *("send_email", "SEND_EMAIL", " send_email ", "mcp__send_email", "mail.send_email"),
        *("server/send_email", "delete_file", "Delete_", "fs__delete_all", "drop_a"),
    ],
)
def test_every_spelling_is_denied(tool: str) -> None:
    """Letter case, white space and a server's prefix are no way around the list."""
    assert word(RULES, tool) == "block"


@pytest.mark.parametrize("tool", ["send_mail", "send_emails", "undelete_file", "drop_", "drop_ab"])
def test_other_tools_may_run(tool: str) -> None:
    """A name that only contains a denied one is another name."""
    assert word(RULES, tool) == "allow"


def test_it_beats_the_allowlist_and_the_tools() -> None:
    """A tool that is allowed elsewhere, too, stays denied."""
    more = {"tools": {"send_email": "allow"}, "tool_allowlist": ["send_email"]}
    assert word({**RULES, **more}, "send_email") == "block"


def test_the_refusal_names_the_line_of_the_entry(tmp_path: Path) -> None:
    """Of several entries, the one that matched."""
    path = tmp_path / "policy.yaml"
    path.write_text("version: 2\ntool_denylist:\n  - a\n  - b\n", encoding="utf-8")
    (finding,) = decide(load_policy(path), ToolCall("b"), History()).deciding
    assert (finding.where, finding.reason) == (f"{path}:4", "tool 'b' is denied")


def test_an_empty_list_denies_nothing() -> None:
    """Without entries, the rule has no say."""
    assert word({"tool_denylist": []}, "send_email") == "allow"
