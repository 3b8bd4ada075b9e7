"""What recalling and keeping cost, by how many records there are.

Real mem0, real embedder for the queries; CPU and wall time, medians. Nothing here asserts a time;
run it with `pytest -m benchmark -s -n 0`. `EDGEWARD_BENCH=short` stops at 1,000 records.
"""

from __future__ import annotations

import os
import random
import statistics
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from edgeward import AgentProfile, Mem0Memory
from edgeward.profiles.memory.records import Note, Scope
from edgeward.profiles.minilm import LocalEmbedder

SIZES = (100, 1_000) if os.environ.get("EDGEWARD_BENCH") == "short" else (100, 1_000, 10_000)
SCOPE = Scope("bot", "alice")
TIMES = 40


class Filler(LocalEmbedder):
    """The local embedder, and made-up vectors while the store is filled."""

    filling = False

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        if not self.filling:
            return super().embed(texts)
        pick = random.Random(texts[0])
        return [[pick.gauss(0, 1) for _ in range(self.dims)] for _ in texts]


def took(work: Callable[[int], object]) -> tuple[float, float]:
    """Milliseconds of one go: wall and CPU, medians."""
    wall, cpu = [], []
    for number in range(TIMES):
        began, spent = time.perf_counter(), time.process_time()
        work(number)
        wall.append(time.perf_counter() - began)
        cpu.append(time.process_time() - spent)
    return statistics.median(wall) * 1e3, statistics.median(cpu) * 1e3


@pytest.mark.benchmark
def test_recall_and_write_by_size(tmp_path: Path) -> None:
    """All records are one user's: the most that a search has to look at."""
    profile = AgentProfile.from_mapping({"id": "bot", "name": "B", "memory": {}}, base_dir=tmp_path)
    embedder, there = Filler(), 0
    with Mem0Memory(profile, embedder=embedder) as memory:
        for size in SIZES:
            embedder.filling = True
            while there < size:
                memory.add([Note(f"note {there + n}", "outcome") for n in range(100)], SCOPE)
                there += 100
            embedder.filling = False
            memory.search_records("warm up", scope=SCOPE)
            alone = took(lambda n: embedder.embed([f"what about {n}?"]))
            recall = took(lambda n: memory.search_records(f"what about {n}?", scope=SCOPE))
            write = took(lambda n: memory.add([Note(f"one more {n}", "outcome")], SCOPE))
            print(
                f"\n{size:>6} records: recall {recall[0]:.1f} ms (CPU {recall[1]:.1f}), write"
                f" {write[0]:.1f} ms (CPU {write[1]:.1f}), embedding alone {alone[0]:.1f} ms"
                f" (CPU {alone[1]:.1f})"
            )
            assert len(memory.search_records("what about 7?", scope=SCOPE, top_k=5)) <= 5
