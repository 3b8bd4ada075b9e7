"""recall: the memory is looked into before the model is asked, by a call like any other."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from langchain_openai import ChatOpenAI
from pydantic import SecretStr

from edgeward import AgentConfig, AgentProfile, Mem0Memory, RunContext, ScriptedModel, create_agent
from edgeward.graphs.build import build_graph
from edgeward.profiles.memory.records import Note, Scope
from tests.fakes import WordEmbedder, ask, on
from tests.wire.server import Call, Fail, Say, Seen, Wire, wire
from tests.wire.ways import KEY, model_for

__all__ = ["wire"]

ALICE = RunContext(user="alice")


@pytest.fixture
def profile(tmp_path: Path) -> AgentProfile:
    """A profile that recalls in every run."""
    given = {"id": "bot", "name": "B", "memory": {"recall": "always"}}
    return AgentProfile.from_mapping(given, base_dir=tmp_path)


@pytest.fixture
def memory(profile: AgentProfile) -> Any:
    """Its memory, which knows something of Alice's."""
    with Mem0Memory(profile, embedder=WordEmbedder()) as made:
        note = Note("Alice drinks tea without milk.", "outcome", role="user", trust="user")
        made.add([note], Scope("bot", "alice"))
        yield made


def agent(profile: AgentProfile, memory: Any, turns: list[Any], strategy: str, policy: Any) -> Any:
    model = ScriptedModel(turns=turns, order="call")
    config = AgentConfig(
        profile=profile,
        llm=model,
        memory=memory,
        policy=policy,
        save_outcome=False,
        save_trajectory=False,
    )
    return create_agent(config, strategy=strategy)


@pytest.mark.parametrize(
    ("strategy", "turns"),
    [
        ("react", ["Tea."]),
        ("simple", ["Tea."]),
        ("plan_and_solve", ["1. Say it", "Tea", "Tea."]),
        ("reflexion", ["Tea.", "ACCEPT"]),
    ],
)
def test_D144_the_first_request_holds_what_is_remembered(
    profile: AgentProfile, memory: Any, strategy: str, turns: list[Any]
) -> None:
    """In every shipped strategy, as a tool's output, with a verdict, and once a run."""
    with agent(profile, memory, turns * 2, strategy, "default") as made:
        for _ in range(2):
            result = made.run_sync("What does Alice drink?", context=ALICE, thread="t")
            assert result.final_answer == "Tea."
            recalled = [v for v in result.verdicts if v["tool"] == "memory_recall"]
            assert [v["word"] for v in recalled] == ["allow"]
        first = made.config.llm.requests[0]
        values = made.graph.get_state(on("t")).values
    shown = [m for m in first if m.type == "tool"]
    assert len(shown) == 1
    assert "tea without milk" in shown[0].text
    assert len([m for m in values["messages"] if m.type == "tool"]) == 2
    assert {e["source"] for e in values["ledger"] if "tea" in str(e)} <= {"tool memory_recall"}


def test_a_policy_has_its_say(profile: AgentProfile, memory: Any) -> None:
    """Where it blocks the tool nothing is looked up, and the run goes on."""
    blocks = {"version": 2, "default": "block", "tools": {"add": "allow"}}
    with agent(profile, memory, ["I do not know."], "react", blocks) as made:
        result = made.run_sync("What does Alice drink?", context=ALICE)
    assert [v["word"] for v in result.verdicts] == ["block"]
    assert result.final_answer == "I do not know."
    assert "milk" not in str(made.config.llm.requests)


def test_another_users_memory_is_not_looked_into(profile: AgentProfile, memory: Any) -> None:
    """Whose it is says the run's context, as ever."""
    with agent(profile, memory, ["No idea."], "react", "default") as made:
        made.run_sync("What does Alice drink?", context=RunContext(user="bob"))
        assert "milk" not in str(made.config.llm.requests)


def test_without_a_memory_it_is_passed_over(profile: AgentProfile) -> None:
    """The run begins with the model."""
    config = AgentConfig(profile=profile, llm=ScriptedModel(turns=["Hi."]), use_memory=False)
    with create_agent(config) as made:
        assert [s.kind for s in made.run_sync("hi").steps] == ["answer"]


def test_a_secret_in_the_question_is_masked(profile: AgentProfile, memory: Any) -> None:
    """As in any call that a model proposes: it is in no state, and the guard is told."""
    key = "sk-proj-TESTTESTTESTTESTTEST"
    with agent(profile, memory, ["Done."], "react", "default") as made:
        result = made.run_sync(f"Keep {key}", context=ALICE, thread="t")
        said = made.graph.get_state(on("t")).values["messages"][1]
    assert key not in str(said)
    assert result.verdicts[0]["tool"] == "memory_recall"


def test_a_strategy_may_have_the_node_where_it_wants_it(
    profile: AgentProfile, memory: Any, strategy_file: Callable[[str], Path]
) -> None:
    """Then none is put in front; a name that is taken is told."""
    own = (
        "strategy: own\nstart: look\n"
        "nodes: {look: {kind: recall, top_k: 1}, act: act, guard: guard, tool: tool}\n"
        "edges: {look.call: guard, look.skip: act, act.call: guard, act.answer: end,"
        " act.limit: end, guard.allow: tool, guard.block: act, tool.done: act}\n"
    )
    with agent(profile, memory, ["Tea."], str(strategy_file(own)), "default") as made:
        assert set(made.graph.builder.nodes) == {"look", "act", "guard", "tool"}
        result = made.run_sync("What does Alice drink?", context=ALICE)
    assert [s.kind for s in result.steps] == ["tool_call", "tool_result", "answer"]
    taken = own.replace("kind: recall, top_k: 1", "kind: compress").replace(
        "look.call: guard, ", ""
    )
    taken = taken.replace("look.skip", "look.done").replace("look", "recall_first")
    with pytest.raises(ValueError, match="rename it"):
        agent(profile, memory, ["Tea."], str(strategy_file(taken)), "default")


def test_a_graph_recalls_too(profile: AgentProfile) -> None:
    """`build_graph` with such a profile; a message without a text is nothing to look for."""
    model = ScriptedModel(turns=["Hello."])
    graph = build_graph("react", profile=profile, model=model, policy="default")
    try:
        assert {"recall_first", "guard_first", "tool_first"} <= set(graph.builder.nodes)
        assert graph.invoke(ask(" "))["messages"][-1].text == "Hello."
    finally:
        graph.close()


def test_what_it_proposes_is_known_as_any_proposal(profile: AgentProfile, memory: Any) -> None:
    """Where the policy changes before the guard looks, nobody's word on it counts."""
    with agent(profile, memory, ["Tea."], "react", "default") as made:
        made.run_sync("What does Alice drink?", context=ALICE, thread="t")
        history = list(made.graph.get_state_history(on("t")))
    before = next(s for s in history if s.next == ("guard_first",))
    digest = made.graph.policy.digest
    assert before.values["run"]["proposed"] == {"policy": digest, "calls": ["memory_recall"]}


def calls_in(seen: Seen) -> list[dict[str, Any]]:
    """The messages of a request in which the model proposes calls."""
    return [m for m in seen.body["messages"] if m.get("tool_calls")]


def gemini_takes(seen: Seen) -> bool:
    """From Gemini 3 on the first call of a step is signed."""
    signs = [m["tool_calls"][0].get("extra_content", {}).get("google") for m in calls_in(seen)]
    return all(sign and sign["thought_signature"] for sign in signs)


def deepseek_takes(seen: Seen) -> bool:
    """The calls of the turn that goes on have a thought."""
    roles = [m["role"] for m in seen.body["messages"]]
    turn = seen.body["messages"][len(roles) - roles[::-1].index("user") :]
    return all(m.get("reasoning_content") for m in turn if m.get("tool_calls"))


def mistral_takes(seen: Seen) -> bool:
    """Ids are nine letters and digits, and each call has its answer."""
    ids = [call["id"] for m in calls_in(seen) for call in m["tool_calls"]]
    answered = [m["tool_call_id"] for m in seen.body["messages"] if m["role"] == "tool"]
    whole = all(re.fullmatch("[a-zA-Z0-9]{9}", call_id) for call_id in ids)
    return whole and ids == answered and len(set(ids)) == len(ids)


def anthropic_takes(seen: Seen) -> bool:
    """Ids have no other signs, no text is empty, and the answer comes next."""
    blocks = [
        b for m in seen.body["messages"] if isinstance(m["content"], list) for b in m["content"]
    ]
    uses = [b["id"] for b in blocks if b["type"] == "tool_use"]
    answered = [b["tool_use_id"] for b in blocks if b["type"] == "tool_result"]
    whole = all(re.fullmatch("[a-zA-Z0-9_-]+", call_id) for call_id in uses)
    return whole and uses == answered and all(b.get("text", "x").strip() for b in blocks)


def openai_takes(seen: Seen) -> bool:
    """No field that it does not know, and an answer to each call."""
    known = {"role", "content", "tool_calls", "tool_call_id"}
    ids = [call["id"] for m in calls_in(seen) for call in m["tool_calls"]]
    answered = [m["tool_call_id"] for m in seen.body["messages"] if m["role"] == "tool"]
    return ids == answered and all(m.keys() <= known for m in seen.body["messages"])


@pytest.mark.parametrize(
    ("provider", "model", "takes"),
    [
        ("google", "gemini-3-pro-preview", gemini_takes),
        ("google", "models/gemini-2.5-flash", openai_takes),
        ("deepseek", "deepseek-reasoner", deepseek_takes),
        ("mistral", "mistral-large-latest", mistral_takes),
        ("anthropic", "fake-1", anthropic_takes),
        ("openai", "gpt-5", openai_takes),
    ],
)
def test_every_provider_takes_a_call_that_no_model_wrote(
    provider: str, model: str, takes: Any, profile: AgentProfile, memory: Any, wire: Wire
) -> None:
    """In the first run of a thread and in the next one, beside calls of the model's own."""

    def reply(seen: Seen) -> Any:
        if not takes(seen):
            return Fail(400, "refused")
        tools = "tool_result" if provider == "anthropic" else '"tool"'
        asked = json.dumps(seen.body["messages"]).count(tools)
        own = Call("memory_recall", '{"query": "tea"}', f"call_{asked}")
        return Say("", [own]) if asked in (1, 3) else Say("Tea.")

    wire.script(*[reply] * 4)
    config = AgentConfig(
        profile=profile,
        llm=model_for(wire, provider, model=model),
        memory=memory,
        policy="default",
        save_outcome=False,
        save_trajectory=False,
    )
    with create_agent(config, strategy="react") as made:
        for _ in range(2):
            result = made.run_sync("What does Alice drink?", context=ALICE, thread="t")
            assert result.final_answer == "Tea."
    assert "tea without milk" in json.dumps(wire.requests[0].body)
    assert len(wire.requests) == 4


def test_the_responses_api_takes_it_too(profile: AgentProfile, memory: Any, wire: Wire) -> None:
    """As a call without an item of the service's own, and so without its reasoning."""
    wire.script(Say("Tea."))
    model = ChatOpenAI(
        model="gpt-5", base_url=wire.openai_url, api_key=SecretStr(KEY), use_responses_api=True
    )
    config = AgentConfig(profile=profile, llm=model, memory=memory, policy="default")
    with create_agent(config, strategy="react") as made:
        result = made.run_sync("What does Alice drink?", context=ALICE)
    assert result.final_answer == "Tea."
    call, output = [i for i in wire.requests[0].body["input"] if i.get("type") != "message"][-2:]
    assert (call["type"], output["type"]) == ("function_call", "function_call_output")
    assert call["call_id"] == output["call_id"]
    assert "id" not in call
