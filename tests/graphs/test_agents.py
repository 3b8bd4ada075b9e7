"""The three agents: one configuration, one method, a result with its whole trace (D118-D130)."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any, get_type_hints

import pytest
from langchain_core.messages import AIMessage, ToolMessage
from langgraph.store.memory import InMemoryStore

from edgeward.graphs.agent import (
    BaseAgent,
    PlanAndSolveAgent,
    ReActAgent,
    SimpleAgent,
    create_agent,
)
from edgeward.graphs.config import AgentConfig
from edgeward.graphs.context import RunContext
from edgeward.graphs.locked import NothingWaiting
from edgeward.graphs.result import AgentResult, AgentStep, TokenUsage
from edgeward.guards.verdict import ToolCall
from edgeward.policies.yaml_file import ConfigError
from edgeward.profiles.schema import AgentProfile
from edgeward.profiles.scripted import ScriptedModel, ScriptEnded
from edgeward.profiles.tools.python import as_tool
from edgeward.profiles.tools.registry import ToolRegistry
from tests.fakes import ALLOW_ALL, Recorder, policy, turn

PROFILE = AgentProfile.from_mapping(
    {"id": "a", "name": "Ada", "cognitive": {"max_steps_per_cycle": 4}}
)


def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


def config(turns: list[Any], **more: Any) -> AgentConfig:
    """A configuration with a scripted model, the tool `add`, and a policy that allows it."""
    model = ScriptedModel(turns=turns, order=more.pop("order", "conversation"))
    fields: dict[str, Any] = {"tools": [add], "policy": ALLOW_ALL, "load_env": False, **more}
    return AgentConfig(profile=PROFILE, llm=model, **fields)


def asked(agent: BaseAgent) -> list[Any]:
    """What the agent's model was asked."""
    model = agent.config.llm
    assert isinstance(model, ScriptedModel)
    return model.requests


def sums(count: int) -> list[AIMessage]:
    """So many turns that each call `add`."""
    return [turn(("add", {"a": n, "b": 1}, f"c{n}"), text=f"step {n}") for n in range(count)]


def test_an_agent_is_a_tool_of_another() -> None:
    """Whoever makes a tool of one of its methods finds the types that the method names."""
    with SimpleAgent(config(["It rains."])) as inner:
        turns = [turn(("run_sync", {"task": "How is the weather?"}, "c1")), "Bad."]
        with ReActAgent(config(turns, tools=[inner.run_sync], policy="allow_all")) as agent:
            result = agent.run_sync("Ask.")
        (answer,) = [m for step in result.steps for m in step.tool_results]
        assert "It rains." in answer.text
        public = (m for name, m in inspect.getmembers(inner, callable) if name[0] != "_")
        assert all(get_type_hints(m)["return"] for m in public if inspect.ismethod(m))


async def test_D118_simple_agent() -> None:
    """SimpleAgent calls the model once, without tools, and gives its answer."""
    agent = SimpleAgent(config(["hello"]))
    result = await agent.run("hi")
    assert result.final_answer == "hello"
    assert [s.kind for s in result.steps] == ["answer"]
    assert len(asked(agent)) == 1
    assert agent.run_sync("hi").final_answer == "hello"


async def test_D119_react_agent() -> None:
    """ReActAgent loops until there is an answer."""
    agent = ReActAgent(config([*sums(3), "6"]))
    for result in (await agent.run("sum"), agent.run_sync("sum")):
        assert result.final_answer == "6"
        assert result.stopped_reason == "answered"
        assert [s.kind for s in result.steps] == ["tool_call", "tool_result"] * 3 + ["answer"]


async def test_D120_plan_and_solve_agent() -> None:
    """PlanAndSolveAgent plans, does each step, and answers; both caps hold."""
    plan = "\n".join(f"{n}. Step {n}" for n in range(1, 9))
    turns = [plan, *sums(2), "did 1", "did 2", "the answer"]
    agent = PlanAndSolveAgent(config(turns, order="call", max_substeps_per_step=2))
    result = await agent.run("task", max_steps=2)
    assert [s.kind for s in result.steps] == [
        "plan",
        "tool_call",
        "tool_result",
        "tool_call",
        "tool_result",
        "answer",
        "answer",
    ]
    assert result.steps[0].content == "1. Step 1\n2. Step 2"
    assert len([s for s in result.steps if s.kind == "tool_call"]) == 2


async def test_X21_extra_instructions_reach_every_call() -> None:
    """Extra instructions stand in the system prompt of every call, the planner's too."""
    for kind in (SimpleAgent, ReActAgent, PlanAndSolveAgent):
        agent = kind(config(["1. One", "did", "end"], order="call", extra_instructions="Be terse."))
        await agent.run("task")
        assert all("Be terse." in messages[0].text for messages in asked(agent))


def test_D121_create_agent(strategy_file: Any) -> None:
    """One configuration makes every agent by name, or one with the user's own strategy."""
    given = config(["hello"])
    for name, kind in [
        ("simple", SimpleAgent),
        ("react", ReActAgent),
        ("plan_and_solve", PlanAndSolveAgent),
    ]:
        assert type(create_agent(given, strategy=name)) is kind
    assert type(create_agent(given)) is ReActAgent
    own = strategy_file(
        "strategy: s\nstart: a\nnodes: {a: {kind: act, tools: none}}\nedges: {a.answer: end}\n"
    )
    assert create_agent(given, strategy=own).run_sync("x").final_answer == "hello"
    with pytest.raises(ConfigError, match="there is no such strategy"):
        create_agent(given, strategy="reakt")


async def test_D122_fields_of_a_result() -> None:
    """A result has the task, the answer, the steps, the tokens and the reason."""
    result = await ReActAgent(config([*sums(1), "2"])).run("sum")
    assert isinstance(result, AgentResult)
    assert (result.task, result.final_answer, result.stopped_reason) == ("sum", "2", "answered")
    assert isinstance(result.usage, TokenUsage)
    assert isinstance(result.thread, str)
    assert [v["word"] for v in result.verdicts] == ["allow"]
    assert result.waiting == []
    with pytest.raises(AttributeError):
        result.task = "other"  # type: ignore[misc]


async def test_D123_fields_of_a_step() -> None:
    """A step has its index, kind, text, calls, results and tokens."""
    turns = ["1. One", turn(("add", {"a": 1, "b": 2}, "c1"), text="let me"), "did", "3"]
    result = await PlanAndSolveAgent(config(turns, order="call")).run("sum")
    assert [(s.index, s.kind) for s in result.steps] == [
        (0, "plan"),
        (1, "tool_call"),
        (2, "tool_result"),
        (3, "answer"),
        (4, "answer"),
    ]
    plan, call, outcome, _, answer = result.steps
    assert plan.content == "1. One"
    assert call.content == "let me"
    assert call.tool_calls == [ToolCall("add", {"a": 1, "b": 2}, id="c1")]
    assert [(type(m), m.tool_call_id, m.text) for m in outcome.tool_results] == [
        (ToolMessage, "c1", "3")
    ]
    assert answer.content == "3"
    assert isinstance(call.usage, TokenUsage)


async def test_D124_X21_usage_is_summed() -> None:
    """The tokens of a result are the sum over all calls, cached ones included."""
    usage = {
        "input_tokens": 10,
        "output_tokens": 2,
        "total_tokens": 12,
        "input_token_details": {"cache_read": 7},
    }
    turns = [m.model_copy(update={"usage_metadata": usage}) for m in [*sums(2), AIMessage("3")]]
    result = await ReActAgent(config(turns)).run("sum")
    assert result.usage == TokenUsage(30, 6, 36, 21)
    parts = [s.usage for s in result.steps if s.usage]
    assert sum(u.cached_tokens for u in parts) == 21
    planned = await PlanAndSolveAgent(config(["1. One", *turns[2:], "x"], order="call")).run("sum")
    assert planned.usage.input_tokens > 10


async def test_D051_D052_D053_X12_step_cap() -> None:
    """At the cap there is a reason, a partial answer and the whole trace."""
    agent = ReActAgent(config(sums(9)))
    result = await agent.run("sum")
    assert result.stopped_reason == "max_steps"
    assert result.final_answer == "step 3"
    assert [s.kind for s in result.steps] == ["tool_call", "tool_result"] * 4
    shorter = await agent.run("sum", max_steps=2)
    assert len(shorter.steps) == 4
    assert len((await agent.run("sum")).steps) == 8
    with pytest.raises(ValueError, match="max_steps is 0"):
        await agent.run("sum", max_steps=0)
    given = await agent.run("sum", context=RunContext(max_steps=1, user="emma"))
    assert len(given.steps) == 2


async def test_streams_give_each_step() -> None:
    """stream and astream give the steps of the result, one at a time."""
    agent = ReActAgent(config([*sums(2), "3"]))
    whole = await agent.run("sum")
    kinds = [s.kind for s in whole.steps]
    streamed = list(agent.stream("sum"))
    assert [s.kind for s in streamed] == kinds
    assert all(isinstance(s, AgentStep) for s in streamed)
    assert [s.kind async for s in agent.astream("sum")] == kinds
    first = agent.stream("sum")
    assert next(first).kind == "tool_call"
    first.close()


async def test_conversation_in_a_thread() -> None:
    """A named thread goes on; runs without a name are on their own and are not kept."""
    agent = ReActAgent(config(["one", "two"]))
    assert (await agent.run("a", thread="t")).final_answer == "one"
    assert (await agent.run("b", thread="t")).final_answer == "two"
    for _ in range(2):
        assert (await agent.run("a")).final_answer == "one"
        assert agent.run_sync("a").final_answer == "one"
        assert [s.content for s in agent.stream("a")] == ["one"]
        assert [s.content async for s in agent.astream("a")] == ["one"]
    saver: Any = agent.graph.checkpointer
    assert list(saver.storage) == ["t"]


async def test_waiting_and_resume() -> None:
    """A run that needs a person says so, and goes on with the answers."""
    calls = turn(("add", {"a": 1, "b": 1}, "c1"), ("add", {"a": 2, "b": 2}, "c2"))
    agent = ReActAgent(config([calls, "done"], policy=policy({"add": "ask"})))
    result = await agent.run("sum")
    assert result.stopped_reason == "waiting"
    assert [c["id"] for c in result.waiting] == ["c1", "c2"]
    half = await agent.resume(result.thread, {"c2": {"decision": "approve"}})
    assert [c["id"] for c in half.waiting] == ["c1"]
    with pytest.raises(ValueError, match="c9"):
        await agent.resume(result.thread, {"c9": {"decision": "approve"}})
    last = await agent.resume(result.thread, {"c1": {"decision": "approve"}})
    assert last.final_answer == "done"
    assert [s.kind for s in last.steps] == ["tool_result", "answer"]
    assert [m.tool_call_id for m in last.steps[0].tool_results] == ["c1", "c2"]
    with pytest.raises(NothingWaiting):
        await agent.resume(result.thread, {"c1": {"decision": "approve"}})


async def test_resuming_a_thread_that_is_not_there() -> None:
    """Misspelt, or kept elsewhere: it is named."""
    agent = ReActAgent(config(["done"]))
    with pytest.raises(NothingWaiting, match="no thread 'mondy'"):
        await agent.resume("mondy")
    with pytest.raises(NothingWaiting):
        await agent.resume("mondy", {"c1": {"decision": "approve"}})


async def test_refusals_are_in_the_trace() -> None:
    """Each proposed call has one result in the trace, in the order of the calls."""
    calls = turn(("drop", {}, "c1"), ("add", {"a": 1, "b": 1}, "c2"), ("serch", {}, "c3"))
    tools = [add, Recorder().tool("drop")]
    words = policy({"add": "allow", "drop": "block"})
    result = await ReActAgent(config([calls, "done"], tools=tools, policy=words)).run("x")
    assert [m.tool_call_id for m in result.steps[1].tool_results] == ["c1", "c2", "c3"]
    assert [v["word"] for v in result.verdicts] == ["block", "allow", "block"]


class TestInjectedParts:
    """Each part may be given ready-made; the others are built as before (D126, D128)."""

    async def test_model(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """A model that is given needs no key, whatever the environment says."""
        monkeypatch.setenv("LLM_PROVIDER", "nonsense")
        assert (
            await SimpleAgent(config(["hello"], load_env=True)).run("x")
        ).final_answer == "hello"

    async def test_registry(self) -> None:
        """A registry that is given takes the place of all tools."""
        registry = ToolRegistry([(as_tool(add), "the test")])
        agent = ReActAgent(config([*sums(1), "1"], tools=[], tool_registry=registry))
        assert (await agent.run("x")).steps[1].tool_results[0].text == "1"

    async def test_tools_off(self) -> None:
        """With tools off the model is given none."""
        agent = ReActAgent(config([*sums(1), "1"], use_tools=False))
        result = await agent.run("x")
        assert "there is no tool named 'add'" in result.steps[1].tool_results[0].text

    async def test_store(self) -> None:
        """A store that is given is the graph's."""
        store = InMemoryStore()
        assert ReActAgent(config(["x"], store=store)).graph.store is store

    async def test_checkpointer(self, tmp_path: Path) -> None:
        """A path makes a file, which the agent closes; a saver that is given stays open."""
        path = tmp_path / "t.sqlite"
        async with ReActAgent(config(["one", "two"], checkpointer=path)) as agent:
            await agent.run("a", thread="t")
        with ReActAgent(config(["one", "two"], checkpointer=path)) as agent:
            assert agent.run_sync("b", thread="t").final_answer == "two"
        agent.close()

    async def test_policy(self) -> None:
        """Without a policy the shipped default decides."""
        result = await ReActAgent(config([*sums(1), "1"], policy=None)).run("x")
        assert result.stopped_reason == "waiting"


async def test_D130_script_that_ends() -> None:
    """A scripted model that runs out says so."""
    with pytest.raises(ScriptEnded, match="the script has 1 turn"):
        await ReActAgent(config(sums(1))).run("x")


def test_wrong_configuration() -> None:
    """A configuration that cannot work is refused when the agent is built."""
    for wrong in ({"max_substeps_per_step": 0}, {"checkpointer": "redis"}, {"policy": "no_such"}):
        with pytest.raises(ValueError):
            PlanAndSolveAgent(config(["x"], **wrong))
