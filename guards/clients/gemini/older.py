"""The older module `google.generativeai`, guarded where its models meet the wire.

A `GenerativeModel`, and the chats that it starts, send everything through a client that takes and
gives messages of protocol buffers. A guarded model is of a subclass whose client masks the one and
guards the other. So whole replies, streams, chats and the functions that a chat calls by itself
see what the guard let through, and nothing else.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from functools import lru_cache
from importlib import import_module
from typing import Any

from .._exchange import Door
from .._proxy import Surface, Target, settled
from .reply import GeminiReply
from .wire import Call

MODEL = "GenerativeModel"

_CALL = "_edgeward_call"
_ANSWERS = frozenset({"generate_content", "stream_generate_content"})


def is_older(client: Any) -> bool:
    """Whether it is the module."""
    return isinstance(getattr(client, MODEL, None), type)


def _model(target: Target, /, *args: Any, **kwargs: Any) -> Any:
    return model_class(target.door, target.raw)(*args, **kwargs)


def surface(name: str) -> Surface:
    """The module's names."""
    return Surface(
        name,
        guarded={MODEL: _model},
        passed=(
            "configure",
            "embed_content",
            "embed_content_async",
            "*_file",
            "list_*",
            "get_*",
            "*_tuned_model",
            "GenerationConfig",
            "protos",
            "types",
        ),
        hints={"ChatSession": "`GenerativeModel(...).start_chat`"},
    )


@lru_cache(maxsize=256)
def model_class(door: Door, base: Any) -> Any:
    """The module's class of models, under the door's policy."""

    def generate(name: str) -> Any:
        def method(self: Any, *args: Any, **kwargs: Any) -> Any:
            model = _twin(self, type(self))
            call = model.__dict__.setdefault(_CALL, Call(door))
            made = getattr(base, name)(model, *args, **kwargs)
            return settled(made, lambda response: _told(response, call))

        method.__name__, method.__doc__ = name, getattr(base, name).__doc__
        return method

    def start_chat(self: Any, *args: Any, **kwargs: Any) -> Any:
        chat = base.start_chat(self, *args, **kwargs)
        kind: Any = type(chat)
        chat.__class__ = _chat_class(door, kind)
        return chat

    start_chat.__doc__ = base.start_chat.__doc__
    names = {
        "generate_content": generate("generate_content"),
        "generate_content_async": generate("generate_content_async"),
        "start_chat": start_chat,
        "_client": _guarded_client("_client", door),
        "_async_client": _guarded_client("_async_client", door),
    }
    return type("FirewallGeminiModel", (base,), {**names, "__module__": base.__module__})


def _guarded_client(name: str, door: Door) -> property:
    """A model's client, as the model sees it: with the guard in between."""

    def seen(model: Any) -> Any:
        inner = model.__dict__.get(name)
        return None if inner is None else _Client(inner, model.__dict__.get(_CALL) or Call(door))

    def put(model: Any, inner: Any) -> None:
        model.__dict__[name] = inner

    return property(seen, put)


@lru_cache(maxsize=256)
def _chat_class(door: Door, base: Any) -> Any:
    """The module's class of chats; a message's answer has the decision on all that it took."""

    def send(name: str) -> Any:
        def method(self: Any, *args: Any, **kwargs: Any) -> Any:
            chat = _twin(self, base)
            chat.model = _twin(self.model, type(self.model))
            chat.model.__dict__[_CALL] = Call(door)

            def taken(response: Any) -> Any:
                self.__dict__.update({**chat.__dict__, "model": self.model})
                return response

            return settled(getattr(base, name)(chat, *args, **kwargs), taken)

        method.__name__, method.__doc__ = name, getattr(base, name).__doc__
        return method

    names = {name: send(name) for name in ("send_message", "send_message_async")}
    return type("FirewallGeminiChat", (base,), {**names, "__module__": base.__module__})


def _twin(given: Any, kind: Any) -> Any:
    """The same object for one call, whatever the module's own `copy` leaves out."""
    made = object.__new__(kind)
    made.__dict__.update(given.__dict__)
    return made


def _told(response: Any, call: Call) -> Any:
    """A response of the module's, whole or streamed, that tells the decision."""
    base: Any = type(response)
    response.__class__ = _told_class(base)
    response.__dict__[_CALL] = call
    return response


@lru_cache(maxsize=64)
def _told_class(base: Any) -> Any:
    firewall = property(lambda self: self.__dict__[_CALL].firewall)
    return type(base.__name__, (base,), {"firewall": firewall, "__module__": base.__module__})


class _Client:
    """The client below a model: what it sends is masked, what it gives back is guarded."""

    def __init__(self, inner: Any, call: Call) -> None:
        self._inner, self._call = inner, call

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._inner, name)
        if name not in _ANSWERS:
            return method

        def guarded(request: Any, **options: Any) -> Any:
            sent, reply = self._opened(request)
            read = self._streamed if name == "stream_generate_content" else self._whole
            return settled(method(sent, **options), lambda response: read(response, reply))

        return guarded

    def _opened(self, request: Any) -> tuple[Any, GeminiReply]:
        body = _json_of(request)
        masked, reply = self._call.opened(body)
        changed = {name: value for name, value in masked.items() if value != body.get(name)}
        return _with(request, changed), reply

    def _whole(self, response: Any, reply: GeminiReply) -> Any:
        made = _with(response, _changed(response, reply, whole=True))
        self._call.end(finished=False)
        return made

    def _streamed(self, pieces: Any, reply: GeminiReply) -> Any:
        if hasattr(pieces, "__aiter__"):
            return self._pieces_async(pieces, reply)
        return self._pieces(pieces, reply)

    def _pieces(self, pieces: Any, reply: GeminiReply) -> Iterator[Any]:
        last, sent = None, False
        try:
            for last in pieces:
                made = _changed(last, reply)
                if made is not None:
                    sent = True
                    yield _with(last, made)
            yield from self._rest(last, sent=sent)
        finally:
            self._left(pieces)

    async def _pieces_async(self, pieces: Any, reply: GeminiReply) -> AsyncIterator[Any]:
        last, sent = None, False
        try:
            async for last in pieces:
                made = _changed(last, reply)
                if made is not None:
                    sent = True
                    yield _with(last, made)
            for piece in self._rest(last, sent=sent):
                yield piece
        finally:
            self._left(pieces)

    def _rest(self, last: Any, *, sent: bool) -> Iterator[Any]:
        made = self._call.end(finished=True)
        if last is not None and (made is not None or not sent):
            yield _with(last, made or {"candidates": []})  # the module wants one piece at least

    def _left(self, pieces: Any) -> None:
        """Nobody reads on, or there is no more: the connection is let go."""
        if hasattr(pieces, "cancel"):
            pieces.cancel()
        self._call.end(finished=False)


def _json_of(message: Any) -> dict[str, Any]:
    made: dict[str, Any] = _json_format().MessageToDict(type(message).pb(message))
    return made


def _changed(response: Any, reply: GeminiReply, *, whole: bool = False) -> dict[str, Any] | None:
    """The fields of a response that go out otherwise than they came; None where nothing does."""
    data = _json_of(response)
    made = reply.event(data, whole=whole)
    if made is None:
        return {"candidates": []} if whole else None
    if made.get("candidates") == data.get("candidates"):
        return {}
    return {"candidates": made["candidates"]}


def _with(message: Any, changed: dict[str, Any] | None) -> Any:
    """A message with other values in some of its fields; it is left as it is."""
    if not changed:
        return message
    pb = type(message).pb(message)
    new = type(pb)()
    new.CopyFrom(pb)
    for field in pb.DESCRIPTOR.fields:
        if field.json_name in changed:
            new.ClearField(field.name)
    _json_format().ParseDict(changed, new, ignore_unknown_fields=True)
    return type(message).wrap(new)


def _json_format() -> Any:
    return import_module("google.protobuf.json_format")
