"""What of a model's reply is kept: unique ids, no secret, no empty text, calls that are JSON."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage, AIMessageChunk, HumanMessage

from edgeward.graphs.checkpoints import SqliteThreads
from edgeward.nodes._reply import sealed
from edgeward.profiles.scripted import ScriptedModel
from tests.fakes import ALLOW_ALL, Recorder, agent_graph, answers, ask, fails, on, turn

KEY = "sk-proj-TESTTESTTESTTESTTEST"


@pytest.fixture
def recorder() -> Recorder:
    return Recorder()


def broken(args: str, **more: Any) -> dict[str, Any]:
    """A call whose arguments could not be parsed, as LangChain gives it."""
    error = f"Function pay arguments:\n\n{args}\n\nare not valid JSON."
    made = {"name": "pay", "args": args, "id": "c1", "error": error, "type": "invalid_tool_call"}
    return made | more


def test_C25_broken_call(recorder: Recorder) -> None:
    """A broken call is answered with the error and a piece of the text; valid ones run."""
    reply = AIMessage(
        "",
        tool_calls=[{"name": "read_doc", "args": {"what": "a"}, "id": "c2"}],
        invalid_tool_calls=[broken('{"path": "a.md", "text": "unfinis')],
    )
    tools = [recorder.tool("read_doc"), recorder.tool("pay")]
    result = agent_graph([reply, "done"], tools=tools).invoke(ask())
    found = dict(answers(result["messages"]))
    assert "could not be read" in found["c1"]
    assert "unfinis" in found["c1"]
    assert found["c2"] == "read_doc ran"
    assert recorder.names() == ["read_doc"]
    assert result["messages"][-1].text == "done"


def test_broken_calls_only(recorder: Recorder) -> None:
    """A turn of nothing but broken calls goes back to the model, and counts as a step."""
    reply = AIMessage("", invalid_tool_calls=[broken("{"), broken("[1", id="c2")])
    graph = agent_graph([reply] * 9, tools=[recorder.tool("pay")], max_steps=2)
    result = graph.invoke(ask())
    assert len(answers(result["messages"])) == 4
    assert recorder.runs == []


@pytest.mark.parametrize("words", [None, {"search": "ask"}, {"search": "allow"}])
def test_C62_unknown_tool(words: dict[str, str] | None, recorder: Recorder) -> None:
    """A tool that does not exist is answered with the nearest names, whatever the policy."""
    graph = agent_graph(
        [turn(("serch", {"what": "x"}, "c1")), "done"], tools=[recorder.tool("search")], words=words
    )
    result = graph.invoke(ask())
    assert "did you mean search" in answers(result["messages"])[0][1]
    assert result["messages"][-1].text == "done"


@pytest.mark.parametrize(
    "args",
    [{"what": float("nan")}, {"amount": float("inf")}, {"what": "a\ud800"}, {"a\ud800": 1}],
    ids=ascii,
)
def test_arguments_that_are_no_json(
    args: dict[str, Any], recorder: Recorder, tmp_path: Path
) -> None:
    """Arguments that JSON cannot hold are a broken call; the run goes on and can be stored."""
    graph = agent_graph(
        [turn(("pay", args, "c1"), ("pay", {"what": "a"}, "c2")), "done"],
        tools=[recorder.tool("pay")],
        checkpointer=tmp_path / "t.sqlite",
    )
    found = dict(answers(graph.invoke(ask(), on())["messages"]))
    assert "could not be read" in found["c1"]
    assert found["c2"] == "pay ran"


def test_half_a_letter(tmp_path: Path) -> None:
    """A lone surrogate in a text is replaced, so that the thread can be stored and read back."""
    path = tmp_path / "t.sqlite"
    agent_graph(["a\ud800b"], checkpointer=path).invoke(ask(), on())
    again = agent_graph(["", "c"], checkpointer=path).invoke(ask(), on())
    assert [m.text for m in again["messages"]] == ["go", "a?b", "go", "c"]


@pytest.mark.parametrize(
    ("args", "runs"),
    [
        ({"what": "a", "amount": "7"}, [("pay", {"what": "a", "amount": 7})]),
        ({"what": "a"}, [("pay", {"what": "a", "amount": 0})]),
        ({"what": "a", "extra": 1}, []),
        ({"what": 7}, []),
        ({"amount": "many"}, []),
        ({"what": None}, []),
    ],
    ids=repr,
)
def test_coerced_arguments(args: dict[str, Any], runs: list[Any], recorder: Recorder) -> None:
    """What the schema reads is what runs; what it does not know is refused, not dropped (I3)."""
    graph = agent_graph([turn(("pay", args, "c1")), "done"], tools=[recorder.tool("pay")])
    result = graph.invoke(ask())
    assert recorder.runs == runs
    assert len(answers(result["messages"])) == 1


def test_ids_in_one_turn_and_across(recorder: Recorder) -> None:
    """Repeated, empty and missing ids are made unique: each call has one answer of its own."""
    made = [
        {"name": "pay", "args": {"what": f"{n}"}, "id": i}
        for n, i in enumerate(["c1", "c1", "", None, "c1_2"])
    ]
    reply = AIMessage("", tool_calls=made)
    graph = agent_graph([reply, reply, "done"], tools=[recorder.tool("pay")])
    result = graph.invoke(ask())
    ids = [call_id for call_id, _ in answers(result["messages"])]
    assert len(ids) == len(set(ids)) == 10
    assert all(ids)
    said = [c["id"] for m in result["messages"] if isinstance(m, AIMessage) for c in m.tool_calls]
    assert sorted(said) == sorted(ids)
    assert sorted(a["what"] for _, a in recorder.runs) == sorted("0011223344")


def test_repeated_message_id(recorder: Recorder) -> None:
    """A server that gives every reply the same id does not overwrite the thread."""

    class SameId(ScriptedModel):
        def _reply(self, messages: Any) -> AIMessage:
            return super()._reply(messages).model_copy(update={"id": "chatcmpl-1"})

    from edgeward.graphs.build import build_graph

    call = turn(("pay", {"what": "a"}, "c1"))
    model = SameId(turns=[call, call, "done"])
    graph = build_graph("react", model=model, tools=[recorder.tool("pay")], policy=ALLOW_ALL)
    result = graph.invoke(ask())
    kinds = [m.type for m in result["messages"]]
    assert kinds == ["human", "ai", "tool", "ai", "tool", "ai"]


def ended(turns: list[Any], **options: Any) -> dict[str, Any]:
    """All values of the state at the end of a run."""
    values: list[dict[str, Any]] = list(
        agent_graph(turns, **options).stream(ask(), stream_mode="values")
    )
    return values[-1]


EMPTY = {
    "no text": "",
    "blank text": " \n",
    "no blocks": [],
    "a blank block": [{"type": "text", "text": " "}],
    "thinking only": [{"type": "thinking", "thinking": "hm", "signature": "s"}],
}


@pytest.mark.parametrize("case", EMPTY)
def test_empty_reply(case: str) -> None:
    """A reply without a text and without a call is not kept, and ends a run that says so (C86)."""
    values = ended([AIMessage(EMPTY[case])])
    assert [m.type for m in values["messages"]] == ["human"]
    assert values["run"]["stopped"] == "empty"


ENDS = [
    ("finish_reason", "content_filter", "filtered"),
    ("finish_reason", "SAFETY", "filtered"),
    ("stop_reason", "refusal", "filtered"),
    ("incomplete_details", {"reason": "content_filter"}, "filtered"),
    ("incomplete_details", {"reason": "max_output_tokens"}, "length"),
    ("finish_reason", "MAX_TOKENS", "length"),
    ("incomplete_details", None, ""),
    ("finish_reason", "stop", ""),
]


@pytest.mark.parametrize(("key", "said", "stopped"), ENDS)
def test_how_a_reply_ended(key: str, said: Any, stopped: str) -> None:
    """Every vendor has its word for it; a reply that the provider broke off is no whole one."""
    reply = AIMessage("All is", response_metadata={key: said})
    assert ended([reply])["run"]["stopped"] == stopped


def test_refusal_among_blocks() -> None:
    """A block of the kind `refusal` is text like any other."""
    reply = AIMessage([{"type": "refusal", "refusal": "I cannot."}])
    assert agent_graph([reply]).invoke(ask())["messages"][-1].text == "I cannot."


def test_image_is_kept() -> None:
    """A reply that holds an image and no text is no empty reply."""
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
    result = agent_graph([AIMessage([image])]).invoke(ask())
    assert result["messages"][-1].content == [image]


def test_thinking_is_untouched(recorder: Recorder) -> None:
    """Thinking blocks are kept unchanged and in place when one of two calls is blocked (C71)."""
    thoughts = [
        {"type": "thinking", "thinking": f"use {KEY}", "signature": "sig=="},
        {"type": "redacted_thinking", "data": "sk-proj-AAAAAAAAAAAAAAAAAAAA"},
        {"type": "text", "text": "I will."},
    ]
    uses = [
        {"type": "tool_use", "id": "c1", "name": "pay", "input": {"what": "a"}},
        {"type": "tool_use", "id": "c2", "name": "drop", "input": {"what": "a"}},
    ]
    reply = turn(("pay", {"what": "a"}, "c1"), ("drop", {"what": "a"}, "c2"))
    reply = reply.model_copy(update={"content": [*thoughts, *uses]})
    model = ScriptedModel(turns=[reply, "done"])
    from edgeward.graphs.build import build_graph
    from tests.fakes import policy

    tools = [recorder.tool("pay"), recorder.tool("drop")]
    words = policy({"pay": "allow", "drop": "block"})
    build_graph("react", model=model, tools=tools, policy=words).invoke(ask())
    sent = model.requests[1][2].content  # after the system message and the task
    assert sent[:3] == thoughts
    assert sent[3:] == uses
    assert recorder.names() == ["pay"]


def test_blocks_follow_their_calls(recorder: Recorder) -> None:
    """A content block that repeats a call has the call's id and masked arguments."""
    reply = AIMessage(
        [
            {"type": "text", "text": " "},
            {"type": "tool_use", "id": "c1", "name": "pay", "input": {"data": KEY}},
            {"type": "tool_use", "id": "c1", "name": "pay", "input": {"what": "b"}},
            {"type": "function_call", "call_id": "c2", "name": "pay", "arguments": f'"{KEY}"'},
        ],
        tool_calls=[
            {"name": "pay", "args": {"data": KEY}, "id": "c1"},
            {"name": "pay", "args": {"what": "b"}, "id": "c1"},
            {"name": "pay", "args": {"what": "c"}, "id": "c2"},
        ],
    )
    result = agent_graph([reply, "done"], tools=[recorder.tool("pay")]).invoke(ask())
    kept = result["messages"][1]
    assert [c["id"] for c in kept.tool_calls] == ["c1", "c1_2", "c2"]
    assert [b.get("id") or b.get("call_id") for b in kept.content] == ["c1", "c1_2", "c2"]
    assert KEY not in str(kept)


def test_calls_of_a_model_without_tools() -> None:
    """A call from a model that was given no tools is not kept in any form."""
    raw = {"tool_calls": [{"id": "c1", "function": {"name": "pay", "arguments": "{}"}}]}
    reply = AIMessage(
        [{"type": "text", "text": "x"}, {"type": "tool_use", "id": "c1", "name": "p", "input": {}}],
        tool_calls=[{"name": "pay", "args": {}, "id": "c1"}],
        additional_kwargs={**raw, "other": 1},
    )
    kept = agent_graph([reply], strategy="simple").invoke(ask())["messages"][-1]
    assert kept.tool_calls == []
    assert kept.content == [{"type": "text", "text": "x"}]
    assert kept.additional_kwargs == {"other": 1}


def test_secrets_in_a_reply(recorder: Recorder, tmp_path: Path) -> None:
    """A key in a text, a name, arguments, broken arguments or their error is not stored (I9)."""
    reply = AIMessage(
        f"my key is {KEY}",
        tool_calls=[
            {"name": "pay", "args": {"what": KEY}, "id": "c1"},
            {"name": "pay", "args": {"data": {"id": KEY}, KEY: 1}, "id": "c2"},
            {"name": KEY, "args": {}, "id": "c3"},
        ],
        invalid_tool_calls=[broken(f'{{"what": "{KEY}"', id="c4")],
        additional_kwargs={"reasoning_content": f"use {KEY}"},
    )
    saver = SqliteThreads(tmp_path / "t.sqlite")
    graph = agent_graph([reply, "done"], tools=[recorder.tool("pay")], checkpointer=saver)
    result = graph.invoke(ask(), on())
    assert len(answers(result["messages"])) == 4
    assert recorder.runs == []
    saver.conn.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    stored = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert KEY.encode() not in stored
    assert b"REDACTED" in stored


@pytest.mark.parametrize("strategy", ["react", "simple", "plan_and_solve"])
async def test_secret_in_a_models_error(strategy: str, tmp_path: Path) -> None:
    """A key in the text of a model's error is masked before anybody sees or stores it."""
    failing = [RuntimeError(f"401: incorrect key {KEY}")] * 3
    path = tmp_path / "t.sqlite"
    graph = agent_graph(failing, strategy=strategy, order="call", checkpointer=path)
    with pytest.raises(Exception, match="REDACTED") as caught:
        graph.invoke(ask(), on())
    error: BaseException | None = caught.value
    while error is not None:
        assert KEY not in str(error)
        error = error.__cause__ or error.__context__
    with pytest.raises(Exception, match="REDACTED"):
        await graph.ainvoke(ask(), on())


def test_models_error_without_a_secret() -> None:
    """A model's error goes through as it is, so that a caller can catch it by its type."""
    with pytest.raises(KeyError):
        agent_graph([fails(KeyError("x"))]).invoke(ask())


def test_chunks_become_messages(recorder: Recorder) -> None:
    """A reply that comes as a chunk is stored as a plain message."""
    result = agent_graph([AIMessageChunk("hello")]).invoke({"messages": [HumanMessage("go")]})
    assert type(result["messages"][-1]) is AIMessage


def test_one_id_for_thousands_of_calls() -> None:
    """Ids are made unique in steps that grow with the number of calls, not with its square."""
    calls = [{"name": "pay", "args": {}, "id": "c1"} for _ in range(20_000)]
    message, _ = sealed(AIMessage("", tool_calls=calls), ALLOW_ALL, {}, keep_calls=True)
    assert message is not None
    ids = [call["id"] for call in message.tool_calls]
    assert ids[:3] == ["c1", "c1_2", "c1_3"]
    assert len(set(ids)) == 20_000
