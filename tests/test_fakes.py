"""The fakes do what the tests take them to do."""

from __future__ import annotations

import socket

import pytest

from edgeward.guards.ticket import TicketKey
from edgeward.guards.verdict import ToolCall
from tests.fakes import NotingKey, Recorder, answers, ask, fails, keyed_graph, turn


def test_network_is_blocked() -> None:
    """No test can leave the machine; this machine itself can be reached."""
    with socket.socket() as connection, pytest.raises(AssertionError, match=r"192\.0\.2\.1"):
        connection.connect(("192.0.2.1", 80))
    with socket.socket() as server, socket.socket() as client:
        server.bind(("127.0.0.1", 0))
        server.listen()
        client.connect(server.getsockname())


def test_recorder_sees_what_was_not_signed() -> None:
    """A run without a signature is noted as such, and one with a signature is not."""
    key = NotingKey()
    recorder = Recorder(key)
    tool = recorder.tool("pay")
    tool.invoke({"what": "a", "amount": 1})
    assert recorder.unsigned == [("pay", {"what": "a", "amount": 1})]
    key.sign(ToolCall("pay", {"what": "b", "amount": 1}), thread="", policy="")
    tool.invoke({"what": "b", "amount": 1})
    assert len(recorder.unsigned) == 1
    assert recorder.names() == ["pay", "pay"]


def test_noting_key_is_a_real_key() -> None:
    """It signs and checks like any key, and does not take a check for a signature."""
    key, call = NotingKey(), ToolCall("pay", id="c1")
    ticket = key.sign(call, thread="t", policy="p")
    assert key.honours(ticket, call, thread="t", policy="p")
    assert not TicketKey().honours(ticket, call, thread="t", policy="p")
    assert len(key.signed) == 1


def test_graphs_run() -> None:
    """A graph of the fakes runs a call that is allowed, and signs it."""
    key = NotingKey()
    recorder = Recorder(key)
    graph = keyed_graph(
        [turn(("pay", {"what": "a"}, "c1")), "done"], key=key, tools=[recorder.tool("pay")]
    )
    result = graph.invoke(ask())
    assert answers(result["messages"]) == [("c1", "pay ran")]
    assert recorder.unsigned == []
    assert len(key.signed) == 1


def test_fails() -> None:
    """The function raises what it was given."""
    with pytest.raises(KeyError):
        fails(KeyError())()
