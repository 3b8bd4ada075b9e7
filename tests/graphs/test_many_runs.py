"""Many runs at once on one graph object."""

from __future__ import annotations

import asyncio
import json
import os
import signal
from collections.abc import Sequence
from pathlib import Path

import pytest
from langchain_core.messages import AIMessage, BaseMessage

from edgeward import ScriptedModel, build_graph
from edgeward.graphs.logger import AgentLogger
from tests.fakes import agent_graph, answers, ask, turn


def repeat(word: str) -> str:
    """Say a word again."""
    return word


def _propose(messages: Sequence[BaseMessage]) -> AIMessage:
    word = str(messages[0].content)
    return AIMessage("", tool_calls=[{"name": "repeat", "args": {"word": word}, "id": "call"}])


def _answer(messages: Sequence[BaseMessage]) -> AIMessage:
    result = next(m for m in messages if m.type == "tool")
    return AIMessage(f"You said {str(result.content).splitlines()[1]}.")  # between its marks


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_process_that_was_forked_off_runs_its_tools(tmp_path: Path) -> None:
    """As servers do that load a program once and fork: tools run there, and its log is written."""

    def give() -> str:
        """Gives."""
        return "given"

    graph = agent_graph([turn(("give", {}, "c1")), "done"], tools=[give])
    log = AgentLogger(tmp_path / "a.log")
    assert answers(graph.invoke(ask())["messages"]) == [("c1", "given")]
    log.write("here")
    pid = os.fork()
    if pid == 0:
        signal.alarm(20)
        said = answers(graph.invoke(ask())["messages"])
        log.write("there")
        log.close()
        os._exit(0 if said == [("c1", "given")] else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    log.close()
    kinds = [json.loads(line)["kind"] for line in (tmp_path / "a.log").read_text().splitlines()]
    assert sorted(kinds) == ["here", "there"]


@pytest.mark.slow
def test_a_thousand_runs_are_isolated() -> None:
    """Each of a thousand concurrent runs ends with its own word and nobody else's."""
    model = ScriptedModel(turns=[_propose, _answer])
    graph = build_graph(
        "react", policy="allow_all", model=model, tools=[repeat], checkpointer="memory"
    )

    async def one(number: int) -> str:
        config = {"configurable": {"thread_id": str(number)}}
        state = await graph.ainvoke({"messages": [("user", f"word{number}")]}, config)
        assert len(state["messages"]) == 4
        return str(state["messages"][-1].content)

    async def all_of_them() -> list[str]:
        return await asyncio.gather(*(one(number) for number in range(1_000)))

    assert asyncio.run(all_of_them()) == [f"You said word{number}." for number in range(1_000)]
