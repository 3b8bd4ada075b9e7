"""The same of Edgeward, with the guard at work: `python ours.py MEASURE STEPS FOLDER`."""

from __future__ import annotations

import asyncio
import json
import re
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any


def peak_mb() -> float:
    """The most memory that this process has had; none of its parent's."""
    (found,) = re.findall(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text())
    return int(found) / 1024


BEGAN = time.process_time()
import edgeward  # noqa: E402

BARE_S = time.process_time() - BEGAN
BARE_MB = peak_mb()

from edgeward.agent import AgentConfig, ReActAgent  # noqa: E402

IMPORT_S = time.process_time() - BEGAN
IMPORTED_MB = peak_mb()

BEGAN = time.process_time()
from langchain_core.language_models import BaseChatModel  # noqa: E402
from langchain_core.messages import AIMessage, BaseMessage  # noqa: E402
from langchain_core.outputs import ChatGeneration, ChatResult  # noqa: E402

import edgeward.graphs.assembled  # noqa: E402

LOADED_S = time.process_time() - BEGAN
"""What an agent runs on, which is loaded when the first one is built."""

POLICY = {"version": 2, "default": "block", "tools": {"add": "allow"}}


class Counting(BaseChatModel):
    """Proposes `steps` additions one by one, then answers."""

    steps: int

    @property
    def _llm_type(self) -> str:
        return "counting"

    def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
        return self

    def _generate(self, messages: list[BaseMessage], *_: Any, **__: Any) -> ChatResult:
        done = sum(message.type == "tool" for message in messages)
        call = {"name": "add", "args": {"a": done, "b": 1}, "id": f"c{done}"}
        more = done < self.steps
        usage = {"input_tokens": 10, "output_tokens": 5, "total_tokens": 15}
        said = AIMessage("" if more else "done", tool_calls=[call] if more else [])
        said.usage_metadata = usage  # type: ignore[assignment]
        return ChatResult(generations=[ChatGeneration(message=said)])

    async def _agenerate(self, messages: list[BaseMessage], *_: Any, **__: Any) -> ChatResult:
        return self._generate(messages)


async def add(a: int, b: int) -> str:
    """Add two numbers."""
    return str(a + b)


class Vectors:
    """Vectors of texts, at next to no cost."""

    name, dims = "bench", 384

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        seeds = [hash(text) for text in texts]
        return [[((s >> (n % 48)) & 0xFF) / 255 + 0.01 for n in range(384)] for s in seeds]


def agent(measure: str, steps: int, folder: Path, memory: Any, kept: Any = "memory") -> ReActAgent:
    """An agent whose model proposes so many steps."""
    given = {"id": "bench", "name": "Bench", "memory": {}}
    return ReActAgent(
        AgentConfig(
            profile=edgeward.AgentProfile.from_mapping(given, base_dir=folder),
            policy=POLICY,
            llm=Counting(steps=steps),
            tools=[add],
            use_memory=measure == "memory",
            memory=memory,
            use_reflection=False,
            use_compressor=measure == "compression",
            load_env=False,
            max_steps=steps + 2,
            checkpointer=kept,
        )
    )


ROUNDS = 3


async def spent(made: ReActAgent, steps: int, thread: str | None) -> dict[str, float]:
    """What a step of one run took."""
    wall, cpu = time.perf_counter(), time.process_time()
    result = await made.run("Add.", thread=thread)
    took = {
        "cpu_ms": (time.process_time() - cpu) / steps * 1e3,
        "wall_ms": (time.perf_counter() - wall) / steps * 1e3,
    }
    assert result.final_answer == "done"
    assert len(result.steps) == 2 * steps + 1
    return took


async def measured(measure: str, steps: int, folder: Path) -> dict[str, float]:
    memory = None
    if measure == "memory":
        profile = agent("plain", 2, folder, None).profile
        memory = edgeward.Mem0Memory(profile, embedder=Vectors())
    began = time.process_time()
    async with agent(measure, 2, folder, memory) as first:
        told = {"built_s": LOADED_S + time.process_time() - began}
        await first.run("Warm up.")
    async with (
        agent("plain", steps, folder, None) as plain,
        agent(measure, steps, folder, memory) as made,
    ):
        for _ in range(ROUNDS):
            for name, one in (("base_cpu_ms", plain), ("cpu_ms", made)):
                took = (await spent(one, steps, None))["cpu_ms"]
                told[name] = min(took, told.get(name, took))
    ways = {"named_": ("memory", "monday"), "unkept_": (None, None)}
    for name, (kept, thread) in ways.items():
        async with agent(measure, steps, folder, memory, kept) as made:
            took = await spent(made, steps, thread)
        told |= {f"{name}{what}": figure for what, figure in took.items()}
    async with agent(measure, steps // 10, folder, memory) as made:
        told["short_cpu_ms"] = (await spent(made, steps // 10, None))["cpu_ms"]
    if memory is not None:
        memory.close()
    return told


def main(measure: str, steps: int, folder: Path) -> None:
    told = {
        "bare_s": BARE_S,
        "bare_mb": BARE_MB,
        "import_s": IMPORT_S,
        "imported_mb": IMPORTED_MB,
    }
    if measure != "import":
        told |= asyncio.run(measured(measure, steps, folder))
        told["rss_mb"] = peak_mb()
    print(f"\n{json.dumps(told)}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), Path(sys.argv[3]))
