"""The user's LangSmith tracing goes on, holds the tree of runs, and sees no secret."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.tools import BaseTool, ToolException, tool
from pydantic import BaseModel

from edgeward import FirewallMiddleware, guard_tools, load_policy

from ..fakes import agent_graph, ask, on, turn
from ..guards.secret_examples import EXAMPLES
from ..wire.langsmith import LangSmith

SECRETS = [text for found in EXAMPLES.values() for text in found.whole]

PROGRAM = '''
import asyncio, sys
from langchain.agents import create_agent
from langchain_core.messages import AIMessage
from langchain_core.tools import tool
from langchain_core.tracers.langchain import wait_for_all_tracers
from edgeward import AgentConfig, FirewallMiddleware, ReActAgent, ScriptedModel, build_graph

KEY, DOOR = sys.argv[1:]
PROFILE = "profile.yaml"


@tool
def read(what: str) -> str:
    """Read."""
    return f"found {KEY}"


@tool
def fail(what: str) -> str:
    """Fail."""
    raise ValueError(f"cannot use {KEY}")


def call(name, call_id, what):
    return {"name": name, "args": {"what": what}, "id": call_id}


asked = [call("read", "c1", "a"), call("fail", "c2", "b"), call("read", "c3", KEY)]
if DOOR == "middleware":  # the agent ends with the failure of a tool
    asked = [asked[0], asked[2]]
# What a script holds is part of the model, which tracing describes; a function's words are not.
says = [lambda _: AIMessage(f"see {KEY}", tool_calls=asked), lambda _: f"done with {KEY}"]
model = ScriptedModel(turns=says)
task = f"use {KEY}"
if DOOR == "graph":
    build_graph("react", model=model, tools=[read, fail], policy="allow_all").invoke(
        {"messages": [("user", task)]}
    )
elif DOOR == "agent":
    config = AgentConfig(profile=PROFILE, llm=model, tools=[read, fail], policy="allow_all")
    with ReActAgent(config) as agent:
        asyncio.run(agent.run(task))
else:
    create_agent(
        model, tools=[read], middleware=[FirewallMiddleware("allow_all")]
    ).invoke({"messages": [("user", "go")]})
wait_for_all_tracers()
'''


@pytest.mark.parametrize("door", ["graph", "agent", "middleware"])
def test_langsmith_gets_the_tree_and_no_secret(tmp_path: Path, door: str) -> None:
    """Of chains, models and tools: what goes in, what comes out, what goes wrong."""
    key = "sk-proj-" + "aB3dE5gH7jK9mN1pQ2rS4tU6vW8xY0zA"
    profile = "agent: {id: a, name: A, llm: {provider: openai, model: x}}"
    (tmp_path / "profile.yaml").write_text(profile, encoding="utf-8")
    env = {name: text for name, text in os.environ.items() if "LANGCHAIN" not in name}
    with LangSmith() as server:
        env |= {
            "LANGSMITH_TRACING": "true",
            "LANGSMITH_ENDPOINT": server.url,
            "LANGSMITH_API_KEY": "none",
        }
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM, key, door],
            cwd=tmp_path,
            env=env,
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )
    assert done.returncode == 0, done.stderr
    runs = server.runs
    kinds = [run["run_type"] for run in runs.values()]
    assert kinds.count("llm") == 2
    assert kinds.count("tool") == (1 if door == "middleware" else 2)
    roots = [run for run in runs.values() if not run.get("parent_run_id")]
    assert len(roots) == 1
    assert all(run["parent_run_id"] in runs for run in runs.values() if run not in roots)
    text = "\n".join(server.posted)
    assert key not in text
    assert "[REDACTED:openai_key]" in text
    (found,) = [r for r in runs.values() if r["run_type"] == "tool" and r["name"] == "read"]
    assert found["outputs"]["output"]["content"] == "found [REDACTED:openai_key]"


class Ears(BaseCallbackHandler):
    """Hears all that a tool says."""

    def __init__(self) -> None:
        self.heard: list[str] = []

    def on_tool_start(self, serialized: Any, input_str: str, **more: Any) -> None:
        self.heard.append(f"{serialized} {input_str} {more}")

    def on_tool_end(self, output: Any, **_: Any) -> None:
        self.heard.append(repr(output))

    def on_tool_error(self, error: BaseException, **_: Any) -> None:
        self.heard.append(f"{error!r} {error.__cause__!r}")
        if not error.__suppress_context__:
            self.heard.append(repr(error.__context__))

    def on_chain_error(self, error: BaseException, **_: Any) -> None:
        self.heard.append(repr(error))

    on_llm_error = on_chain_error


class Card(BaseModel):
    """A value that is neither text nor plain data."""

    text: str


class Odd(BaseTool):
    """A tool of a class of its own, which gives what it is told to."""

    name: str = "odd"
    description: str = "Gives."
    gives: Any = None

    def _run(self, what: str) -> Any:
        if isinstance(self.gives, Exception):
            raise self.gives
        return self.gives


WAYS = {
    "text": str,
    "data": lambda secret: {"a": [secret, 1], "b": None},
    "an object": lambda secret: Card(text=secret),
    "an error": ValueError,
    "a tool's error": ToolException,
}


@pytest.mark.parametrize("way", WAYS)
def test_nobody_hears_a_secret_of_a_tool(way: str) -> None:
    """Of any shipped pattern, whatever it gives back; with listeners or without, the same comes
    of it."""
    ears = Ears()
    for secret in SECRETS[::7]:
        odd = Odd(gives=WAYS[way](f"it is {secret}"), handle_tool_error=True)
        graph = agent_graph([turn(("odd", {"what": "x"}, "c1")), "done"], tools=[odd])
        alone = graph.invoke(ask())["messages"][2]
        beside = graph.invoke(ask(), {"callbacks": [ears]})["messages"][2]
        assert (alone.content, alone.artifact) == (beside.content, beside.artifact)
        assert secret not in alone.content
    assert ears.heard
    assert not [heard for heard in ears.heard for secret in SECRETS if secret in heard]


def test_what_comes_of_a_call_does_not_depend_on_listeners() -> None:
    """A note says that something was masked, whoever listens."""

    @tool
    def read(what: str) -> str:
        """Read."""
        return f"found {SECRETS[5]}"

    graph = agent_graph([turn(("read", {"what": "x"}, "c1")), "done"], tools=[read])
    ears = Ears()
    alone = graph.invoke(ask())["messages"][2]
    beside = graph.invoke(ask(), {"callbacks": [ears]})["messages"][2]
    assert alone.artifact == beside.artifact
    assert "masked" in str(alone.artifact)
    assert SECRETS[5] not in str(ears.heard)


def test_no_error_of_a_model_is_heard_with_a_secret() -> None:
    """Nor by whoever listens, nor by the caller."""
    ears = Ears()
    with pytest.raises(RuntimeError, match="REDACTED"):
        agent_graph([ValueError(f"bad {SECRETS[5]}")]).invoke(ask(), {"callbacks": [ears]})
    assert len(ears.heard) >= 2
    assert SECRETS[5] not in str(ears.heard)


def test_what_the_user_writes_is_kept_masked() -> None:
    """In the thread, and in what the model is shown; ids and images stay as they are."""
    graph = agent_graph(["done"], checkpointer="memory")
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
    block = {"type": "text", "text": f"use {SECRETS[5]}"}
    graph.invoke({"messages": [("system", f"{SECRETS[5]}"), ("user", [block, image])]}, on("t"))
    said = graph.get_state(on("t")).values["messages"]
    assert SECRETS[5] not in str(said)
    assert said[1].content[1] == image


def test_a_guarded_tool_raises_what_it_raised() -> None:
    """Listeners hear the error masked; the program whose tool it is gets its own."""

    class Own(LookupError):
        """An error that the program knows."""

    @tool
    def fail(what: str) -> str:
        """Fail."""
        raise Own(f"no {SECRETS[5]}")

    ears = Ears()
    (guarded,) = guard_tools([fail], "allow_all")
    with pytest.raises(Own, match="no "):
        guarded.invoke({"what": "x"}, {"callbacks": [ears]})
    assert SECRETS[5] not in str(ears.heard)


def test_the_middleware_makes_one_copy_of_a_tool() -> None:
    """However often it runs."""
    middleware = FirewallMiddleware(load_policy("allow_all"))
    odd = Odd()
    rules = middleware._rules.current
    assert rules._heard(odd) is rules._heard(odd)
