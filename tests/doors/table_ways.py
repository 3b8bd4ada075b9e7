"""How a call comes to each door: ways that take a case and say whether the call was let through."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

from langchain.agents import create_agent
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage

from edgeward import (
    Firewall,
    FirewallCallbackHandler,
    FirewallMiddleware,
    PolicyViolationError,
    ScriptedModel,
    ToolCall,
    check_tool_calls,
    guard_tools,
)
from edgeward.guards.conversation import Conversations, ModelTurn, Proposed, ToolResult, UserText
from edgeward.guards.python_values import as_call
from tests.wire.server import Call, Say, Wire

from . import anthropic_ways as anthropic
from . import gemini_ways as gemini
from . import openai_ways as openai
from .corpus import AnyTool
from .table_cases import Case

Way = Callable[[Case, Wire], Awaitable[bool]]


def _told(firewall: Firewall, case: Case) -> None:
    for event in case.history:
        if "user" in event:
            firewall.said(event["user"])
        else:
            firewall.observe(as_call(event["tool"], event["arguments"]), event["result"])


async def check(case: Case, wire: Wire) -> bool:
    """`Firewall.check` on the text that a model wrote."""
    firewall = Firewall(case.policy)
    _told(firewall, case)
    return firewall.check(case.name, case.arguments).word in ("allow", "redact")


async def guarded(case: Case, wire: Wire) -> bool:
    """`Firewall.guard` around a function."""
    firewall, spy = Firewall(case.policy), AnyTool(case.name)
    _told(firewall, case)
    with suppress(PolicyViolationError):
        firewall.guard(spy.body, name=case.name)(**(case.parsed or {}))
    return bool(spy.runs)


async def guarded_async(case: Case, wire: Wire) -> bool:
    """The same around a coroutine function."""
    firewall, spy = Firewall(case.policy), AnyTool(case.name)
    _told(firewall, case)

    async def body(**arguments: Any) -> str:
        return spy.body(**arguments)

    with suppress(PolicyViolationError):
        await firewall.guard(body, name=case.name)(**(case.parsed or {}))
    return bool(spy.runs)


async def checked_calls(case: Case, wire: Wire) -> bool:
    """`check_tool_calls`, with the history that the conversation gives."""
    turns: list[Any] = []
    for number, event in enumerate(case.history):
        if "user" in event:
            turns.append(UserText(event["user"]))
        else:
            call = Proposed(event["tool"], event["arguments"], f"c{number}")
            turns += [ModelTurn((call,)), ToolResult(call.id, event["result"])]
    history = Conversations(case.policy).past(turns).history
    call_ = ToolCall("c", "function", {"name": case.name, "arguments": case.arguments})
    (finding,), _ = check_tool_calls([call_], case.policy, history=history)
    return finding.verdict.word in ("allow", "redact")


def tool_way(prepared: Callable[[Case, AnyTool], tuple[Any, Any]], method: str) -> Way:
    async def way(case: Case, wire: Wire) -> bool:
        spy = AnyTool(case.name)
        tool, config = prepared(case, spy)
        with suppress(PolicyViolationError):
            found = getattr(tool, method)(case.parsed or {}, config)
            if method.startswith("a"):
                await found
        return bool(spy.runs)

    return way


def handled(case: Case, spy: AnyTool) -> tuple[Any, Any]:
    return spy.tool, {"callbacks": [FirewallCallbackHandler(case.policy)]}


def wrapped(case: Case, spy: AnyTool) -> tuple[Any, Any]:
    return guard_tools([spy.tool], case.policy)[0], None


def agent_way(method: str) -> Way:
    async def way(case: Case, wire: Wire) -> bool:
        spy = AnyTool(case.name)
        messages: list[Any] = []
        for number, event in enumerate(case.history):
            if "user" in event:
                messages.append(HumanMessage(event["user"]))
                continue
            call = {"name": event["tool"], "args": event["arguments"], "id": f"h{number}"}
            messages.append(AIMessage("", tool_calls=[call]))
            messages.append(
                ToolMessage(event["result"], tool_call_id=call["id"], name=call["name"])
            )
        messages = messages or [HumanMessage("Go on.")]
        past = [m for m in messages if isinstance(m, AIMessage)]
        call = {"name": case.name, "args": case.parsed or {}, "id": "c1"}
        model = ScriptedModel(turns=[*past, AIMessage("", tool_calls=[call]), "Done."])
        agent = create_agent(model, [spy.tool], middleware=[FirewallMiddleware(case.policy)])
        found = getattr(agent, method)({"messages": messages})
        if method == "ainvoke":
            await found
        elif method == "stream":
            list(found)
        elif method == "astream":
            assert [chunk async for chunk in found]
        return bool(spy.runs)

    return way


def _openai_way(way: openai.Way) -> Way:
    async def asked(case: Case, wire: Wire) -> bool:
        wire.script(Say(calls=[Call(case.name, case.arguments, "c1")]))
        before = dict(openai.ASKED), dict(openai.INPUT)
        if case.history:
            openai.ASKED["messages"], openai.INPUT["input"] = _openai_history(case)
        try:
            return bool((await way(wire, case.policy)).calls)
        finally:
            openai.ASKED.update(before[0])
            openai.INPUT.update(before[1])

    return asked


def _openai_history(case: Case) -> tuple[list[Any], list[Any]]:
    """What went before, as chat messages and as items of the Responses API."""
    messages: list[Any] = []
    items: list[Any] = []
    for number, event in enumerate(case.history):
        if "user" in event:
            said = {"role": "user", "content": event["user"]}
            messages.append(said)
            items.append(said)
            continue
        function = {"name": event["tool"], "arguments": json.dumps(event["arguments"])}
        call = {"id": f"h{number}", "type": "function", "function": function}
        messages.append({"role": "assistant", "tool_calls": [call]})
        messages.append({"role": "tool", "tool_call_id": call["id"], "content": event["result"]})
        items.append({"type": "function_call", "call_id": call["id"], **function})
        output = {"type": "function_call_output", "call_id": call["id"], "output": event["result"]}
        items.append(output)
    return messages, items


def openai_cell(*found: openai.Way) -> tuple[Way, ...]:
    return tuple(_openai_way(way) for way in found)


def _anthropic_way(way: anthropic.Way) -> Way:
    async def asked(case: Case, wire: Wire) -> bool:
        wire.script(Say(calls=[Call(case.name, case.arguments, "t1")]))
        before = dict(anthropic.ASKED)
        if case.history:
            anthropic.ASKED["messages"] = _anthropic_history(case)
        try:
            return bool((await way(wire, case.policy)).calls)
        finally:
            anthropic.ASKED.update(before)

    return asked


def _anthropic_history(case: Case) -> list[Any]:
    """What went before, as messages with blocks."""
    messages: list[Any] = []
    for number, event in enumerate(case.history):
        if "user" in event:
            messages.append({"role": "user", "content": event["user"]})
            continue
        call = {"id": f"h{number}", "name": event["tool"], "input": event["arguments"]}
        messages.append({"role": "assistant", "content": [{"type": "tool_use", **call}]})
        answer = {"tool_use_id": call["id"], "content": event["result"]}
        messages.append({"role": "user", "content": [{"type": "tool_result", **answer}]})
    return messages


def anthropic_cell(*found: anthropic.Way) -> tuple[Way, ...]:
    return tuple(_anthropic_way(way) for way in found)


def _gemini_way(way: gemini.Way) -> Way:
    async def asked(case: Case, wire: Wire) -> bool:
        wire.script(Say(calls=[Call(case.name, json.dumps(case.parsed), "c1")]))
        before = dict(gemini.ASKED)
        if case.history:
            gemini.ASKED["contents"] = _gemini_history(case)
        try:
            return bool((await way(wire, case.policy)).calls)
        finally:
            gemini.ASKED.update(before)

    return asked


def _gemini_history(case: Case) -> list[Any]:
    """What went before, as contents."""
    contents: list[Any] = []
    for event in case.history:
        if "user" in event:
            contents.append({"role": "user", "parts": [{"text": event["user"]}]})
            continue
        call = {"name": event["tool"], "args": event["arguments"]}
        answered = {"name": event["tool"], "response": {"result": event["result"]}}
        contents.append({"role": "model", "parts": [{"function_call": call}]})
        contents.append({"role": "user", "parts": [{"function_response": answered}]})
    return contents


def gemini_cell(*found: gemini.Way) -> tuple[Way, ...]:
    return tuple(_gemini_way(way) for way in found)
