"""`sequence` in whole graphs: through parallel calls, approvals, compression and restarts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from edgeward.graphs.build import build_graph
from edgeward.graphs.checkpoints import SqliteThreads
from edgeward.profiles.scripted import ScriptedModel

from fakes import Recorder, ask, on, turn

NAMES = ("fetch_url", "send_mail", "read_secret", "post_note", "run_tests", "deploy", "look")

RULES: dict[str, Any] = {
    "version": 2,
    "default": "allow",
    "sequence": [
        {"after": "fetch_url", "ask": "send_*", "until": "user"},
        {"after": "read_secret", "block": "post_*"},
        {"before": "deploy", "require": "run_tests", "until": "write_*"},
    ],
}


def calls(*names: str) -> Any:
    """A turn of the model that calls these tools at once."""
    return turn(*((name, {}, f"{name}_{number}") for number, name in enumerate(names)))


def graph(recorder: Recorder, turns: list[Any], *, failing: str = "", **options: Any) -> Any:
    """A guarded graph that plays the turns."""

    def broken() -> str:
        """Fails."""
        raise RuntimeError("no")

    broken.__name__ = failing or "broken"
    tools = [recorder.tool(name) for name in NAMES if name != failing] + [broken]
    options.setdefault("policy", RULES)
    strategy = options.pop("strategy", "react")
    model = ScriptedModel(turns=turns, order=options.pop("order", "conversation"))
    return build_graph(strategy, model=model, tools=tools, **options)


def test_what_was_read_is_not_posted() -> None:
    """The call after the first tool is refused, and the run goes on."""
    recorder = Recorder()
    turns = [calls("read_secret"), calls("post_note"), calls("look"), "done"]
    graph(recorder, turns).invoke(ask())
    assert recorder.names() == ["read_secret", "look"]


@pytest.mark.parametrize("names", [("read_secret", "post_note"), ("post_note", "read_secret")])
@pytest.mark.parametrize("strategy", ["react", "plan_and_solve"])
async def test_two_calls_of_one_turn_have_no_order(names: tuple[str, str], strategy: str) -> None:
    """Whichever stands first: to the second tool the first one counts as having run."""
    for run in ("invoke", "ainvoke", "stream", "batch"):
        recorder = Recorder()
        plan = ["1. read"] if strategy == "plan_and_solve" else []
        turns = [*plan, calls(*names), "done", "all done"]
        g = build_graph(
            strategy,
            policy=RULES,
            model=ScriptedModel(turns=turns, order="call"),
            tools=[recorder.tool(name) for name in NAMES],
        )
        if run == "ainvoke":
            await g.ainvoke(ask())
        elif run == "stream":
            list(g.stream(ask()))
        elif run == "batch":
            g.batch([ask()])
        else:
            g.invoke(ask())
        assert recorder.names() == ["read_secret"]


def test_a_call_that_was_refused_counts_for_nothing() -> None:
    """The second tool of a turn is free where the first one will not run."""
    recorder = Recorder()
    rules = {**RULES, "tools": {"read_secret": "block"}}
    turns = [calls("read_secret", "post_note"), calls("post_note"), "done"]
    graph(recorder, turns, policy=rules).invoke(ask())
    assert recorder.names() == ["post_note", "post_note"]


def test_until_the_user_speaks() -> None:
    """A page was read: mail waits for a person in this run, and no longer in the next."""
    recorder = Recorder()
    turns = [calls("fetch_url"), calls("send_mail"), "sent?", calls("send_mail"), "sent"]
    g = graph(recorder, turns, checkpointer=InMemorySaver())
    state = g.invoke(ask(), on())
    (question,) = state["__interrupt__"]
    assert [call["tool"] for call in question.value["calls"]] == ["send_mail"]
    g.invoke(Command(resume={"send_mail_0": {"decision": "reject"}}), on())
    assert recorder.names() == ["fetch_url"]
    g.invoke(ask("now mail it"), on())
    assert recorder.names() == ["fetch_url", "send_mail"]


def test_a_call_that_a_person_rejected_has_not_run() -> None:
    """What was asked about and rejected shuts nothing."""
    recorder = Recorder()
    rules = {**RULES, "tools": {"read_secret": "ask"}}
    turns = [calls("read_secret"), calls("post_note"), "done"]
    g = graph(recorder, turns, policy=rules, checkpointer=InMemorySaver())
    g.invoke(ask(), on())
    g.invoke(Command(resume={"read_secret_0": {"decision": "reject"}}), on())
    assert recorder.names() == ["post_note"]


def test_only_a_run_without_an_error_satisfies_before() -> None:
    """A tool that failed, or runs in the same turn, has not run before."""
    for failing, first, expected in (
        ("run_tests", calls("run_tests"), []),
        ("", calls("run_tests", "deploy"), ["run_tests", "deploy"]),
        ("", calls("run_tests"), ["run_tests", "deploy"]),
    ):
        recorder = Recorder()
        graph(recorder, [first, calls("deploy"), "done"], failing=failing).invoke(ask())
        assert recorder.names() == expected


STRATEGY = """
strategy: pruned
start: compress
nodes:
  compress: {kind: compress, context_limit: 1024, prune_protect: 10, prune_minimum: 0,
             enable_summary: false}
  act: act
  guard: guard
  tool: tool
edges: {compress.done: act, act.call: guard, act.answer: end, act.limit: end,
        guard.allow: tool, guard.block: act, tool.done: compress}
"""


def test_compression_forgets_no_order(tmp_path: Path) -> None:
    """The messages are gone; what had run, and that it went well, is still known."""
    path = tmp_path / "pruned.yaml"
    path.write_text(STRATEGY, encoding="utf-8")
    recorder = Recorder()
    long = "x" * 4_000
    turns = [calls("run_tests", "read_secret"), long, "ok"]
    turns += [calls("deploy", "post_note"), "done"]
    g = graph(recorder, turns, checkpointer=InMemorySaver(), strategy=path, order="call")
    g.invoke(ask(), on())
    g.invoke(ask(long), on())
    assert not [m for m in g.get_state(on()).values["messages"] if m.type == "tool"]
    g.invoke(ask("go on"), on())
    assert sorted(recorder.names()[:2]) == ["read_secret", "run_tests"]  # side by side
    assert recorder.names()[2:] == ["deploy"]


def test_a_thread_goes_on_in_another_process(tmp_path: Path) -> None:
    """The states lie in the thread's checkpoint."""
    recorder = Recorder()
    for turns in ([calls("read_secret"), "ok"], ["", "ok", calls("post_note"), "no"]):
        saver = SqliteThreads(tmp_path / "threads.sqlite")
        graph(recorder, turns, checkpointer=saver).invoke(ask(), on())
        saver.close()
    assert recorder.names() == ["read_secret"]


def test_a_thread_that_is_older_than_the_rule_is_read_once() -> None:
    """A rule that was added to the policy knows what had run before it came."""
    recorder = Recorder()
    saver = InMemorySaver()
    old = {"version": 2, "default": "allow"}
    blocking = {**old, "tools": {"fetch_url": "block"}}
    graph(
        recorder, [calls("read_secret", "fetch_url"), "ok"], policy=blocking, checkpointer=saver
    ).invoke(ask(), on())
    turns = ["", "ok", calls("post_note", "send_mail"), "no"]
    rules = {**RULES, "sequence": [RULES["sequence"][1], {"after": "fetch_url", "block": "send_*"}]}
    graph(recorder, turns, policy=rules, checkpointer=saver).invoke(ask("on"), on())
    assert recorder.names() == ["read_secret", "send_mail"]
