"""I2: a tool runs only with a ticket for exactly this call."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, assume, event, given, settings
from hypothesis import strategies as st
from langchain_core.messages import ToolMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from edgeward.graphs.schema import load_strategy
from edgeward.policies.yaml_file import ConfigError
from edgeward.profiles.scripted import ScriptedModel
from tests.fakes import NotingKey, Recorder, ask, keyed_graph, on
from tests.invariants.wiring import DECISIONS, WORDS, Endless, replies, strategies

CHECKS = [HealthCheck.function_scoped_fixture, HealthCheck.too_slow, HealthCheck.filter_too_much]


@settings(max_examples=80, deadline=None, suppress_health_check=CHECKS)
@given(
    text=strategies(),
    turns=st.lists(replies(), min_size=1, max_size=5),
    words=WORDS,
    decisions=st.lists(DECISIONS, min_size=1, max_size=4),
    remembers=st.booleans(),
    mode=st.sampled_from(["enforce", "shadow"]),
)
def test_no_tool_without_a_ticket(
    text: str,
    turns: list[Any],
    words: dict[str, str],
    decisions: list[dict[str, Any]],
    remembers: bool,
    mode: str,
    tmp_path: Path,
) -> None:
    """Whatever the strategy, the model, the policy and a person do, no body runs unsigned."""
    path = tmp_path / "s.yaml"
    path.write_text(text)
    try:
        strategy = load_strategy(path)
    except ConfigError:
        assume(False)
    key = NotingKey()
    recorder = Recorder(key)
    graph = keyed_graph(
        ScriptedModel(turns=Endless(turns), order="call"),
        key=key,
        tools=[recorder.tool(name) for name in ("read", "pay", "send")],
        words=words,
        strategy=strategy,
        checkpointer=InMemorySaver() if remembers else None,
        max_steps=3,
        mode=mode,
    )
    result = graph.invoke(ask(), on())
    for decision in decisions:
        if "__interrupt__" not in result:
            break
        event("asked")
        waiting = result["__interrupt__"][0].value["calls"]
        answers = {call["id"]: decision for call in waiting}
        result = graph.invoke(Command(resume=answers), on())
    assert recorder.unsigned == []
    event("ran" if recorder.runs else "nothing ran")
    ran = Counter(recorder.names())
    assert mode == "shadow" or not any(words[name] == "block" for name in ran)
    if not remembers and mode == "enforce":
        assert all(words[name] == "allow" for name in ran)
    ids = Counter(m.tool_call_id for m in result["messages"] if isinstance(m, ToolMessage))
    assert not ids or max(ids.values()) == 1
