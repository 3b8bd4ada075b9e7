"""The Gemini door around the older module google.generativeai, with its real objects over HTTP."""

from __future__ import annotations

import importlib.util
import json
import warnings
from collections.abc import Iterator
from concurrent import futures
from typing import Any

import pytest

from edgeward import FirewallGoogleGenerativeAI, load_policy
from tests.wire.gemini import answer, candidate
from tests.wire.server import Fail, Raw, Wire

if importlib.util.find_spec("google.generativeai") is None:
    pytest.skip(
        "google.generativeai 0.8 is not installed: it wants protobuf below 6, which other extras"
        " of this environment do not; install it in an environment of its own",
        allow_module_level=True,
    )
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import google.generativeai as genai
    import grpc
    from google.ai.generativelanguage_v1beta.services import generative_service
    from google.ai.generativelanguage_v1beta.services.generative_service import transports
    from google.generativeai import protos

KEY = "sk-proj-A1b2C3d4E5f6G7h8A1b2C3d4"
MASK = "[REDACTED:openai_key]"
BLOCKED = "[Edgeward] Action blocked by policy."
POLICY = load_policy(
    {"version": 1, "tool_denylist": ["send_email"], "egress_allowlist": ["example.com"]}
)
BOTH = [
    {"text": f"key {KEY} done"},
    {"functionCall": {"name": "send_email", "args": {"to": "a@evil.test"}}},
    {"functionCall": {"name": "read_doc", "args": {"path": "a.md", "n": 2}}},
]
SERVICE = "google.ai.generativelanguage.v1beta.GenerativeService"


@pytest.fixture
def client(wire: Wire) -> Any:
    """The guarded module, which speaks HTTP with the server."""
    genai.configure(api_key="k", transport="rest", client_options={"api_endpoint": wire.url})
    return FirewallGoogleGenerativeAI(genai, POLICY)


def streamed(*pieces: dict[str, Any]) -> Raw:
    """A stream, as the older API answers: one JSON list."""
    return Raw(json.dumps(list(pieces)))


def seen(response: Any) -> list[Any]:
    """The parts that reached the program."""
    return [part_of(part) for one in response.candidates for part in one.content.parts]


def part_of(part: Any) -> Any:
    """A text, or a call with its arguments."""
    if "function_call" in part:
        return part.function_call.name, dict(part.function_call.args)
    return part.text


def test_a_whole_reply(client: Any, wire: Wire) -> None:
    """F036: the refused part is gone, the text is masked, the sibling stays; in every candidate."""
    second = candidate([{"functionCall": {"name": "send_email", "args": {}}}], index=1)
    wire.script(Raw({"candidates": [candidate(BOTH), second]}))
    response = client.GenerativeModel("m").generate_content(f"Use {KEY}.")
    read = ("read_doc", {"path": "a.md", "n": 2.0})
    assert seen(response) == [f"key {MASK} done", read, BLOCKED]
    assert response.firewall["action"] == "block"
    assert len(response.firewall["blocked_calls"]) == 2
    assert response.firewall["blocked_calls"][0]["arguments"] == '{"to":"[REDACTED:email]"}'
    assert wire.requests[0].body["contents"][0]["parts"] == [{"text": f"Use {MASK}."}]


def test_a_harmless_reply_is_the_very_same(client: Any, wire: Wire) -> None:
    """Nothing is written where nothing is to change."""
    wire.script(Raw(answer([{"text": "Fine."}])))
    response = client.GenerativeModel("m").generate_content("Go on.")
    assert (response.text, response.firewall["action"]) == ("Fine.", "allow")
    assert isinstance(response, genai.types.GenerateContentResponse)


def test_a_stream(client: Any, wire: Wire) -> None:
    """A key in two pieces is masked; the decision is there when the stream has ended."""
    wire.script(
        streamed(
            answer([{"text": f"key {KEY[:9]}"}], finish=""),
            answer([{"text": f"{KEY[9:]} done"}], finish=""),
            answer(BOTH[1:]),
        )
    )
    response = client.GenerativeModel("m").generate_content("Go on.", stream=True)
    got = [part for chunk in response for part in seen(chunk)]
    assert "".join(part for part in got if isinstance(part, str)) == f"key {MASK} done"
    assert [part[0] for part in got if isinstance(part, tuple)] == ["read_doc"]
    assert response.firewall["action"] == "block"
    assert KEY[9:] not in str(response)


def test_an_error_is_the_module_s_own(client: Any, wire: Wire) -> None:
    """A refused request raises what it raises without the guard."""
    from google.api_core import exceptions

    wire.script(Fail(403, "not you"))
    with pytest.raises(exceptions.Forbidden, match="not you"):
        client.GenerativeModel("m").generate_content("Go on.")


def test_a_chat_keeps_what_was_let_through(client: Any, wire: Wire) -> None:
    """F037: the history of a chat holds no refused call."""
    wire.script(Raw(answer(BOTH)), Raw(answer([{"text": "Fine."}])))
    chat = client.GenerativeModel("m").start_chat()
    response = chat.send_message("Go on.")
    assert response.firewall["action"] == "block"
    assert [part.text for part in chat.history[0].parts] == ["Go on."]
    assert next(part_of(part) for part in chat.history[1].parts) == f"key {MASK} done"
    chat.send_message("And?")
    assert len(chat.history) == 4
    assert "send_email" not in json.dumps(wire.requests[-1].body)


def test_functions_run_only_where_their_call_has_passed(client: Any, wire: Wire) -> None:
    """`enable_automatic_function_calling`: the refused one's body never runs."""
    runs: list[str] = []

    def read_doc(path: str) -> str:
        """Read a document."""
        runs.append(path)
        return f"see {KEY}"

    def send_email(to: str) -> str:
        """Send a mail."""
        runs.append(to)
        return "sent"

    wire.script(
        Raw(answer([BOTH[1], {"functionCall": {"name": "read_doc", "args": {"path": "a.md"}}}])),
        Raw(answer([{"text": "Fine."}])),
    )
    model = client.GenerativeModel("m", tools=[read_doc, send_email])
    chat = model.start_chat(enable_automatic_function_calling=True)
    response = chat.send_message("Go on.")
    assert (runs, response.text) == (["a.md"], "Fine.")
    assert response.firewall["action"] == "block"
    answered = wire.requests[1].body["contents"][2]["parts"][0]["functionResponse"]
    assert answered["response"] == {"result": f"see {MASK}"}


class Served:
    """A gRPC server with one reply, which is what the module's async client speaks."""

    def __init__(self, *pieces: dict[str, Any]) -> None:
        self.pieces = [
            protos.GenerateContentResponse.from_json(json.dumps(p), ignore_unknown_fields=True)
            for p in pieces
        ]
        self.requests: list[Any] = []
        handler = grpc.method_handlers_generic_handler(
            SERVICE,
            {
                "GenerateContent": grpc.unary_unary_rpc_method_handler(
                    self._whole,
                    request_deserializer=protos.GenerateContentRequest.deserialize,
                    response_serializer=protos.GenerateContentResponse.serialize,
                ),
                "StreamGenerateContent": grpc.unary_stream_rpc_method_handler(
                    self._streamed,
                    request_deserializer=protos.GenerateContentRequest.deserialize,
                    response_serializer=protos.GenerateContentResponse.serialize,
                ),
            },
        )
        self.server = grpc.server(futures.ThreadPoolExecutor(1))
        self.server.add_generic_rpc_handlers((handler,))
        self.port = self.server.add_insecure_port("127.0.0.1:0")
        self.server.start()

    def _whole(self, request: Any, context: Any) -> Any:
        self.requests.append(request)
        return self.pieces[0]

    def _streamed(self, request: Any, context: Any) -> Iterator[Any]:
        self.requests.append(request)
        yield from self.pieces


async def asked(served: Served, **more: Any) -> tuple[Any, list[Any]]:
    """An async answer and its parts."""
    channel = grpc.aio.insecure_channel(f"127.0.0.1:{served.port}")
    transport = transports.GenerativeServiceGrpcAsyncIOTransport(channel=channel)
    model = FirewallGoogleGenerativeAI(genai, POLICY).GenerativeModel("m")
    model._async_client = generative_service.GenerativeServiceAsyncClient(transport=transport)
    try:
        response = await model.generate_content_async(f"Use {KEY}.", **more)
        if not more:
            return response, seen(response)
        return response, [part async for chunk in response for part in seen(chunk)]
    finally:
        await channel.close()
        served.server.stop(None)


async def test_async() -> None:
    """`generate_content_async`, over gRPC, whole."""
    served = Served(answer(BOTH))
    response, got = await asked(served)
    assert got == [f"key {MASK} done", ("read_doc", {"path": "a.md", "n": 2.0})]
    assert response.firewall["action"] == "block"
    assert served.requests[0].contents[0].parts[0].text == f"Use {MASK}."


async def test_async_stream() -> None:
    """The same in pieces."""
    pieces = [answer([{"text": t}], finish="") for t in ("key ", KEY[:12], KEY[12:], " done")]
    response, got = await asked(Served(*pieces, answer(BOTH[1:])), stream=True)
    assert "".join(part for part in got if isinstance(part, str)) == f"key {MASK} done"
    assert [part[0] for part in got if isinstance(part, tuple)] == ["read_doc"]
    assert response.firewall["action"] == "block"


def test_names_that_are_not_guarded_raise(client: Any) -> None:
    """Models, files and types are the module's own; what could answer unread is not called."""
    assert client.protos is genai.protos
    assert issubclass(client.GenerativeModel, genai.GenerativeModel)
    with pytest.raises(TypeError, match="start_chat"):
        client.ChatSession(None)
