"""The story of a thread: what happened, whatever the model remembers of it."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from langgraph.graph import END, START, MessagesState, StateGraph

from edgeward import AgentConfig, AgentProfile, ScriptedModel, build_graph, create_agent
from edgeward.cli.pictures.of_thread import story_of_thread
from edgeward.cli.pictures.story import Call, Story
from edgeward.graphs.checkpoints import SqliteThreads
from edgeward.profiles.scripted import call


def population(city: str) -> int:
    """How many people live in a city."""
    return {"Oslo": 717_710, "Bergen": 291_940}[city]


def letter(number: int) -> str:
    """A long letter."""
    return f"from writer{number}@corp.example " + "word " * 900


def told(
    folder: Path,
    turns: list[Any],
    *,
    strategy: str = "react",
    policy: Any = "allow_all",
    **more: Any,
) -> Story:
    """The story of a run with these turns of the model."""
    threads = str(folder / "threads.sqlite")
    config = AgentConfig(
        profile=AgentProfile.from_mapping({"id": "clerk", "name": "Clara", **more}),
        llm=ScriptedModel(turns=turns, order="call"),
        tools=[population, letter],
        policy=policy,
        checkpointer=threads,
    )
    with create_agent(config, strategy=strategy) as agent:
        agent.run_sync("Which is larger, Oslo or Trondheim? Tell ann@corp.example.", thread="t")
    with closing(SqliteThreads(threads)) as saver:
        return story_of_thread(saver, "t", limit=100)


def calls(story: Story) -> list[Call]:
    """All calls of a story."""
    return [one for step in story.steps for one in step.calls]


def test_plans_and_failures_are_steps(tmp_path: Path) -> None:
    """Each plan once, where it was made; a call that failed says so."""
    turns = [
        "1. Look up Oslo\n2. Look up Trondheim",
        call("population", "c1", city="Oslo"),
        "Oslo has 717,710.",
        call("population", "c2", city="Trondheim"),
        "FAILED: Trondheim is not in the register.",
        "1. Look up Bergen instead",
        call("population", "c3", city="Bergen"),
        "Bergen has 291,940.",
        "Oslo is larger.",
    ]
    story = told(tmp_path, turns, strategy="plan_and_execute")
    kinds = [step.kind for step in story.steps]
    assert kinds == [
        *("user", "plan", "model", "answer", "model", "answer", "plan", "model", "answer"),
        "answer",
    ]
    assert [(c.result, c.failed) for c in calls(story)] == [
        ("717710", False),
        ("population failed: KeyError: 'Trondheim'", True),
        ("291940", False),
    ]
    seen = [c.arguments[0].seen for c in calls(story) if c.arguments]
    assert [bool(found) for found in seen] == [True, True, False]
    assert seen[0]
    assert seen[0][0][1].source == "user"


def test_what_was_summed_up_stays_in_the_story(tmp_path: Path) -> None:
    """Every message that the model no longer reads, and the summary in its place."""
    numbers = {
        "context_limit": 3_000,
        "reserved_buffer": 500,
        "prune_protect": 600,
        "prune_minimum": 300,
        "enable_summary": True,
        "is_retrieve": False,
    }
    letters = [call("letter", f"c{n}", number=n) for n in range(3)]
    story = told(tmp_path, [*letters, "SUMMED UP", "Done."], memory=numbers)
    kinds = [step.kind for step in story.steps]
    assert kinds == ["user", "model", "model", "model", "summary", "answer"]
    assert "SUMMED UP" in story.steps[4].text
    assert all(one.result and one.result.startswith("from writer") for one in calls(story))


def test_what_is_hidden_stays_hidden(tmp_path: Path) -> None:
    """A placeholder of personal data is shown as it is in the thread, and traced by that name."""
    policy = {
        "version": 2,
        "tools": {"population": "allow"},
        "placeholders": {"kinds": ["email"]},
    }
    turns = [call("population", "c1", city="ann@corp.example"), "Done."]
    story = told(tmp_path, turns, policy=policy)
    texts = [step.text for step in story.steps]
    texts += [a.value for one in calls(story) for a in one.arguments or ()]
    assert "ann@corp.example" not in "".join(texts)
    assert "<EMAIL_" in texts[0]


def test_ids_that_a_model_uses_again_are_two_calls(tmp_path: Path) -> None:
    """Each has its own verdict and result."""
    turns = [
        call("population", "c1", city="Oslo"),
        "Oslo.",
    ]
    told(tmp_path, turns)
    again = [call("population", "c1", city="Bergen"), "Bergen."]
    story = told(tmp_path, again)
    assert [one.result for one in calls(story)] == ["717710", "291940"]
    assert [one.word for one in calls(story)] == ["allow", "allow"]


def test_a_thread_that_is_not_there(tmp_path: Path) -> None:
    """Is named."""
    with (
        closing(SqliteThreads(tmp_path / "threads.sqlite")) as saver,
        pytest.raises(ValueError, match="there is no thread 'nobody'"),
    ):
        story_of_thread(saver, "nobody", limit=1)


def test_a_graph_within_a_graph_is_told_once(tmp_path: Path) -> None:
    """What the parent keeps of it is what it said: no message stands there twice."""
    inner = build_graph(
        "react",
        model=ScriptedModel(turns=[call("population", "c1", city="Oslo"), "717,710."]),
        tools=[population],
        policy="allow_all",
    )
    builder: Any = StateGraph(MessagesState)
    builder.add_node("clerk", inner)
    builder.add_edge(START, "clerk")
    builder.add_edge("clerk", END)
    with closing(SqliteThreads(tmp_path / "threads.sqlite")) as saver:
        config: Any = {"configurable": {"thread_id": "t"}}
        builder.compile(checkpointer=saver).invoke({"messages": [("user", "Oslo?")]}, config)
        story = story_of_thread(saver, "t", limit=100)
    assert [step.kind for step in story.steps] == ["user", "model", "answer"]
    assert [(one.word, one.result) for one in calls(story)] == [("allow", "717710")]
