"""What a receipt adds to a decision: the same calls decided without and with a log, in turns.

    pytest -m benchmark -s -n 0 tests/benchmarks/test_receipt_cost.py

All that the door does more is in it, also what the log's work costs the decision itself in caches.
CPU time of the thread (that of the kernel included) and time on the wall: the medians of all turns,
so that what else runs here meets both alike, and those of the quietest turn. Nothing here asserts a
time. `EDGEWARD_BENCH=short` takes fewer samples.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from statistics import median

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
Case = tuple[str, dict[str, str]]
CASES: dict[str, Case] = {
    "allow": ("read_mail", {"folder": "inbox", "query": "the quarterly report"}),
    "ask": ("send_email", MAIL),
}

Turn = tuple[float, float]
"""CPU time and time on the wall of a call, in microseconds: the medians of one turn."""


def turn(check: Callable[..., Verdict], case: Case, number: int) -> Turn:
    """Decide a call some times, each time with an id of its own."""
    cpu, wall = list[int](), list[int]()
    for call in range(CALLS):
        at, spent = time.perf_counter_ns(), time.thread_time_ns()
        check(*case, id=f"call_{number}_{call}")
        cpu.append(time.thread_time_ns() - spent)
        wall.append(time.perf_counter_ns() - at)
    return median(cpu) / 1_000, median(wall) / 1_000


def told(plain: list[Turn], logged: list[Turn], of: Callable[[Iterable[float]], float]) -> str:
    """What a decision takes, and its receipt more."""
    (cpu, wall), (more_cpu, more_wall) = (
        map(of, zip(*turns, strict=True)) for turns in (plain, logged)
    )
    return (
        f"{cpu:.0f} us a decision, its receipt {more_cpu - cpu:.0f} us more"
        f" ({wall:.0f} and {more_wall - wall:.0f} us on the wall)"
    )


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
    without, with_it = list[Turn](), list[Turn]()
    for number in range(TURNS):
        without.append(turn(plain.check, CASES[word], number))
        with_it.append(turn(logged.check, CASES[word], number))
    lines, head = read_log(path)
    key = path.with_name("log.jsonl.key")
    assert verify(lines, verifier(key), head=head).records == TURNS * CALLS
    with capsys.disabled():
        print(f"\n{word}, {algorithm}: {told(without, with_it, median)}")
        print(f"    quietest turn: {told(without, with_it, min)}")
