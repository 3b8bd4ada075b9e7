"""A call that was let through runs once: not from an old checkpoint, nor from an edited one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command, Send, interrupt

from edgeward.graphs.checkpoints import SqliteThreads
from edgeward.graphs.locked import LockedGraph, LockViolation, NothingWaiting
from tests.fakes import Recorder, agent_graph, answers, ask, on, turn

TASKS = "__pregel_tasks"
APPROVE = Command(resume={"c1": {"decision": "approve"}})


def before(graph: LockedGraph, node: str) -> dict[str, Any]:
    """The configuration of the checkpoint whose next node is `node`."""
    return next(s.config for s in graph.get_state_history(on()) if s.next == (node,))  # type: ignore[return-value]


@pytest.fixture
def recorder() -> Recorder:
    return Recorder()


@pytest.fixture
def paid(recorder: Recorder) -> LockedGraph:
    """A thread in which one call was asked about, approved and run."""
    turns = [turn(("pay", {"what": "x"}, "c1")), "done", "done"]
    graph = agent_graph(
        turns, tools=[recorder.tool("pay")], words={"pay": "ask"}, checkpointer=InMemorySaver()
    )
    graph.invoke(ask(), on())
    graph.invoke(APPROVE, on())
    assert recorder.names() == ["pay"]
    return graph


async def test_replay_of_the_tool_step(paid: LockedGraph, recorder: Recorder) -> None:
    """Going back to between a decision and its call does not make the call run again."""
    with pytest.raises(LockViolation, match="have run already"):
        paid.invoke(None, before(paid, "tool"))
    with pytest.raises(LockViolation, match="have run already"):
        await paid.ainvoke(None, before(paid, "tool"))
    assert len(recorder.runs) == 1


def test_going_back_asks_again(paid: LockedGraph, recorder: Recorder) -> None:
    """Going back to before the decision has it made anew: an old approval counts for nothing."""
    result = paid.invoke(None, before(paid, "guard"))
    assert "__interrupt__" in result
    assert len(recorder.runs) == 1
    paid.invoke(Command(resume={"c1": {"decision": "reject"}}), on())
    assert len(recorder.runs) == 1


async def test_answering_an_old_question(paid: LockedGraph, recorder: Recorder) -> None:
    """A question that was answered cannot be answered again by naming its checkpoint."""
    old = before(paid, "guard")
    with pytest.raises(NothingWaiting):
        paid.invoke(APPROVE, old)
    with pytest.raises(NothingWaiting):
        await paid.ainvoke(APPROVE, old)
    assert len(recorder.runs) == 1


def test_answer_at_the_present_by_its_checkpoint(recorder: Recorder) -> None:
    """The open question may be answered by naming the checkpoint that it stands in."""
    turns = [turn(("pay", {"what": "x"}, "c1")), "done"]
    graph = agent_graph(
        turns, tools=[recorder.tool("pay")], words={"pay": "ask"}, checkpointer=InMemorySaver()
    )
    graph.invoke(ask(), on())
    graph.invoke(APPROVE, graph.get_state(on()).config)
    assert recorder.names() == ["pay"]


class Ledger:
    """What a person with write access to the file of threads can do to it."""

    def __init__(self, saver: SqliteThreads) -> None:
        self._saver = saver

    def edit(self, change: Callable[[dict[str, Any]], None]) -> None:
        """Change the newest checkpoint."""
        row = self._saver.conn.execute(
            "SELECT checkpoint_id, type, checkpoint FROM checkpoints ORDER BY 1 DESC LIMIT 1"
        ).fetchone()
        checkpoint = self._saver.serde.loads_typed((row[1], row[2]))
        change(checkpoint)
        kind, data = self._saver.serde.dumps_typed(checkpoint)
        self._saver.conn.execute(
            "UPDATE checkpoints SET type = ?, checkpoint = ? WHERE checkpoint_id = ?",
            (kind, data, row[0]),
        )
        self._saver.conn.commit()


class TestEditedFile:
    """Sends that wait in a SQLite file, changed by hand."""

    @pytest.fixture
    def waiting(self, tmp_path: Path, recorder: Recorder) -> tuple[LockedGraph, Ledger]:
        """A thread that stopped between the decision and the call."""
        asked: list[str] = []

        def stop(what: str) -> str:
            """Waits for a person the first time that it runs."""
            return str(asked.append(what) or interrupt("go on?"))

        turns = [turn(("stop", {"what": "a"}, "c1"), ("pay", {"what": "a"}, "c2")), "done", "done"]
        tools, words = [stop, recorder.tool("pay")], {"stop": "allow", "pay": "block"}
        saver = SqliteThreads(tmp_path / "threads.sqlite")
        graph = agent_graph(turns, tools=tools, words=words, checkpointer=saver)
        graph.invoke(ask(), on())
        self.asked = asked
        return graph, Ledger(saver)

    def go_on(self, graph: LockedGraph) -> list[tuple[str, str]]:
        """Answer the tool's own question, and give what the calls came to."""
        return answers(graph.invoke(Command(resume="yes"), on())["messages"])

    def test_untouched(self, waiting: tuple[LockedGraph, Ledger], recorder: Recorder) -> None:
        """The control: the call that was let through goes on, the blocked one has its refusal."""
        found = dict(self.go_on(waiting[0]))
        assert found["c1"] == "yes"
        assert "blocked" in found["c2"]
        assert recorder.runs == []

    @pytest.mark.parametrize(
        "change",
        [
            {"call": {"id": "c1", "name": "stop", "arguments": {"what": "evil"}}},
            {"call": {"id": "c1", "name": "pay", "arguments": {"what": "a", "amount": 0}}},
            {"call": {"id": "c3", "name": "stop", "arguments": {"what": "a"}}},
            {"ticket": "0" * 64},
            {"ticket": None},
        ],
        ids=repr,
    )
    def test_changed_send(
        self,
        change: dict[str, Any],
        waiting: tuple[LockedGraph, Ledger],
        recorder: Recorder,
    ) -> None:
        """A call or a ticket that was changed in the file is refused when the thread goes on."""
        graph, file = waiting

        def forge(checkpoint: dict[str, Any]) -> None:
            sends = checkpoint["channel_values"][TASKS]
            sends[0] = Send("tool", {**sends[0].arg, **change})

        file.edit(forge)
        self.asked.clear()
        try:
            self.go_on(graph)
        except NothingWaiting:
            graph.invoke(None, on())
        assert self.asked == []
        assert recorder.runs == []

    @pytest.mark.parametrize("name", ["pay", "stop"])
    def test_injected_send(
        self, name: str, waiting: tuple[LockedGraph, Ledger], recorder: Recorder
    ) -> None:
        """A Send that was added to the file, with the ticket of another call, runs nothing."""
        graph, file = waiting

        def forge(checkpoint: dict[str, Any]) -> None:
            sends = checkpoint["channel_values"][TASKS]
            call = {"id": "c9", "name": name, "arguments": {"what": "b", "amount": 0}}
            sends.append(Send("tool", {"call": call, "ticket": sends[0].arg["ticket"]}))

        file.edit(forge)
        found = dict(self.go_on(graph))
        assert recorder.runs == []
        assert "b" not in self.asked
        assert "no valid ticket" in found["c9"]

    def test_used_ticket(self, waiting: tuple[LockedGraph, Ledger], recorder: Recorder) -> None:
        """A Send with a good ticket, put back after its call has its answer, runs nothing."""
        graph, file = waiting
        kept: list[Send] = []
        file.edit(lambda c: kept.extend(c["channel_values"][TASKS]))
        first = self.go_on(graph)

        def put_back(checkpoint: dict[str, Any]) -> None:
            checkpoint["channel_values"][TASKS] = kept
            checkpoint["channel_versions"][TASKS] = max(checkpoint["channel_versions"].values())

        file.edit(put_back)
        self.asked.clear()
        graph.invoke(None, on())
        assert self.asked == []
        assert answers(graph.get_state(on()).values["messages"]) == first

    def test_changed_answer(self, waiting: tuple[LockedGraph, Ledger], recorder: Recorder) -> None:
        """A guard's refusal that was struck from the file does not let its call through."""
        graph, file = waiting
        saver = file._saver
        rows = saver.conn.execute("SELECT rowid, type, value FROM writes WHERE channel='messages'")
        for rowid, kind, data in rows.fetchall():
            written = saver.serde.loads_typed((kind, data))
            if any(getattr(m, "tool_call_id", "") == "c2" for m in written):
                new = saver.serde.dumps_typed([])
                saver.conn.execute("UPDATE writes SET type=?, value=? WHERE rowid=?", (*new, rowid))
        saver.conn.commit()
        self.go_on(graph)
        assert recorder.runs == []


def test_stopping_before_the_tool(recorder: Recorder) -> None:
    """A run that is stopped between the decision and the call goes on, and the call runs once."""
    turns = [turn(("pay", {"what": "x"}, "c1")), "done"]
    graph = agent_graph(turns, tools=[recorder.tool("pay")], checkpointer=InMemorySaver())
    graph.invoke(ask(), on(), interrupt_before=["tool"])
    assert recorder.runs == []
    assert graph.get_state(on()).next == ("tool",)
    graph.invoke(None, on())
    assert recorder.names() == ["pay"]


def test_policy_that_changed_meanwhile(tmp_path: Path, recorder: Recorder) -> None:
    """A ticket of an older policy is none: what it let through is not run under the new one."""
    turns = [turn(("pay", {"what": "x"}, "c1")), "done"]
    tools, path = [recorder.tool("pay")], tmp_path / "t.sqlite"
    old = agent_graph(turns, tools=tools, words={"pay": "allow"}, checkpointer=path)
    old.invoke(ask(), on(), interrupt_before=["tool"])
    new = agent_graph(turns, tools=tools, words={"pay": "block"}, checkpointer=path)
    found = answers(new.invoke(None, on())["messages"])
    assert recorder.runs == []
    assert "no valid ticket" in found[0][1]


def test_thread_that_was_copied(tmp_path: Path, recorder: Recorder) -> None:
    """A thread that was copied under another name in the file has no good tickets there."""
    turns = [turn(("pay", {"what": "x"}, "c1")), "done"]
    saver = SqliteThreads(tmp_path / "t.sqlite")
    graph = agent_graph(turns, tools=[recorder.tool("pay")], checkpointer=saver)
    graph.invoke(ask(), on(), interrupt_before=["tool"])
    for table in ("checkpoints", "writes"):
        saver.conn.execute(f"UPDATE {table} SET thread_id = 'copy'")
    saver.conn.commit()
    found = answers(graph.invoke(None, on("copy"))["messages"])
    assert recorder.runs == []
    assert "no valid ticket" in found[0][1]
