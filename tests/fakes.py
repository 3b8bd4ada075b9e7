"""The fakes of the suite: a tool that notes its runs, a ticket key that notes what it signed.

Models are `edgeward.profiles.scripted.ScriptedModel`; nothing of ours is mocked.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from typing import Any

from langchain_core.messages import AIMessage, AnyMessage, ToolMessage
from langchain_core.tools import BaseTool, StructuredTool

from edgeward.graphs.build import build_graph
from edgeward.graphs.compile import Parts, compile_strategy
from edgeward.graphs.locked import LockedGraph
from edgeward.graphs.schema import Strategy, load_strategy
from edgeward.guards.decide import Policy
from edgeward.guards.ticket import TicketKey
from edgeward.guards.verdict import ToolCall, fingerprint
from edgeward.policies.schema import load_policy
from edgeward.profiles.scripted import ScriptedModel
from tests.wire.embeddings import vector


class WordEmbedder:
    """An embedder that is fast and needs no package: texts that share words lie close together."""

    def __init__(self, dims: int = 64, name: str = "words") -> None:
        self.dims = dims
        self.name = name
        self.texts: list[str] = []

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """One vector a text; the texts are noted."""
        self.texts += texts
        return [vector(text, self.dims) for text in texts]


Words = Mapping[str, str]
"""Tool name -> allow | ask | block."""

ALLOW_ALL = load_policy("allow_all")


class Recorder:
    """A tool that notes the arguments of every run, and whether the key had signed them."""

    def __init__(self, key: NotingKey | None = None) -> None:
        self.runs: list[tuple[str, dict[str, Any]]] = []
        self.unsigned: list[tuple[str, dict[str, Any]]] = []
        self._key = key

    def note(self, name: str, **arguments: Any) -> str:
        """One run of the tool `name`."""
        self.runs.append((name, arguments))
        call = fingerprint(ToolCall(name, arguments))
        if self._key is not None and call not in self._key.signed:
            self.unsigned.append((name, arguments))
        return f"{name} ran"

    def names(self) -> list[str]:
        """The tools that ran, in order."""
        return [name for name, _ in self.runs]

    def tool(self, name: str) -> BaseTool:
        """A recording tool with one text and one number as arguments."""

        def body(what: str = "", amount: int = 0) -> str:
            return self.note(name, what=what, amount=amount)

        return StructuredTool.from_function(body, name=name, description=f"Does {name}.")


class NotingKey(TicketKey):
    """A real ticket key that notes the fingerprint of every call that it signs."""

    def __init__(self, key: bytes | None = None) -> None:
        super().__init__(key)
        self.signed: list[str] = []
        self._checking = False

    def sign(self, call: ToolCall, *, thread: str, policy: str) -> str:
        if not self._checking:
            self.signed.append(fingerprint(call))
        return super().sign(call, thread=thread, policy=policy)

    def honours(self, ticket: object, call: ToolCall, *, thread: str, policy: str) -> bool:
        self._checking = True  # checking signs once more, and that is no permission
        try:
            return super().honours(ticket, call, thread=thread, policy=policy)
        finally:
            self._checking = False


def turn(*calls: tuple[str, dict[str, Any], str], text: str = "") -> AIMessage:
    """A reply of the model that proposes calls, each as (tool, arguments, id)."""
    made = [{"name": name, "args": args, "id": call_id} for name, args, call_id in calls]
    return AIMessage(text, tool_calls=made)


def policy(words: Words, **more: object) -> Policy:
    """A policy that says of each tool what `words` says, and blocks every other."""
    return _loaded(json.dumps({"version": 2, "default": "block", "tools": dict(words), **more}))


@cache
def _loaded(text: str) -> Policy:
    return load_policy(json.loads(text))


def agent_graph(
    turns: Iterable[Any],
    *,
    tools: Iterable[Any] = (),
    words: Words | None = None,
    strategy: Any = "react",
    order: Any = "conversation",
    **options: Any,
) -> LockedGraph:
    """A graph that plays `turns`, with a policy made of `words` (None: all may run)."""
    options.setdefault("policy", ALLOW_ALL if words is None else policy(words))
    model = ScriptedModel(turns=list(turns), order=order)
    return build_graph(strategy, model=model, tools=list(tools), **options)


def keyed_graph(
    turns: Iterable[Any] | ScriptedModel,
    *,
    key: TicketKey,
    tools: Iterable[BaseTool] = (),
    words: Words | None = None,
    strategy: str | Strategy = "react",
    checkpointer: Any = None,
    max_steps: int = 10,
    mode: str = "enforce",
) -> LockedGraph:
    """`agent_graph` with a ticket key of the test's own; `mode` is that of the policy."""
    parts = Parts(
        policy=ALLOW_ALL if words is None else policy(words, mode=mode),
        model=turns if isinstance(turns, ScriptedModel) else ScriptedModel(turns=list(turns)),
        tools={tool.name: tool for tool in tools},
        tickets=key,
        max_steps=max_steps,
    )
    return compile_strategy(load_strategy(strategy), parts, checkpointer=checkpointer)


def ask(text: str = "go") -> dict[str, Any]:
    """The input of a run: one message of the user."""
    return {"messages": [("user", text)]}


def on(thread: str = "t", **more: Any) -> dict[str, Any]:
    """The configuration that names a thread."""
    return {"configurable": {"thread_id": thread, **more}}


def answers(messages: Iterable[AnyMessage]) -> list[tuple[str, str]]:
    """(call id, text) of every tool message, in order."""
    return [(m.tool_call_id, m.text) for m in messages if isinstance(m, ToolMessage)]


def fails(error: BaseException) -> Callable[..., Any]:
    """A function that raises `error`."""

    def raising(*_: Any, **__: Any) -> Any:
        raise error

    return raising
