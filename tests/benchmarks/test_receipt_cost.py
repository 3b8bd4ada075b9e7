"""What a receipt adds to a decision, in CPU time of this thread, beside the decision without it.

    pytest -m benchmark -s -n 0 tests/benchmarks/test_receipt_cost.py

Nothing here asserts a time. `EDGEWARD_BENCH=short` takes fewer samples.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from edgeward import Firewall, ReceiptLog, load_policy
from edgeward.guards.receipts.chain import verify
from edgeward.guards.receipts.keys import Algorithm, verifier
from edgeward.guards.receipts.stores import read_log

pytestmark = pytest.mark.benchmark

SAMPLES = 300 if os.environ.get("EDGEWARD_BENCH") == "short" else 3_000
BODY = "Hello Bob, here is the report that you asked for. All numbers are final. Best, Ann. " * 2
MAIL = {"to": "bob@corp.example", "subject": "The quarterly report", "body": BODY}


def microseconds(act: Callable[[], object]) -> float:
    """The median CPU time of an act."""
    taken = []
    for _ in range(SAMPLES):
        start = time.thread_time_ns()
        act()
        taken.append(time.thread_time_ns() - start)
    return sorted(taken)[len(taken) // 2] / 1_000


@pytest.mark.parametrize("algorithm", ["hmac", "ed25519"])
def test_what_a_receipt_adds(
    tmp_path: Path, algorithm: Algorithm, capsys: pytest.CaptureFixture[str]
) -> None:
    """One decision with and without it; the log holds."""
    path = tmp_path / "log.jsonl"
    plain = Firewall("default")
    logged = Firewall(load_policy("default", receipts=ReceiptLog(path, algorithm=algorithm)))
    without = microseconds(lambda: plain.check("send_email", MAIL))
    with_it = microseconds(lambda: logged.check("send_email", MAIL))
    lines, head = read_log(path)
    key = path.with_name("log.jsonl.key")
    assert verify(lines, verifier(key), head=head).records == SAMPLES
    with capsys.disabled():
        print(f"\n{algorithm}: {without:.0f} us a decision, {with_it - without:.0f} us its receipt")
