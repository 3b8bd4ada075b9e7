"""A chat model whose words are masked before any listener gets them (I8, I9).

LangChain hands what a model says to callbacks, token streams and tracing while it is being said.
So the masking stands below them, in the model itself: `held` makes a copy of a model, of a subclass
of its class, that masks what `_generate` returns and holds back what `_stream` yields. Name, class,
settings, bound tools and cache stay what they are.
"""

from __future__ import annotations

import inspect
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import aclosing
from contextvars import ContextVar
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar
from weakref import WeakKeyDictionary

from ..faults import MaskedFault, masked_fault
from ..redact import Redactor
from .held_reply import HeldReply
from .reply import masked_reply

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel
    from langchain_core.outputs import ChatResult

    Model = TypeVar("Model", bound=BaseChatModel)

_REDACTOR = "_edgeward_redactor"

written: ContextVar[list[int] | None] = ContextVar("written", default=None)
"""Where whoever counts what a model uses has the characters added up that it streams: of a reply
that breaks off, nobody says more."""

_CLASSES: WeakKeyDictionary[type[Any], type[Any]] = WeakKeyDictionary()
_LOCK = threading.Lock()


def held(model: Model, redactor: Redactor) -> Model:
    """The model once more: nothing that it says is heard with a secret in it.

    What listeners hear of a call is its masked whole, when the reply is at its end; text comes
    once it cannot become part of a secret any more. `model` stays as it is.
    """
    copy = model.model_copy()
    object.__setattr__(copy, "__class__", _held_class(type(model)))
    private = {**(copy.__pydantic_private__ or {}), _REDACTOR: redactor}
    object.__setattr__(copy, "__pydantic_private__", private)
    return copy


def _held_class(kind: Any) -> type[Any]:
    with _LOCK:
        if _REDACTOR in kind.__private_attributes__:
            return kind  # type: ignore[no-any-return]
        made = _CLASSES.get(kind)
        if made is None:
            made = _CLASSES[kind] = _made(kind)
        return made


def _made(kind: Any) -> type[Any]:
    """The subclass. It has a method of its own for each that `kind` has: where LangChain's base
    falls back from one to the other, it falls back to one of these."""
    from langchain_core.language_models import BaseChatModel
    from pydantic import PrivateAttr

    body: dict[str, Any] = {
        "__module__": kind.__module__,
        "__qualname__": kind.__qualname__,
        "__doc__": kind.__doc__,
        "_get_llm_string": _key_of_its_own(kind),
        "_serialized": cached_property(_shown_serialized),
        _REDACTOR: PrivateAttr(default=None),
    }
    for name, made in _WRAPPED.items():
        if getattr(kind, name) is not getattr(BaseChatModel, name):
            body[name] = made(kind)
    for name in ("_stream_chat_model_events", "_astream_chat_model_events"):
        if getattr(kind, name, None) is not None:
            body[name] = None  # events are then made of what `_stream` yields
    held_class: type[Any] = type(kind)(kind.__name__, (kind,), body)
    return held_class


def _key_of_its_own(kind: Any) -> Any:
    def _get_llm_string(self: Any, stop: Any = None, **kwargs: Any) -> str:
        """What the model itself put into a cache was not masked."""
        return f"{kind._get_llm_string(self, stop=stop, **kwargs)}---edgeward"

    return _get_llm_string


def _shown_serialized(self: Any) -> Any:
    """What listeners are told of the model itself: of one that cannot be serialised, its `repr`."""
    from langchain_core.load import dumpd

    return getattr(self, _REDACTOR).value(dumpd(self))


def _generate(kind: Any) -> Any:
    unheard = _unheard(kind._generate)

    def _generate(
        self: Any, messages: Any, stop: Any = None, run_manager: Any = None, **kwargs: Any
    ) -> Any:
        with _unheard_faults(self):
            return _masked(kind._generate(self, messages, stop, **unheard, **kwargs), self)

    return _with_signature(_generate)


def _agenerate(kind: Any) -> Any:
    unheard = _unheard(kind._agenerate)

    async def _agenerate(
        self: Any, messages: Any, stop: Any = None, run_manager: Any = None, **kwargs: Any
    ) -> Any:
        with _unheard_faults(self):
            return _masked(await kind._agenerate(self, messages, stop, **unheard, **kwargs), self)

    return _with_signature(_agenerate)


def _stream(kind: Any) -> Any:
    unheard = _unheard(kind._stream)

    def _stream(
        self: Any, messages: Any, stop: Any = None, run_manager: Any = None, **kwargs: Any
    ) -> Iterator[Any]:
        reply, heard = HeldReply(getattr(self, _REDACTOR)), written.get()
        with _unheard_faults(self):
            for chunk in kind._stream(self, messages, stop, **unheard, **kwargs):
                if heard is not None:
                    heard[0] += _characters(chunk.message)
                yield from reply.feed(chunk)
        yield from reply.close()

    return _stream


def _astream(kind: Any) -> Any:
    unheard = _unheard(kind._astream)

    async def _astream(
        self: Any, messages: Any, stop: Any = None, run_manager: Any = None, **kwargs: Any
    ) -> AsyncIterator[Any]:
        reply, heard = HeldReply(getattr(self, _REDACTOR)), written.get()
        stream = kind._astream(self, messages, stop, **unheard, **kwargs)
        with _unheard_faults(self):
            async with aclosing(stream) as chunks:
                async for chunk in chunks:
                    if heard is not None:
                        heard[0] += _characters(chunk.message)
                    for piece in reply.feed(chunk):
                        yield piece
        for piece in reply.close():
            yield piece

    return _astream


_TEXTS = ("text", "thinking", "reasoning")
"""Fields of a block in which a model's words stand. Calls stand in the chunk beside the blocks."""


def _characters(chunk: Any) -> int:
    """What a chunk adds to a reply, thoughts and the arguments of calls included."""
    content = chunk.content
    said = [chunk.additional_kwargs.get("reasoning_content")]
    for block in [content] if isinstance(content, str) else content:
        said += [block] if isinstance(block, str) else map(block.get, _TEXTS)
    said += [call["args"] for call in getattr(chunk, "tool_call_chunks", ())]
    return sum(len(text) for text in said if isinstance(text, str))


def _with_signature(method: Any) -> Any:
    """The method with its signature worked out: LangChain asks for it in every call."""
    method.__signature__ = inspect.signature(method)
    return method


_WRAPPED = {
    "_generate": _generate,
    "_agenerate": _agenerate,
    "_stream": _stream,
    "_astream": _astream,
}


def _redactor_of(model: Any) -> Redactor:
    """The redactor of a held model. Asked for as an attribute it costs as much as a search."""
    found: Redactor = model.__pydantic_private__[_REDACTOR]
    return found


class _unheard_faults:  # noqa: N801 - a context manager, named as what it does
    """Raise what the body raises without the secrets in its text."""

    def __init__(self, model: Any) -> None:
        self._redactor = _redactor_of(model)

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: Any, error: BaseException | None, traceback: Any) -> None:
        if isinstance(error, Exception) and not isinstance(error, MaskedFault):
            fault = masked_fault(error, self._redactor)
            if fault is not None:
                # It must not carry the original along.
                fault.__suppress_context__ = True
                raise fault from None


def _unheard(method: Any) -> dict[str, None]:
    """The model's own method must not tell anybody of what is not masked yet."""
    return {"run_manager": None} if "run_manager" in inspect.signature(method).parameters else {}


def _masked(result: ChatResult, model: Any) -> ChatResult:
    redactor = _redactor_of(model)
    for generation in result.generations:
        message = masked_reply(generation.message, redactor)  # type: ignore[type-var]
        if message is not generation.message:
            generation.message = message
            generation.text = redactor.secrets(generation.text)[0]
    return result
