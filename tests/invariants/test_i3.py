"""I3: what was judged is what runs."""

from __future__ import annotations

from typing import Annotated, Any
from urllib.parse import unquote

import pytest
from hypothesis import given, settings
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.tools import StructuredTool
from pydantic import BaseModel, BeforeValidator, Field, field_validator

from edgeward.graphs.catalog import ToolCatalog
from edgeward.guards.verdict import ToolCall
from tests.fakes import Recorder, agent_graph, answers, ask, turn
from tests.invariants.wiring import ARGUMENTS

CATALOG = ToolCatalog({"pay": Recorder().tool("pay")})


@settings(deadline=None)
@given(arguments=ARGUMENTS)
def test_reading_twice_changes_nothing(arguments: dict[str, Any]) -> None:
    """Arguments as the guard sees them are read by the tool's schema as the same again."""
    call = CATALOG.canonical(ToolCall("pay", arguments, id="c1"))
    if call.fault is None:
        assert CATALOG.canonical(call) == call
        assert set(call.arguments) == {"what", "amount"}


class Link(BaseModel):
    """A schema that reads a value anew each time that it sees it."""

    url: Annotated[str, BeforeValidator(unquote)]


def fetch(seen: list[str]) -> StructuredTool:
    def body(url: str) -> str:
        seen.append(url)
        return "fetched"

    return StructuredTool(name="fetch", description="Fetches.", args_schema=Link, func=body)


@pytest.mark.parametrize("listened", [False, True])
async def test_schema_that_decodes(listened: bool) -> None:
    """A value that the schema would decode once more after the guard looked does not run."""
    seen: list[str] = []
    calls = turn(("fetch", {"url": "%252e%252e/x"}, "c1"), ("fetch", {"url": "%61"}, "c2"))
    graph: Any = agent_graph([calls, "done"], tools=[fetch(seen)])
    if listened:
        graph = graph.with_config(callbacks=[BaseCallbackHandler()])
    found = dict(answers(graph.invoke(ask())["messages"]))
    await graph.ainvoke(ask())
    assert seen == ["a", "a"]
    assert "Not run" in found["c1"]


class Rich(BaseModel):
    """Nesting and defaults."""

    to: list[str]
    size: int = 3
    inner: dict[str, int] = Field(default_factory=lambda: {"a": 1})


@pytest.mark.parametrize("listened", [False, True])
async def test_what_the_body_gets(listened: bool) -> None:
    """Defaults and nested values reach the body as they were judged."""
    seen: list[Any] = []

    def body(to: list[str], size: int, inner: dict[str, int]) -> str:
        seen.append((to, size, inner))
        return "sent"

    tool = StructuredTool(name="send", description="Sends.", args_schema=Rich, func=body)
    calls = turn(("send", {"to": ["a"], "size": "7"}, "c1"))
    graph: Any = agent_graph([calls, "done"], tools=[tool])
    if listened:
        graph = graph.with_config(callbacks=[BaseCallbackHandler()])
    found = answers(graph.invoke(ask())["messages"])
    assert found == [("c1", "sent")]
    assert seen == [(["a"], 7, {"a": 1})]


async def test_calls_of_a_turn_do_not_share_arguments() -> None:
    """A body that changes what it got changes nothing of another call, nor of the thread."""
    seen: list[Any] = []

    def change(items: list[str]) -> int:
        """Changes its argument."""
        seen.append(list(items))
        items.append("changed")
        return len(items)

    shared = ["a"]
    calls = turn(("change", {"items": shared}, "c1"), ("change", {"items": shared}, "c2"))
    result = agent_graph([calls, "done"], tools=[change]).invoke(ask())
    assert seen == [["a"], ["a"]]
    assert [c["args"] for c in result["messages"][1].tool_calls] == [{"items": ["a"]}] * 2


class Decoded(BaseModel):
    """A schema with a validator that is a method, which no part of the schema shows."""

    url: str

    @field_validator("url")
    @classmethod
    def plain(cls, url: str) -> str:
        return unquote(url)


@pytest.mark.parametrize("listened", [False, True])
def test_a_validator_that_is_a_method_is_heard(listened: bool) -> None:
    """What it makes of a value is judged, and is what the body gets."""
    seen: list[str] = []
    tool = fetch(seen).model_copy(update={"args_schema": Decoded})
    calls = turn(("fetch", {"url": "%2e%2e/x"}, "c1"), ("fetch", {"url": "%61"}, "c2"))
    graph: Any = agent_graph([calls, "done"], tools=[tool])
    if listened:
        graph = graph.with_config(callbacks=[BaseCallbackHandler()])
    state = graph.invoke(ask())
    assert sorted(seen) == ["../x", "a"]
    assert ToolCatalog({"fetch": tool}).canonical(ToolCall("fetch", {"url": "%61"})).arguments == {
        "url": "a"
    }
    assert dict(answers(state["messages"]))["c2"] == "fetched"
