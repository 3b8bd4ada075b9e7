"""What a receipt adds to a decision: the same calls decided without and with a log, in turns.

    pytest -m benchmark -s -n 0 tests/benchmarks/test_receipt_cost.py

All that the door does more is in it, also what the log's work costs the decision itself in caches.
CPU time of the thread (that of the kernel included) and time on the wall; medians over turns of
calls, so that what else runs here meets both alike. Nothing here asserts a time.
`EDGEWARD_BENCH=short` takes fewer samples.
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
from edgeward.guards.verdict import Verdict

pytestmark = pytest.mark.benchmark

TURNS, CALLS = (10 if os.environ.get("EDGEWARD_BENCH") == "short" else 150), 25
BODY = "Hello Bob, here is the report that you asked for. All numbers are final. Best, Ann. " * 2
MAIL = {"to": "bob@corp.example", "subject": "The quarterly report", "body": BODY}
CASES = {
    "allow": ("read_mail", {"folder": "inbox", "query": "the quarterly report"}),
    "ask": ("send_email", MAIL),
}

Times = list[tuple[int, int]]
"""CPU time and time on the wall, in ns, of each call."""


def timed(check: Callable[..., Verdict], case: tuple[str, dict[str, str]], into: Times) -> None:
    """Decide it a few times, each call with an id of its own."""
    name, arguments = case
    for number in range(len(into), len(into) + CALLS):
        wall, cpu = time.perf_counter_ns(), time.thread_time_ns()
        check(name, arguments, id=f"call_{number}")
        into.append((time.thread_time_ns() - cpu, time.perf_counter_ns() - wall))


def medians(times: Times) -> tuple[float, float]:
    """In microseconds."""
    cpu, wall = (sorted(kind)[len(times) // 2] / 1_000 for kind in zip(*times, strict=True))
    return cpu, wall


@pytest.mark.parametrize("word", CASES)
@pytest.mark.parametrize("algorithm", ["hmac", "ed25519"])
def test_what_a_receipt_adds(
    tmp_path: Path, algorithm: Algorithm, word: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """A decision with and without it; the log holds each of them."""
    path = tmp_path / "log.jsonl"
    plain = Firewall("default")
    logged = Firewall(load_policy("default", receipts=ReceiptLog(path, algorithm=algorithm)))
    assert plain.check(*CASES[word]).word == word
    without, with_it = Times(), Times()
    for _ in range(TURNS):
        timed(plain.check, CASES[word], without)
        timed(logged.check, CASES[word], with_it)
    lines, head = read_log(path)
    key = path.with_name("log.jsonl.key")
    assert verify(lines, verifier(key), head=head).records == TURNS * CALLS
    (cpu, wall), (more_cpu, more_wall) = medians(without), medians(with_it)
    with capsys.disabled():
        print(
            f"\n{word}, {algorithm}: {cpu:.0f} us a decision, its receipt {more_cpu - cpu:.0f} us"
            f" more ({wall:.0f} and {more_wall - wall:.0f} us on the wall)"
        )
