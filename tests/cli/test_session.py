"""A session: the parts of one run as one result, and a loop that Ctrl-C leaves usable."""

from __future__ import annotations

import asyncio
import signal

import pytest

from edgeward.cli.session import Interruptible, joined
from edgeward.graphs.result import AgentResult, AgentStep, TokenUsage


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
