"""Asks a chat model, without LangChain's machinery for listeners where there are none.

That machinery writes the whole conversation out anew for each call, so that a long one costs more
than a guarded step. Without it the model is asked as LangChain asks it in the end: its cache, its
rate limiter, its streaming and what it notes about a reply stay.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from operator import attrgetter
from types import FunctionType
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from .callbacks import listened_to

if TYPE_CHECKING:
    from langchain_core.messages import BaseMessage
    from langchain_core.runnables import Runnable, RunnableConfig

_METHODS = ("invoke", "ainvoke", "generate", "agenerate", "generate_prompt", "agenerate_prompt")
"""What lies between a caller and the model."""

_SETTINGS = frozenset(
    {"stop", "callbacks", "tags", "metadata", "run_name", "run_id"}
    | {"ls_structured_output_format", "structured_output_format"}
)
"""Arguments that those methods take for themselves."""


def ask(
    model: Runnable[Any, BaseMessage],
    messages: list[BaseMessage],
    config: RunnableConfig,
    options: Mapping[str, Any],
    *,
    texts: bool = False,
) -> BaseMessage:
    """The model's reply to these messages; `texts`: whether all are known to be text alone."""
    if not _is_direct(model, () if texts else messages, config, options):
        return model.invoke(messages, config, **options)
    chat: Any = model
    return _reply(chat._generate_with_cache(messages, stop=None, run_manager=None, **options))


async def aask(
    model: Runnable[Any, BaseMessage],
    messages: list[BaseMessage],
    config: RunnableConfig,
    options: Mapping[str, Any],
    *,
    texts: bool = False,
) -> BaseMessage:
    """`ask`, for an event loop."""
    if not _is_direct(model, () if texts else messages, config, options):
        return await model.ainvoke(messages, config, **options)
    chat: Any = model
    said = await chat._agenerate_with_cache(messages, stop=None, run_manager=None, **options)
    return _reply(said)


def _is_direct(
    model: Any, messages: Sequence[BaseMessage], config: RunnableConfig, options: Mapping[str, Any]
) -> bool:
    """Whether all that lies between is for listeners, and there are none."""
    if not _is_plain(type(model)) or not _SETTINGS.isdisjoint(options):
        return False
    # Content in blocks may be in an older form, which LangChain rewrites.
    if not all(map(is_text, messages)):
        return False
    return not (listened_to(config) or _listeners(model, config))


def is_text(message: BaseMessage) -> bool:
    """Whether the message is text, and nothing but one."""
    return type(message.content) is str


_plain: WeakKeyDictionary[type[Any], tuple[Any, ...]] = WeakKeyDictionary()
"""Kinds of chat models that are asked by LangChain's own methods, and these."""


def _is_plain(kind: type[Any]) -> bool:
    """Whether it is a chat model that is asked by LangChain's own methods, as they were written:
    a subclass may have others, and whoever measures a program may have wrapped them."""
    known = _plain.get(kind)
    if known is not None and known == _methods_of(kind):
        return True
    from langchain_core.language_models import BaseChatModel, chat_models

    if not issubclass(kind, BaseChatModel):
        return False
    found: tuple[Any, ...] = _methods_of(kind)
    if not all(
        type(m) is FunctionType and m.__code__.co_filename == chat_models.__file__ for m in found
    ):
        return False
    _plain[kind] = found
    return True


_methods_of = attrgetter(*_METHODS)


_SILENT_KEY = "__edgeward_silent"
_NAMESPACE_KEY = "checkpoint_ns"
_SILENT = object()
"""What no request from outside can hold."""


def note_silence(config: RunnableConfig) -> None:
    """Note in a graph step's own configuration that no setting of the process has anybody listen,
    if that is so: it need not be found out for each call of a model in it.

    Graphs inside take the configuration over; for them it says nothing.
    """
    from langchain_core.callbacks import CallbackManager

    settings = config["configurable"]
    if not CallbackManager.configure().handlers:
        settings[_SILENT_KEY] = (_SILENT, settings.get(_NAMESPACE_KEY))


def _is_silent(config: RunnableConfig) -> bool:
    settings = config.get("configurable") or {}
    found = settings.get(_SILENT_KEY)
    if type(found) is not tuple or found[0] is not _SILENT:
        return False
    return bool(found[1] == settings.get(_NAMESPACE_KEY))


def _listeners(model: Any, config: RunnableConfig) -> bool:
    """Whether anybody listens to the model: to it, or by a setting of the process."""
    from langchain_core.callbacks import CallbackManager

    own, verbose = model.callbacks, model.verbose
    if not own and not verbose and _is_silent(config):
        return False
    return bool(CallbackManager.configure(None, own, verbose).handlers)


def _reply(result: Any) -> BaseMessage:
    from langchain_core.utils.utils import LC_ID_PREFIX

    message: BaseMessage = result.generations[0].message
    if message.id is None:
        message.id = f"{LC_ID_PREFIX}-{os.urandom(16).hex()}-0"
    return message
