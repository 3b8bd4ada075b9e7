"""Agents reflect now and then on what they keep; an answer never waits for that."""

from __future__ import annotations

import logging

import pytest
from langchain_core.messages import AIMessage
from langgraph.checkpoint.memory import InMemorySaver

from edgeward import (
    AgentProfile,
    Mem0Memory,
    MemoryBackendConfig,
)
from edgeward.profiles.memory.records import Note
from tests.fakes import WordEmbedder, on
from tests.wire.server import Say

from .conftest import ALICE, OUTCOME, SCOPE, agent, kept

RATED = "\n".join(f"{n}: 9" for n in range(1, 60))
REFLECTING = {"reflect_after_run": True, "save_trajectory": False}


def usage(text):
    """A reply that says what it took."""
    counts = {"input_tokens": 10, "output_tokens": 5, "total_tokens": 15}
    return AIMessage(text, usage_metadata=counts)


def test_D054_D076_D077_the_fifth_record_is_reflected_on(profile, memory):
    """Four runs: one model call each. The fifth: two more, three insights, counted. Then none."""
    turns = [*[usage("done")] * 5, usage(RATED), usage("1. One.\n2. Two.\n3. Three.\n4. Four."),
             *[usage("done")] * 4]  # fmt: skip
    with agent(profile, memory, turns, **REFLECTING) as made:
        spent = [made.run_sync("read it", context=ALICE).usage.total_tokens for _ in range(9)]
    assert spent == [15, 15, 15, 15, 45, 15, 15, 15, 15]
    found = memory.records(SCOPE, memory_type="reflection")
    assert [(r.note.text, r.note.importance) for r in found] == [
        ("One.", 8.0), ("Two.", 8.0), ("Three.", 8.0)
    ]  # fmt: skip
    assert len(found[0].note.drawn_from) == 5
    assert memory.unreflected(SCOPE) == 4


@pytest.mark.parametrize("where", ["memory", "threads.sqlite"])
def test_what_a_reflection_took_is_in_the_threads_totals(profile, memory, tmp_path, where):
    """Limits of the thread count it from the next run on; the conversation is as it was."""
    memory.add([Note(f"note {n}", "outcome") for n in range(4)], SCOPE)
    limits = {
        "thread": {"tokens": 1_000, "cost_usd": 1},
        "prices": {"*": {"input": 1, "output": 1}},
    }
    limited = {"version": 2, "default": "allow", "limits": limits}
    turns = [usage("one"), usage(RATED), usage("1. Be brief."), usage("two")]
    saver = where if where == "memory" else tmp_path / where
    more = {**REFLECTING, "policy": limited, "checkpointer": saver}
    with agent(profile, memory, turns, **more) as made:
        spent = []
        for _ in range(2):
            made.run_sync("read it", context=ALICE, thread="t")
            values = made.graph.get_state(on("t")).values
            spent.append((values["run"]["spent"], values["used"]["thread"]["tokens"]))
        assert spent == [(45, 45), (60, 60)]
        assert values["used"]["thread"]["cost_usd"] == pytest.approx(60e-6)
        assert [m.text for m in values["messages"]] == ["read it", "one", "read it", "two"]
        assert len(list(made.graph.get_state_history(on("t")))) == 6


def test_totals_that_cannot_be_written_hide_no_answer(profile, memory, caplog):
    """A store that fails once the run is over is logged; the next run goes on."""

    class Failing(InMemorySaver):
        broken = False

        def put(self, *arguments):
            if self.broken:
                raise OSError("full")
            return super().put(*arguments)

    saver = Failing()

    def rated(messages):
        saver.broken = True
        return usage(RATED)

    memory.add([Note(f"note {n}", "outcome") for n in range(4)], SCOPE)
    turns = [usage("one"), rated, usage("1. Be brief."), usage("two")]
    with (
        agent(profile, memory, turns, **REFLECTING, checkpointer=saver) as made,
        caplog.at_level(logging.WARNING, "edgeward"),
    ):
        assert made.run_sync("read it", context=ALICE, thread="t").final_answer == "one"
        assert "totals were not written: OSError" in caplog.text
        saver.broken = False
        assert made.run_sync("read it", context=ALICE, thread="t").final_answer == "two"


def test_D054_D055_the_profile_says_when_and_what(tmp_path):
    """`reflection_threshold` and `importance_threshold` of the profile are the ones used."""
    given = {"id": "bot", "name": "B", "memory": {},
             "cognitive": {"reflection_threshold": 2, "importance_threshold": 9.5}}  # fmt: skip
    profile = AgentProfile.from_mapping(given, base_dir=tmp_path)
    with Mem0Memory(profile, embedder=WordEmbedder()) as memory:
        with agent(profile, memory, ["done", "done", RATED], **REFLECTING) as made:
            for _ in range(2):
                made.run_sync("read it", context=ALICE)
            assert len(made.config.llm.requests) == 3
        assert memory.records(SCOPE, memory_type="reflection") == []


@pytest.mark.parametrize("reply", [OSError("down"), "", "N/A"])
def test_C68_D078_a_reflection_that_fails_never_hides_the_answer(profile, memory, caplog, reply):
    """The answer stands, the records are as they were, and a failure is logged."""
    memory.add([Note(f"note {n}", "outcome") for n in range(4)], SCOPE)
    before = kept(memory)
    with (
        agent(profile, memory, ["done", reply], **REFLECTING) as made,
        caplog.at_level(logging.WARNING, "edgeward"),
    ):
        assert made.run_sync("read it", context=ALICE).final_answer == "done"
    assert kept(memory) == [*before, OUTCOME]
    assert ("reflection after a run failed" in caplog.text) is isinstance(reply, Exception)


def test_D068_the_memorys_own_model_reflects(profile, memory, wire, monkeypatch):
    """`MemoryBackendConfig` names it, with an empty environment; the agent's is not asked."""
    for name in ("OPENAI_API_KEY", "LLM_API_KEY", "LLM_MODEL_ID"):
        monkeypatch.delenv(name, raising=False)
    key = "sk-proj-TESTTESTTESTTESTTEST"
    own = MemoryBackendConfig(
        llm_provider="openai", llm_model="small", llm_base_url=wire.openai_url, llm_api_key=key
    )
    wire.script(Say(RATED), Say("1. Be brief."))
    memory.add([Note(f"note {n}", "outcome") for n in range(4)], SCOPE)
    more = {**REFLECTING, "memory_backend": own, "load_env": False}
    with agent(profile, memory, ["done"], **more) as made:
        result = made.run_sync("read it", context=ALICE)
        assert len(made.config.llm.requests) == 1
    assert [seen.body["model"] for seen in wire.requests] == ["small", "small"]
    assert [r.note.text for r in memory.records(SCOPE, memory_type="reflection")] == ["Be brief."]
    assert result.usage.total_tokens >= 36


def test_the_memorys_own_model_has_its_own_price(profile, memory, wire):
    """What a reflection costs goes by the model that reflects; one without a price is refused."""
    own = MemoryBackendConfig(
        llm_provider="openai", llm_model="small", llm_base_url=wire.openai_url, llm_api_key="k"
    )
    prices = {"scripted": {"input": 0, "output": 0}}
    limits = {"thread": {"cost_usd": 1}, "prices": prices}
    limited = {"version": 2, "default": "allow", "limits": limits}
    more = {**REFLECTING, "memory_backend": own, "load_env": False, "policy": limited}
    with pytest.raises(ValueError, match="what the model 'small' costs"):
        agent(profile, memory, ["done"], **more)
    prices["small"] = {"input": 1_000, "output": 1_000}
    wire.script(Say(RATED), Say("1. Be brief."))
    memory.add([Note(f"note {n}", "outcome") for n in range(4)], SCOPE)
    with agent(profile, memory, ["done"], checkpointer="memory", **more) as made:
        made.run_sync("read it", context=ALICE, thread="t")
        used = made.graph.get_state(on("t")).values["used"]["thread"]
    assert used["cost_usd"] > 0.01


def test_a_reflections_second_prompt_counts_the_first(profile, memory):
    """What is left of a limit after the first may have no room for the second."""
    memory.add([Note(f"note {n} " + "x" * 400, "outcome") for n in range(4)], SCOPE)
    limits = {"tokens": 1_000}
    limited = {"version": 2, "default": "allow", "limits": limits}
    done, rated = (
        AIMessage(text, usage_metadata={"input_tokens": n, "output_tokens": 5, "total_tokens": n})
        for text, n in (("done", 170), (RATED, 500))
    )
    more = {**REFLECTING, "policy": limited, "checkpointer": "memory"}
    with agent(profile, memory, [done, rated, usage("1. Be brief.")], **more) as made:
        result = made.run_sync("read it", context=ALICE, thread="t")
        assert result.final_answer == "done"
        assert len(made.config.llm.requests) == 2
    assert memory.records(SCOPE, memory_type="reflection") == []


@pytest.mark.parametrize("off", [{"reflect_after_run": False}, {"use_reflection": False}])
def test_D079_switched_off_it_asks_nothing(profile, memory, off):
    """No further model call, and no object."""
    memory.add([Note(f"note {n}", "outcome") for n in range(9)], SCOPE)
    with agent(profile, memory, ["done"], **{**REFLECTING, **off}) as made:
        made.run_sync("read it", context=ALICE)
        assert made.graph.builder.ruled.current.keeper.wants.reflector is None
        assert len(made.config.llm.requests) == 1


def test_D128_a_reflector_of_ones_own(profile, memory):
    """Any object with `maybe_reflect` takes the place of the profile's."""
    seen = []

    class Own:
        def maybe_reflect(self, memory, scope, ask, *, clean):
            seen.append((scope, ask("anything to learn?")))

    with agent(profile, memory, ["done", "no"], reflector=Own(), **REFLECTING) as made:
        made.run_sync("read it", context=ALICE)
    assert seen == [(SCOPE, "no")]


def test_a_reflection_stays_within_the_policys_limits(profile, memory, caplog):
    """What a caller may use bounds it too: where nothing is left, it is not made."""
    memory.add([Note(f"note {n} " * 60, "outcome") for n in range(9)], SCOPE)
    counts = {"input_tokens": 390, "output_tokens": 5, "total_tokens": 395}
    nearly = AIMessage("done", usage_metadata=counts)
    tight = {"version": 2, "default": "allow", "limits": {"caller": {"tokens": 400}}}
    with (
        agent(profile, memory, [nearly, RATED], policy=tight, **REFLECTING) as made,
        caplog.at_level(logging.WARNING, "edgeward"),
    ):
        assert made.run_sync("read it", context=ALICE).final_answer == "done"
        assert len(made.config.llm.requests) == 1
    assert "LimitReached" in caplog.text
    assert memory.unreflected(SCOPE) == 10
