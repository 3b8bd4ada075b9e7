"""Threads of a checkpoint database are decided again as they were, from what they hold."""

from __future__ import annotations

import json
import pickle
import shlex
import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path
from typing import Any

import ormsgpack
import pytest
from hypothesis import HealthCheck, given, settings
from langchain.agents import create_agent
from langchain_core.messages import AIMessage, HumanMessage
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.types import Command

from edgeward import Caller, FirewallMiddleware, RunContext, ScriptedModel, build_graph, load_policy
from edgeward.graphs.checkpointed import steps_in, threads_in
from edgeward.graphs.serializer import strict_serializer
from edgeward.guards.caller import NOBODY
from edgeward.nodes._marks import SUMMARY_NAME
from edgeward.policies.replay.flips import Replayed, replay

from ..doors.talks import ANN, Round, Step, Tools, model_of, steps
from ..doors.test_replayed import POLICY, ROUNDS, TALKS, rounds_of
from ..fakes import Recorder, agent_graph, ask, on, turn

CLERK = Caller("ann", roles=("clerk",))
KEY = "sk-proj-TESTTESTTESTTESTTEST"
PLAIN = {key: value for key, value in POLICY.items() if key != "receipts"}


def played(policy: dict[str, Any], rounds: Any, **more: Any) -> Path:
    """The database of a conversation that was played through a graph."""
    path = Path(tempfile.mkdtemp()) / "threads.sqlite"
    tools = Tools(rounds)
    graph = build_graph(
        "react",
        policy=load_policy(policy),
        model=model_of(rounds),
        tools=tools.listed,
        checkpointer=path,
        **more,
    )
    for one in rounds:
        graph.invoke({"messages": [("user", one.said)]}, on("monday"), context=ANN)
    return path


def again(path: Path, policy: dict[str, Any], caller: Caller = CLERK) -> Replayed:
    """What a policy says of a database."""
    return replay(load_policy(policy), threads_in(path, caller))


@pytest.mark.parametrize("policy", [POLICY, PLAIN], ids=["history", "messages"])
@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(drawn=TALKS)
def test_the_same_policy_flips_nothing(policy: dict[str, Any], drawn: Any) -> None:
    """Whether the ledger kept the results, or only the messages did."""
    rounds = rounds_of(drawn)
    found = again(played(policy, rounds), policy)
    assert found.flips == []
    assert found.calls <= len(steps(rounds))


@pytest.mark.parametrize("policy", [POLICY, PLAIN], ids=["history", "messages"])
def test_a_loosened_policy_is_found_out(policy: dict[str, Any]) -> None:
    """With the rules that spoke then."""
    path = played(policy, ROUNDS)
    found = again(path, {**policy, "private": ["nothing"]})
    assert (found.skipped, found.calls) == ({}, len(steps(ROUNDS)))
    ((flip),) = found.flips
    assert (flip.pair, flip.tool) == ("block:allow", "send")
    assert [spoke.rule for spoke in flip.old.deciding] == ["tools.send.args.body"]


def test_who_asked_is_said_by_whoever_replays() -> None:
    """A thread does not hold it."""
    policy = {"version": 2, "tools": {"wipe": {"callers": {"roles": ["clerk"]}}}}
    path = played(policy, [Round("Wipe it.", [[Step("c1", "wipe")]])])
    assert again(path, policy).flips == []
    assert [flip.pair for flip in again(path, policy, NOBODY).flips] == ["allow:block"]


STRATEGY = """
strategy: s
start: act
nodes: {act: act, guard: guard, tool: {kind: tool, max_chars: 1000}}
edges: {act.call: guard, act.answer: end, act.limit: end, guard.allow: tool,
        guard.block: act, tool.done: act}
"""
LONG = "word " * 400
CUT = [
    Round("Find them.", [[Step("c1", "find", {"name": "Bob"}, LONG)], [Step("c2", "read")]]),
]


def test_what_was_cut_is_not_known(tmp_path: Path) -> None:
    """A result of which the thread keeps the beginning, unless the ledger kept the whole."""
    strategy = tmp_path / "s.yaml"
    strategy.write_text(STRATEGY, encoding="utf-8")
    for policy, missing in ((PLAIN, 1), (POLICY, 0)):
        path = Path(tempfile.mkdtemp()) / "t.sqlite"
        tools = Tools(CUT)
        graph = build_graph(
            strategy,
            policy=load_policy(policy),
            model=model_of(CUT),
            tools=tools.listed,
            checkpointer=path,
        )
        graph.invoke({"messages": [("user", "Find them.")]}, on("t"))
        found = again(path, policy)
        assert (found.same, found.flips) == (2 - missing, [])
        assert sum(skipped.calls for skipped in found.skipped.values()) == missing


def test_what_was_summed_up_is_counted() -> None:
    """Calls of which only the verdict is left, and those that came after them."""
    records = [{"id": f"c{n}", "tool": "read", "word": "allow"} for n in range(3)]
    summary = AIMessage("They read.", name=SUMMARY_NAME)
    messages = [HumanMessage("Go on."), summary, turn(("read", {}, "c2"))]
    for shown, records_of in ((messages, records), (messages[1:], records[2:])):
        state = {"messages": shown, "verdicts": records_of}
        policy = load_policy({"version": 2, "tools": {"read": "allow"}})
        found = replay(policy, [steps_in(state, "t", NOBODY)])
        assert found.replayed == 0
        assert {why: s.calls for why, s in found.skipped.items()} == {
            "earlier messages of its thread were summed up": len(records_of)
        }


def test_hidden_values_are_not_guessed() -> None:
    """A placeholder stands for what only the graph can put back."""
    state = {
        "messages": [HumanMessage("Hi."), turn(("send", {"to": "<EMAIL_ABCDEFGH>"}, "c1"))],
        "verdicts": [{"id": "c1", "tool": "send", "word": "allow"}],
        "vault": {"<EMAIL_ABCDEFGH>": "x"},
    }
    policy = load_policy({"version": 2, "default": "allow"})
    found = replay(policy, [steps_in(state, "t", NOBODY)])
    assert list(found.skipped) == ["personal data in its arguments is hidden in the record"]


def test_an_edited_call_is_not_replayed(tmp_path: Path) -> None:
    """What a person made of it stands in no message."""
    path = tmp_path / "t.sqlite"
    ran = Recorder()
    graph = agent_graph(
        [turn(("pay", {"amount": 3}, "c1")), "done"],
        tools=[ran.tool("pay")],
        words={"pay": "ask"},
        checkpointer=path,
    )
    graph.invoke(ask(), on("t"))
    edited = {"decision": "edit", "args": {"amount": 2}}
    graph.invoke(Command(resume={"c1": edited}), on("t"))
    found = again(path, {"version": 2, "tools": {"pay": "ask"}})
    assert [why[:30] for why in found.skipped] == ["a person edited its arguments,"]


def test_any_agents_threads_are_read_from_their_messages(tmp_path: Path) -> None:
    """As an export is; the middleware leaves its records with the refusals."""
    path = tmp_path / "t.sqlite"
    ran, policy = Recorder(), load_policy({"version": 2, "tools": {"read": "allow"}})
    with sqlite3.connect(path, check_same_thread=False) as connection:
        agent: Any = create_agent(
            ScriptedModel(turns=[turn(("read", {}, "c1"), ("rm", {}, "c2")), "done"]),
            tools=[ran.tool("read"), ran.tool("rm")],
            middleware=[FirewallMiddleware(policy)],
            checkpointer=SqliteSaver(connection),
            context_schema=RunContext,
        )
        agent.invoke(ask(), on("monday"))
    connection.close()
    found = again(path, {"version": 2, "default": "allow"})
    assert found.same == 1
    ((flip),) = found.flips
    assert (flip.name, flip.pair) == ("monday:c2", "block:allow")
    assert flip.old.deciding[0].rule == "default"


def test_the_database_is_only_read(tmp_path: Path) -> None:
    """No byte in its folder is written; a thread that is broken is named."""
    copy = tmp_path / "copy.sqlite"
    source, target = sqlite3.connect(played(PLAIN, ROUNDS)), sqlite3.connect(copy)
    with closing(source), closing(target):
        source.backup(target)
    before = {p.name: p.read_bytes() for p in tmp_path.iterdir()}
    assert again(copy, PLAIN).replayed == len(steps(ROUNDS))
    assert {p.name: p.read_bytes() for p in tmp_path.iterdir() if p.name in before} == before
    with closing(sqlite3.connect(copy)) as connection, connection:
        connection.execute("UPDATE checkpoints SET checkpoint = X'00', type = 'nothing'")
    with pytest.raises(ValueError, match="thread 'monday': cannot be read"):
        again(copy, PLAIN)


def written(folder: Path, thread: str, checkpoint: bytes, kind: str = "msgpack") -> Path:
    """A database with one thread, whose checkpoint is these bytes."""
    folder.mkdir(exist_ok=True)
    path = folder / "written.sqlite"
    with closing(sqlite3.connect(path)) as connection, connection:
        SqliteSaver(connection).setup()
        connection.execute(
            "INSERT INTO checkpoints (thread_id, checkpoint_id, type, checkpoint, metadata)"
            " VALUES (?, '1', ?, ?, '{}')",
            (thread, kind, checkpoint),
        )
    return path


def holding(**values: Any) -> bytes:
    """A checkpoint of these channels, as whoever can write bytes may make one."""
    whole = {"v": 4, "id": "1", "ts": "", "channel_versions": {}, "versions_seen": {}}
    return packed({**whole, "channel_values": values})


def packed(value: Any) -> bytes:
    """As LangGraph writes it."""
    return strict_serializer().dumps_typed(value)[1]


@pytest.mark.parametrize(
    ("values", "why"),
    [
        (
            {"messages": [HumanMessage.model_construct(content="", type=f"x {KEY}")]},
            "ValueError: monday: role x [REDACTED:openai_key] is none of",
        ),
        ({"messages": [1]}, "AttributeError: 'int' object has no attribute"),
        ({"messages": [], "verdicts": [KEY]}, "AttributeError: 'str' object has no attribute"),
        ({"messages": [], "verdicts": [{"id": "a", "word": "ask", "rules": [{}]}]}, "KeyError: "),
        ({"messages": [], "ledger": 1}, "TypeError: 'int' object is not iterable"),
    ],
)
def test_what_is_wrong_in_a_thread_is_told_with_its_name(
    values: dict[str, Any], why: str, tmp_path: Path
) -> None:
    """On one line and without a secret, also where it is found on the way through its steps."""
    path = written(tmp_path, "monday", holding(**values))
    with pytest.raises(ValueError, match="cannot be read") as caught:
        again(path, PLAIN)
    told = str(caught.value)
    assert told.startswith(f"{path}: thread 'monday': cannot be read ({why}")
    assert KEY not in told
    assert "\n" not in told
    assert caught.value.__suppress_context__


def test_a_database_without_the_columns_is_named(tmp_path: Path) -> None:
    """It only looks like one of LangGraph's."""
    path = tmp_path / "other.sqlite"
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("CREATE TABLE checkpoints (other TEXT)")
    with pytest.raises(ValueError, match=f"{path}: cannot be read .OperationalError: no such"):
        again(path, PLAIN)


def test_a_threads_name_is_shown_as_one_line(tmp_path: Path) -> None:
    """Whoever chose it may have put a secret, or a line end, into it."""
    with pytest.raises(ValueError, match=r"thread '\[REDACTED:openai_key\]\\nx': cannot"):
        again(written(tmp_path, f"{KEY}\nx", holding(messages=1)), PLAIN)


@pytest.mark.parametrize("name", ["os.system", "subprocess.run", "builtins.eval"])
def test_nothing_in_a_database_is_run(name: str, tmp_path: Path) -> None:
    """Whoever wrote it names a function where a type of LangGraph's may stand."""
    mark = tmp_path / "mark"
    module, _, function = name.rpartition(".")
    arguments = ["touch", str(mark)]
    evil = [
        ormsgpack.Ext(code, packed([module, function, given, "__call__"]))
        for code in range(8)
        for given in (shlex.join(arguments), [arguments], {"args": arguments})
    ]
    again(written(tmp_path, "t", holding(messages=[], evil=evil)), PLAIN)
    assert not mark.exists()


def constructed(name: object, number: object) -> bytes:
    """A checkpoint with a message whose count of tokens is made from what a class is given."""
    evil = ormsgpack.Ext(0, ormsgpack.packb(name, option=ormsgpack.OPT_NON_STR_KEYS))
    usage = {"input_tokens": evil, "output_tokens": 1, "total_tokens": number}
    fields = {"content": "", "type": "ai", "usage_metadata": usage}
    message = ("langchain_core.messages.ai", "AIMessage", fields, "model_validate_json")
    whole = {"v": 4, "id": "1", "ts": "", "channel_versions": {}, "versions_seen": {}}
    values = {"messages": [ormsgpack.Ext(5, ormsgpack.packb(message))]}
    return ormsgpack.packb({**whole, "channel_values": values})


ENDLESS = "1e999999999"


@pytest.mark.parametrize(
    "given",
    [
        ("decimal", "Decimal", ENDLESS),
        ("decimal", "Decimal", "1_0" + ENDLESS),
        ("decimal", "Decimal", " " * 40 + ENDLESS),
        ("decimal", "Decimal", " " * 300 + ENDLESS),
        ("decimal", "Decimal", [0, [1], 999_999_999]),
        {0: "decimal", 1: "Decimal", 2: ENDLESS},
        {2: ENDLESS, True: "Decimal", False: "decimal"},
        ("decimal", ormsgpack.Ext(0, ormsgpack.packb(("a", "b", "Decimal"))), ENDLESS),
        ("decimal", "Decimal", "1\N{ARABIC-INDIC DIGIT ONE}e999999999"),
    ],
)
def test_a_number_without_end_is_refused_before_it_is_made(given: object, tmp_path: Path) -> None:
    """Where a message's field made an integer of it, nothing would ever come of the reading."""
    with pytest.raises(ValueError, match=r"thread 't': .*a decimal number in it is too long"):
        again(written(tmp_path, "t", constructed(given, 1)), PLAIN)


class Pickled:
    """What a pickle may say of how it is made."""

    def __reduce__(self) -> Any:
        return Path.touch, (Path("mark"),)


def test_nothing_in_a_database_is_unpickled_nor_imported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither where it says that it is a pickle, nor where it is JSON that names a function."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("A_KEY", KEY)
    with pytest.raises(ValueError, match="Unknown serialization type: pickle"):
        again(written(tmp_path, "t", pickle.dumps(Pickled()), "pickle"), PLAIN)
    made = {"lc": 2, "type": "constructor", "id": ["os", "system"], "args": ["touch mark"]}
    asked = {"lc": 1, "type": "secret", "id": ["A_KEY"]}
    values = {"messages": [{"type": "human", "data": {"content": asked}}], "evil": made}
    text = json.dumps(ormsgpack.unpackb(holding(**values))).encode()
    path = written(tmp_path / "more", "t", text, "json")
    with pytest.raises(ValueError, match="cannot be read") as caught:
        again(path, PLAIN)
    assert KEY not in str(caught.value)
    assert not Path("mark").exists()
