"""Time limits of single tools: what a profile says, by name or glob, and what it may not say."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from edgeward import AgentConfig, AgentProfile, ReActAgent, ScriptedModel
from edgeward.policies.problems import ConfigError
from edgeward.profiles.equipment import Equipment, timeouts_of
from edgeward.profiles.scripted import call
from edgeward.profiles.tools.limits import tool_timeouts
from edgeward.profiles.tools.signature import ToolRegistrationError
from tests.fakes import agent_graph, answers, ask, turn

from .skill_bundles import profile_with


def test_a_name_comes_before_globs_and_of_those_the_shortest_holds() -> None:
    """What the tool's source says holds where the profile says nothing."""
    stated = {"web_*": 10.0, "*_page": 5.0, "web_search": 20.0}
    own = {"build": 310.0, "web_search": 1.0}
    names = ["web_search", "web_page", "web_home", "build", "add"]
    assert tool_timeouts(stated, own, names) == {
        "web_search": 20.0,
        "web_page": 5.0,
        "web_home": 10.0,
        "build": 310.0,
    }


def test_a_name_that_is_no_tool_is_refused() -> None:
    """All of them at once; a glob may match nothing."""
    with pytest.raises(ToolRegistrationError) as caught:
        tool_timeouts({"serch": 1.0, "pay": 2.0, "x_*": 3.0}, {}, ["search"])
    assert "agent.tools.timeout_s: serch: there is no tool of this name" in str(caught.value)
    assert "did you mean search?" in str(caught.value)
    assert "pay" in str(caught.value)
    assert "x_" not in str(caught.value)


def test_a_limit_may_wait_for_a_tool_of_a_server() -> None:
    """Servers may hold tools back; an agent starts without them."""
    tools = {"timeout_s": {"read_file": 3}}
    profile = AgentProfile.from_mapping({"id": "a", "name": "A", "tools": tools})
    with pytest.raises(ToolRegistrationError, match="read_file"):
        timeouts_of(profile, Equipment(), ["search"])
    tools["mcp"] = [{"command": "uvx"}]  # type: ignore[assignment]
    profile = AgentProfile.from_mapping({"id": "a", "name": "A", "tools": tools})
    assert timeouts_of(profile, Equipment(), ["search"]) == {}


@pytest.mark.parametrize("limit", [0, -1, "fast", True])
def test_a_limit_is_a_number_above_nought(limit: object) -> None:
    """The message names the key."""
    with pytest.raises(ConfigError, match="timeout_s"):
        AgentProfile.from_mapping(
            {"id": "a", "name": "A", "tools": {"timeout_s": {"search": limit}}}
        )


@pytest.fixture
def released() -> Iterator[threading.Event]:
    """An event that hanging tools wait for; set when the test is over."""
    event = threading.Event()
    yield event
    event.set()


async def test_a_tool_that_hangs_costs_its_own_limit_and_one_message(
    tmp_path: Path, released: threading.Event
) -> None:
    """Not the strategy's sixty seconds; its sibling is answered."""

    def search(what: str) -> str:
        """Search."""
        released.wait()
        return what

    def add(a: int) -> int:
        """Add."""
        return a

    calls = turn(("search", {"what": "x"}, "c1"), ("add", {"a": 1}, "c2"))
    profile = profile_with(tmp_path, timeout_s={"se*": 0.2})
    graph = agent_graph([calls, "done"], tools=[search, add], profile=profile)
    for result in (graph.invoke(ask()), await graph.ainvoke(ask())):
        told = "search did not finish within 0.2 s"
        assert answers(result["messages"]) == [("c1", told), ("c2", "1")]


async def test_a_limit_may_be_longer_than_the_strategy_s(tmp_path: Path) -> None:
    """The profile knows the tool; the strategy knows none. Also with a registry of one's own."""
    (tmp_path / "quick.yaml").write_text(
        "strategy: quick\nstart: act\n"
        "nodes: {act: act, guard: guard, tool: {kind: tool, timeout_s: 0.001}}\n"
        "edges: {act.call: guard, act.answer: end, act.limit: end, guard.allow: tool,"
        " guard.block: act, tool.done: act}\n"
    )

    def build(what: str) -> str:
        """Build."""
        threading.Event().wait(0.1)
        return f"built {what}"

    model = ScriptedModel(turns=[call("build", what="x"), "done"])
    profile = profile_with(tmp_path, timeout_s={"build": 60})
    graph = agent_graph(model.turns or (), tools=[build], profile=profile, strategy="react")
    quick = agent_graph(
        model.turns or (), tools=[build], profile=profile, strategy=tmp_path / "quick.yaml"
    )
    for one in (graph, quick):
        assert answers((await one.ainvoke(ask()))["messages"]) == [("call_build", "built x")]


async def test_without_tools_no_limit_is_missed(tmp_path: Path) -> None:
    """An agent that is told to use no tools starts with a profile that names some."""
    profile = profile_with(tmp_path, timeout_s={"build": 60})
    config = AgentConfig(
        profile=profile, policy="allow_all", llm=ScriptedModel(turns=["hi"]), use_tools=False
    )
    async with ReActAgent(config) as agent:
        assert (await agent.run("hello")).final_answer == "hi"
