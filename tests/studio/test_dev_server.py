"""`langgraph dev` on the shipped assistant: offline, without a key, nothing blocks its loop."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import edgeward.profiles
from edgeward.graphs.schema import END, load_strategy
from tests.studio.server import Server, needs_server, running

pytestmark = [pytest.mark.slow, needs_server]

TASK = Path(edgeward.profiles.__file__).parent / "assistant" / "demo" / "task.txt"
GRAPHS = ("simple", "react", "plan_and_solve")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """The server; when it has ended, its log must hold no fault and no try to leave the machine."""
    folder = tmp_path_factory.mktemp("server")
    with running(folder, EDGEWARD_WORKSPACE=str(folder / "workspace")) as started:
        yield started
    assert started.faults == set()
    assert "BlockingError" not in started.log
    assert started.connections == ""


def assistants(server: Server) -> dict[str, str]:
    """The id of each graph's assistant."""
    return {a["graph_id"]: a["assistant_id"] for a in server.post("/assistants/search")}


def calls_and_answers(messages: list[Any]) -> tuple[list[str], list[str]]:
    """The ids of all calls, and of all tool messages."""
    made = [c["id"] for m in messages if m["type"] == "ai" for c in m["tool_calls"]]
    return sorted(made), sorted(m["tool_call_id"] for m in messages if m["type"] == "tool")


def test_it_serves_the_three_graphs(server: Server) -> None:
    """It is well, and lists one assistant for each graph of `langgraph.json`."""
    assert server.get("/ok")["ok"] is True
    assert set(GRAPHS) <= set(assistants(server))


@pytest.mark.parametrize("name", GRAPHS)
def test_the_graph_shows_every_node_with_its_kind(server: Server, name: str) -> None:
    """The graph that Studio draws has the strategy's nodes, each with its kind, X-rayed or not."""
    drawn = server.get(f"/assistants/{name}/graph")
    assert server.get(f"/assistants/{name}/graph?xray=true") == drawn
    nodes = drawn["nodes"]
    kinds = {n["id"]: n["metadata"]["kind"] for n in nodes if not n["id"].startswith("__")}
    assert kinds == {n.name: n.kind.name for n in load_strategy(name).nodes.values()}


@pytest.mark.parametrize("name", GRAPHS)
def test_the_graph_shows_every_outcome_as_a_label(server: Server, name: str) -> None:
    """Each outcome is an edge of its own, also where two of a node lead to the same place."""
    strategy = load_strategy(name)
    edges = [
        (e["source"], e.get("data"), e["target"])
        for e in server.get(f"/assistants/{name}/graph")["edges"]
    ]
    outcomes = [
        (source, outcome, "__end__" if target == END else target)
        for (source, outcome), target in strategy.edges.items()
    ]
    assert sorted(edges, key=str) == sorted(
        [("__start__", None, strategy.start), *outcomes], key=str
    )


@pytest.mark.parametrize("name", GRAPHS)
def test_the_input_is_messages_and_nothing_else(server: Server, name: str) -> None:
    """The schemas that Studio makes its form from take messages, and no key of the guard."""
    schemas = server.get(f"/assistants/{assistants(server)[name]}/schemas")
    assert list(schemas["input_schema"]["properties"]) == ["messages"]
    assert schemas["input_schema"]["required"] == ["messages"]
    assert list(schemas["output_schema"]["properties"]) == ["messages"]
    assert "approved" not in schemas["state_schema"]["properties"]
    assert "max_steps" in schemas["context_schema"]["properties"]


def test_a_run_ends_in_an_answer_with_what_was_refused(server: Server) -> None:
    """The demo's task is done; the attacks in what was read are refused in tool messages."""
    thread = server.thread()
    messages = server.say("react", thread, TASK.read_text(encoding="utf-8"))["messages"]
    made, answered = calls_and_answers(messages)
    assert made == answered
    assert messages[-1]["type"] == "ai"
    assert "1,261,250" in messages[-1]["content"]
    refused = [m for m in messages if m["type"] == "tool" and m["status"] == "error"]
    assert {m["name"] for m in refused} == {"send_email", "send_money", "read_file", "fetch_url"}
    assert all("blocked by policy" in m["content"] for m in refused)
    sent = [file.name for file in (server.folder / "workspace" / "outbox").iterdir()]
    assert sent == ["0001.eml"]


def test_a_thread_goes_on_and_shows_its_state(server: Server) -> None:
    """A second run on a thread sees the first; the state that is shown is whole."""
    thread = server.thread()
    server.say("react", thread, "List my mail, please.")
    messages = server.say("react", thread, "List my documents, please.")["messages"]
    assert [m["name"] for m in messages if m["type"] == "tool"] == ["list_mail", "list_documents"]
    state = server.state(thread)
    assert state["next"] == []
    assert [r["word"] for r in state["values"]["verdicts"]] == ["allow", "allow"]
    assert state["values"]["messages"] == messages


@pytest.mark.parametrize("name", ["simple", "plan_and_solve"])
def test_the_other_graphs_run_too(server: Server, name: str) -> None:
    """Their runs end in an answer of the model."""
    values = server.say(name, server.thread(), "List my mail and list my documents.")
    assert values["messages"][-1]["type"] == "ai"
    assert values["messages"][-1]["content"]


def test_a_run_streams(server: Server) -> None:
    """The ways in which Studio watches a run work, and end with the answer."""
    events = server.stream(
        f"/threads/{server.thread()}/runs/stream",
        {
            "assistant_id": "react",
            "input": {"messages": [{"role": "user", "content": "List my mail, please."}]},
            "stream_mode": ["values", "updates", "messages-tuple", "events", "debug"],
        },
    )
    names = {name for name, _ in events}
    assert {"values", "updates", "messages", "events", "debug"} <= names
    assert "error" not in names
    last = [data for name, data in events if name == "values"][-1]
    assert last["messages"][-1]["type"] == "ai"


def test_the_step_bound_comes_with_the_run(server: Server) -> None:
    """`context` is served: a run with one tool round stops after it and says so."""
    thread = server.thread()
    text = TASK.read_text(encoding="utf-8")
    given = {"messages": [{"role": "user", "content": text}]}
    server.run("react", thread, input=given, context={"max_steps": 1})
    run = server.state(thread)["values"]["run"]
    assert (run["steps"], bool(run["stopped"])) == (1, True)
