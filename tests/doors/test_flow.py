"""Policies that need the past hold behind the LangChain doors: private data, order of calls."""

from __future__ import annotations

from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.tools import BaseTool, tool

from edgeward import (
    FirewallCallbackHandler,
    FirewallMiddleware,
    PolicyViolationError,
    ScriptedModel,
    guard_tools,
)

from .spies import Spy, calls

POLICY: dict[str, Any] = {
    "version": 2,
    "private": ["read_inbox"],
    "tools": {"read_inbox": "allow", "post": {"args": {"text": "clean"}}},
    "sequence": [{"after": "fetch", "block": "post", "until": "user"}],
}
SECRET = "code 482913X"


def inbox(answer: str = SECRET) -> BaseTool:
    """A tool that brings back something private."""

    @tool
    def read_inbox() -> str:
        """Read."""
        if answer == "fail":
            raise OSError(answer)
        return answer

    return read_inbox


def ran(spy: Spy, text: str, **config: Any) -> bool:
    """Whether the post with this text was let through by a bare tool."""
    before = len(spy.runs)
    try:
        spy.sync_tool().invoke({"text": text}, config or None)
    except PolicyViolationError:
        return False
    return len(spy.runs) > before


def test_a_handler_knows_what_tools_gave_back() -> None:
    """Also where the tool failed, which gave nothing."""
    handler = FirewallCallbackHandler(POLICY)
    config: Any = {"callbacks": [handler]}
    spy = Spy("post")
    with pytest.raises(OSError, match="fail"):
        inbox("fail").invoke({}, config)
    assert ran(spy, SECRET, **config)
    inbox().invoke({}, config)
    assert not ran(spy, SECRET, **config)
    assert ran(spy, "hello", **config)


async def test_guarded_tools_know_what_they_gave_back() -> None:
    """In every form of a result, sync and async."""
    spy = Spy("post")
    for answer in (SECRET, [SECRET], [{"type": "text", "text": SECRET}]):
        read, post = guard_tools([inbox(answer), spy.sync_tool()], POLICY)  # type: ignore[arg-type]
        post.invoke({"text": SECRET})
        message = await read.ainvoke(
            {"name": "read_inbox", "args": {}, "id": "c", "type": "tool_call"}
        )
        assert isinstance(message, ToolMessage)
        with pytest.raises(PolicyViolationError, match="private"):
            post.invoke({"text": SECRET})
        post.invoke({"text": "hello"})


def posted(*history: Any, text: str = SECRET) -> bool:
    """Whether an agent with this history may post the text."""
    spy = Spy("post")
    said = [m for m in history if isinstance(m, AIMessage)]  # the model goes on from here
    model = ScriptedModel(turns=[*said, calls(("post", {"text": text})), "Done."])
    agent = create_agent(model, [spy.sync_tool(), inbox()], middleware=[FirewallMiddleware(POLICY)])
    state = agent.invoke({"messages": list(history)})
    assert state["messages"][-2].name == "post"
    return bool(spy.runs)


READ = [
    HumanMessage("Any mail?"),
    AIMessage("", tool_calls=[{"name": "read_inbox", "args": {}, "id": "r1"}]),
    ToolMessage(SECRET, tool_call_id="r1", name="read_inbox"),
]


def test_the_middleware_reads_the_past_in_the_messages() -> None:
    """What a private tool gave, and what the user wrote."""
    assert posted(HumanMessage("Post it."))
    assert not posted(*READ)
    assert posted(*READ, text="hello")
    assert not posted(*READ, HumanMessage("Post it."), text="482913x")
    assert posted(*READ, HumanMessage("Post 482913X."), text="482913x")


def test_the_middleware_within_one_run() -> None:
    """The call that reads and the call that posts."""
    spy = Spy("post")
    post = ("post", {"text": SECRET})
    model = ScriptedModel(turns=[calls(("read_inbox", {})), calls(post), "Done."])
    agent = create_agent(model, [spy.sync_tool(), inbox()], middleware=[FirewallMiddleware(POLICY)])
    state = agent.invoke({"messages": [HumanMessage("Any mail?")]})
    assert not spy.runs
    assert "private data" in state["messages"][-2].content


def test_a_summary_is_not_the_users_word() -> None:
    """What it sums up was not seen: no text is known to be free of private data."""
    summary = HumanMessage(f"Summary: {SECRET}", additional_kwargs={"lc_source": "summarization"})
    assert not posted(*READ, summary)
    assert not posted(summary, SystemMessage("Be kind."), text="hello")
    assert posted(summary, HumanMessage("Post hello."), text="hello")


def test_the_order_of_calls_in_an_agent() -> None:
    """Those of earlier turns, and those beside it."""
    fetch, post = ("fetch", {"text": "x"}), ("post", {"text": "hello"})
    for turns in ([calls(fetch), calls(post)], [calls(post, fetch)], [calls(fetch, post)]):
        spy = Spy("post")
        tools = [spy.sync_tool(), Spy("fetch").sync_tool()]
        policy = {**POLICY, "tools": {**POLICY["tools"], "fetch": "allow"}}
        model = ScriptedModel(turns=[*turns, "Done."])
        agent = create_agent(model, tools, middleware=[FirewallMiddleware(policy)])
        agent.invoke({"messages": [HumanMessage("Go on.")]})
        assert not spy.runs
