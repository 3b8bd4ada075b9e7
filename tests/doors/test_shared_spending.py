"""Clients of several vendors that share one `Spending` hold a caller to one limit."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from edgeward import (
    FirewallGoogleGenerativeAI,
    FirewallOpenAI,
    PolicyViolationError,
    Spending,
)
from tests.wire.server import Say, Wire

from . import anthropic_ways, openai_ways

POLICY = {
    "version": 2,
    "tools": {"read_doc": "allow"},
    "limits": {"caller": {"tokens": 40}},
}


@pytest.fixture(autouse=True)
async def closed() -> AsyncIterator[None]:
    """No connection outlives its test."""
    yield
    await openai_ways.close_all()
    await anthropic_ways.close_all()


def test_what_one_client_used_the_other_has_not(wire: Wire) -> None:
    """The model is not asked any more; somebody else's requests go on."""
    spending = Spending()
    first = openai_ways.sync_client(wire, POLICY, spending=spending)
    second = anthropic_ways.sync_client(wire, POLICY, spending=spending)
    wire.script(*[Say("Fine.", usage=(30, 12))] * 2)
    first.serving(user="ann").chat.completions.create(**openai_ways.ASKED)
    assert spending.used["ann"]["tokens"] >= 40
    with pytest.raises(PolicyViolationError, match="a limit is reached"):
        second.serving(user="ann").messages.create(**anthropic_ways.ASKED)
    assert len(wire.requests) == 1
    assert second.serving(user="eve").messages.create(**anthropic_ways.ASKED).content


ASKING: dict[str, Callable[[Wire, Spending], Any]] = {
    "chat": lambda wire, spent: (
        openai_ways.sync_client(wire, POLICY, spending=spent)
        .serving(user="ann")
        .chat.completions.create(**openai_ways.ASKED)
    ),
    "chat, streamed": lambda wire, spent: list(
        openai_ways.sync_client(wire, POLICY, spending=spent)
        .serving(user="ann")
        .chat.completions.create(**openai_ways.ASKED, stream=True)
    ),
    "responses": lambda wire, spent: (
        openai_ways.sync_client(wire, POLICY, spending=spent)
        .serving(user="ann")
        .responses.create(**openai_ways.INPUT)
    ),
    "messages": lambda wire, spent: (
        anthropic_ways.sync_client(wire, POLICY, spending=spent)
        .serving(user="ann")
        .messages.create(**anthropic_ways.ASKED)
    ),
    "messages, streamed": lambda wire, spent: list(
        anthropic_ways.sync_client(wire, POLICY, spending=spent)
        .serving(user="ann")
        .messages.create(**anthropic_ways.ASKED, stream=True)
    ),
}


@pytest.mark.parametrize("usage", [(0, 0), (-900, -100), None], ids=repr)
@pytest.mark.parametrize("way", ASKING)
def test_no_call_is_free(way: str, usage: Any, wire: Wire) -> None:
    """A provider that says nought, less than nought or nothing has its tokens estimated."""
    spending = Spending()
    wire.script(Say("A long answer of so many words. " * 20, usage=usage))
    ASKING[way](wire, spending)
    assert spending.used["ann"]["tokens"] >= 100


def test_every_class_takes_one() -> None:
    """Gemini's as well; without one, each client has its own."""
    genai = pytest.importorskip("google.genai")
    spending = Spending()
    raw = genai.Client(api_key="k")
    client = FirewallGoogleGenerativeAI(raw, POLICY, spending=spending)
    assert client._frame.door.rules.counter.spending is spending
    openai = pytest.importorskip("openai")
    with openai.OpenAI(api_key="k") as other:
        assert FirewallOpenAI(other, POLICY)._frame.door.rules.counter.spending is not spending
    raw.close()
