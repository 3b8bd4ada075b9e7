"""Threads: they remember, they do not mix, they survive the process, and they hold no secret."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
import time
from pathlib import Path
from typing import Any

import ormsgpack
import pytest
from langchain_core.messages import AIMessage, HumanMessage
from langgraph.checkpoint.memory import InMemorySaver

from edgeward.graphs.build import build_graph
from edgeward.graphs.checkpoints import SqliteThreads, home, open_checkpointer
from edgeward.profiles.schema import AgentProfile
from edgeward.profiles.scripted import ScriptedModel
from tests.fakes import ALLOW_ALL, Recorder, agent_graph, answers, ask, on, turn

KEY = "sk-proj-TESTTESTTESTTESTTEST"


def everything_in(folder: Path) -> bytes:
    """The bytes of every file below a folder."""
    return b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())


async def test_thread_remembers(tmp_path: Path) -> None:
    """A thread goes on where it was, in another graph on the same file, sync and async."""
    path = tmp_path / "t.sqlite"
    agent_graph(["one"], checkpointer=path).invoke(ask("a"), on())
    await agent_graph(["", "two"], checkpointer=path).ainvoke(ask("b"), on())
    result = agent_graph(["", "", "three"], checkpointer=path).invoke(ask("c"), on())
    assert [m.text for m in result["messages"]] == ["a", "one", "b", "two", "c", "three"]
    other = agent_graph(["new"], checkpointer=path).invoke(ask("a"), on("other"))
    assert len(other["messages"]) == 2


def test_counters_are_of_one_run(tmp_path: Path) -> None:
    """Each message of the user begins a run with counters of its own; what is spent adds up."""
    call = turn(("pay", {"what": "a"}, "c1"))
    graph = agent_graph(
        [call, "one", call, "two"],
        tools=[Recorder().tool("pay")],
        checkpointer=tmp_path / "t.sqlite",
    )
    graph.invoke(ask("a"), on())
    first = graph.get_state(on()).values["run"]
    graph.invoke(ask("b"), on())
    second = graph.get_state(on()).values["run"]
    assert first["steps"] == second["steps"] == 1
    assert first["calls"] == second["calls"] == {"pay": 1}
    assert second["spent"] > second["tokens"]["total_tokens"]
    assert second["stopped"] == ""


def test_counters_after_a_compression(tmp_path: Path, strategy_file: Any) -> None:
    """A thread that was shortened does not take a new message for one that it has seen."""
    strategy = strategy_file(
        "strategy: s\nstart: shorten\nnodes:\n  act: act\n  guard: guard\n  tool: tool\n"
        "  shorten: {kind: compress, context_limit: 1024, prune_protect: 0, prune_minimum: 0,"
        " reserved_buffer: 900, enable_summary: false}\n"
        "edges: {shorten.done: act, act.call: guard, act.answer: end, act.limit: end,"
        " guard.allow: tool, guard.block: act, tool.done: shorten}\n"
    )
    call = turn(("pay", {"what": "a" * 400}, "c1"))
    graph = agent_graph(
        [call, "x" * 200] * 4,
        tools=[Recorder().tool("pay")],
        strategy=strategy,
        order="call",
        checkpointer=tmp_path / "t.sqlite",
    )
    seen = []
    for text in ("a", "b", "c", "d"):
        graph.invoke(ask(text), on())
        run = graph.get_state(on()).values["run"]
        seen.append(run["id"])
        assert run["calls"] == {"pay": 1}
    assert len(set(seen)) == 4


def test_strict_reading(tmp_path: Path) -> None:
    """A file that was made to import something on reading is refused or read as plain data."""
    path = tmp_path / "t.sqlite"
    saver = SqliteThreads(path)
    graph = agent_graph(["one", "two"], checkpointer=saver)
    graph.invoke(ask(), on())
    marker = tmp_path / "ran"
    call = ormsgpack.packb(["os", "system", [f"touch {marker}"]])
    forged = ormsgpack.packb([[ormsgpack.Ext(0, call)]])
    saver.conn.execute("UPDATE writes SET value=? WHERE channel='messages'", (forged,))
    pickled = b"cos\nsystem\n(S'touch " + str(marker).encode() + b"'\ntR."
    saver.conn.execute("UPDATE writes SET type='pickle', value=? WHERE channel='run'", (pickled,))
    saver.conn.commit()
    with pytest.raises(Exception):  # noqa: B017 - how it fails is the library's matter
        graph.invoke(ask(), on())
    assert not marker.exists()


@pytest.mark.parametrize("where", ["file", "memory", "sqlite", "own"])
def test_checkpointers(where: str, tmp_path: Path, own_home: Path) -> None:
    """A checkpointer may be named, be a path, or be one of LangGraph's."""
    given = {"file": tmp_path / "a.sqlite", "own": InMemorySaver()}.get(where, where)
    graph = agent_graph(["one", "two"], checkpointer=given)
    graph.invoke(ask(), on())
    assert len(graph.invoke(ask(), on())["messages"]) == 4
    assert (home() / "threads.sqlite").exists() == (where == "sqlite")


@pytest.mark.parametrize("where", ["redis", "mysql://x", "", "  ", "memroy"])
def test_unknown_checkpointer(where: str) -> None:
    """A word that names no checkpointer is refused with those that there are."""
    with pytest.raises(ValueError, match="none of: memory, sqlite"):
        open_checkpointer(where)


async def test_no_secret_in_the_file(tmp_path: Path) -> None:
    """The profile's key, one that a tool gives and one that a model writes stay out (C16)."""
    own = "qwertyuiop-my-own-gateway-key"
    profile = AgentProfile.from_mapping(
        {"id": "a", "name": "A", "llm": {"provider": "openai", "api_key": own}}
    )

    def leak(what: str) -> str:
        """Leaks."""
        return f"{KEY} {own} {what}"

    from edgeward.graphs.build import with_secrets

    calls = turn(("leak", {"what": f"{KEY} {own}"}, "c1"), ("leak", {"what": "x"}, "c2"))
    graph = build_graph(
        "react",
        model=ScriptedModel(turns=[calls, f"the key is {KEY}, or {own}", "done"]),
        tools=[leak],
        policy=with_secrets(ALLOW_ALL, {"llm_api_key": profile.llm.api_key.get_secret_value()}),
        checkpointer=tmp_path / "t.sqlite",
    )
    graph.invoke(ask(), on())
    found = dict(answers((await graph.ainvoke(ask(), on("b")))["messages"]))
    assert "blocked" in found["c1"]
    assert "REDACTED" in found["c2"]
    graph.checkpointer.conn.execute("PRAGMA wal_checkpoint(TRUNCATE)")  # type: ignore[union-attr]
    stored = everything_in(tmp_path)
    assert b"REDACTED" in stored
    assert KEY.encode() not in stored
    assert own.encode() not in stored


def slow(entered: threading.Event, order: list[str]) -> Any:
    """A model whose turns note when they begin and end."""

    def reply(messages: list[Any]) -> str:
        text = messages[-1].text
        order.append(f"{text} begins")
        entered.set()
        time.sleep(0.05)
        order.append(f"{text} ends")
        return f"to {text}"

    return [reply] * 9


@pytest.mark.parametrize("saver", ["memory", "file"])
async def test_runs_on_one_thread_queue(saver: str, tmp_path: Path) -> None:
    """Runs on one thread, sync, async or both, come one after the other and lose nothing."""
    order: list[str] = []
    where = InMemorySaver() if saver == "memory" else tmp_path / "t.sqlite"
    graph = agent_graph(slow(threading.Event(), order), checkpointer=where)
    threads = [threading.Thread(target=graph.invoke, args=(ask(f"s{n}"), on())) for n in range(3)]
    for thread in threads:
        thread.start()
    await asyncio.gather(*(graph.ainvoke(ask(f"a{n}"), on()) for n in range(3)))
    await asyncio.to_thread(lambda: [thread.join() for thread in threads])
    pairs = list(zip(order[::2], order[1::2], strict=True))
    assert all(a.split()[0] == b.split()[0] for a, b in pairs), order
    kept = graph.get_state(on()).values["messages"]
    assert [m.type for m in kept] == ["human", "ai"] * 6
    for human, reply in zip(kept[::2], kept[1::2], strict=True):
        assert reply.text == f"to {human.text}"


async def test_cancelled_while_it_waits() -> None:
    """A run that is cancelled in the queue leaves it; the next gets its turn."""
    graph = agent_graph([lambda messages: "x"] * 9, checkpointer=InMemorySaver())
    holder = graph.astream(ask("first"), on())
    await anext(holder)
    waiting = [asyncio.create_task(graph.ainvoke(ask(f"{n}"), on())) for n in range(3)]
    await asyncio.sleep(0.01)
    waiting[1].cancel()
    await holder.aclose()
    await asyncio.gather(waiting[0], waiting[2])
    texts = [
        m.text for m in graph.get_state(on()).values["messages"] if isinstance(m, HumanMessage)
    ]
    assert texts[-2:] == ["0", "2"]


async def test_abandoned_stream_gives_back_its_turn() -> None:
    """A stream that is left before its end does not keep the thread."""
    graph = agent_graph(["a", "b", "c", "d"], checkpointer=InMemorySaver())
    for _ in graph.stream(ask(), on()):
        break
    graph.invoke(ask(), on())
    async for _ in graph.astream(ask(), on()):
        break
    await asyncio.wait_for(graph.ainvoke(ask(), on()), 20)


async def test_many_users_of_one_graph() -> None:
    """Twenty runs at once of different threads hold nothing of one another (C08)."""
    recorder = Recorder()

    def propose(messages: list[Any]) -> AIMessage:
        word = messages[-1].text
        return turn(("note", {"what": word}, "c1"))

    def conclude(messages: list[Any]) -> str:
        result = next(m.text for m in messages if m.type == "tool").splitlines()[1]  # in its marks
        return f"{result} {next(m.text for m in messages if m.type == 'human')}"

    def note(what: str) -> str:
        """Notes."""
        recorder.note("note", what=what)
        return what.upper()

    graph = agent_graph([propose, conclude], tools=[note], checkpointer=InMemorySaver())
    words = [f"word{n}" for n in range(20)]
    results = await asyncio.gather(*(graph.ainvoke(ask(w), on(w)) for w in words))
    for word, result in zip(words, results, strict=True):
        assert result["messages"][-1].text == f"{word.upper()} {word}"
        values = graph.get_state(on(word)).values
        assert len(values["verdicts"]) == 1
        assert values["run"]["calls"] == {"note": 1}
        others = set(words) - {word}
        assert not any(f"'{other}'" in str(values) for other in others)


def size(path: Path, steps: int) -> int:
    """Bytes of a file with one thread of that many guarded steps."""
    turns = [turn(("pay", {"what": f"item {n}"}, f"c{n}")) for n in range(steps)]
    saver = SqliteThreads(path)
    graph = agent_graph(
        [*turns, "done"], tools=[Recorder().tool("pay")], checkpointer=saver, max_steps=steps
    )
    result = graph.invoke(ask(), on())
    assert len(answers(result["messages"])) == steps
    saver.close()
    assert sqlite3.connect(path).execute("PRAGMA integrity_check").fetchone() == ("ok",)
    return path.stat().st_size


def test_file_grows_with_the_thread(tmp_path: Path) -> None:
    """Twice the steps make a file of about twice the size."""
    assert size(tmp_path / "b.sqlite", 200) < 2.6 * size(tmp_path / "a.sqlite", 100)


@pytest.mark.slow
def test_long_thread(tmp_path: Path) -> None:
    """Five hundred guarded steps take less than 6 MB, and the thread can be read back."""
    path = tmp_path / "t.sqlite"
    assert size(path, 500) < 6_000_000
    graph = agent_graph(["x"] * 9, checkpointer=path, order="call")
    assert len(graph.invoke(ask(), on())["messages"]) == 1_003
