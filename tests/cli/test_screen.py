"""The screen: one thing a line, cut where it is long, whole where it matters."""

from __future__ import annotations

import io
from typing import Any

import pytest
from langchain_core.messages import ToolMessage
from rich.console import Console

from edgeward.cli.screen import Screen, call_text, summary, value_line
from edgeward.graphs.events import Event
from edgeward.graphs.result import AgentResult, TokenUsage
from edgeward.guards.verdict import ToolCall

LONG = "word " * 100


def shown(*events: Event, width: int = 60) -> str:
    out = io.StringIO()
    screen = Screen(Console(file=out, width=width, highlight=False, markup=False, emoji=False))
    with screen.busy():
        for event in events:
            screen.event(event)
    return out.getvalue()


def record(word: str, **more: Any) -> dict[str, Any]:
    return {"id": "c1", "tool": "send", "word": word, "reason": "", "rules": []} | more


CALL = Event("calls", calls=(ToolCall("send", {"to": "a@b.example"}, id="c1"),))


@pytest.mark.parametrize("width", [40, 80, 120])
def test_long_values_are_cut_to_the_width(width: int) -> None:
    """An ellipsis stands for the rest; no line is longer than the terminal."""
    call = Event("calls", text=LONG, calls=(ToolCall("send", {"body": LONG}, id="c1"),))
    result = Event("result", message=ToolMessage(LONG, tool_call_id="c1", name="send"))
    lines = shown(call, Event("verdict", record=record("allow")), result, width=width).splitlines()
    assert [line.split()[0] for line in lines] == ["says", "allow", "result"]
    assert all(line.endswith("…") and len(line) == width for line in lines)


def test_an_answer_is_whole() -> None:
    """Wrapped behind its label, without blanks at the ends of lines."""
    text = shown(Event("answer", text=LONG))
    assert text.split() == ["answer", *LONG.split()]
    assert not any(line != line.rstrip() for line in text.splitlines())


def test_a_refusal_says_why_where_and_whence() -> None:
    """Each deciding rule with its reason, its place, the value and its origin; no repetition."""
    rules = [
        {"rule": "egress", "word": "block", "reason": "not allowed", "where": "p.yaml:7",
         "argument": "to", "value": "a@b.example", "origin": "tool read (c0)"},
        {"rule": "other", "word": "ask", "reason": "unsaid"},
    ]  # fmt: skip
    refusal = ToolMessage("not allowed", tool_call_id="c1", name="send", status="error")
    text = shown(
        CALL,
        Event("verdict", record=record("block", reason="not allowed", rules=rules)),
        Event("result", message=refusal),
    )
    assert text.splitlines() == [
        'block    send(to="a@b.example")',
        "         not allowed",
        "         rule egress, p.yaml:7",
        "         to = a@b.example, first seen in tool read (c0)",
    ]


def test_a_tool_that_failed_is_told_from_one_that_was_refused() -> None:
    """A failure has a line of its own."""
    message = ToolMessage("send failed: boom", tool_call_id="c1", name="send", status="error")
    text = shown(CALL, Event("verdict", record=record("allow")), Event("result", message=message))
    assert text.splitlines()[1] == "failed   send: send failed: boom"


def test_a_call_that_cannot_be_read_is_shown_as_it_came() -> None:
    """Broken arguments are text."""
    assert (
        call_text(ToolCall("send", id="c1", raw="{broken", fault="not readable")) == "send({broken)"
    )
    assert call_text(ToolCall("send", {"a": None, "b": "ü"})) == 'send(b="ü")'


def test_markup_of_others_is_plain_text() -> None:
    """Square brackets and emoji names mean nothing."""
    assert "[red]:smile:[/red]" in shown(Event("answer", text="[red]:smile:[/red]"))


def test_values_say_where_they_came_from() -> None:
    """The user's own words are called that."""
    assert value_line({"argument": "to", "value": "x", "origin": "user"}) == (
        "to = x, first seen in what the user wrote"
    )
    assert value_line({"argument": "to"}) == "to"
    assert value_line({"origin": "tool t"}) == "the value, first seen in tool t"
    assert value_line({}) == ""


def test_the_summary_counts() -> None:
    """Steps, tokens, and verdicts by word."""
    verdicts = [{"word": word} for word in ("allow", "block", "allow", "ask")]
    result = AgentResult("t", "", [], TokenUsage(1200, 34, 1234), verdicts=verdicts)
    assert summary(result) == (
        "0 steps · 1,234 tokens (1,200 in, 34 out) · 2 allow, 1 ask, 1 block"
    )
    assert summary(AgentResult("t", "", [], TokenUsage())) == "0 steps · 0 tokens · no calls"
