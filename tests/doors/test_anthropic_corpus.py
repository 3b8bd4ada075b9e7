"""The corpus of calls through Anthropic's SDK: each verdict is the one that the decision gives."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import anthropic
import pytest

from edgeward import FirewallAnthropic, load_policy
from tests.wire.server import Call, Say, Wire

from .anthropic_ways import ASKED, of_message
from .corpus import CALLS, CASES, PARSED, arguments_of, policy_of

TEXTS = [case for case in CASES if case["surface"] == "text"]
WHOLE = {case["id"] for case in PARSED}
"""Cases whose arguments a provider could have parsed."""


def named(case: dict[str, Any]) -> str:
    """A case's id."""
    return str(case["id"])


@pytest.fixture(scope="module")
def server() -> Iterator[Wire]:
    """One server for all cases."""
    with Wire() as running:
        yield running


@pytest.fixture(scope="module")
def raw(server: Wire) -> Iterator[anthropic.Anthropic]:
    """One client for all cases."""
    http = anthropic.DefaultHttpxClient(verify=False)
    with anthropic.Anthropic(
        api_key="k", base_url=server.url, max_retries=0, http_client=http
    ) as made:
        yield made


def word(message: Any) -> str:
    """What became of the one call."""
    found = of_message(message)
    passed = "allow" if found.calls else "block"
    assert found.firewall["action"] == passed
    return passed


@pytest.mark.parametrize("case", CALLS, ids=named)
def test_every_verdict_is_the_same(case: dict[str, Any], server: Wire, raw: Any) -> None:
    """Whole and streamed; what passes is what the model wrote."""
    policy = policy_of(case)
    if policy is None:
        assert case["expected"] == "block"
        return
    client = FirewallAnthropic(raw, policy)
    say = Say(calls=[Call(case["tool"], case["arguments"])])
    server.script(say, say)
    with client.messages.stream(**ASKED) as stream:
        events = list(stream)
        assert word(stream.get_final_message()) == case["expected"], case["why"]
    spelled = "".join(e.partial_json for e in events if e.type == "input_json")
    assert spelled == (case["arguments"] if case["expected"] == "allow" else "")
    if case["id"] in WHOLE:
        message = client.messages.create(**ASKED)
        assert word(message) == case["expected"], case["why"]
        if case["expected"] == "allow":
            assert message.content[0].input == arguments_of(case)


@pytest.mark.parametrize("case", TEXTS, ids=named)
def test_every_text_is_masked_or_stays(case: dict[str, Any], server: Wire, raw: Any) -> None:
    """On its way out, and on its way in; in a stream as in one piece."""
    policy = policy_of(case) or load_policy()
    client = FirewallAnthropic(raw, policy)
    text = case["arguments"]
    server.script(Say(text), Say(text))
    server.requests.clear()
    asked = [{"role": "user", "content": text}]
    reply = client.messages.create(**{**ASKED, "messages": asked, "system": text})
    with client.messages.stream(**ASKED) as stream:
        joined = "".join(stream.text_stream)
    body = json.loads(json.dumps(server.requests[0].body))
    masked = policy.redactor.all(text)[0]
    assert body["system"] == body["messages"][0]["content"] == masked
    assert reply.content[0].text == joined == masked
    assert (masked != text) == (case["expected"] != "allow"), case["why"]
