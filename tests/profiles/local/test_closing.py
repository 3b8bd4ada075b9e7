"""A local model is closed by whoever built it, and is quiet."""

from __future__ import annotations

import os
import pickle
import stat
from pathlib import Path

import pytest
from langchain_core.messages import HumanMessage

from edgeward import AgentConfig, AgentProfile, ReActAgent
from edgeward.graphs.build import build_graph
from edgeward.profiles.llm import (
    LLMProviderError,
    build_model,
    resolve_llm,
)
from edgeward.profiles.local_engine import LocalEngine
from tests.wire.ways import ask

pytest.importorskip("xllamacpp", reason="the extra `local` is not installed", exc_type=ImportError)


def test_closing_frees_the_model(made):
    """Memory and socket are given back; closing twice is fine; a question afterwards is told."""
    model = made(max_tokens=4)
    model.invoke("hello")
    folder = Path(model.engine._folder)
    assert folder.is_dir()
    model.close()
    model.close()
    assert not model.engine.is_loaded
    assert not folder.exists()
    for way in ("invoke", "astream"):
        with pytest.raises(LLMProviderError, match="closed"):
            ask(model, "hello", way)


def test_closing_ends_what_is_being_answered(made):
    """Whoever waits gets an error, and nobody waits for the end."""
    model = made(max_tokens=3000)
    stream = model.stream("hello")
    next(stream)
    model.close()
    with pytest.raises(LLMProviderError, match="closed"):
        list(stream)


@pytest.mark.parametrize("door", ["agent", "graph"])
def test_whoever_built_the_model_closes_it(weights, door):
    """Of an agent or a graph that made it from its profile; one that was given stays open."""
    agent = {
        "id": "bot",
        "name": "Helper",
        "llm": {"provider": "local", "model": str(weights), "max_tokens": 4},
    }
    bare = AgentProfile.from_mapping(agent)
    made_here = build_model(resolve_llm(bare.llm, {}))
    closed: list[str] = []
    close = LocalEngine.close
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(LocalEngine, "close", lambda self: (closed.append("x"), close(self))[1])
        if door == "agent":
            with ReActAgent(AgentConfig(profile=bare)) as one:
                assert one.run_sync("hello").final_answer
        else:
            graph = build_graph("simple", profile=bare)
            graph.invoke({"messages": [HumanMessage("hello")]})
            graph.close()
        assert closed == ["x"]
        with ReActAgent(AgentConfig(profile=bare, llm=made_here)) as one:
            one.run_sync("hello")
        assert closed == ["x"]
    assert made_here.invoke("hello").text
    made_here.close()


def test_no_port_is_opened(made):
    """The server inside listens on a socket file that only this user can reach."""
    model = made(max_tokens=4)
    model.invoke("hello")
    assert model.engine._server.listening_address.startswith("unix://")
    assert stat.S_IMODE(os.stat(model.engine._folder).st_mode) == 0o700


def test_nothing_is_written_to_the_terminal(made, capfd):
    """The engine keeps its log to itself."""
    made(max_tokens=4).invoke("hello")
    shown = capfd.readouterr()
    assert shown.out + shown.err == ""


def test_a_model_goes_through_pickle(made):
    """As what it was made from: the file, not the memory."""
    model = made(max_tokens=4)
    said = model.invoke("hello").text
    again = pickle.loads(pickle.dumps(model))
    assert not again.engine.is_loaded
    assert again.invoke("hello").text == said
    again.close()
