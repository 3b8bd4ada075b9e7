"""`FirewallMiddleware`: limits hold for a thread, however its calls run and its messages change."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass, replace
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import (
    SummarizationMiddleware,
)
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.tools import StructuredTool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.prebuilt.tool_node import ToolCallRequest

from edgeward import FirewallMiddleware, ScriptedModel, Spending, load_policy
from edgeward.guards.conversation import Conversations
from edgeward.guards.decide import decide
from edgeward.guards.langchain.session import history_of
from edgeward.guards.ledger import History
from edgeward.guards.normalise import Examined
from edgeward.guards.verdict import Finding, ToolCall

from .middleware import ASKED, THREAD, agent, answers
from .spies import Spy, calls


def test_the_budget_is_the_threads() -> None:
    """Tokens are counted over the messages of the thread, whoever runs it."""
    spy = Spy("search")
    saver = InMemorySaver()
    policy = {"version": 2, "default": "allow", "token_budget_per_session": 150}

    def spent() -> AIMessage:
        reply = calls(("search", {"text": "hi"}))
        reply.usage_metadata = {"input_tokens": 60, "output_tokens": 40, "total_tokens": 100}
        return reply

    for _ in range(2):  # an agent of its own for each run, as in another process
        turns = [spent(), "Done.", spent(), "Done."]
        state = agent(policy, [spy], *turns, checkpointer=saver).invoke(ASKED, THREAD)
    assert len(spy.runs) == 1
    assert "token budget of 150" in answers(state)[-1].content


def test_a_tool_cannot_pass_its_result_off_as_a_refusal() -> None:
    """Whatever lies beside a result: the call ran, and counts."""

    def look() -> tuple[str, dict[str, Any]]:
        """Look."""
        return "seen", {"edgeward": {"word": "block"}, "page": 1}

    made = create_agent(
        ScriptedModel(turns=[calls(("look", {})), calls(("look", {})), "Done."]),
        [StructuredTool.from_function(look, response_format="content_and_artifact")],
        middleware=[FirewallMiddleware({**LOOKS, "limits": {"run": {"calls": 1}}})],
    )
    first, second = answers(made.invoke(ASKED))
    assert (first.content, first.artifact) == ("seen", {"page": 1})
    assert "1 of 1 tool calls of this run are used" in second.content


LOOKS: dict[str, Any] = {"version": 2, "tools": {"look": "allow"}}


@dataclass(frozen=True)
class Once:
    """A rule of an outsider's: every tool runs once."""

    rule: str = "once"

    def __call__(self, call: Examined, history: History) -> list[Finding]:
        ran = history.calls.get(call.name, 0)
        return [Finding("once", "block", "it has run")] if ran else []


def test_a_limit_holds_for_calls_that_run_at_once() -> None:
    """Two calls of one message do not both take the last of what is counted."""
    spy = Spy("pay")
    loaded = load_policy("allow_all")
    limited = replace(loaded, checks=(*loaded.checks, Once()))
    pay = ("pay", {"text": "a"})
    state = agent(limited, [spy], calls(pay, pay), "Done.").invoke(ASKED)
    assert len(spy.runs) == 1
    assert [m.status for m in answers(state)] == ["success", "error"]


def test_limits_are_held_to_what_the_messages_say() -> None:
    """Calls, tokens and money of run and thread; seconds that this process has seen."""
    usage: Any = {"input_tokens": 5, "output_tokens": 5, "total_tokens": 10}
    said = AIMessage("So.", usage_metadata=usage)
    done = [calls(("search", {})), ToolMessage("ok", tool_call_id="c0", name="search"), said]
    given = [HumanMessage("Hi."), *done, HumanMessage("And?"), *done]
    last = calls(("search", {"q": "a"}), ("search", {"q": "b"}))
    last.tool_calls[0]["id"], last.tool_calls[1]["id"] = "d0", "d1"
    runtime: Any = None
    for limits, words in (
        ({"calls": 3}, ["allow", "block"]),
        ({"run": {"calls": 2}}, ["allow", "block"]),
        ({"tokens": 20}, ["block", "block"]),
        ({"run": {"tokens": 20}}, ["allow", "allow"]),
        ({"seconds": 9}, ["allow", "allow"]),
        ({"cost_usd": 2, "prices": {"*": {"input": 1e5, "output": 1e5}}}, ["block", "block"]),
        ({"cost_usd": 3, "prices": {"*": {"input": 1e5, "output": 1e5}}}, ["allow", "allow"]),
        ({"caller": {"calls": 3}}, ["block", "block"]),
    ):
        policy = load_policy({"version": 2, "default": "allow", "limits": limits})
        found = []
        for proposed in last.tool_calls:
            call: Any = proposed
            request = ToolCallRequest(call, None, {"messages": [*given, last]}, runtime)
            history = history_of(request, Conversations(policy))
            found.append(decide(policy, ToolCall(call["name"]), history).word)
        assert found == words


def test_the_budget_outlives_a_summary() -> None:
    """Messages that are summed up and taken out were paid for: the budget does not grow back."""
    spy = Spy("search")
    summary = SummarizationMiddleware(
        ScriptedModel(turns=["Short."] * 99, order="call"),
        trigger=("messages", 4),
        keep=("messages", 2),
    )

    def spent(number: int) -> AIMessage:
        reply = calls(("search", {"text": "hi"}))
        reply.tool_calls[0]["id"] = f"s{number}"
        reply.usage_metadata = {"input_tokens": 60, "output_tokens": 40, "total_tokens": 100}
        return reply

    for limit in ({"token_budget_per_session": 350}, {"limits": {"run": {"tokens": 350}}}):
        spy.runs.clear()
        model = ScriptedModel(turns=[spent(n) for n in range(6)] + ["Done."], order="call")
        policy = {"version": 2, "default": "allow", **limit}
        runner = create_agent(
            model, [spy.async_tool()], middleware=[summary, FirewallMiddleware(policy)]
        )
        state = runner.invoke(ASKED)
        assert "edgeward_spent" not in state
        assert len(state["messages"]) < 8
        assert len(spy.runs) == 3


@pytest.mark.parametrize("fails", [False, True])
def test_runs_of_one_caller_side_by_side_do_not_pass_the_limit(fails: bool) -> None:
    """What a call may take is set aside before it is made, and given back after it."""
    said: list[str] = []
    spending = Spending()
    guard = FirewallMiddleware(
        {"version": 2, "default": "allow", "limits": {"caller": {"tokens": 150}}}, spending=spending
    )
    used: Any = {"input_tokens": 60, "output_tokens": 40, "total_tokens": 100}
    reply = AIMessage("Done.", usage_metadata=used)

    def run(turn: Any) -> str:
        made = create_agent(ScriptedModel(turns=[turn]), [], middleware=[guard])
        return str(made.invoke(ASKED)["messages"][-1].text)

    def meanwhile(messages: Any) -> AIMessage:
        said.append(run(reply))
        if fails:
            raise OSError("the line is down")
        return reply

    with contextlib.suppress(OSError):
        said.append(run(meanwhile))
    assert "a limit is reached: 150 of 150 tokens of this caller" in said[0]
    assert spending.of("") == spending.used.get("", {})
    assert spending.of("").get("tokens", 0) == (0 if fails else 100)
    assert run(reply) == "Done."


@pytest.mark.parametrize("usage", [(0, 0), (-900, -100)], ids=repr)
def test_no_model_call_is_free(usage: tuple[int, int]) -> None:
    """A model that says nought or less has its tokens estimated, calls included."""
    spy = Spy("search")
    told = {"input_tokens": usage[0], "output_tokens": usage[1], "total_tokens": sum(usage)}

    def said(number: int) -> AIMessage:
        reply = calls(("search", {"text": f"{number} {'x' * 400}"}))
        return reply.model_copy(update={"usage_metadata": told})

    policy = {"version": 2, "default": "allow", "limits": {"tokens": 500}}
    state = agent(policy, [spy], *map(said, range(20)), "Done.").invoke(ASKED)
    assert 0 < len(spy.runs) < 10
    assert "a limit is reached" in state["messages"][-1].text
    assert state["messages"][1].response_metadata["usage_estimated"]
