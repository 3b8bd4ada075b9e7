"""The corpus of calls through OpenAI's SDK: each verdict is the one that the decision gives."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import openai
import pytest

from edgeward import FirewallOpenAI, load_policy
from tests.wire.server import Call, Say, Wire

from .corpus import CALLS, CASES, policy_of
from .openai_ways import ASKED, INPUT, OLD, Joined, of_completion, of_response

TEXTS = [case for case in CASES if case["surface"] == "text"]


def named(case: dict[str, Any]) -> str:
    """A case's id."""
    return str(case["id"])


@pytest.fixture(scope="module")
def server() -> Iterator[Wire]:
    """One server for all cases."""
    with Wire() as running:
        yield running


@pytest.fixture(scope="module")
def raw(server: Wire) -> Iterator[openai.OpenAI]:
    """One client for all cases."""
    http = openai.DefaultHttpxClient(verify=False)
    made = openai.OpenAI(api_key="k", base_url=server.openai_url, max_retries=0, http_client=http)
    with made:
        yield made


def word(found: Any, call: tuple[str, Any]) -> str:
    """What became of the one call."""
    assert found.calls in ([], [call])
    passed = "allow" if found.calls else "block"
    assert found.firewall["action"] == passed
    return passed


@pytest.mark.parametrize("case", CALLS, ids=named)
def test_every_verdict_is_the_same(case: dict[str, Any], server: Wire, raw: Any) -> None:
    """Whole, streamed, and as a response; what passes is what the model wrote."""
    policy = policy_of(case)
    if policy is None:
        assert case["expected"] == "block"
        return
    client = FirewallOpenAI(raw, policy)
    say = Say(calls=[Call(case["tool"], case["arguments"])])
    call = (case["tool"], case["arguments"])
    server.script(say, say, say)
    whole = of_completion(client.chat.completions.create(**ASKED))
    assert word(whole, call) == case["expected"], case["why"]
    stream = client.chat.completions.create(**ASKED, stream=True)
    joined = Joined()
    for chunk in stream:
        joined.add(chunk)
    assert word(joined.end(stream), call) == case["expected"], case["why"]
    if not OLD:
        found = of_response(client.responses.create(**INPUT))
        assert word(found, call) == case["expected"], case["why"]


@pytest.mark.parametrize("case", TEXTS, ids=named)
def test_every_text_is_masked_or_stays(case: dict[str, Any], server: Wire, raw: Any) -> None:
    """On its way out, and on its way in; in a stream as in one piece."""
    policy = policy_of(case) or load_policy()
    client = FirewallOpenAI(raw, policy)
    text = case["arguments"]
    server.script(Say(text), Say(text))
    server.requests.clear()
    asked = [{"role": "user", "content": text}]
    reply = client.chat.completions.create(model="m", messages=asked)
    stream = client.chat.completions.create(**ASKED, stream=True)
    joined = "".join(c.choices[0].delta.content or "" for c in stream if c.choices)
    sent = json.loads(json.dumps(server.requests[0].body["messages"][0]["content"]))
    masked = policy.redactor.all(text)[0]
    assert sent == reply.choices[0].message.content == joined == masked
    assert (masked != text) == (case["expected"] != "allow"), case["why"]
