"""What of an OpenAI-shaped client may be called at all, and what else may be wrapped."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from types import SimpleNamespace
from typing import Any

import openai
import pytest

from edgeward.clients import (
    OPENAI_COMPATIBLE_BASE_URLS,
    FirewallOpenAI,
    create_openai_compatible_firewall,
)
from edgeward.guards.clients._proxy import UnguardedMethod
from tests.wire.server import Events, Raw, Say, Wire

from . import openai_ways as ways
from .openai_ways import ASKED, INPUT, OLD
from .test_openai import BLOCKED, KEY, MAIL, MASK, POLICY, READ


@pytest.fixture(autouse=True)
async def closed() -> AsyncIterator[None]:
    """No connection outlives its test."""
    yield
    await ways.close_all()


REFUSED: dict[str, Callable[[Any], Any]] = {
    "completions.create": lambda c: c.completions.create(model="m", prompt="x"),
    "chat.completions.retrieve": lambda c: c.chat.completions.retrieve("x"),
    "chat.completions.list": lambda c: c.chat.completions.list(),
    "responses.retrieve": lambda c: c.responses.retrieve("x"),
    "responses.cancel": lambda c: c.responses.cancel("x"),
    "responses.compact": lambda c: c.responses.compact(model="m"),
    "responses.connect": lambda c: c.responses.connect(),
    "realtime.connect": lambda c: c.realtime.connect(model="m"),
    "batches.create": lambda c: c.batches.create(),
    "conversations.items.list": lambda c: c.conversations.items.list("x"),
    "audio.transcriptions.create": lambda c: c.audio.transcriptions.create(file=b"", model="m"),
    "beta.threads.create": lambda c: c.beta.threads.create(),
    "post": lambda c: c.post("/chat/completions", cast_to=object, body={}),
}
PLACES = {
    "with_raw_response": lambda c: c.with_raw_response.completions.create(model="m", prompt="x"),
    "below": lambda c: c.completions.with_raw_response.create(model="m", prompt="x"),
    "copy": lambda c: c.with_options(timeout=1).completions.create(model="m", prompt="x"),
}


@pytest.mark.skipif(OLD, reason="most of these are younger than the SDK")
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
    with pytest.raises(UnguardedMethod, match=r"completions\.create"):
        PLACES[place](ways.sync_client(wire, POLICY))


def test_an_opt_out_is_for_that_method_alone(wire: Wire) -> None:
    """Its answer is the client's own, and no record says that it was looked at."""
    client = ways.sync_client(wire, POLICY, unguarded=["completions.create"])
    wire.script(Raw({"choices": [{"text": KEY, "index": 0}]}), Say(calls=[MAIL]))
    reply = client.completions.create(model="m", prompt="x")
    assert reply.choices[0].text == KEY
    assert not hasattr(reply, "firewall")
    assert ways.of_completion(client.chat.completions.create(**ASKED)).text == BLOCKED
    with pytest.raises(ValueError, match="is guarded"):
        ways.sync_client(wire, POLICY, unguarded=["chat.completions.create"])
    with pytest.raises(ValueError, match=r"has no `completion\.create`"):
        ways.sync_client(wire, POLICY, unguarded=["completion.create"])


@pytest.mark.skipif(OLD, reason="the SDK has no Responses API")
def test_an_answer_that_is_read_later(wire: Wire) -> None:
    """In the background, or by its id: by a method that nobody guards."""
    client = ways.sync_client(wire, POLICY)
    for ask in (
        lambda: client.responses.create(**INPUT, background=True),
        lambda: client.responses.create(**INPUT, extra_body={"background": True}),
        lambda: client.responses.stream(response_id="resp_1"),
    ):
        with pytest.raises(UnguardedMethod, match=r"responses\.retrieve"):
            ask()
    open_client = ways.sync_client(wire, POLICY, unguarded=["responses.retrieve"])
    queued = {"id": "resp_1", "object": "response", "status": "queued", "output": []}
    wire.script(Raw(queued))
    reply = open_client.responses.create(**INPUT, background=True)
    assert reply.firewall is None


def test_what_returns_neither_calls_nor_text_is_the_clients_own(wire: Wire) -> None:
    """F028: models, embeddings, files and the like."""
    client = ways.sync_client(wire, POLICY)
    wire.script(Raw({"data": [{"id": "m"}]}), Raw({"data": [{"embedding": [1.0], "index": 0}]}))
    assert [model.id for model in client.models.list()] == ["m"]
    made = client.embeddings.create(model="m", input=KEY, encoding_format="float")
    assert made.data[0].embedding == [1.0]
    assert client.api_key == "k"
    assert str(client.base_url).startswith(wire.openai_url)


def test_what_a_model_made_of_a_prompt_is_masked(wire: Wire) -> None:
    """Beside an image, which stays as it is; also in a raw response, and where images stream."""
    client = ways.sync_client(wire, POLICY)
    made = {"b64_json": "QUJD", "revised_prompt": f"A cat, {KEY}"}
    wire.script(*[Raw({"created": 1, "data": [made, {"b64_json": "QUJD"}]})] * 2)
    for reply in (
        client.images.generate(prompt="A cat"),
        client.images.with_raw_response.generate(prompt="A cat").parse(),
    ):
        assert [image.b64_json for image in reply.data] == ["QUJD", "QUJD"]
        assert [image.revised_prompt for image in reply.data] == [f"A cat, {MASK}", None]
    kind = "image_generation.partial_image"
    wire.script(Events([{"type": kind, "b64_json": "QUJD", "partial_image_index": 0}]))
    if not OLD:
        (piece,) = client.images.generate(prompt="A cat", stream=True)
        assert (piece.type, piece.b64_json) == (kind, "QUJD")


def test_files_are_the_clients_own_but_for_their_content(wire: Wire) -> None:
    """What a batch wrote stands in a file; also below a view for raw responses."""
    client = ways.sync_client(wire, POLICY)
    file = {"id": "f", "object": "file", "bytes": 1, "created_at": 1, "filename": "a"}
    wire.script(*[Raw({**file, "purpose": "batch", "status": "processed"})] * 3)
    assert client.files.retrieve("f").id == "f"
    assert client.files.with_raw_response.retrieve("f").parse().id == "f"
    assert client.with_raw_response.files.retrieve("f").parse().id == "f"
    for files in (client.files, client.files.with_raw_response, client.with_raw_response.files):
        with pytest.raises(UnguardedMethod, match=r'unguarded=\["files\.content"\]'):
            files.content("f")
    wire.script(Raw("a file", content_type="text/plain"))
    open_client = ways.sync_client(wire, POLICY, unguarded=["files.content"])
    assert open_client.files.content("f").text == "a file"


def test_it_passes_for_the_clients_class(wire: Wire) -> None:
    """So that frameworks which look for the SDK's client take it; `with` closes it."""
    client = ways.sync_client(wire, POLICY)
    assert isinstance(client, openai.OpenAI)
    assert isinstance(client.with_options(timeout=1), openai.OpenAI)
    assert isinstance(ways.async_client(wire, POLICY), openai.AsyncOpenAI)
    with client as entered:
        assert entered is client
    assert client.is_closed()
    assert "around OpenAI" in repr(client)


class Ours(openai.OpenAI):
    """A program's own client, whose constructor takes nothing of the SDK's."""

    def __init__(self, url: str) -> None:
        self.team = "ours"
        super().__init__(api_key="k", base_url=url, max_retries=0)


@pytest.mark.skipif(ways.OLD, reason="the SDK's resources are made by the constructor")
def test_a_subclass_with_a_constructor_of_its_own(wire: Wire) -> None:
    """It is guarded, keeps what it holds, and stays as it was; also on somebody's behalf."""
    raw = Ours(wire.openai_url)
    wire.script(*[Say(calls=[MAIL])] * 4)
    assert raw.chat.completions.create(**ASKED).choices[0].message.tool_calls
    client = FirewallOpenAI(raw, POLICY)
    for guarded in (client, client.serving(user="ann")):
        assert ways.of_completion(guarded.chat.completions.create(**ASKED)).text == BLOCKED
        assert guarded.team == "ours"
    assert raw.chat.completions.create(**ASKED).choices[0].message.tool_calls
    client.close()


def test_the_wrapped_client_is_not_changed(wire: Wire) -> None:
    """Who still holds it has what they had."""
    raw = openai.OpenAI(api_key="k", base_url=wire.openai_url, max_retries=0)
    wire.script(Say(calls=[MAIL]), Say(calls=[MAIL]))
    FirewallOpenAI(raw, POLICY).chat.completions.create(**ASKED)
    reply = raw.chat.completions.create(**ASKED)
    assert reply.choices[0].message.tool_calls
    raw.close()


def test_a_policy_sees_the_caller(wire: Wire) -> None:
    """`serving` gives a client for somebody; without it nobody asks. Copies stay with them."""
    policy = {"version": 2, "tools": {"read_doc": "allow"}, "callers": {"users": ["ann"]}}
    client = ways.sync_client(wire, policy)
    ann = client.serving(user="ann")
    wire.script(*[Say(calls=[READ])] * 4)
    found = [
        bool(ways.of_completion(one.chat.completions.create(**ASKED)).calls)
        for one in (client, ann, ann.with_options(timeout=9), client.serving(user="eve"))
    ]
    assert found == [False, True, True, False]


def test_a_body_that_cannot_be_read_is_not_sent(wire: Wire) -> None:
    """A guarded class that is called by hand has no guard, and sends nothing."""
    client = ways.sync_client(wire, POLICY)
    inner = type(client._raw)(api_key="k", base_url=wire.openai_url)
    with pytest.raises(RuntimeError, match="use copy"):
        inner.chat.completions.create(**ASKED)
    with pytest.raises(ValueError, match="no JSON object"):
        client._raw.post("/chat/completions", cast_to=object, body=[1])
    assert not wire.requests
    inner.close()


def shaped(reply: Any) -> Any:
    """A client that is no SDK's, and what it was sent."""
    sent: list[Any] = []

    def create(**request: Any) -> Any:
        sent.append(request)
        return reply

    completions = SimpleNamespace(create=create)
    return SimpleNamespace(chat=SimpleNamespace(completions=completions), sent=sent)


def answer(*calls: tuple[str, str], content: Any = None, old: Any = None) -> SimpleNamespace:
    """A reply made of objects."""
    made = [
        SimpleNamespace(id=f"c{n}", function=SimpleNamespace(name=name, arguments=arguments))
        for n, (name, arguments) in enumerate(calls)
    ]
    message = SimpleNamespace(content=content, tool_calls=made or None, function_call=old)
    choice = SimpleNamespace(message=message, finish_reason="tool_calls")
    return SimpleNamespace(choices=[choice])


def as_dicts(value: Any) -> Any:
    """The same made of dicts."""
    if isinstance(value, list):
        return [as_dicts(item) for item in value]
    if isinstance(value, SimpleNamespace):
        return {key: as_dicts(item) for key, item in vars(value).items()}
    return value


def test_any_client_of_the_same_shape(wire: Wire) -> None:
    """F031: a plain fake works; its own objects come back, without what was refused."""
    fake = shaped(answer(("send_email", "{}"), ("read_doc", "{}"), content=f"key {KEY}"))
    given = [{"role": "user", "content": KEY}]
    reply = FirewallOpenAI(fake, POLICY).chat.completions.create(model="m", messages=given)
    message = reply.choices[0].message
    assert [call.function.name for call in message.tool_calls] == ["read_doc"]
    assert message.content == f"key {MASK}"
    assert reply.firewall["action"] == "block"
    assert reply.model_extra == {"firewall": reply.firewall}
    assert fake.sent[0]["messages"] == [{"role": "user", "content": MASK}]
    assert given[0]["content"] == KEY


def test_a_shaped_client_that_answers_in_dicts() -> None:
    """All refused: the message, and a finish that announces nothing. The old field, too."""
    old = SimpleNamespace(name="send_email", arguments="{}")
    reply = as_dicts(answer(("send_email", "{}"), old=old))
    client = FirewallOpenAI(shaped(reply), POLICY)
    made = client.chat.completions.create(messages=[SimpleNamespace(role="user", content="x")])
    (choice,) = made["choices"]
    assert choice["message"] == {"content": BLOCKED, "tool_calls": None, "function_call": None}
    assert choice["finish_reason"] == "stop"
    assert made["firewall"]["action"] == "block"


def test_a_shaped_clients_masked_arguments() -> None:
    """A verdict of `redact` writes them into the call."""
    reply = answer(("post", f'{{"text": "{KEY}"}}'))
    policy = {"version": 2, "tools": {"post": "redact"}}
    made = FirewallOpenAI(shaped(reply), policy).chat.completions.create(messages=[])
    assert made.choices[0].message.tool_calls[0].function.arguments == f'{{"text":"{MASK}"}}'


async def test_a_shaped_client_that_is_async() -> None:
    """What its method returns is awaited."""
    fake = shaped(None)

    async def create(**request: Any) -> Any:
        return answer(("send_email", "{}"))

    fake.chat.completions.create = create
    reply = await FirewallOpenAI(fake, POLICY).chat.completions.create(messages=[])
    assert reply.choices[0].message.content == BLOCKED


def test_what_a_shaped_client_cannot_do() -> None:
    """A stream, and any other method, are refused; so is what has no such shape."""
    client = FirewallOpenAI(shaped(None), POLICY)
    with pytest.raises(UnguardedMethod, match="leave `stream` out"):
        client.chat.completions.create(messages=[], stream=True)
    with pytest.raises(UnguardedMethod, match="no `choices`"):
        client.chat.completions.create(messages=[])
    with pytest.raises(TypeError, match=r"like openai\.OpenAI"):
        FirewallOpenAI(object(), POLICY)


def test_the_table_of_providers() -> None:
    """F033: ten, by their names."""
    assert len(OPENAI_COMPATIBLE_BASE_URLS) == 10
    assert OPENAI_COMPATIBLE_BASE_URLS["groq"] == "https://api.groq.com/openai/v1"


def test_a_client_for_a_provider(wire: Wire) -> None:
    """F032: made for you; other options go to the SDK's client."""
    client = create_openai_compatible_firewall(
        "groq", api_key="k", policy_path=POLICY, base_url=wire.openai_url, max_retries=0, timeout=3
    )
    wire.script(Say(calls=[MAIL, READ]))
    reply = client.chat.completions.create(**ASKED)
    assert ways.of_completion(reply).calls == [("read_doc", READ.arguments)]
    assert client.timeout == 3
    made = create_openai_compatible_firewall("groq", api_key="k", policy_path=POLICY)
    assert str(made.base_url) == "https://api.groq.com/openai/v1/"
    with pytest.raises(ValueError, match=r"'grok' is unknown; did you mean 'groq'\?"):
        create_openai_compatible_firewall("grok", api_key="k", policy_path=POLICY)
    client.close()
    made.close()


WITHOUT = """
import sys
sys.modules["openai"] = None
from edgeward import FirewallOpenAI, MissingExtra, OPENAI_COMPATIBLE_BASE_URLS
from edgeward import create_openai_compatible_firewall
try:
    create_openai_compatible_firewall("groq", api_key="k", policy_path="default")
except MissingExtra as error:
    print(error)
try:
    FirewallOpenAI(object(), "default")
except MissingExtra as error:
    print(error)
print([name for name in sys.modules if name.split(".")[0] in ("langchain", "langgraph", "httpx")])
"""


def test_without_the_sdk() -> None:
    """F038: it imports; making a client names the extra."""
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT], capture_output=True, text=True, check=True
    )
    assert done.stdout.count("pip install 'edgeward[openai]'") == 2
    assert done.stdout.splitlines()[-1] == "[]"


class Mixing(openai.DefaultHttpxClient):
    """An HTTP client that gives its responses requests of its own."""

    def send(self, request: Any, **options: Any) -> Any:
        """Send it, and say that it was another."""
        response = super().send(request, **options)
        response.request = type(request)(request.method, request.url)
        return response


class AsyncMixing(openai.DefaultAsyncHttpxClient):
    """The same, async."""

    async def send(self, request: Any, **options: Any) -> Any:
        """Send it, and say that it was another."""
        response = await super().send(request, **options)
        response.request = type(request)(request.method, request.url)
        return response


@pytest.mark.parametrize("streamed", [False, True])
async def test_a_response_to_another_request_is_withheld(streamed: bool, wire: Wire) -> None:
    """Nothing says then how to guard it."""
    wire.script(Say(calls=[MAIL]), Say(calls=[MAIL]))
    more: Any = {"api_key": "k", "base_url": wire.openai_url, "max_retries": 0}
    ask = {**ASKED, "stream": streamed}
    raw = openai.OpenAI(**more, http_client=Mixing(verify=False))
    with raw, pytest.raises(ValueError, match="withheld"):
        FirewallOpenAI(raw, POLICY).chat.completions.create(**ask)
    other = openai.AsyncOpenAI(**more, http_client=AsyncMixing(verify=False))
    async with other:
        with pytest.raises(ValueError, match="withheld"):
            await FirewallOpenAI(other, POLICY).chat.completions.create(**ask)
