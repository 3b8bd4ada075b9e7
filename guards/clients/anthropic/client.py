"""Anthropic's client with a guard in it: at the wire, for the methods that are named here."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from urllib.parse import urlsplit

from ...following import Source
from ...limits import Spending
from ...receipts.receipt import Place
from .._exchange import Door
from .._proxy import Surface, Target, UnguardedMethod, also_beta, through
from .._reply import Reply
from .._stainless import WiredClient, is_stainless, wired
from .._stream_managers import told
from .message import MessageReply, SentOnly
from .message_stream import MessageStream
from .turns import CONTENT, turns_of

NAME = "FirewallAnthropic"

_MESSAGES = ("/messages", ":rawPredict", ":streamRawPredict", "/invoke")
"""How the paths end under which the API, Vertex AI and Bedrock answer with a message."""
_COUNTS = ("/messages/count_tokens", "/count-tokens:rawPredict")
_UNREADABLE = "/invoke-with-response-stream"


def _run_tools(target: Target, *args: Any, **kwargs: Any) -> Any:
    """A tool runner that sends its whole conversation.

    The provider would otherwise keep the reply with the refused call, and want its result.
    """
    return target.raw(*args, **{**kwargs, "thread": False})


_OF_FILES = ("upload", "list", "retrieve_metadata", "delete")
"""Not their content: only what a tool or a skill made of the model's words is ever given back."""
_OF_ENVIRONMENTS = ("create", "list", "retrieve", "update", "archive", "delete")
"""Not their `work`: its workers run what sessions call."""

SURFACE = Surface(
    NAME,
    guarded={
        **dict.fromkeys(also_beta("messages.create", "messages.parse"), through),
        **dict.fromkeys(also_beta("messages.count_tokens"), through),
        **dict.fromkeys(also_beta("messages.stream"), told),
        "beta.messages.tool_runner": _run_tools,
    },
    passed=(
        *also_beta("models", "skills", "user_profiles", "organization"),
        *also_beta(*(f"files.{name}" for name in _OF_FILES)),
        *(f"beta.environments.{name}" for name in _OF_ENVIRONMENTS),
        "beta.vaults",
        "beta.tunnels",
        "beta.webhooks",
        "close",
        "is_closed",
    ),
    copies=("with_options", "copy", "with_middleware"),
    modes=("with_raw_response", "with_streaming_response"),
    hints={
        "messages.batches": "`messages.create`",
        "beta.messages.batches": "`beta.messages.create`",
        "beta.environments.work": "`beta.messages.tool_runner`",
        "beta.messages.thread": "`beta.messages.create(thread=…)`",
        "completions": "`messages.create`",
    },
)


class AnthropicDoor(Door):
    """What a client and its copies share."""

    place = Place("anthropic")

    def opening(self, method: str, url: str, body: dict[str, Any]) -> Reply | None:
        """The guarded reply to a request; None for what neither returns calls nor text.

        Raises:
            UnguardedMethod: it asks for a message in a way that cannot be read.
        """
        path = urlsplit(url).path.rstrip("/")
        asks = "messages" in body or path.endswith(_MESSAGES)
        if method.lower() != "post" or not asks:
            return None
        if path.endswith(_COUNTS):
            return SentOnly(self.rules.sent(body, CONTENT))
        if path.endswith(_UNREADABLE) or not path.endswith(_MESSAGES):
            raise UnguardedMethod(
                f"{NAME} cannot read what `{path}` answers. Streams of Amazon Bedrock's own format"
                " are not guarded: leave `stream` out there, or use the client that speaks"
                " Anthropic's API"
            )
        exchange = self.exchange(turns_of(body.get("messages")), after=_after(body))
        reply = MessageStream if body.get("stream") else MessageReply
        return reply(exchange.rules.sent(body, CONTENT), exchange)


def _after(body: dict[str, Any]) -> str:
    """The id of the reply that the request follows, where the provider keeps the conversation."""
    thread = body.get("thread")
    kept = thread.get("previous_message_id") if isinstance(thread, dict) else None
    return kept if isinstance(kept, str) else ""


class GuardedAnthropic(WiredClient):
    """A client of Anthropic's SDK, sync or async, under one policy.

    Raises:
        TypeError: it is no such client.
    """

    __slots__ = ()

    def __init__(
        self,
        client: Any,
        policy: Source,
        *,
        unguarded: Sequence[str] = (),
        spending: Spending | None = None,
    ) -> None:
        if not (is_stainless(client) and hasattr(getattr(client, "messages", None), "create")):
            raise TypeError(
                f"{NAME} needs a client of Anthropic's SDK, like anthropic.Anthropic(), and not a"
                f" {type(client).__name__}"
            )
        door = AnthropicDoor(policy, spending=spending)
        super().__init__(wired(client, door.opening), SURFACE, door, unguarded=unguarded)
