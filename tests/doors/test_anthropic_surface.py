"""What of Anthropic's client may be called at all, on whose behalf, and what is no such client."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from typing import Any

import anthropic
import openai
import pytest

from edgeward import FirewallAnthropic
from edgeward.guards.clients._proxy import UnguardedMethod
from edgeward.guards.clients.anthropic.client import AnthropicDoor
from tests.wire.server import Call, Raw, Say, Wire

from . import anthropic_ways as ways
from .anthropic_ways import ASKED
from .test_anthropic import BLOCKED, FOUND, KEY, MAIL, MASK, POLICY, READ


@pytest.fixture(autouse=True)
async def closed() -> AsyncIterator[None]:
    """No connection outlives its test."""
    yield
    await ways.close_all()


REFUSED: dict[str, Callable[[Any], Any]] = {
    "messages.batches.create": lambda c: c.messages.batches.create(requests=[]),
    "messages.batches.results": lambda c: c.messages.batches.results("x"),
    "beta.messages.batches.results": lambda c: c.beta.messages.batches.results("x"),
    "beta.messages.thread": lambda c: c.beta.messages.thread(model="m", max_tokens=9),
    "beta.sessions.create": lambda c: c.beta.sessions.create(),
    "beta.agents.create": lambda c: c.beta.agents.create(),
    "beta.memory_stores.list": lambda c: c.beta.memory_stores.list(),
    "beta.dreams.create": lambda c: c.beta.dreams.create(),
    "post": lambda c: c.post("/v1/messages", cast_to=object, body={}),
}
PLACES: dict[str, Callable[[Any], Any]] = {
    "with_raw_response": lambda c: c.with_raw_response.messages.batches.results("x"),
    "below": lambda c: c.messages.with_raw_response.batches.results("x"),
    "copy": lambda c: c.with_options(timeout=1).messages.batches.results("x"),
    "middleware": lambda c: c.with_middleware().messages.batches.results("x"),
}


@pytest.mark.parametrize("path", REFUSED)
def test_what_nobody_guards_is_refused(path: str, wire: Wire) -> None:
    """C13: with the way to opt out; nothing is sent."""
    client = ways.sync_client(wire, POLICY)
    with pytest.raises(UnguardedMethod, match=rf'unguarded=\["{path}"\]'):
        REFUSED[path](client)
    assert not wire.requests


@pytest.mark.parametrize("place", PLACES)
def test_it_is_refused_wherever_it_is_reached(place: str, wire: Wire) -> None:
    """In the raw views and on copies, too."""
    with pytest.raises(
        UnguardedMethod, match=r"messages\.batches\.results.*Use `messages\.create`"
    ):
        PLACES[place](ways.sync_client(wire, POLICY))


def test_an_opt_out_is_for_that_method_alone(wire: Wire) -> None:
    """Its answer is the client's own, and no record says that it was looked at."""
    client = ways.sync_client(wire, POLICY, unguarded=["messages.batches"])
    batch = {"id": "b1", "type": "message_batch", "processing_status": KEY}
    wire.script(Raw(batch), Say(calls=[MAIL]))
    reply = client.messages.batches.create(requests=[])
    assert reply.processing_status == KEY
    assert not hasattr(reply, "firewall")
    assert ways.of_message(client.messages.create(**ASKED)).text == BLOCKED
    with pytest.raises(ValueError, match="is guarded"):
        ways.sync_client(wire, POLICY, unguarded=["messages.create"])
    with pytest.raises(ValueError, match=r"has no `messages\.batch`"):
        ways.sync_client(wire, POLICY, unguarded=["messages.batch"])


def test_what_returns_neither_calls_nor_text_is_the_clients_own(wire: Wire) -> None:
    """F028: models, files and the like; tokens are counted of what would be sent."""
    client = ways.sync_client(wire, POLICY)
    model = {"id": "m", "type": "model", "display_name": "M", "created_at": "2026-01-01T00:00:00Z"}
    wire.script(Raw({"data": [model], "has_more": False}), *[Raw({"input_tokens": 3})] * 2)
    assert [found.id for found in client.models.list()] == ["m"]
    asked = [{"role": "user", "content": KEY}]
    for messages in (client.messages, client.beta.messages):
        assert messages.count_tokens(model="m", messages=asked).input_tokens == 3
        assert wire.requests[-1].body["messages"] == [{"role": "user", "content": MASK}]
    assert client.api_key == "k"
    assert str(client.base_url).startswith(wire.url)


def test_it_passes_for_the_clients_class(wire: Wire) -> None:
    """So that frameworks which look for the SDK's client take it; `with` closes it."""
    client = ways.sync_client(wire, POLICY)
    assert isinstance(client, anthropic.Anthropic)
    assert isinstance(client.with_options(timeout=1), anthropic.Anthropic)
    assert isinstance(ways.async_client(wire, POLICY), anthropic.AsyncAnthropic)
    with client as entered:
        assert entered is client
    assert client.is_closed()
    assert "around Anthropic" in repr(client)


def test_the_wrapped_client_is_not_changed(wire: Wire) -> None:
    """Who still holds it has what they had."""
    raw = anthropic.Anthropic(api_key="k", base_url=wire.url, max_retries=0)
    wire.script(Say(calls=[MAIL]), Say(calls=[MAIL]))
    FirewallAnthropic(raw, POLICY).messages.create(**ASKED)
    assert raw.messages.create(**ASKED).content[0].type == "tool_use"
    raw.close()


@anthropic.beta_tool
def read_doc(path: str) -> str:
    """Read a file."""
    RAN.append(path)
    return f"token {KEY}"


@anthropic.beta_tool
def send_email(to: str) -> str:
    """Send a mail."""
    RAN.append(to)
    return "sent"


RAN: list[str] = []


@pytest.mark.parametrize("streamed", [False, True])
def test_the_tool_runner_runs_what_may_run(streamed: bool, wire: Wire) -> None:
    """A refused call never comes to its tool; a result is masked before it is sent."""
    RAN.clear()
    client = ways.sync_client(wire, POLICY)
    wire.script(Say("Both.", calls=[MAIL, READ]), Say("Done."))
    runner = client.beta.messages.tool_runner(
        **ASKED, tools=[read_doc, send_email], stream=streamed
    )
    final = runner.until_done()
    assert RAN == ["a.md"]
    assert final.content[0].text == "Done."
    (_, second) = wire.requests
    assert [block["type"] for block in second.body["messages"][1]["content"]] == [
        "text",
        "tool_use",
    ]
    assert second.body["messages"][2]["content"][0]["content"] == f"token {MASK}"


async def test_the_tool_runner_async(wire: Wire) -> None:
    """A reply with nothing left ends the run."""
    client = ways.async_client(wire, POLICY)
    wire.script(Say(calls=[MAIL]))
    final = await client.beta.messages.tool_runner(**ASKED, tools=[]).until_done()
    assert final.content[0].text == BLOCKED
    assert final.firewall["action"] == "block"


def test_a_policy_sees_the_caller(wire: Wire) -> None:
    """`serving` gives a client for somebody; without it nobody asks. Copies stay with them."""
    policy = {"version": 2, "tools": {"read_doc": "allow"}, "callers": {"users": ["ann"]}}
    client = ways.sync_client(wire, policy)
    ann = client.serving(user="ann")
    wire.script(*[Say(calls=[READ])] * 4)
    found = [
        ways.of_message(one.messages.create(**ASKED)).calls
        for one in (client, ann, ann.with_options(timeout=9), client.serving(user="eve"))
    ]
    assert found == [[], FOUND, FOUND, []]


THREAD = {"thread": {"type": "create"}}
GOES_ON = {"thread": {"type": "continue", "previous_message_id": "msg_1"}}


@pytest.mark.parametrize("streamed", [False, True])
def test_a_conversation_that_the_provider_keeps(streamed: bool, wire: Wire) -> None:
    """The client remembers what it has seen: with a reply's id its calls and results go on."""
    policy = {
        "version": 2,
        "tools": {"read_doc": "allow", "post": {"args": {"to": "known"}}},
    }
    client = ways.sync_client(wire, policy).beta.messages
    wire.script(*[Say(calls=[READ]), Say(calls=[Call("post", '{"to": "C-4711"}', "t9")])] * 2)
    for first, passes in (("Mail it to C-4711.", True), ("Mail it.", False)):
        said = {**ASKED, "messages": [{"role": "user", "content": first}]}
        result = {"type": "tool_result", "tool_use_id": "t2", "content": "for C-4711"}
        then = {**ASKED, "messages": [{"role": "user", "content": [result]}]}
        if streamed:
            list(client.create(**said, stream=True, extra_body=THREAD))
        else:
            client.create(**said, extra_body=THREAD)
        got = ways.of_message(client.create(**then, extra_body=GOES_ON))
        assert bool(got.calls) is passes


@pytest.mark.parametrize(
    ("url", "streamed", "kind"),
    [
        ("/v1/messages?beta=true", False, "MessageReply"),
        ("https://gate.example/anthropic/v1/messages/", True, "MessageStream"),
        ("/projects/p/locations/l/publishers/anthropic/models/m:rawPredict", False, "MessageReply"),
        ("/projects/p/locations/l/x/models/m:streamRawPredict", True, "MessageStream"),
        ("/projects/p/x/models/count-tokens:rawPredict", False, "SentOnly"),
        ("/model/m/invoke", False, "MessageReply"),
    ],
)
def test_paths_of_other_providers(url: str, streamed: bool, kind: str) -> None:
    """Vertex AI and Bedrock have paths of their own."""
    opened = AnthropicDoor(POLICY).opening("post", url, {**ASKED, "stream": streamed})
    assert type(opened).__name__ == kind


@pytest.mark.parametrize("url", ["/model/m/invoke-with-response-stream", "/v2/talk"])
def test_what_cannot_be_read_is_not_asked(url: str) -> None:
    """Bedrock's own stream format; a path that nobody knows."""
    with pytest.raises(UnguardedMethod, match="cannot read what"):
        AnthropicDoor(POLICY).opening("post", url, {**ASKED, "stream": True})


def test_what_is_no_client_of_the_sdk() -> None:
    """An error that says what is wanted, and not a guard that guards nothing."""
    for other in (object(), openai.OpenAI(api_key="k")):
        with pytest.raises(TypeError, match=r"like anthropic\.Anthropic\(\)"):
            FirewallAnthropic(other, POLICY)


WITHOUT = """
import sys
sys.modules["anthropic"] = None
from edgeward import FirewallAnthropic, MissingExtra
try:
    FirewallAnthropic(object(), "default")
except MissingExtra as error:
    print(error)
print([name for name in sys.modules if name.split(".")[0] in ("langchain", "langgraph", "httpx2")])
"""


def test_without_the_sdk() -> None:
    """F038: it imports; making a client names the extra."""
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT], capture_output=True, text=True, check=True
    )
    assert "pip install 'edgeward[anthropic]'" in done.stdout
    assert done.stdout.splitlines()[-1] == "[]"


def test_a_request_without_messages_is_guarded_too() -> None:
    """Where the provider keeps the conversation, or the API will one day want none."""
    opened = AnthropicDoor(POLICY).opening("post", "/v1/messages", {"thread": {"id": "t"}})
    use = {"type": "tool_use", "id": "t1", "name": "send_email", "input": {}}
    assert opened is not None
    assert opened.whole({"content": [use]})["content"][0]["text"] == BLOCKED
