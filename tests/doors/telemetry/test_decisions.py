"""Every door tells OpenTelemetry of its decisions, and of no secret."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from langchain_core.tools import tool
from opentelemetry import trace

from edgeward import (
    Firewall,
    load_policy,
)
from tests.doors import talks
from tests.doors.test_receipts import TALK, WORDS
from tests.fakes import agent_graph, ask, on, turn
from tests.guards.secret_examples import EXAMPLES
from tests.wire.server import Wire

from .conftest import Told, about

SECRETS = [text for found in EXAMPLES.values() for text in found.whole]


@pytest.mark.parametrize("door", talks.PLAYERS)
def test_every_door_tells_of_its_decisions(told: Told, wire: Wire, door: str) -> None:
    """One span and one count for each call, with verdict and door; the latency of each."""
    talks.PLAYERS[door](load_policy(WORDS), TALK, wire)
    spans = [about(span) for span in told.named("decide ")]
    assert sorted((s["gen_ai.tool.name"], s["edgeward.verdict"]) for s in spans) == [
        ("read", "allow"),
        ("read", "allow"),
        ("rm", "block"),
    ]
    assert {s["edgeward.door"] for s in spans} == {door}
    assert [s["edgeward.rules"] for s in spans if s["edgeward.verdict"] == "block"] == [
        ("default",)
    ]
    counts = {
        (p.attributes["edgeward.verdict"], p.attributes["edgeward.door"]): p.value
        for p in told.points("edgeward.decisions")
    }
    assert counts == {("allow", door): 2, ("block", door): 1}
    assert sum(p.count for p in told.points("edgeward.decision.duration")) == 3


def test_what_would_be_is_told_too(told: Told) -> None:
    """Where rules are in shadow: the word, counted, and the rules."""
    firewall = Firewall(load_policy({**WORDS, "mode": "shadow"}))
    firewall.check("read")
    firewall.check("rm")
    found = [about(span) for span in told.named("decide ")]
    assert [(s["edgeward.verdict"], s["edgeward.shadow.verdict"]) for s in found] == [
        ("allow", "allow"),
        ("allow", "block"),
    ]
    assert found[1]["edgeward.shadow.rules"] == ("default",)
    counts = [p.attributes["edgeward.shadow.verdict"] for p in told.points("edgeward.decisions")]
    assert sorted(counts) == ["allow", "block"]


@pytest.mark.parametrize("door", talks.PLAYERS)
@pytest.mark.parametrize("content", ["none", "masked"])
def test_no_door_tells_a_secret(told: Told, wire: Wire, door: str, content: str) -> None:
    """Wherever it stands: in a name, an id, an argument, what the user says, a result."""
    told.listen(content=content)
    policy = load_policy({"version": 2, "tools": {"read": "allow"}})
    secret = SECRETS[5]
    steps = [talks.Step(secret, "read", {"what": secret}, f"it says {secret}")]
    steps += [talks.Step("c2", "read", {"what": "x"}, f"it says {secret}"), talks.Step("c3", "rm")]
    talks.PLAYERS[door](policy, [talks.Round(f"use {secret}", [steps])], wire)
    assert told.named("decide ")
    assert secret not in told.text()
    assert json.dumps(secret)[1:-1] not in told.text()


def test_of_no_shipped_pattern_anything_is_told(told: Told) -> None:
    """In a call's name, id, arguments, thread, and in what the tool gives back or raises."""
    told.listen(content="masked")

    def give(what: str) -> str:
        return f"found {secret}"

    def fail(what: str) -> str:
        raise ValueError(f"cannot use {secret}")

    for secret in SECRETS:
        firewall = Firewall(load_policy({"version": 2, "tools": {"*": "allow"}}), thread=secret)
        firewall.check("read", {"what": secret, secret: 1}, id=secret)
        firewall.check(secret, {"deep": [[secret]]})

        firewall.guard(give)("x")
        with pytest.raises(ValueError, match="cannot use"):
            firewall.guard(fail)("x")
    text = told.text()
    assert len(told.named("execute_tool fail")) == len(SECRETS)
    assert not [s for s in SECRETS if s in text or json.dumps(s)[1:-1] in text]


class Found:
    """A value of the program's own."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __str__(self) -> str:
        return self.text


def giving(value: Any) -> Callable[[], Any]:
    """A tool whose result is this."""
    return lambda: value


@pytest.mark.parametrize("before", ["see\n", 'see "'])
def test_no_escape_hides_what_is_masked(told: Told, before: str) -> None:
    """A span tells of a value as JSON, which writes a new line as a letter."""
    told.listen(content="masked")
    personal = ["ann@corp.example", "4111111111111111"]
    firewall = Firewall(load_policy({"version": 2, "tools": {"*": "allow"}}))
    for hidden in [*SECRETS, *personal]:
        given: list[Any] = [f"{before}{hidden}", {"deep": [hidden]}, (hidden,), {1: hidden}]
        for value in (*given, [Found(f"{before}{hidden}")]):
            firewall.check("read", {"what": [f"{before}{hidden}"], f"{before}{hidden}": 1})
            firewall.guard(giving(value), name="find")()
    text = told.text()
    assert len(told.named("execute_tool find")) == 5 * len([*SECRETS, *personal])
    assert "[REDACTED:" in text
    assert not [hidden for hidden in [*SECRETS, *personal] if hidden in text]


class Speechless(Exception):
    """An error that cannot say what it is."""

    def __str__(self) -> str:
        raise LookupError("no words")


def test_an_error_without_a_text_stays_what_it_is(told: Told) -> None:
    """Its kind is told, and the program gets the error that was raised."""
    told.listen(content="masked")

    def fail() -> None:
        raise Speechless

    with pytest.raises(Speechless):
        Firewall(load_policy("allow_all")).guard(fail)()
    (ran,) = told.named("execute_tool")
    assert about(ran)["error.type"] == "Speechless"
    assert ran.status.status_code is trace.StatusCode.ERROR


def test_without_content_nothing_that_was_written_is_told(told: Told) -> None:
    """Neither what the user and the model say, nor arguments, results, reasons and errors."""

    @tool
    def read(what: str) -> str:
        """Read."""
        return "the-result"

    @tool
    def fail(what: str) -> str:
        """Fail."""
        raise ValueError("the-error")

    calls = turn(("read", {"what": "the-argument"}, "c1"), ("fail", {"what": "b"}, "c2"))
    graph = agent_graph([calls, "the-answer"], tools=[read, fail])
    graph.invoke(ask("the-question"), on("t"))
    written = [f"the-{word}" for word in ("result", "error", "argument", "answer", "question")]
    assert not [word for word in written if word in told.text()]
    told.listen(content="masked")
    graph.invoke(ask("the-question"), on("u"))
    assert not [word for word in written if word not in told.text()]
