"""One scripted conversation, played through a door: which calls ran, by id.

A conversation is a list of rounds: what the user writes, and then the model's turns, each a list of
calls with what their tools give back. A player is given the policy, the rounds, and the server that
plays a provider.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import anthropic
import httpx
import openai
from google import genai
from google.genai import types
from langchain.agents import create_agent
from langchain_core.messages import AIMessage
from langchain_core.tools import BaseTool, StructuredTool
from langgraph.checkpoint.memory import InMemorySaver

from edgeward import (
    Caller,
    Firewall,
    FirewallAnthropic,
    FirewallCallbackHandler,
    FirewallGoogleGenerativeAI,
    FirewallMiddleware,
    FirewallOpenAI,
    PolicyViolationError,
    RunContext,
    ScriptedModel,
    build_graph,
    guard_tools,
)
from edgeward.guards.following import Source
from tests.wire.server import Call, Say, Wire


@dataclass(frozen=True)
class Step:
    """A call that the model proposes, and what its tool gives back."""

    id: str
    tool: str
    arguments: dict[str, Any] = field(default_factory=dict)
    result: str = "done"
    then: Callable[[], None] | None = None
    """What else happens while the tool runs."""


@dataclass(frozen=True)
class Round:
    """What the user writes, and the turns of the model that follow."""

    said: str
    turns: Sequence[Sequence[Step]]


Rounds = Sequence[Round]
Player = Callable[[Source, Rounds, Wire], set[str]]

ANN = RunContext(user="ann", roles=("clerk",))
TOKENS = {"input_tokens": 11, "output_tokens": 7, "total_tokens": 18}


def steps(rounds: Rounds) -> list[Step]:
    """All calls."""
    return [step for one in rounds for turn in one.turns for step in turn]


class Tools:
    """The tools of a conversation: each run gives what the script says, and is noted."""

    def __init__(self, rounds: Rounds) -> None:
        self.ran: set[str] = set()
        self._steps = steps(rounds)

    def run(self, tool: str, arguments: dict[str, Any]) -> str:
        """One run: of the first call that is as this one and has not run."""
        fits = (s for s in self._steps if (s.tool, s.arguments) == (tool, arguments))
        step = next(s for s in fits if s.id not in self.ran)
        self.ran.add(step.id)
        if step.then is not None:
            step.then()
        return step.result

    @property
    def listed(self) -> list[BaseTool]:
        """They, as LangChain's tools."""
        return [self._tool(name) for name in sorted({s.tool for s in self._steps})]

    def _tool(self, name: str) -> BaseTool:
        def body(**arguments: Any) -> str:
            return self.run(name, arguments)

        schema = {"type": "object", "properties": {}}
        return StructuredTool.from_function(
            body, name=name, description="Does something.", args_schema=schema
        )


def model_of(rounds: Rounds) -> ScriptedModel:
    """A model that proposes the calls, and says something at the end of each round."""
    turns: list[Any] = []
    for one in rounds:
        for turn in one.turns:
            calls = [{"name": s.tool, "args": s.arguments, "id": s.id} for s in turn]
            turns.append(AIMessage("", tool_calls=calls, usage_metadata=TOKENS))
        turns.append(AIMessage("So.", usage_metadata=TOKENS))
    return ScriptedModel(turns=turns)


def graph(policy: Source, rounds: Rounds, wire: Wire) -> set[str]:
    """Edgeward's own."""
    tools = Tools(rounds)
    made = build_graph(
        "react", policy=policy, model=model_of(rounds), tools=tools.listed, checkpointer="memory"
    )
    return _invoked(made, rounds, tools)


def middleware(policy: Source, rounds: Rounds, wire: Wire) -> set[str]:
    """`create_agent` with the middleware."""
    tools = Tools(rounds)
    made = create_agent(
        model_of(rounds),
        tools.listed,
        middleware=[FirewallMiddleware(policy)],
        context_schema=RunContext,
        checkpointer=InMemorySaver(),
    )
    return _invoked(made, rounds, tools)


def _invoked(made: Any, rounds: Rounds, tools: Tools) -> set[str]:
    config = {"configurable": {"thread_id": "t"}}
    for one in rounds:
        made.invoke({"messages": [("user", one.said)]}, config, context=ANN)
    return tools.ran


def firewall(policy: Source, rounds: Rounds, wire: Wire) -> set[str]:
    """The plain door, which is told of everything."""
    tools, door = Tools(rounds), Firewall(policy, caller=Caller("ann", roles=("clerk",)))
    for one in rounds:
        door.said(one.said)
        for turn in one.turns:
            door.add_tokens(TOKENS["total_tokens"])
            for step in turn:
                with suppress(PolicyViolationError):
                    door.guard(_body(tools, step.tool), name=step.tool)(**step.arguments)
        door.add_tokens(TOKENS["total_tokens"])
    return tools.ran


def _body(tools: Tools, name: str) -> Callable[..., str]:
    def body(**arguments: Any) -> str:
        return tools.run(name, arguments)

    return body


def handler(policy: Source, rounds: Rounds, wire: Wire) -> set[str]:
    """Bare tools with the callback handler, which is told of the user's words."""
    tools, caller = Tools(rounds), Caller("ann", roles=("clerk",))
    made = FirewallCallbackHandler(policy, caller=caller)
    config: Any = {"callbacks": [made]}
    by_name = {tool.name: tool for tool in tools.listed}
    model = model_of(rounds)
    for one in rounds:
        made.firewall.said(one.said)
        for turn in one.turns:
            model.invoke(one.said, config)
            for step in turn:
                with suppress(PolicyViolationError):
                    by_name[step.tool].invoke(step.arguments, config)
        model.invoke(one.said, config)
    return tools.ran


def guarded_tools(policy: Source, rounds: Rounds, wire: Wire) -> set[str]:
    """Guarded tools, which nobody tells of the user's words."""
    tools, caller = Tools(rounds), Caller("ann", roles=("clerk",))
    by_name = {tool.name: tool for tool in guard_tools(tools.listed, policy, caller=caller)}
    for step in steps(rounds):
        with suppress(PolicyViolationError):
            by_name[step.tool].invoke(step.arguments)
    return tools.ran


def _says(rounds: Rounds) -> list[Say]:
    found: list[Say] = []
    for one in rounds:
        for turn in one.turns:
            calls = [Call(s.tool, json.dumps(s.arguments), s.id) for s in turn]
            found.append(Say(calls=calls))
        found.append(Say("So."))
    return found


def openai_client(policy: Source, rounds: Rounds, wire: Wire) -> set[str]:
    """OpenAI's SDK, by chat completions."""
    with openai.DefaultHttpxClient(verify=False) as http:
        raw = openai.OpenAI(api_key="k", base_url=wire.openai_url, max_retries=0, http_client=http)
        client = FirewallOpenAI(raw, policy).serving(user="ann", roles=["clerk"])
        wire.script(*_says(rounds))
        tools, messages = Tools(rounds), list[Any]()
        for one in rounds:
            messages.append({"role": "user", "content": one.said})
            for _ in (*one.turns, None):
                made = client.chat.completions.create(model="m", messages=messages)
                message = made.choices[0].message
                messages.append(message.model_dump(exclude_none=True))
                for call in message.tool_calls or ():
                    arguments = json.loads(call.function.arguments)
                    text = tools.run(call.function.name, arguments)
                    answer = {"role": "tool", "tool_call_id": call.id, "content": text}
                    messages.append(answer)
    return tools.ran


def anthropic_client(policy: Source, rounds: Rounds, wire: Wire) -> set[str]:
    """Anthropic's SDK."""
    with anthropic.DefaultHttpxClient(verify=False) as http:
        raw = anthropic.Anthropic(api_key="k", base_url=wire.url, max_retries=0, http_client=http)
        client = FirewallAnthropic(raw, policy).serving(user="ann", roles=["clerk"])
        wire.script(*_says(rounds))
        tools, messages = Tools(rounds), list[Any]()
        for one in rounds:
            messages.append({"role": "user", "content": one.said})
            for _ in (*one.turns, None):
                made = client.messages.create(model="m", max_tokens=9, messages=messages)
                messages.append({"role": "assistant", "content": made.content})
                answers = [
                    {
                        "type": "tool_result",
                        "tool_use_id": block.id,
                        "content": tools.run(block.name, dict(block.input)),
                    }
                    for block in made.content
                    if block.type == "tool_use"
                ]
                if answers:
                    messages.append({"role": "user", "content": answers})
    return tools.ran


def gemini_client(policy: Source, rounds: Rounds, wire: Wire) -> set[str]:
    """Google's SDK."""
    with httpx.Client(verify=False) as http:
        options = types.HttpOptions(base_url=wire.url, httpx_client=http, timeout=20_000)
        raw = genai.Client(api_key="k", http_options=options)
        client = FirewallGoogleGenerativeAI(raw, policy).serving(user="ann", roles=["clerk"])
        wire.script(*_says(rounds))
        tools, contents = Tools(rounds), list[Any]()
        for one in rounds:
            contents.append({"role": "user", "parts": [{"text": one.said}]})
            for _ in (*one.turns, None):
                made = client.models.generate_content(model="m", contents=contents)
                parts = made.candidates[0].content.parts
                contents.append(made.candidates[0].content)
                answers = [
                    {
                        "function_response": {
                            "name": part.function_call.name,
                            "id": part.function_call.id,
                            "response": {
                                "output": tools.run(
                                    part.function_call.name, dict(part.function_call.args or {})
                                )
                            },
                        }
                    }
                    for part in parts
                    if part.function_call
                ]
                if answers:
                    contents.append({"role": "user", "parts": answers})
    return tools.ran


PLAYERS: dict[str, Player] = {
    "graph": graph,
    "middleware": middleware,
    "firewall": firewall,
    "callback_handler": handler,
    "guard_tools": guarded_tools,
    "openai": openai_client,
    "anthropic": anthropic_client,
    "gemini": gemini_client,
}
"""Who plays a conversation, by the name of the door."""
