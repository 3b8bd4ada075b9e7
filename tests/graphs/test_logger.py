"""The log of an agent's runs: JSON lines, masked, that never end or hold up a run (D126, D132)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from edgeward.graphs.agent import ReActAgent
from edgeward.graphs.config import AgentConfig
from edgeward.graphs.logger import AgentLogger
from edgeward.policies.context import ContextNumbers
from edgeward.profiles.schema import AgentProfile
from edgeward.profiles.scripted import ScriptedModel
from tests.fakes import Recorder, policy, turn

PROFILE = AgentProfile.from_mapping({"id": "ada", "name": "Ada"})
KEY = "sk-proj-TESTTESTTESTTESTTEST"


def agent(**more: Any) -> ReActAgent:
    """An agent that pays, is refused once, and answers."""
    calls = turn(("pay", {"what": "a"}, "c1"), ("drop", {}, "c2"), text=f"with {KEY}")
    tools = [Recorder().tool("pay"), Recorder().tool("drop")]
    fields = {"llm": ScriptedModel(turns=[calls, "paid"]), "tools": tools, "load_env": False}
    fields |= {"policy": policy({"pay": "allow", "drop": "block"}), **more}
    return ReActAgent(AgentConfig(profile=PROFILE, **fields))


def lines(path: Path) -> list[dict[str, Any]]:
    """What a log holds."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


async def test_d132_one_line_an_event(tmp_path: Path) -> None:
    """Calls, verdicts, results and the answer, each with time, agent and thread; no secret."""
    async with agent(logger=tmp_path / "logs") as made:
        await made.run("pay it", thread="t")
    path = tmp_path / "logs" / "ada.log"
    found = lines(path)
    kinds = ["calls", "verdict", "verdict", "result", "result", "answer"]
    assert [line["kind"] for line in found] == kinds
    assert {(line["agent"], line["thread"]) for line in found} == {("ada", "t")}
    assert [c["tool"] for c in found[0]["calls"]] == ["pay", "drop"]
    assert found[-1]["text"] == "paid"
    assert KEY not in path.read_text(encoding="utf-8")


def test_d042_a_log_is_named_after_the_agent(tmp_path: Path) -> None:
    """Another id, another file; a second run goes on in the same."""
    for _ in range(2):
        with agent(logger=tmp_path) as made:
            made.run_sync("pay it")
    assert [path.name for path in tmp_path.iterdir()] == ["ada.log"]
    assert len(lines(tmp_path / "ada.log")) == 12


def test_d132_a_folder_that_cannot_be_written(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """A file where the folder should be: the run is as it was, and it is said once."""
    blocked = tmp_path / "file"
    blocked.write_text("", encoding="utf-8")
    with agent(logger=blocked) as made:
        assert made.run_sync("pay it").final_answer == "paid"
    assert caplog.text.count("cannot be written") == 1


def test_d126_the_logger_can_be_switched_off(tmp_path: Path, monkeypatch: Any) -> None:
    """Switched off, or without a folder, nothing is written anywhere (D005)."""
    monkeypatch.chdir(tmp_path)
    for more in ({"logger": tmp_path, "use_logger": False}, {}):
        with agent(**more) as made:
            made.run_sync("pay it")
    assert list(tmp_path.iterdir()) == []


def test_d128_a_logger_that_is_given(tmp_path: Path) -> None:
    """It is used as it is, shared, and stays open for whoever made it."""
    log = AgentLogger(tmp_path / "all.jsonl")
    for _ in range(2):
        with agent(logger=log) as made:
            made.run_sync("pay it")
    log.write("note", object=object(), text="x")
    log.close()
    log.close()
    found = lines(tmp_path / "all.jsonl")
    assert len(found) == 13
    assert found[-1]["kind"] == "note"
    log.write("again")
    log.close()
    assert lines(tmp_path / "all.jsonl")[-1]["kind"] == "again"


def test_what_cannot_be_written_as_json(tmp_path: Path) -> None:
    """Is a line that says so."""
    loop: list[Any] = []
    loop.append(loop)
    log = AgentLogger(tmp_path / "a.jsonl")
    log.write("odd", value=loop)
    log.close()
    assert lines(tmp_path / "a.jsonl")[0]["fault"] == "ValueError"


def test_d128_numbers_that_are_given() -> None:
    """`compressor` takes the place of the profile's numbers."""
    numbers = ContextNumbers(context_limit=2_048, enable_summary=False)
    made = agent(compressor=numbers, llm=ScriptedModel(turns=["x" * 9_000, "ok"], order="call"))
    made.run_sync("one", thread="t")
    made.run_sync("two", thread="t")
    model = made.config.llm
    assert isinstance(model, ScriptedModel)
    assert [m.text for m in model.requests[1]] == ["You are Ada.", "two"]
