"""One measurement of DefenseAgent in its own process: `python theirs.py MEASURE STEPS FOLDER`.

It is run by an interpreter that has DefenseAgent and need not have us; the last line is JSON.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import re
import sys
import time
from pathlib import Path
from typing import Any


def peak_mb() -> float:
    """The most memory that this process has had; none of its parent's."""
    (found,) = re.findall(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text())
    return int(found) / 1024


os.environ.update(MEM0_TELEMETRY="False", HF_HUB_OFFLINE="1")

BEGAN = time.process_time()
from DefenseAgent.agent import AgentConfig, ReActAgent  # noqa: E402

IMPORT_S = time.process_time() - BEGAN
IMPORTED_MB = peak_mb()

from DefenseAgent.config import AgentProfile  # noqa: E402
from DefenseAgent.llm import LLM, LLMResponse, TokenUsage, ToolCall  # noqa: E402
from DefenseAgent.memory import MemoryBackendConfig  # noqa: E402

PROFILE = """\
agent:
  id: bench
  name: Bench
  evolution: {use_builtin: false, user_skills_dir: '', project_skills_dir: ''}
"""
NOWHERE = "http://127.0.0.1:9/v1"
BACKEND = MemoryBackendConfig(
    llm_provider="openai",
    llm_api_key="none",
    llm_model="none",
    llm_base_url=NOWHERE,
    embedding_api_key="none",
    embedding_model="none",
    embedding_base_url=NOWHERE,
    embedding_dims=384,
)


class Counting(LLM):
    """Proposes `steps` additions one by one, then answers."""

    def __init__(self, steps: int) -> None:
        self.steps = steps

    async def chat(self, messages: Any, **_: Any) -> Any:
        done = sum(message.role == "tool" for message in messages)
        usage = TokenUsage(10, 5, 15)
        if done >= self.steps:
            return LLMResponse("done", [], usage, "stop", {})
        call = ToolCall(f"c{done}", "add", {"a": done, "b": 1})
        return LLMResponse("", [call], usage, "tool_calls", {})


async def add(a: int, b: int) -> str:
    """Add two numbers."""
    return str(a + b)


def vector(text: str, *_: Any, **__: Any) -> list[float]:
    """A vector of a text, at next to no cost."""
    seed = hash(text)
    return [((seed >> (n % 48)) & 0xFF) / 255 + 0.01 for n in range(384)]


def agent(measure: str, steps: int, folder: Path) -> Any:
    path = folder / "profile.yaml"
    path.write_text(PROFILE, encoding="utf-8")
    config = AgentConfig(
        profile=AgentProfile.from_yaml(path),
        llm=Counting(steps),
        tools=[add],
        use_memory=measure == "memory",
        use_reflection=False,
        use_compressor=measure == "compression",
        use_logger=False,
        load_env=False,
        memory_backend=BACKEND,
        storage_path=folder / "store",
        max_steps=steps + 2,
    )
    made = ReActAgent(config)
    if measure == "memory":
        embedder = made.memory.persistent.memory._underlying.embedding_model
        embedder.embed = vector
        embedder.embed_batch = lambda texts, *_, **__: [vector(text) for text in texts]
    return made


ROUNDS = 3


async def spent(made: Any, steps: int) -> dict[str, float]:
    """What a step of one run took."""
    made.llm.steps = steps
    wall, cpu = time.perf_counter(), time.process_time()
    result = await made.run("Add.")
    took = {
        "cpu_ms": (time.process_time() - cpu) / steps * 1e3,
        "wall_ms": (time.perf_counter() - wall) / steps * 1e3,
    }
    assert result.final_answer == "done"
    assert len(result.steps) == 2 * steps + 1
    return took


async def measured(measure: str, steps: int, folder: Path) -> dict[str, float]:
    began = time.process_time()
    made = agent(measure, steps, folder)
    built_s = time.process_time() - began
    made.llm.steps = 2
    await made.run("Warm up.")
    told = {"built_s": built_s}
    plain = agent("plain", steps, folder)
    for _ in range(ROUNDS):
        for name, one in (("base_cpu_ms", plain), ("cpu_ms", made)):
            took = (await spent(one, steps))["cpu_ms"]
            told[name] = min(took, told.get(name, took))
    told["short_cpu_ms"] = (await spent(made, steps // 10))["cpu_ms"]
    return told


def main(measure: str, steps: int, folder: Path) -> None:
    logging.disable(logging.CRITICAL)
    told = {"import_s": IMPORT_S, "imported_mb": IMPORTED_MB}
    if measure != "import":
        told |= asyncio.run(measured(measure, steps, folder))
        told["rss_mb"] = peak_mb()
    print(f"\n{json.dumps(told)}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), Path(sys.argv[3]))
