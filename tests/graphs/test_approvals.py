"""Calls that a person is asked about: matched by id, judged again when edited, run once."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.types import Command
from pydantic import ValidationError

from edgeward.graphs.checkpoints import SqliteThreads
from edgeward.graphs.locked import LockedGraph, NothingWaiting
from edgeward.guards.verdict import ToolCall, fingerprint
from tests.fakes import Recorder, agent_graph, answers, ask, on, turn

TWO = turn(("pay", {"what": "inv-1"}, "c1"), ("pay", {"what": "inv-2"}, "c2"))
YES, NO = {"decision": "approve"}, {"decision": "reject", "reason": "not now", "by": "emma"}


def resume(**given: Any) -> Command[Any]:
    """Answers by call id."""
    return Command(resume=given)


@pytest.fixture
def recorder() -> Recorder:
    return Recorder()


@pytest.fixture
def graph(recorder: Recorder) -> LockedGraph:
    """A graph whose model proposes two payments, which are asked about."""
    tools, words = [recorder.tool("pay"), recorder.tool("drop")], {"pay": "ask", "drop": "block"}
    return agent_graph(
        [TWO, "done", "more"], tools=tools, words=words, checkpointer=InMemorySaver()
    )


def waiting(result: dict[str, Any]) -> list[str]:
    """The ids of the calls that wait, of the one question that there is."""
    (interrupt,) = result["__interrupt__"]
    return [call["id"] for call in interrupt.value["calls"]]


def paid(recorder: Recorder) -> list[str]:
    return [arguments["what"] for _, arguments in recorder.runs]


async def test_C05_one_pause_lists_all(graph: LockedGraph, recorder: Recorder) -> None:
    """Two calls that need approval make one question with both, and nothing runs before."""
    result = graph.invoke(ask(), on("a"))
    assert waiting(result) == ["c1", "c2"]
    first = result["__interrupt__"][0].value["calls"][0]
    assert first["tool"] == "pay"
    assert first["args"] == {"what": "inv-1", "amount": 0}
    assert "needs approval" in first["reason"]
    assert waiting(await graph.ainvoke(ask(), on("b"))) == ["c1", "c2"]
    assert recorder.runs == []


async def test_C05_answers_in_one_resume(graph: LockedGraph, recorder: Recorder) -> None:
    """Approve one, reject the other: the right one runs, once, and both have one answer."""
    for thread, run in (("a", graph.invoke), ("b", graph.ainvoke)):
        graph.invoke(ask(), on(thread))
        result = run(resume(c1=YES, c2=NO), on(thread))
        result = result if isinstance(result, dict) else await result
        assert sorted(answers(result["messages"])) == [
            ("c1", "pay ran"),
            ("c2", "Not run: the user rejected this call: not now"),
        ]
    assert paid(recorder) == ["inv-1", "inv-1"]


async def test_C05_answers_in_two_resumes(graph: LockedGraph, recorder: Recorder) -> None:
    """A missing answer keeps waiting, and what was answered is not asked again."""
    graph.invoke(ask(), on())
    assert waiting(graph.invoke(resume(c2=NO), on())) == ["c1"]
    assert recorder.runs == []
    result = await graph.ainvoke(resume(c1=YES), on())
    assert len(answers(result["messages"])) == 2
    assert paid(recorder) == ["inv-1"]


def test_record_of_the_decision(graph: LockedGraph) -> None:
    """Who decided what, when and why is in the record."""
    graph.invoke(ask(), on())
    graph.invoke(resume(c1=YES, c2=NO), on())
    first, second = graph.get_state(on()).values["verdicts"]
    assert first["approval"]["decision"] == "approve"
    assert second["approval"] == {**NO, "at": second["approval"]["at"]}
    assert second["approval"]["at"].startswith("20")
    assert (first["word"], second["word"]) == ("ask", "ask")


def test_edited_call(graph: LockedGraph, recorder: Recorder) -> None:
    """An edited call runs as it was edited, read through the tool's schema."""
    graph.invoke(ask(), on())
    edit = {"decision": "edit", "args": {"what": "inv-3", "amount": "7"}}
    graph.invoke(resume(c1=edit, c2=NO), on())
    assert recorder.runs == [("pay", {"what": "inv-3", "amount": 7})]
    approval = graph.get_state(on()).values["verdicts"][0]["approval"]
    assert (approval["decision"], approval["edited"]) == ("edit", ["amount", "what"])
    proposed = ToolCall("pay", {"what": "inv-1", "amount": 0})
    assert approval["proposed"] == fingerprint(proposed)


@pytest.mark.parametrize(
    ("args", "why"),
    [
        ({"what": "../../etc"}, "blocked"),
        ({"what": "x", "amount": "many"}, "amount"),
        ({"what": "x", "extra": 1}, "unknown argument extra"),
        ({"what": "key sk-proj-TESTTESTTESTTESTTEST"}, "secret"),
    ],
    ids=["against a rule", "wrong type", "extra argument", "secret"],
)
def test_edit_into_a_blocked_call(args: dict[str, Any], why: str, recorder: Recorder) -> None:
    """A call that was edited is judged again: a person cannot edit past the policy."""
    rule = {"name": "up", "regex": r"\.\./", "reason": "leads out"}
    from tests.fakes import policy

    graph = agent_graph(
        [TWO, "done"],
        tools=[recorder.tool("pay")],
        policy=policy({"pay": "ask"}, arg_rules=[rule]),
        checkpointer=InMemorySaver(),
    )
    graph.invoke(ask(), on())
    edit = {"decision": "edit", "args": args}
    result = graph.invoke(resume(c1=edit, c2=NO), on())
    assert recorder.runs == []
    text = dict(answers(result["messages"]))["c1"]
    assert why in text
    assert "sk-proj" not in text


KEY = "sk-proj-TESTTESTTESTTESTTEST"


@pytest.mark.parametrize(
    "answer",
    [
        {"decision": "reject", "reason": f"not with {KEY}"},
        {"decision": "approve", "by": f"emma, {KEY}"},
        {"decision": "edit", "args": {"what": f"key {KEY}"}},
        {"decision": "edit", "args": {"what": f"the key:\n{KEY}"}},
    ],
    ids=["reject", "approve", "edit", "edit, in a line of its own"],
)
@pytest.mark.parametrize("inside", [False, True], ids=["alone", "in a parent"])
def test_a_secret_in_an_answer_is_not_kept(
    answer: dict[str, Any], inside: bool, recorder: Recorder, tmp_path: Path
) -> None:
    """A secret that a person writes is in no state and reaches no tool, and in no file of ours."""
    saver = SqliteThreads(tmp_path / "t.sqlite")
    graph: Any = agent_graph(
        [TWO, "done"],
        tools=[recorder.tool("pay")],
        words={"pay": "ask"},
        checkpointer=None if inside else saver,
    )
    if inside:
        builder = StateGraph(MessagesState).add_node("agent", graph).add_edge(START, "agent")
        graph = builder.compile(checkpointer=saver)
    graph.invoke(ask(), on())
    result = graph.invoke(resume(c1=answer, c2=NO), on())
    assert len(recorder.runs) == (answer["decision"] == "approve")
    assert KEY not in str(result) + str(recorder.runs) + str(graph.get_state(on(), subgraphs=True))
    saver.conn.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    stored = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    saver.close()
    # A parent graph stores what it is resumed with before a guarded graph sees it.
    assert inside or KEY.encode() not in stored


WRONG = {
    "no such id": {"c3": YES},
    "one id too many": {"c1": YES, "c3": YES},
    "no such decision": {"c1": {"decision": "maybe"}},
    "no decision": {"c1": {}},
    "a bare word": {"c1": "approve"},
    "a truth": {"c1": True},
    "another key": {"c1": {**YES, "note": "x"}},
    "approve with arguments": {"c1": {**YES, "args": {"what": "x"}}},
    "edit without arguments": {"c1": {"decision": "edit"}},
    "edit with a list": {"c1": {"decision": "edit", "args": [1]}},
    "a word for all": "approve",
    "a list": ["approve"],
    "a truth for all": True,
}


@pytest.mark.parametrize("case", WRONG)
async def test_wrong_answer(case: str, graph: LockedGraph, recorder: Recorder) -> None:
    """An answer of the wrong form is refused, and the thread keeps waiting for a right one."""
    graph.invoke(ask(), on())
    answer: Command[Any] = Command(resume=WRONG[case])
    with pytest.raises(ValidationError):
        graph.invoke(answer, on())
    with pytest.raises(ValidationError):
        await graph.ainvoke(answer, on())
    assert recorder.runs == []
    graph.invoke(resume(c1=YES, c2=NO), on())
    assert paid(recorder) == ["inv-1"]


async def test_no_answers(graph: LockedGraph, recorder: Recorder) -> None:
    """An empty set of answers, or going on without one, asks again."""
    graph.invoke(ask(), on())
    assert waiting(graph.invoke(Command(resume={}), on())) == ["c1", "c2"]
    assert waiting(graph.invoke(None, on())) == ["c1", "c2"]
    assert recorder.runs == []


async def test_late_answer(graph: LockedGraph, recorder: Recorder) -> None:
    """A second answer to a question is refused; so is one on a thread that asks nothing."""
    graph.invoke(ask(), on())
    graph.invoke(resume(c1=YES, c2=NO), on())
    for thread in ("t", "never seen"):
        with pytest.raises(NothingWaiting):
            graph.invoke(resume(c1=YES, c2=YES), on(thread))
        with pytest.raises(NothingWaiting):
            await graph.ainvoke(resume(c1=YES, c2=YES), on(thread))
    assert paid(recorder) == ["inv-1"]


def test_nobody_to_ask(recorder: Recorder) -> None:
    """Without a checkpointer a call that needs approval is blocked, and the reason says why."""
    graph = agent_graph([TWO, "done"], tools=[recorder.tool("pay")], words={"pay": "ask"})
    result = graph.invoke(ask())
    for _, text in answers(result["messages"]):
        assert "it needs an approval, and nobody can be asked here" in text
    assert recorder.runs == []


def test_ids_like_an_interrupts(recorder: Recorder) -> None:
    """Call ids that look like LangGraph's own interrupt ids can be answered."""
    name = "0123456789abcdef" * 2
    graph = agent_graph(
        [turn(("pay", {"what": "x"}, name)), "done"],
        tools=[recorder.tool("pay")],
        words={"pay": "ask"},
        checkpointer=InMemorySaver(),
    )
    (call_id,) = waiting(graph.invoke(ask(), on()))
    graph.invoke(Command(resume={call_id: YES}), on())
    assert recorder.names() == ["pay"]


def test_new_message_in_place_of_an_answer(recorder: Recorder) -> None:
    """A message to a thread that waits goes on without the calls: answered, and never run."""
    graph = agent_graph(
        [TWO, "done", "more"],
        tools=[recorder.tool("pay")],
        words={"pay": "ask"},
        checkpointer=InMemorySaver(),
    )
    graph.invoke(ask(), on())
    result = graph.invoke(ask("forget it"), on())
    assert recorder.runs == []
    kinds = [m.type for m in result["messages"]]
    assert kinds == ["human", "ai", "tool", "tool", "human", "ai"]
    with pytest.raises(NothingWaiting):
        graph.invoke(resume(c1=YES), on())


EXTRA_EDGE = """\
strategy: extra
start: act
nodes:
  act: act
  guard: guard
  tool: tool
  look: {kind: reflect, mode: critique}
edges:
  act.call: guard
  act.answer: look
  act.limit: end
  guard.allow: tool
  guard.block: act
  tool.done: act
  look.revise: act
  look.accept: end
"""


def test_rejected_call_by_another_way(
    recorder: Recorder, strategy_file: Callable[[str], Path]
) -> None:
    """A rejected call does not run by an extra edge from reflect to act; its sibling runs (C11)."""
    calls = turn(("read_doc", {"what": "a"}, "c1"), ("delete_file", {"what": "a"}, "c2"))
    again = turn(("read_doc", {"what": "b"}, "c3"))
    graph = agent_graph(
        [calls, "draft", "REVISE: more", again, "final", "ACCEPT"],
        order="call",
        strategy=strategy_file(EXTRA_EDGE),
        tools=[recorder.tool("read_doc"), recorder.tool("delete_file")],
        words={"read_doc": "allow", "delete_file": "ask"},
        checkpointer=InMemorySaver(),
    )
    assert waiting(graph.invoke(ask(), on())) == ["c2"]
    result = graph.invoke(resume(c2=NO), on())
    assert recorder.names() == ["read_doc", "read_doc"]
    assert sorted(i for i, _ in answers(result["messages"])) == ["c1", "c2", "c3"]


RESUME = """
    import json, sys
    from langgraph.types import Command
    from tests.fakes import Recorder, agent_graph, ask, on, turn

    db, given = sys.argv[1], json.loads(sys.argv[2])
    recorder = Recorder()
    turns = [turn(("pay", {"what": "x"}, "c1")), "done"]
    graph = agent_graph(
        turns, tools=[recorder.tool("pay")], words={"pay": "ask"}, checkpointer=db
    )
    graph.invoke(Command(resume=given) if given else ask(), on())
    print(json.dumps(recorder.runs))
"""


def test_resume_in_a_new_process(tmp_path: Path, own_home: Path) -> None:
    """A question is asked in one process and answered in another."""
    root = Path(__file__).parents[2]

    def process(given: str) -> str:
        code = [sys.executable, "-c", textwrap.dedent(RESUME), str(tmp_path / "t.sqlite"), given]
        done = subprocess.run(code, capture_output=True, text=True, check=True, cwd=root)
        return done.stdout.strip()

    assert process("null") == "[]"
    assert process('{"c1": {"decision": "approve"}}') == '[["pay", {"what": "x", "amount": 0}]]'
