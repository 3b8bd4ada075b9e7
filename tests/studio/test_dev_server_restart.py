"""A development server that is stopped and started again: threads stay, old tickets do not."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.studio.scribe import TASK, answer, questions, scribe
from tests.studio.server import needs_server, running

pytestmark = [pytest.mark.slow, needs_server]


def test_a_restart_keeps_questions_and_drops_tickets(tmp_path: Path) -> None:
    """A thread that waits can be answered; calls that were approved but had not run do not run."""
    variables = scribe(tmp_path)
    notes = tmp_path / "notes.txt"
    stop = {"interrupt_before": ["tool"]}
    with running(tmp_path, **variables) as server:
        waiting, approved = server.thread(), server.thread()
        server.say("react", waiting, TASK)
        server.say("react", approved, TASK)
        approvals = {c["id"]: {"decision": "approve"} for c in questions(server, approved)}
        server.run("react", approved, command={"resume": approvals}, **stop)
        assert server.state(approved)["next"] == ["tool", "tool"]
        assert not notes.exists()
    with running(tmp_path, **variables) as server:
        values = server.run("react", approved, input=None)
        refused = [m["content"] for m in values["messages"] if m["type"] == "tool"]
        assert ["no valid ticket" in text for text in refused] == [True, True]
        assert not notes.exists()
        approvals = {c["id"]: {"decision": "approve"} for c in questions(server, waiting)}
        answer(server, waiting, approvals)
        assert sorted(notes.read_text().split()) == ["one", "two"]
        assert server.faults == set()
