"""Random strategies, models, policies and answers for the tests of the invariants."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import yaml
from hypothesis import strategies as st
from langchain_core.messages import AIMessage

KINDS: dict[str, tuple[Any, tuple[str, ...]]] = {
    "act": ("act", ("call", "answer", "limit")),
    "guard": ("guard", ("allow", "block")),
    "tool": ("tool", ("done",)),
    "plan": ({"kind": "plan", "max_steps": 2}, ("step", "done")),
    "say": ({"kind": "act", "tools": "none"}, ("answer",)),
    "shorten": (
        {
            "kind": "compress",
            "context_limit": 1024,
            "prune_protect": 60,
            "prune_minimum": 0,
            "reserved_buffer": 760,
        },
        ("done",),
    ),
    "critic": ({"kind": "reflect", "mode": "critique"}, ("accept", "revise")),
    "look": ({"kind": "reflect"}, ("done",)),
}
"""Node name -> what stands in the file, and the outcomes."""

MORE = {"guard2": "guard", "tool2": "tool", "act2": "act"}


def _kind(name: str) -> str:
    return MORE.get(name, name)


BASE = {
    "act.call": "guard",
    "act.answer": "end",
    "act.limit": "end",
    "guard.allow": "tool",
    "guard.block": "act",
    "tool.done": "act",
}
FEATURES: dict[str, dict[str, str]] = {
    "plan": {"plan.step": "act", "plan.done": "end", "act.answer": "plan", "act.limit": "plan"},
    "say": {"act.limit": "say", "say.answer": "end"},
    "shorten": {"tool.done": "shorten", "shorten.done": "act"},
    "critic": {"act.answer": "critic", "critic.accept": "end", "critic.revise": "act"},
    "look": {"act.limit": "look", "look.done": "end"},
    "guard2": {"guard.block": "guard2", "guard2.allow": "tool", "guard2.block": "act"},
    "tool2": {"guard.allow": "tool2", "tool2.done": "act"},
    "act2": {"tool.done": "act2", "act2.call": "guard", "act2.answer": "end", "act2.limit": "end"},
}


@st.composite
def wild_strategies(draw: st.DrawFn) -> str:
    """A strategy file with any wiring at all."""
    extra = draw(st.sets(st.sampled_from(list(FEATURES))))
    names = ["act", "guard", "tool", *sorted(extra)]
    targets = st.sampled_from([*names, "end"])
    edges = {f"{n}.{outcome}": draw(targets) for n in names for outcome in KINDS[_kind(n)][1]}
    return _file(draw(st.sampled_from(names)), names, edges)


@st.composite
def strategies(draw: st.DrawFn) -> str:
    """A strategy file that grew: parts were put into `react`, and some edges led elsewhere.

    Not each of them holds the invariants; loading says which.
    """
    edges = dict(BASE)
    start = "act"
    for feature in draw(st.lists(st.sampled_from(list(FEATURES)), max_size=4, unique=True)):
        edges |= FEATURES[feature]
        start = "plan" if feature == "plan" else start
    names = [*dict.fromkeys(key.partition(".")[0] for key in edges)]
    others = [name for name in names if _kind(name) != "tool"]
    for key in draw(st.lists(st.sampled_from([*edges]), max_size=2, unique=True)):
        if not key.endswith(".allow"):
            edges[key] = draw(st.sampled_from([*others, "end"]))
    reached = _reached(start, edges)
    kept = [name for name in names if name in reached]
    return _file(start, kept, {k: v for k, v in edges.items() if k.partition(".")[0] in kept})


def _file(start: str, names: list[str], edges: dict[str, str]) -> str:
    nodes = {name: KINDS[_kind(name)][0] for name in names}
    return yaml.safe_dump({"strategy": "s", "start": start, "nodes": nodes, "edges": edges})


def _reached(start: str, edges: dict[str, str]) -> set[str]:
    reached: set[str] = set()
    stack = [start]
    while stack:
        name = stack.pop()
        if name not in reached:
            reached.add(name)
            stack += [to for key, to in edges.items() if key.startswith(f"{name}.")]
    return reached


VALUES = st.one_of(
    st.integers(-3, 9),
    st.sampled_from(["7", "x", "../x", "sk-proj-TESTTESTTESTTESTTEST", "", "é\u200b"]),
    st.sampled_from([1.0, 2.5, float("nan"), True, None, [1], {"a": {"b": 1}}]),
)
RIGHT = st.fixed_dictionaries(
    {}, optional={"what": st.text(max_size=5), "amount": st.integers(-3, 9)}
)
ANY = st.dictionaries(st.sampled_from(["what", "amount", "extra", "call"]), VALUES, max_size=3)
ARGUMENTS = st.one_of(RIGHT, RIGHT, ANY)
NAMES = st.sampled_from(["read", "pay", "send"] * 3 + ["Pay", "serch", "tool", ""])
IDS = st.sampled_from(["c1", "c1", "c2", "", None, "0123456789abcdef" * 2])


@st.composite
def replies(draw: st.DrawFn) -> AIMessage:
    """One reply: any text, any calls, readable or not, with any ids."""
    calls = [
        {"name": draw(NAMES), "args": draw(ARGUMENTS), "id": draw(IDS)}
        for _ in range(draw(st.integers(0, 3)))
    ]
    broken = [
        {
            "name": draw(NAMES),
            "args": '{"what": "unfin',
            "id": draw(IDS),
            "error": "cut off",
            "type": "invalid_tool_call",
        }
        for _ in range(draw(st.integers(0, 1)))
    ]
    text = draw(st.sampled_from(["", "done", "REVISE: more", "1. pay\n2. send", "ACCEPT"]))
    return AIMessage(text, tool_calls=calls, invalid_tool_calls=broken)


class Endless(Sequence[AIMessage]):
    """Replies that begin again when they are used up: a model that never runs out of ideas."""

    def __init__(self, turns: list[AIMessage]) -> None:
        self._turns = turns

    def __len__(self) -> int:
        return 1_000_000

    def __getitem__(self, number: Any) -> Any:
        return self._turns[number % len(self._turns)]


WORDS = st.fixed_dictionaries(
    {name: st.sampled_from(["allow", "ask", "block"]) for name in ("read", "pay", "send")}
)
DECISIONS = st.one_of(
    st.sampled_from([{"decision": "approve"}, {"decision": "reject"}]),
    st.builds(
        lambda args: {"decision": "edit", "args": args},
        ARGUMENTS.filter(lambda args: not any(v != v for v in args.values())),
    ),
)
