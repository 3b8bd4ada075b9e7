"""`edgeward audit verify`: a log is as it was written, or which record is not."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from edgeward.guards.receipts.log import ReceiptLog

from .conftest import Invoke


@pytest.fixture(params=["log.jsonl", "log.sqlite"])
def log(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    """A log of three records."""
    path = tmp_path / str(request.param)
    written = ReceiptLog(path)
    written.write([{"tool": "send", "at": number} for number in range(3)])
    written.close()
    return path


def test_a_log_as_it_was_written(log: Path, invoke: Invoke) -> None:
    """By the public key alone."""
    log.with_name(f"{log.name}.key").unlink()
    result = invoke("audit", "verify", log)
    assert (result.exit_code, result.stdout) == (
        0,
        f"{log}: 3 records, all as they were written\n",
    )


def test_the_first_record_that_is_not(tmp_path: Path, invoke: Invoke) -> None:
    """Its number, and what is wrong with it; for scripts as JSON."""
    path = tmp_path / "log.jsonl"
    ReceiptLog(path).write([{"tool": "send", "at": number} for number in range(3)])
    path.write_bytes(path.read_bytes().replace(b'"at":1', b'"at":9'))
    result = invoke("audit", "verify", path)
    assert result.exit_code == 1
    assert f"{path}: record 1: changed or inserted" in result.stdout
    found = json.loads(invoke("audit", "verify", path, "--json").stdout)
    assert (found["records"], found["fault"][:7]) == (1, "changed")


def test_a_head_that_was_kept_elsewhere(tmp_path: Path, invoke: Invoke) -> None:
    """It shows that log and head were both put back."""
    path, elsewhere = tmp_path / "log.jsonl", tmp_path / "kept.head"
    log, head = ReceiptLog(path), tmp_path / "log.jsonl.head"
    log.write([{"at": 0}])
    before = (path.read_bytes(), head.read_bytes())
    log.write([{"at": 1}])
    elsewhere.write_bytes(head.read_bytes())
    path.write_bytes(before[0])
    head.write_bytes(before[1])
    assert invoke("audit", "verify", path).exit_code == 0
    result = invoke("audit", "verify", path, "--head", elsewhere)
    assert result.exit_code == 1
    assert "truncated: the head knows of 1 more" in result.stdout


@pytest.mark.parametrize("missing", ["log", "key"])
def test_what_is_missing(tmp_path: Path, invoke: Invoke, missing: str) -> None:
    """One line, exit code 2."""
    path = tmp_path / "log.jsonl"
    if missing == "key":
        ReceiptLog(path, key=tmp_path / "elsewhere").write([{"at": 0}])
    result = invoke("audit", "verify", path)
    assert result.exit_code == 2
    assert result.stderr.startswith(f"error: {path}: ")
    assert result.stderr.count("\n") == 1
