"""A session: the parts of one run as one result, and a loop that Ctrl-C leaves usable."""

from __future__ import annotations

import asyncio
import signal
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

from edgeward import AgentConfig, AgentProfile, Mem0Memory, ReActAgent, ScriptedModel
from edgeward.cli.session import Interruptible, Session, joined
from edgeward.graphs.result import AgentResult, AgentStep, TokenUsage
from edgeward.profiles.memory.records import Scope
from tests.fakes import WordEmbedder


def test_the_parts_of_a_run_are_one_result() -> None:
    """Steps are numbered through, verdicts add up, the later word counts."""
    first = AgentResult(
        "t", "asked", [AgentStep(0, "tool_call")], TokenUsage(1, 1, 2), "waiting",
        verdicts=[{"word": "allow"}], waiting=[{"id": "c"}],
    )  # fmt: skip
    second = AgentResult("t", "done", [AgentStep(0, "answer")], TokenUsage(2, 2, 4))
    whole = joined(first, second)
    assert [step.index for step in whole.steps] == [0, 1]
    assert (whole.final_answer, whole.stopped_reason) == ("done", "answered")
    assert (len(whole.verdicts), whole.waiting, whole.usage.total_tokens) == (1, [], 4)
    silent = joined(first, AgentResult("t", "", [], TokenUsage()))
    assert (silent.final_answer, silent.usage.total_tokens) == ("asked", 2)


def test_ctrl_c_cancels_the_work_and_the_loop_goes_on() -> None:
    """The work is cancelled, and gets to clean up; the handler from before is back."""
    left = []

    async def hangs() -> None:
        asyncio.get_running_loop().call_soon(signal.raise_signal, signal.SIGINT)
        try:
            await asyncio.sleep(600)
        finally:
            left.append("cleaned up")

    async def works() -> int:
        return 7

    loop = Interruptible()
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        loop.run(hangs())
    assert left == ["cleaned up"]
    assert loop.run(works()) == 7
    assert signal.getsignal(signal.SIGINT) is before
    loop.close()


class Quiet:
    """A view that shows nothing."""

    def __getattr__(self, name: str) -> Any:
        return nullcontext if name == "busy" else lambda *_: None


def test_what_a_session_does_is_kept_in_the_memory(tmp_path: Path) -> None:
    """A run from the command line leaves its outcome behind, a failed one its failure."""
    profile = AgentProfile.from_mapping({"id": "b", "name": "B", "memory": {}}, base_dir=tmp_path)
    with Mem0Memory(profile, embedder=WordEmbedder()) as memory:
        model = ScriptedModel(turns=["done", ConnectionError("no route")], order="call")
        config = AgentConfig(profile=profile, llm=model, memory=memory, save_trajectory=False)
        session = Session(ReActAgent(config), "t", view=Quiet(), ask=lambda _: None)  # type: ignore[arg-type]
        assert session.say("read it").final_answer == "done"
        with pytest.raises(ConnectionError):
            session.say("again")
        session.close()
        kept = [(r.note.memory_type, r.note.text) for r in memory.records(Scope("b"))]
    assert kept == [
        ("outcome", "Task: read it\nAnswer: done"),
        ("failure", "Task: again\nFailed: ConnectionError: no route"),
    ]
