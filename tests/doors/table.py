"""Every door, surface by surface: the table that the tests run, and that the docs show.

A cell is a list of ways: each takes a case and the wire server, and says whether the call was let
through. A vendor's door adds its rows to `ROWS`; the tests and `docs/doors.md` follow.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from langchain.agents import create_agent
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage

import edgeward.policies
from edgeward import (
    Firewall,
    FirewallCallbackHandler,
    FirewallMiddleware,
    Policy,
    PolicyViolationError,
    ScriptedModel,
    ToolCall,
    check_tool_calls,
    guard_tools,
    load_policy,
)
from edgeward.guards.arguments import parse_arguments
from edgeward.guards.conversation import Conversations, ModelTurn, Proposed, ToolResult, UserText
from edgeward.guards.python_values import as_call
from tests.wire.server import Call, Say, Wire

from . import anthropic_ways as anthropic
from . import gemini_ways as gemini
from . import openai_ways as openai
from .corpus import CALLS, AnyTool, policy_of

SHIPPED = Path(edgeward.policies.__file__).parent


@dataclass(frozen=True)
class Case:
    """A call, the policy, what went before, and whether the call goes through."""

    id: str
    policy: Policy
    name: str
    arguments: str
    goes_through: bool
    history: tuple[Mapping[str, Any], ...] = ()
    """`{"user": text}`, or `{"tool", "arguments", "result"}` (a text)."""

    @property
    def parsed(self) -> dict[str, Any] | None:
        """The arguments; None where they are none that LangChain would hand to a tool."""
        return parse_arguments(self.arguments)[0] if self.name.strip() else None


def cases() -> Iterable[Case]:
    """The corpus, and the calls that the shipped policies are tested with."""
    for case in CALLS:
        policy = policy_of(case)
        if policy is not None and case["tool"]:
            expected = case["expected"] == "allow"
            yield Case(case["id"], policy, case["tool"], case["arguments"], expected)
    for path in sorted(
        p for word in ("allow", "ask", "block") for p in SHIPPED.glob(f"*/{word}/*")
    ):
        said = json.loads(path.read_text(encoding="utf-8"))
        events = [
            {**e, "result": _text(e["result"])} if "tool" in e else e
            for e in said.get("history", ())
        ]
        arguments = said["arguments"]
        text = arguments if isinstance(arguments, str) else json.dumps(arguments)
        expected = path.parts[-2] == "allow"
        if said["tool"]:
            name, policy = "/".join(path.parts[-3:]), load_policy(path.parts[-3])
            yield Case(name, policy, said["tool"], text, expected, tuple(events))


def _text(result: Any) -> str:
    return result if isinstance(result, str) else json.dumps(result)


CASES = list(cases())
SAMPLE = [case for number, case in enumerate(CASES) if number % 29 == 0 or case.history]
"""Some of everything, for the surfaces of a door beside its first."""

Way = Callable[[Case, Wire], Awaitable[bool]]


@dataclass(frozen=True)
class Row:
    """One surface of one door."""

    door: str
    surface: str
    sync: tuple[Way, ...] = ()
    asynchronous: tuple[Way, ...] = ()
    stream: tuple[Way, ...] = ()
    fits: Callable[[Case], bool] = field(default=lambda case: True)
    """Whether a case can come as far as this door."""

    @property
    def ways(self) -> tuple[Way, ...]:
        """All of them."""
        return (*self.sync, *self.asynchronous, *self.stream)


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


def _tool_way(prepared: Callable[[Case, AnyTool], tuple[Any, Any]], method: str) -> Way:
    async def way(case: Case, wire: Wire) -> bool:
        spy = AnyTool(case.name)
        tool, config = prepared(case, spy)
        with suppress(PolicyViolationError):
            found = getattr(tool, method)(case.parsed or {}, config)
            if method.startswith("a"):
                await found
        return bool(spy.runs)

    return way


def _handled(case: Case, spy: AnyTool) -> tuple[Any, Any]:
    return spy.tool, {"callbacks": [FirewallCallbackHandler(case.policy)]}


def _wrapped(case: Case, spy: AnyTool) -> tuple[Any, Any]:
    return guard_tools([spy.tool], case.policy)[0], None


def _agent_way(method: str) -> Way:
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


def _openai(*found: openai.Way) -> tuple[Way, ...]:
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


def _anthropic(*found: anthropic.Way) -> tuple[Way, ...]:
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


def _gemini(*found: gemini.Way) -> tuple[Way, ...]:
    return tuple(_gemini_way(way) for way in found)


def _is_call(case: Case) -> bool:
    return case.parsed is not None


def _alone(case: Case) -> bool:
    return case.parsed is not None and not case.history


MIDDLEWARE = Row(
    "FirewallMiddleware",
    "`create_agent`",
    (_agent_way("invoke"),),
    (_agent_way("ainvoke"),),
    (_agent_way("stream"), _agent_way("astream")),
    _is_call,
)

ROWS: list[Row] = [
    Row("Firewall", "`check`", (check,)),
    Row("Firewall", "`guard`", (guarded,), (guarded_async,), fits=_is_call),
    Row("check_tool_calls", "with a history", (checked_calls,)),
    Row(
        "FirewallCallbackHandler",
        "tools, `ToolNode`, agents",
        (_tool_way(_handled, "invoke"),),
        (_tool_way(_handled, "ainvoke"),),
        fits=_alone,
    ),
    Row(
        "guard_tools",
        "any call of a tool",
        (_tool_way(_wrapped, "invoke"),),
        (_tool_way(_wrapped, "ainvoke"),),
        fits=_alone,
    ),
    replace(MIDDLEWARE),
    Row(
        "FirewallOpenAI",
        "`chat.completions.create`",
        _openai(openai.create),
        _openai(openai.create_async),
        _openai(openai.stream, openai.stream_async),
    ),
    Row(
        "FirewallOpenAI",
        "`chat.completions.parse`",
        _openai(openai.parse),
        _openai(openai.parse_async),
    ),
    Row(
        "FirewallOpenAI",
        "`chat.completions.stream`",
        stream=_openai(openai.helper, openai.helper_async),
    ),
    Row(
        "FirewallOpenAI",
        "`….with_raw_response`",
        _openai(openai.raw, openai.raw_body),
        _openai(openai.raw_async),
        _openai(openai.raw_stream),
    ),
    Row(
        "FirewallOpenAI",
        "`….with_streaming_response`",
        _openai(openai.streaming_response),
        _openai(openai.streaming_response_async),
        _openai(openai.streaming_response_stream),
    ),
    Row(
        "FirewallOpenAI",
        "`with_options`, `copy`",
        _openai(openai.copied),
        _openai(openai.copied_async),
    ),
]
if not openai.OLD:
    ROWS += [
        Row(
            "FirewallOpenAI",
            "`responses.create`",
            _openai(openai.respond),
            _openai(openai.respond_async),
            _openai(openai.respond_stream, openai.respond_stream_async),
        ),
        Row(
            "FirewallOpenAI",
            "`responses.parse`, raw",
            _openai(openai.respond_parse, openai.respond_raw),
        ),
        Row(
            "FirewallOpenAI",
            "`responses.stream`",
            stream=_openai(openai.respond_helper, openai.respond_helper_async),
        ),
    ]

ROWS += [
    Row(
        "FirewallAnthropic",
        "`messages.create`",
        _anthropic(anthropic.create),
        _anthropic(anthropic.create_async),
        _anthropic(anthropic.stream, anthropic.stream_async),
        _is_call,  # where it is not streamed, the provider has parsed the arguments
    ),
    Row(
        "FirewallAnthropic",
        "`messages.parse`",
        _anthropic(anthropic.parse),
        _anthropic(anthropic.parse_async),
        fits=_is_call,
    ),
    Row(
        "FirewallAnthropic",
        "`messages.stream`",
        stream=_anthropic(anthropic.helper, anthropic.helper_text, anthropic.helper_async),
    ),
    Row(
        "FirewallAnthropic",
        "`beta.messages.create`",
        _anthropic(anthropic.create_beta),
        _anthropic(anthropic.create_beta_async),
        _anthropic(anthropic.stream_async),
        _is_call,
    ),
    Row(
        "FirewallAnthropic",
        "`beta.messages.tool_runner`",
        _anthropic(anthropic.runner),
        _anthropic(anthropic.runner_async),
        fits=_is_call,
    ),
    Row(
        "FirewallAnthropic",
        "`….with_raw_response`",
        _anthropic(anthropic.raw, anthropic.raw_body),
        _anthropic(anthropic.raw_async),
        _anthropic(anthropic.raw_stream),
        _is_call,
    ),
    Row(
        "FirewallAnthropic",
        "`….with_streaming_response`",
        _anthropic(anthropic.streaming_response),
        _anthropic(anthropic.streaming_response_async),
        _anthropic(anthropic.streaming_response_stream),
        _is_call,
    ),
    Row(
        "FirewallAnthropic",
        "`with_options`, `copy`, `with_middleware`",
        _anthropic(anthropic.copied),
        _anthropic(anthropic.copied_async),
        fits=_is_call,
    ),
]

ROWS += [
    Row(
        "FirewallGoogleGenerativeAI",
        "`models.generate_content`, `…_stream`",
        _gemini(gemini.generate),
        _gemini(gemini.generate_async, gemini.aio_alone),
        _gemini(gemini.stream, gemini.stream_async),
        _is_call,
    ),
    Row(
        "FirewallGoogleGenerativeAI",
        "`chats.create`",
        _gemini(gemini.chat),
        _gemini(gemini.chat_async),
        _gemini(gemini.chat_stream, gemini.chat_stream_async),
        _is_call,
    ),
]


def as_markdown() -> str:
    """The table as the docs show it."""
    lines = ["| door | surface | sync | async | stream |", "|---|---|---|---|---|"]
    for row in ROWS:
        cells = ("yes" if ways else "" for ways in (row.sync, row.asynchronous, row.stream))
        lines.append(f"| `{row.door}` | {row.surface} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"
