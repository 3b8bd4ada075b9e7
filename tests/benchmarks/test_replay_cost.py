"""What it costs to replay 100,000 records: many threads of usual length, and one that is very long.

    pytest -m benchmark -s -n 0 tests/benchmarks/test_replay_cost.py

Nothing here asserts a time. `EDGEWARD_BENCH=short` takes a tenth of the records.
"""

from __future__ import annotations

import os
import resource
import time
from pathlib import Path

import pytest

from edgeward import Firewall, ReceiptLog, load_policy
from edgeward.graphs.recordings import open_recording
from edgeward.guards.verdict import ToolCall
from edgeward.policies.replay.flips import replay

pytestmark = pytest.mark.benchmark

RECORDS = 10_000 if os.environ.get("EDGEWARD_BENCH") == "short" else 100_000
POLICY = {
    "version": 2,
    "receipts": "history",
    "tools": {
        "find_person": "allow",
        "read_mail": "allow",
        "send_email": {"args": {"to": "known", "body": "clean"}, "otherwise": "ask"},
        "delete_file": "block",
    },
    "trust": [{"tool": "find_person", "fields": ["email"]}],
    "egress_allowlist": ["corp.example"],
    "sequence": [{"after": "read_mail", "ask": "delete_*", "until": "user"}],
}
LOOSER = {**POLICY, "tools": {**POLICY["tools"], "delete_file": "allow"}}  # type: ignore[dict-item]
MAIL = "From Bob: the figures of the quarter are in /srv/reports/q3.csv, and call 555-0134. " * 8


def written(path: Path, threads: int) -> None:
    """A log of so many threads; of four calls one looks up, one reads, one sends, one deletes."""
    policy = load_policy(POLICY, receipts=ReceiptLog(path))
    number = 0
    for thread in range(threads):
        firewall = Firewall(policy, thread=f"t{thread}")
        for at in range(RECORDS // threads // 4):
            if at % 5 == 0:
                firewall.said(f"Mail ann{at}@corp.example the figures, and clean up.")
            number += 1
            person = ToolCall("find_person", {"name": f"Ann {at}"}, id=f"f{number}")
            firewall.decide(person)
            firewall.observe(person, [{"name": f"Ann {at}", "email": f"ann{at}@corp.example"}])
            mail = ToolCall("read_mail", {"id": at}, id=f"r{number}")
            firewall.decide(mail)
            firewall.observe(mail, f"{MAIL}{at}")
            firewall.check("send_email", {"to": f"ann{at}@corp.example", "body": "The figures."})
            firewall.check("delete_file", {"path": f"/srv/reports/{at}.tmp"})


@pytest.mark.parametrize("threads", [500, 1])
def test_the_cost_of_a_replay(
    tmp_path: Path, threads: int, capsys: pytest.CaptureFixture[str]
) -> None:
    """Every call is decided, every flip found."""
    path = tmp_path / "log.jsonl"
    written(path, threads)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    began, cpu = time.perf_counter(), time.process_time()
    recording = open_recording(path)
    opened = time.perf_counter()
    found = replay(load_policy(LOOSER), recording.threads())
    took, cpu = time.perf_counter() - began, time.process_time() - cpu
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert found.replayed == RECORDS
    assert {flip.pair for flip in found.flips} == {"block:ask"}
    with capsys.disabled():
        print(
            f"\n{RECORDS:,} records of {threads:,} thread(s), {path.stat().st_size / 1e6:.0f} MB: "
            f"{took:.1f} s, of it {opened - began:.1f} s to check the log ({cpu:.1f} s of CPU); "
            f"most memory {before / 1024:.0f} -> {after / 1024:.0f} MB"
        )
