"""What a private tool says when it fails is as private as what it gives; through every door."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import ToolErrorMiddleware
from langchain_core.messages import AIMessage
from langchain_core.tools import StructuredTool

from edgeward import (
    Firewall,
    FirewallCallbackHandler,
    FirewallMiddleware,
    PolicyViolationError,
    ScriptedModel,
    build_graph,
    guard_tools,
)

POLICY = {
    "version": 2,
    "private": ["read_mail"],
    "tools": {"read_mail": "allow", "search": "allow", "send": {"args": {"body": "clean"}}},
}
Run = Callable[[str, str, str, list[str]], None]


def tools(error: str, sent: list[str]) -> dict[str, Callable[[str], str]]:
    """A private tool and a public one that fail, and one that sends."""

    def fail(body: str) -> str:
        """Fails."""
        raise ValueError(error)

    def send(body: str) -> str:
        """Sends."""
        sent.append(body)
        return "sent"

    return {"read_mail": fail, "search": fail, "send": send}


def as_tools(error: str, sent: list[str]) -> dict[str, StructuredTool]:
    """The same as tools of LangChain's."""
    return {
        name: StructuredTool.from_function(function, name=name, description="Does it.")
        for name, function in tools(error, sent).items()
    }


def by_functions(reads: str, asked: str, error: str, sent: list[str]) -> None:
    firewall = Firewall(POLICY)
    made = {n: firewall.guard(f, name=n) for n, f in tools(error, sent).items()}
    with suppress(ValueError):
        made[reads](asked)
    with suppress(PolicyViolationError):
        made["send"]("Q-77812-ZK")


def by_guarded_tools(reads: str, asked: str, error: str, sent: list[str]) -> None:
    made = {tool.name: tool for tool in guard_tools(list(as_tools(error, sent).values()), POLICY)}
    with suppress(ValueError):
        made[reads].invoke({"body": asked})
    with suppress(PolicyViolationError):
        made["send"].invoke({"body": "Q-77812-ZK"})


def by_handler(reads: str, asked: str, error: str, sent: list[str]) -> None:
    made, config = as_tools(error, sent), {"callbacks": [FirewallCallbackHandler(POLICY)]}
    with suppress(ValueError):
        made[reads].invoke({"body": asked}, config)  # type: ignore[arg-type]
    with suppress(PolicyViolationError):
        made["send"].invoke({"body": "Q-77812-ZK"}, config)  # type: ignore[arg-type]


def script(reads: str, asked: str) -> ScriptedModel:
    """A model that reads, and sends on what it read."""
    calls = [(reads, asked), ("send", "Q-77812-ZK")]
    made = [{"name": n, "args": {"body": b}, "id": f"c{i}"} for i, (n, b) in enumerate(calls)]
    return ScriptedModel(turns=[*(AIMessage("", tool_calls=[call]) for call in made), "Done."])


def by_graph(reads: str, asked: str, error: str, sent: list[str]) -> None:
    made = list(as_tools(error, sent).values())
    graph = build_graph("react", policy=POLICY, model=script(reads, asked), tools=made)
    graph.invoke({"messages": [("user", "Go on.")]})


def by_middleware(reads: str, asked: str, error: str, sent: list[str]) -> None:
    told: Any = ToolErrorMiddleware(on_error=lambda failure, *_: str(failure))
    middleware = [told, FirewallMiddleware(POLICY)]
    made = list(as_tools(error, sent).values())
    agent: Any = create_agent(script(reads, asked), made, middleware=middleware)
    agent.invoke({"messages": [("user", "Go on.")]})


DOORS = [by_functions, by_guarded_tools, by_handler, by_graph, by_middleware]

doors = pytest.mark.parametrize("run", DOORS, ids=lambda run: run.__name__)


@doors
def test_the_text_of_a_failure_is_private(run: Run) -> None:
    """A mail that cannot be read, quoted by its error, leaves no more than one that can."""
    sent: list[str] = []
    run("read_mail", "all", "no date in this mail: the code is Q-77812-ZK, tell nobody", sent)
    assert sent == []


@doors
def test_what_the_call_brought_is_not(run: Run) -> None:
    """An error that repeats what it was asked tells nothing."""
    sent: list[str] = []
    run("read_mail", "Q-77812-ZK", "there is no mail Q-77812-ZK", sent)
    assert sent == ["Q-77812-ZK"]


@doors
def test_a_failure_of_another_tool_is_not(run: Run) -> None:
    """What a tool says that is not private may go out, also where it failed."""
    sent: list[str] = []
    run("search", "all", "the code is Q-77812-ZK", sent)
    assert sent == ["Q-77812-ZK"]


class Mute(Exception):
    """An error that cannot say what it is."""

    def __str__(self) -> str:
        raise RuntimeError("no words")


def test_an_error_without_words() -> None:
    """It goes on as it is."""
    firewall = Firewall(POLICY)

    @firewall.guard(name="read_mail")
    def read() -> str:
        raise Mute

    with pytest.raises(Mute):
        read()
