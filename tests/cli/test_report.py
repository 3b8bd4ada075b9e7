"""`edgeward report`: what rules in shadow would have changed, from a log of any kind."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from edgeward import Firewall, ReceiptLog, load_policy

from .conftest import Invoke

POLICY: dict[str, Any] = {
    "version": 2,
    "tools": {"read": "allow", "send_*": "ask", "send_note": "allow", "pay": "block"},
    "egress_allowlist": ["corp.example"],
    "mode": {"tools.pay": "shadow", "tools.send_note": "shadow", "egress_allowlist": "shadow"},
}
CALLS = [
    ("read", {"url": "https://evil.test/"}),
    ("read", {"url": "https://corp.example/"}),
    ("pay", {"to": "https://evil.test/"}),
    ("send_note", {}),
    ("send_mail", {"to": "eve@evil.test"}),
    ("rm", {"to": "eve@evil.test"}),
]


@pytest.fixture(params=["log.jsonl", "log.sqlite"])
def log(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    """A log of calls under a policy with rules in shadow."""
    path = tmp_path / str(request.param)
    written = ReceiptLog(path)
    firewall = Firewall(load_policy(POLICY, receipts=written))
    for name, arguments in CALLS:
        firewall.check(name, arguments)
    written.close()
    return path


def test_each_rule_with_what_it_would_have_changed(log: Path, invoke: Invoke) -> None:
    """The one that would have changed most comes first; then what nothing would object to."""
    result = invoke("report", log)
    assert result.exit_code == 0
    assert result.stdout == (
        f"{log}: 6 receipts, 6 with rules in shadow; 4 would have come out otherwise:"
        " allow -> block 2, ask -> allow 1, ask -> block 1\n"
        "egress_allowlist (<policy>): spoke of 4, would have changed 3: allow -> block 2,"
        " ask -> block 1\n"
        "    calls of read 1, pay 1, send_mail 1; records 0, 2, 4\n"
        "tools.pay (<policy>): spoke of 1, would have changed 1: allow -> block 1\n"
        "    calls of pay 1; records 2\n"
        "(nothing objects): would have changed 1: ask -> allow 1\n"
        "    calls of send_note 1; records 3\n"
    )


def test_for_scripts(log: Path, invoke: Invoke) -> None:
    """One JSON object, with the receipts' ids."""
    found = json.loads(invoke("report", log, "--json").stdout)
    assert (found["receipts"], found["in_shadow"], found["changed"]) == (6, 6, 4)
    assert {"word": "ask", "would_be": "allow", "receipts": 1} in found["changes"]
    rule = found["rules"][0]
    assert (rule["rule"], rule["spoke"], rule["changed"]) == ("egress_allowlist", 4, 3)
    assert rule["tools"] == {"read": 1, "pay": 1, "send_mail": 1}
    assert [example["record"] for example in rule["examples"]] == [0, 2, 4]
    assert all(len(example["receipt"]) > 32 for example in rule["examples"])


def test_a_log_of_policies_without_it(tmp_path: Path, invoke: Invoke) -> None:
    """There is nothing to say, and that is said."""
    path = tmp_path / "log.jsonl"
    ReceiptLog(path).write([{"tool": "x", "word": "allow"}])
    assert invoke("report", path).stdout == (
        f"{path}: 1 receipt, none of a policy with rules in shadow\n"
    )


@pytest.mark.parametrize("command", [["report"], ["show"], ["audit", "verify"], ["replay"]])
@pytest.mark.parametrize("what", ["text", "bytes", "database", "folder", "nowhere"])
def test_what_is_no_log(what: str, command: list[str], tmp_path: Path, invoke: Invoke) -> None:
    """One line that names the file, and exit code 2, whatever is asked of it."""
    path = tmp_path / what
    if what == "text":
        path.write_text("hello\n")
    elif what == "bytes":
        path.write_bytes(bytes(range(256)) * 8)
    elif what == "database":
        with closing(sqlite3.connect(path)) as base:
            base.execute("CREATE TABLE notes (text TEXT)")
    elif what == "folder":
        path.mkdir()
    with_policy = ["--policy", "default"] if command == ["replay"] else []
    result = invoke(*command, path, *with_policy)
    assert (result.exit_code, len(result.stderr.splitlines())) == (2, 1)
    assert str(path) in result.stderr
    assert result.stdout == ""


def test_names_of_others_cannot_steer_the_terminal(tmp_path: Path, invoke: Invoke) -> None:
    """A tool's name is the model's to choose."""
    path = tmp_path / "log.jsonl"
    said = {"rule": "x\x1b[2J", "word": "block"}
    shadow = {"word": "block", "rules": [said, "odd"]}
    ReceiptLog(path).write([{"tool": "\x1b[2Jy\n", "word": "allow", "shadow": shadow}])
    text = invoke("report", path).stdout
    assert "\x1b" not in text
    assert len(text.splitlines()) == 3
