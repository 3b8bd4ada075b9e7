"""The OpenAI-shaped client with a guard in it.

A client of the SDK's is guarded where it meets the wire; names decide what may be called at all.
Any other object of the same shape (a fake, a router) is guarded call by call: `shaped`.
"""

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
from . import chat, images, items, responses, shaped
from .chat import ChatReply
from .chat_stream import ChatStream
from .responses import ResponseReply
from .responses_stream import ResponseStream

NAME = "FirewallOpenAI"
RETRIEVE = "responses.retrieve"


_KEPT = ("create", "list", "retrieve", "delete")
"""What may be done with a file. Its content may be a batch's replies, or what a program wrote."""

PASSED = (
    "models",
    "embeddings",
    *(f"files.{name}" for name in (*_KEPT, "wait_for_processing")),
    "images",
    "moderations",
    "uploads",
    "fine_tuning.jobs",
    "fine_tuning.checkpoints",
    "audio.speech",
    "audio.voices",
    "audio.voice_consents",
    "videos",
    *(f"{path}.{name}" for path in ("containers", "containers.files") for name in _KEPT),
    "skills",
    "admin",
    "webhooks",
    "content_provenance_checks",
    "conversations.delete",
    "close",
    "is_closed",
    *also_beta(
        "vector_stores", "chat.completions.delete", "responses.delete", "responses.input_tokens"
    ),
)
"""What returns neither calls nor the model's text."""


def _respond(target: Target, *args: Any, **kwargs: Any) -> Any:
    extra = kwargs.get("extra_body")
    later = kwargs.get("background") or (isinstance(extra, dict) and extra.get("background"))
    if later is True:
        _kept_by_the_provider(target, "background=True")
    return target.raw(*args, **kwargs)


def _stream_response(target: Target, *args: Any, **kwargs: Any) -> Any:
    for name in ("response_id", "starting_after"):
        if isinstance(kwargs.get(name), str | int):
            _kept_by_the_provider(target, name)
    return told(target, *args, **kwargs)


def _kept_by_the_provider(target: Target, what: str) -> None:
    """Refuse what leads to a reply that is read another time, by a method that is not guarded."""
    if RETRIEVE not in getattr(target.door, "unguarded", ()):
        raise UnguardedMethod(
            f"{NAME} does not guard `{RETRIEVE}`, which `{what}` comes to. To read such responses "
            f'without the guard, opt out of it by name: {NAME}(..., unguarded=["{RETRIEVE}"])'
        )


_MODES = ("with_raw_response", "with_streaming_response")
_HINTS = {
    "completions": "`chat.completions.create`",
    "beta.threads": "`responses.create`",
    "beta.assistants": "`responses.create`",
}

WIRED = Surface(
    NAME,
    guarded={
        **dict.fromkeys(also_beta("chat.completions.create", "chat.completions.parse"), through),
        **dict.fromkeys(also_beta("chat.completions.stream"), told),
        **dict.fromkeys(also_beta("responses.create", "responses.parse"), _respond),
        **dict.fromkeys(also_beta("responses.stream"), _stream_response),
    },
    passed=PASSED,
    copies=("with_options", "copy"),
    modes=_MODES,
    hints=_HINTS,
)
"""A client of the SDK's."""

SHAPED = Surface(
    NAME,
    guarded={"chat.completions.create": shaped.create},
    passed=PASSED,
    copies=("with_options", "copy"),
    modes=(),
    hints=_HINTS,
)
"""Anything else that looks like one."""


class OpenAIDoor(Door):
    """What a client and its copies share; `unguarded` are the methods that were opted out."""

    place = Place("openai")

    def __init__(
        self, policy: Source, unguarded: Sequence[str], spending: Spending | None = None
    ) -> None:
        super().__init__(policy, spending=spending)
        self.unguarded = tuple(unguarded)

    def opening(self, method: str, url: str, body: dict[str, Any]) -> Reply | None:
        """The guarded reply to a request; None for what neither returns calls nor text."""
        path = urlsplit(url).path.rstrip("/")
        if method.lower() != "post":
            return None
        if path.endswith("/chat/completions"):
            exchange = self.exchange(chat.turns_of(body.get("messages")))
            sent = exchange.rules.sent(body, chat.CONTENT)
            return (ChatStream if body.get("stream") else ChatReply)(sent, exchange)
        if path.endswith("/responses"):
            turns = list(items.turns_of(body.get("input")))
            exchange = self.exchange(turns, after=responses.after_of(body))
            sent = exchange.rules.sent(body, responses.CONTENT)
            return (ResponseStream if body.get("stream") else ResponseReply)(sent, exchange)
        if path.endswith(images.PATH):
            return images.ImageReply(body, self.rules.policy.redactor)
        return None


class GuardedOpenAI(WiredClient):
    """An OpenAI-shaped client, sync or async, under one policy.

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
        if not hasattr(getattr(client, "chat", None), "completions"):
            raise TypeError(f"{NAME} needs a client with `chat.completions`, like openai.OpenAI()")
        door = OpenAIDoor(policy, unguarded, spending)
        if is_stainless(client):
            super().__init__(wired(client, door.opening), WIRED, door, unguarded=unguarded)
        else:
            super().__init__(client, SHAPED, door, unguarded=unguarded)
