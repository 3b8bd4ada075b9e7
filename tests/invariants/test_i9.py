"""I9: reasons, receipts, logs, errors and checkpoints never hold a secret."""

from __future__ import annotations

import logging
import tempfile
import traceback
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain.agents import create_agent
from langchain_core.messages import AIMessage
from langgraph.types import Command

from edgeward import FirewallMiddleware
from edgeward.graphs.build import build_graph
from edgeward.graphs.checkpoints import SqliteThreads
from edgeward.guards.vault import PLACEHOLDER
from tests.doors.middleware import Raw
from tests.fakes import ALLOW_ALL, Recorder, agent_graph, ask, fails, on, turn
from tests.fakes import policy as rules

KEYS = {
    "openai": "sk-proj-TESTTESTTESTTESTTEST",
    "anthropic": "sk-ant-api03-TESTTESTTESTTESTTEST",
    "aws": "AKIAABCDEFGHIJKLMNOP",
    "github": "ghp_TESTTESTTESTTESTTESTTESTTESTTEST",
}


@pytest.mark.parametrize("key", KEYS.values(), ids=KEYS)
@pytest.mark.parametrize("strategy", ["react", "plan_and_solve"])
@pytest.mark.parametrize("word", ["allow", "ask", "block", "redact", "shadow"])
def test_everywhere_a_model_can_put_it(
    key: str, strategy: str, word: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Wherever a model or a tool puts a key, it is in no state, stream, log or file."""
    caplog.set_level(logging.DEBUG)

    def leak(what: str = "", amount: int = 0) -> str:
        """Leaks."""
        return f"the key is {key}"

    def lose(what: str = "") -> str:
        """Fails with it."""
        raise RuntimeError(f"not with {key}")

    lines = [
        turn(("leak", {"what": key}, "c1"), (f"use_{key}", {}, "c2"), ("leak", {key: key}, "c3")),
        turn(("lose", {"what": "a"}, "c4"), ("leak", {"amount": key}, "c5")),
        AIMessage(
            "",
            invalid_tool_calls=[
                {
                    "name": "leak",
                    "args": f'{{"a": "{key}',
                    "id": "c6",
                    "error": f"at {key}",
                    "type": "invalid_tool_call",
                }
            ],
        ),
        f"1. use {key}",
    ]
    saver = SqliteThreads(tmp_path / "t.sqlite")
    mode = "shadow" if word == "shadow" else "enforce"
    words = dict.fromkeys(("leak", "lose"), word if mode == "enforce" else "block")
    graph = agent_graph(
        [lines[3], *lines, *lines],
        order="call",
        strategy=strategy,
        tools=[leak, lose],
        policy=rules(words, mode=mode),
        checkpointer=saver,
        max_steps=4,
    )
    streamed: list[Any] = list(
        graph.stream(ask(), on(), stream_mode=["updates", "values", "tasks", "checkpoints"])
    )
    if graph.get_state(on()).interrupts:
        waiting = graph.get_state(on()).interrupts[0].value["calls"]
        assert key not in str(waiting)
    saver.conn.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    stored = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert key not in str(graph.get_state(on()))
    assert key not in str(streamed)
    assert key not in caplog.text
    assert key.encode() not in stored


def test_in_the_text_of_an_error() -> None:
    """A failure of the model is told without the key that its text holds."""
    key = KEYS["openai"]
    graph = agent_graph([fails(RuntimeError(f"bad key {key}"))], tools=[Recorder().tool("pay")])
    with pytest.raises(RuntimeError, match="REDACTED") as caught:
        graph.invoke(ask())
    assert key not in str(caught.value)
    assert key not in str(caught.value.__context__)


KEY = KEYS["openai"]
CALL = {"name": "pay", "args": {}, "id": KEY}
BESIDE = {
    "the id of a call": AIMessage("", tool_calls=[CALL, CALL]),
    "the id of a broken call": AIMessage(
        "", invalid_tool_calls=[{"name": "pay", "args": "{", "id": KEY, "error": "no"}]
    ),
    "the id of the message": AIMessage("hello", id=KEY),
    "its name": AIMessage("hello", name=KEY),
    "its metadata": AIMessage("hello", response_metadata={"model_name": KEY, "a": [{KEY: KEY}]}),
    "names of fields": AIMessage("hello", additional_kwargs={KEY: 1, "a": {KEY: "b"}}),
    "a block's id": AIMessage([{"type": "text", "text": "a", "id": KEY}]),
    "a block's type": AIMessage([{"type": KEY, "text": "a"}]),
    "names in a block": AIMessage([{"type": "text", "text": "a", KEY: {KEY: KEY}}]),
    "what it used": AIMessage(
        "hello",
        usage_metadata={  # type: ignore[arg-type]
            "input_tokens": 1,
            "output_tokens": 1,
            "total_tokens": 2,
            "input_token_details": {KEY: 1},
        },
    ),
}


@pytest.mark.parametrize("door", ["graph", "middleware"])
@pytest.mark.parametrize("place", BESIDE)
def test_beside_the_words_of_a_reply(place: str, door: str, tmp_path: Path) -> None:
    """A key in an id, a name, a field's name or metadata of a reply is in no stream or checkpoint;
    calls are answered all the same."""
    saver = SqliteThreads(tmp_path / "t.sqlite")
    model = Raw(turns=[BESIDE[place], AIMessage("done")])
    tools = [Recorder().tool("pay")]
    graph: Any
    if door == "graph":
        graph = build_graph("react", model=model, tools=tools, policy=ALLOW_ALL, checkpointer=saver)
    else:
        middleware = [FirewallMiddleware(ALLOW_ALL)]
        graph = create_agent(model, tools, middleware=middleware, checkpointer=saver)
    modes: Any = ["updates", "values", "messages", "tasks", "checkpoints"]
    streamed = list(graph.stream(ask(), on(), stream_mode=modes))
    assert KEY not in str(streamed)
    messages = graph.get_state(on()).values["messages"]
    calls = [call["id"] for m in messages for call in getattr(m, "tool_calls", ())]
    assert [m.tool_call_id for m in messages if m.type == "tool" and m.status != "error"] == calls
    saver.close()
    assert KEY.encode() not in b"".join(path.read_bytes() for path in tmp_path.iterdir())


@pytest.mark.parametrize(
    "given",
    [[{"content": KEYS["openai"]}], {"text": KEYS["aws"]}, [{"role": KEYS["aws"]}]],
    ids=repr,
)
async def test_in_what_is_no_message(given: Any) -> None:
    """What is handed over in place of a message is refused without the key that it holds."""
    graph = agent_graph(["hello"])
    with pytest.raises(ValueError, match="REDACTED") as caught:
        graph.invoke({"messages": given})
    with pytest.raises(ValueError, match="REDACTED"):
        await graph.ainvoke({"messages": given})
    told = "".join(traceback.format_exception(caught.value))
    assert not any(key in told for key in KEYS.values())


@pytest.mark.parametrize("field", ["content", "name", "id"])
def test_in_what_pydantic_quotes_of_it(field: str) -> None:
    """It cuts the value in the middle, and no half of a key is recognised as one."""
    key = "sk-ant-api03-" + "aB3dE5gH7jK9" * 8
    given: Any = {"role": "user", "content": "Hello.", field: {"given": key}}
    with pytest.raises(ValueError, match=f"{field}.*: Input should be a valid string") as caught:
        agent_graph(["hello"]).invoke({"messages": [given]})
    told = "".join(traceback.format_exception(caught.value))
    assert key[:20] not in told
    assert key[-20:] not in told


HIDDEN = ["ann.lee@corp.example", "4111 1111 1111 1111", "DE89370400440532013000", "+442079460958"]
HIDING = {
    "version": 2,
    "default": "allow",
    "tools": {"give": "allow", "take": "ask"},
    "placeholders": {"kinds": ["all"], "reveal": {"take": "*"}},
}


@settings(max_examples=8, deadline=None)
@given(st.lists(st.sampled_from(HIDDEN), min_size=1, max_size=4), st.data())
def test_hidden_personal_data(values: list[str], data: st.DataObject) -> None:
    """Whoever says a value that a policy hides, no state, stream, question or file has it."""
    taken: list[str] = []
    found = data.draw(st.sampled_from(HIDDEN))

    def give(what: str = "") -> str:
        """Gives."""
        return f'{{"found": "{found}", "same": "{values[0]}"}}'

    def take(what: str = "") -> str:
        """Takes."""
        taken.append(what)
        raise RuntimeError(f"not with {what}")

    def all_of_them(messages: list[Any]) -> Any:
        names = sorted({f"<{name}>" for name in PLACEHOLDER.findall(str(messages))})
        return turn(("take", {"what": " ".join(names)}, "c2"))

    with tempfile.TemporaryDirectory() as folder:
        saver = SqliteThreads(Path(folder) / "t.sqlite")
        graph = agent_graph(
            [turn(("give", {}, "c1")), all_of_them, "done"],
            tools=[give, take],
            policy=HIDING,
            checkpointer=saver,
        )
        modes = ["updates", "values", "tasks", "checkpoints"]
        seen = str(list(graph.stream(ask(" and ".join(values)), on(), stream_mode=modes)))
        seen += str(graph.get_state(on()).interrupts)
        answer = Command(resume={"c2": {"decision": "approve", "reason": f"for {values[0]}"}})
        seen += str(list(graph.stream(answer, on(), stream_mode=modes)))
        seen += str(list(graph.get_state_history(on())))
        saver.conn.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        stored = b"".join(path.read_bytes() for path in Path(folder).iterdir())
        saver.close()
    assert sorted(taken[0].split()) == sorted(" ".join({*values, found}).split())
    for value in HIDDEN:
        assert value not in seen
        assert value.encode() not in stored
