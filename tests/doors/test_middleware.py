"""`FirewallMiddleware`: every call of a `create_agent` agent is decided where it would run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import (
    AgentMiddleware,
    ToolRetryMiddleware,
    hook_config,
)
from langchain.tools import ToolRuntime
from langchain_core.messages import BaseMessage, HumanMessage, ToolMessage
from langchain_core.tools import InjectedToolCallId, tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.prebuilt.tool_node import ToolCallRequest
from langgraph.types import Command, Send

from edgeward import FirewallMiddleware, ScriptedModel, load_policy
from edgeward.guards.conversation import Conversations
from edgeward.guards.langchain.middleware import MiddlewareHooks
from edgeward.guards.langchain.session import history_of

from .middleware import ASKED, THREAD, agent, answers, run, ways
from .spies import POLICY, REFUSED, Spy, calls


@ways
@pytest.mark.parametrize(("name", "arguments", "said"), REFUSED)
async def test_a_refusal_is_a_tool_message(
    way: str, name: str, arguments: dict[str, Any], said: str
) -> None:
    """The run goes on: the call is answered with the reason, and its sibling runs."""
    spy, other = Spy(name), Spy("search")
    runner = agent(
        POLICY, [spy, other], calls((name, arguments), ("search", {"text": "hi"})), "Done."
    )
    state = await run(runner, way, ASKED)
    assert not spy.runs
    assert other.runs == [("hi", 1)]
    refused, fine = answers(state)
    assert (refused.status, refused.tool_call_id, fine.content) == ("error", "c0", "fine")
    assert said in refused.content
    assert refused.artifact["edgeward"]["word"] == "block"
    assert state["messages"][-1].content == "Done."


def test_what_is_judged_is_what_runs() -> None:
    """Arguments are read through the tool's schema first, and run as they were judged."""
    spy = Spy("pay")
    limits = {"version": 2, "tools": {"pay": {"args": {"amount": {"max": 10}}}}}
    proposed = calls(("pay", {"text": "a", "amount": "7"}), ("pay", {"text": "b", "amount": "70"}))
    state = agent(limits, [spy], proposed, "Done.").invoke(ASKED)
    assert spy.runs == [("a", 7)]
    assert [m.status for m in answers(state)] == ["success", "error"]


@pytest.mark.parametrize("arguments", [{"text": "a", "cc": "x"}, {}, {"text": "a", "amount": "no"}])
def test_arguments_that_do_not_fit(arguments: dict[str, Any]) -> None:
    """What the schema does not know or cannot read is answered, not dropped."""
    spy = Spy("search")
    state = agent("allow_all", [spy], calls(("search", arguments)), "Done.").invoke(ASKED)
    assert not spy.runs
    assert answers(state)[0].content.startswith("Not run: wrong arguments")


def test_an_unknown_tool_is_answered() -> None:
    """A tool that the agent does not have: the policy's word, or the node's."""
    spy = Spy("search")
    proposed = calls(("send_email", {"text": "a"}), ("read_doc", {"text": "a"}))
    first, second = answers(agent(POLICY, [spy], proposed, "Done.").invoke(ASKED))
    assert "is denied" in first.content
    assert "not a valid tool" in second.content


def test_what_is_injected_is_not_the_models() -> None:
    """A call id, a runtime: the tool gets them, and the model cannot pass its own."""
    seen: list[Any] = []

    @tool
    def search(text: str, call_id: Annotated[str, InjectedToolCallId], runtime: ToolRuntime) -> str:
        """Search."""
        seen.append((text, call_id, runtime.tool_call_id))
        return "fine"

    forged = calls(("search", {"text": "a"}), ("search", {"text": "b", "call_id": "forged"}))
    model = ScriptedModel(turns=[forged, "Done."])
    runner = create_agent(model, [search], middleware=[FirewallMiddleware("allow_all")])
    first, second = answers(runner.invoke(ASKED))
    assert seen == [("a", "c0", "c0")]
    assert (first.status, second.status) == ("success", "error")


class Jumps(AgentMiddleware):
    """Jumps to the tools with a call of its own, past every `after_model`."""

    @hook_config(can_jump_to=["tools"])
    def before_model(self, state: Any, runtime: Any) -> dict[str, Any] | None:
        if answers(state):
            return None
        return {"messages": [calls(("send_email", {"text": "hi"}))], "jump_to": "tools"}


def test_a_jump_does_not_get_around_it() -> None:
    """`jump_to` of another middleware comes to the same decision."""
    spy = Spy("send_email")
    state = agent(POLICY, [spy], "Done.", "Done.", before=[Jumps()]).invoke(ASKED)
    assert not spy.runs
    assert "is denied" in answers(state)[0].content


@pytest.mark.parametrize(
    "goto",
    [
        "tools",
        Send(
            "tools",
            [{"name": "send_email", "args": {"text": "hi"}, "id": "c0", "type": "tool_call"}],
        ),
    ],
)
def test_a_goto_does_not_get_around_it(goto: Any) -> None:
    """Nor does a `Command`, with the tools' name or a `Send` to them."""
    spy = Spy("send_email")
    runner = agent(POLICY, [spy], *["Done."] * 4, checkpointer=InMemorySaver())
    given = Command(
        goto=goto, update={"messages": [HumanMessage("Hi."), calls(("send_email", {"text": "hi"}))]}
    )
    state = runner.invoke(given, THREAD)
    assert not spy.runs
    assert any("is denied" in message.content for message in answers(state))


def test_a_forged_state_does_not_get_around_it() -> None:
    """A call that somebody wrote into the thread is decided like any other."""
    spy = Spy("send_email")
    runner = agent(POLICY, [spy], "Done.", "Done.", checkpointer=InMemorySaver())
    runner.update_state(
        THREAD, {"messages": [calls(("send_email", {"text": "hi"}))]}, as_node="model"
    )
    state = runner.invoke(None, THREAD)
    assert not spy.runs
    assert "is denied" in answers(state)[0].content


class Rewrites(AgentMiddleware):
    """Changes a call's arguments on their way to the tool."""

    def wrap_tool_call(self, request: Any, handler: Callable[[Any], Any]) -> Any:
        call = {**request.tool_call, "args": {"text": "../secret"}}
        return handler(request.override(tool_call=call))

    async def awrap_tool_call(self, request: Any, handler: Callable[[Any], Any]) -> Any:
        call = {**request.tool_call, "args": {"text": "../secret"}}
        return await handler(request.override(tool_call=call))


@ways
async def test_a_later_middleware_is_refused(way: str) -> None:
    """What could change a call after it was decided: no call goes through."""
    spy = Spy("search")
    runner = agent(POLICY, [spy], calls(("search", {"text": "hi"})), "Done.", after=[Rewrites()])
    with pytest.raises(RuntimeError, match="not the last"):
        await run(runner, way, ASKED)
    assert not spy.runs


@ways
async def test_an_earlier_middleware_is_decided_after(way: str) -> None:
    """What it made of the call is what is judged."""
    spy = Spy("search")
    runner = agent(POLICY, [spy], calls(("search", {"text": "hi"})), "Done.", before=[Rewrites()])
    state = await run(runner, way, ASKED)
    assert not spy.runs
    assert "path traversal" in answers(state)[0].content


def test_a_retry_before_it_repeats_no_refusal() -> None:
    """A refusal is an answer and no error, so that nothing tries it again."""
    spy = Spy("send_email")
    retry = ToolRetryMiddleware(max_retries=3, initial_delay=0)
    state = agent(
        POLICY, [spy], calls(("send_email", {"text": "hi"})), "Done.", before=[retry]
    ).invoke(ASKED)
    assert "is denied" in answers(state)[0].content


def test_a_policy_that_is_wrong() -> None:
    """It is refused when the middleware is made."""
    with pytest.raises(ValueError, match="did you mean default"):
        FirewallMiddleware("defualt")


def test_history_is_read_from_any_state() -> None:
    """A list of messages, an object: the calls since the user spoke, and those before this one."""
    ran = ToolMessage("ok", tool_call_id="x", name="search")
    refused = ToolMessage("no", tool_call_id="y", name="search", artifact={"edgeward": {}})
    given = [ran, HumanMessage("Hi."), calls(("search", {})), ran, refused]
    last = calls(("search", {}), ("pay", {}), ("search", {}))

    @dataclass
    class State:
        messages: list[BaseMessage]

    past = Conversations(load_policy("allow_all"))
    for state in ([*given, last], {"messages": [*given, last]}, State([*given, last])):
        call: Any = last.tool_calls[2]
        runtime: Any = None
        history = history_of(ToolCallRequest(call, None, state, runtime), past)
        assert history.calls == {"search": 2, "pay": 1}
        assert history.thread == ""
    nobody: Any = ToolCallRequest(
        {**last.tool_calls[0], "id": "z"}, None, {"messages": [last]}, None
    )  # type: ignore[arg-type]
    assert history_of(nobody, past).calls == {"search": 2, "pay": 1}


def test_a_middleware_needs_a_policy() -> None:
    """In the guards themselves nothing is loaded by name."""
    with pytest.raises(TypeError, match="not a str"):
        MiddlewareHooks("default")  # type: ignore[arg-type]


def test_the_caller_is_the_one_whom_the_context_names() -> None:
    """A policy that asks who is served hears it from the run's context, and from nothing else."""

    @dataclass
    class Session:
        user: str = ""
        tenant: str = ""
        roles: tuple[str, ...] = ()

    spy = Spy("pay")
    policy = {"version": 2, "tools": {"pay": {"callers": {"roles": ["clerk"]}}}}
    made = agent(
        policy, [spy], *[m for _ in range(2) for m in (calls(("pay", {"text": "x"})), "x")],
        context_schema=Session,
    )  # fmt: skip
    made.invoke(ASKED, context=Session(user="clerk"))
    assert spy.runs == []
    made.invoke(ASKED, context=Session(roles=("clerk",)))
    assert len(spy.runs) == 1


def test_an_agent_within_a_tool() -> None:
    """A subagent has middleware of its own; its refusals are its own, and the outer run goes on."""
    spy = Spy("send_email")
    inner = agent(POLICY, [spy], calls(("send_email", {"text": "hi"})), "I may not mail.")

    @tool
    def search(text: str) -> str:
        """Ask the other agent."""
        return str(inner.invoke({"messages": [("user", text)]})["messages"][-1].content)

    model = ScriptedModel(turns=[calls(("search", {"text": "mail it"})), "Done."])
    outer = create_agent(model, [search], middleware=[FirewallMiddleware(POLICY)])
    state = outer.invoke(ASKED)
    assert not spy.runs
    assert answers(state)[0].content == "I may not mail."
    assert state["messages"][-1].content == "Done."
