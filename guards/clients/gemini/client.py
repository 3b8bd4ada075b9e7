"""The clients of Gemini's API with a guard in them: google-genai's, and the older module.

Names decide what may be called at all; what `models` and `chats` send and read is guarded where
they meet the wire.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from functools import lru_cache
from typing import Any

from ...following import Source
from ...limits import Spending
from ...receipts.receipt import Place
from .._exchange import Door
from .._proxy import GuardedClient, Surface, Target, settled
from . import older
from .streams import streamed
from .wire import Call, resumes, within

NAME = "FirewallGoogleGenerativeAI"


def _also_aio(*paths: str) -> tuple[str, ...]:
    """Each path, from the client and from `aio`."""
    return tuple(f"{prefix}{path}" for prefix in ("", "aio.") for path in paths)


PASSED = _also_aio(
    "models.count_tokens",
    "models.compute_tokens",
    "models.embed_content",
    "models.get",
    "models.list",
    "models.update",
    "models.delete",
    "models.segment_image",
    "models.generate_videos",
    "files.upload",
    "files.register_files",
    "files.get",
    "files.list",
    "files.delete",
    "file_search_stores",
    "operations",
    "auth_tokens",
    "caches.get",
    "caches.list",
    "caches.delete",
    "tunings.get",
    "tunings.list",
    "tunings.cancel",
    "close",
    "aclose",
)
"""What returns neither calls nor the model's text."""


_PICTURES = ("generate_images", "edit_image", "upscale_image", "recontext_image")


def _generate(target: Target, /, *args: Any, **kwargs: Any) -> Any:
    call, method = _of_call(target, kwargs.get("config"))
    return settled(method(*args, **kwargs), call.told)


def _generate_stream(target: Target, /, *args: Any, **kwargs: Any) -> Any:
    call, method = _of_call(target, kwargs.get("config"))
    return settled(method(*args, **kwargs), lambda pieces: streamed(pieces, call))


def _picture(target: Target, /, *args: Any, **kwargs: Any) -> Any:
    redactor = target.door.rules.policy.redactor

    def masked(response: Any) -> Any:
        """Beside a picture the model may say what it made of the prompt."""
        for image in response.generated_images or ():
            if said := getattr(image, "enhanced_prompt", None):
                image.enhanced_prompt = redactor.all(said)[0]
        return response

    return settled(target.raw(*args, **kwargs), masked)


def _of_call(target: Target, config: Any) -> tuple[Call, Any]:
    """One call, and the client's method with the guard where it meets the wire."""
    call = Call(target.door, resumes=resumes(config))
    raw: Any = target.raw
    return call, getattr(within(raw.__self__, target.door, call), raw.__name__)


def _create_chat(target: Target, /, *args: Any, **kwargs: Any) -> Any:
    chat = target.raw(*args, **kwargs)
    chat._modules = within(chat._modules, target.door)
    chat._edgeward_door = target.door
    base: Any = type(chat)
    chat.__class__ = _chat_class(base)
    return chat


@lru_cache(maxsize=64)
def _chat_class(base: type[Any]) -> type[Any]:
    """The SDK's class of chats; a message's answer has the decision on it.

    The chat's history is the SDK's own: what was let through, for nothing else reached it.
    """

    def send_message(self: Any, message: Any, config: Any = None) -> Any:
        chat, call = _of_one_call(self, base, config)
        return settled(base.send_message(chat, message, config), call.told)

    def send_message_stream(self: Any, message: Any, config: Any = None) -> Any:
        chat, call = _of_one_call(self, base, config)
        pieces = base.send_message_stream(chat, message, config)
        return settled(pieces, lambda made: streamed(made, call))

    names = {"send_message": send_message, "send_message_stream": send_message_stream}
    for name, method in names.items():
        method.__doc__ = getattr(base, name).__doc__
    return type(base.__name__, (base,), {**names, "__module__": base.__module__})


def _of_one_call(chat: Any, base: type[Any], config: Any) -> tuple[Any, Call]:
    """The chat, with the same history, as one message sees it."""
    door: Door = chat._edgeward_door
    call = Call(door, resumes=resumes(config or chat._config))
    made = copy(chat)
    made.__class__ = base
    made._modules = within(chat._modules, door, call)
    return made, call


SURFACE = Surface(
    NAME,
    guarded={
        **dict.fromkeys(_also_aio("models.generate_content"), _generate),
        **dict.fromkeys(_also_aio("models.generate_content_stream"), _generate_stream),
        **dict.fromkeys(_also_aio("chats.create"), _create_chat),
        **dict.fromkeys(_also_aio(*(f"models.{name}" for name in _PICTURES)), _picture),
    },
    passed=PASSED,
    hints={
        "*interactions": "`models.generate_content`",
        "*live": "`aio.models.generate_content_stream`",
        "*batches": "`models.generate_content`",
    },
)
"""A client of google-genai's."""


class GeminiDoor(Door):
    """What a client and its copies share."""

    place = Place("gemini")


class GuardedGemini(GuardedClient):
    """A client of Gemini's API, under one policy.

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
        door = GeminiDoor(policy, spending=spending)
        if hasattr(getattr(client, "models", None), "_api_client"):
            super().__init__(client, SURFACE, door, unguarded=unguarded)
            return
        if older.is_older(client):
            super().__init__(client, older.surface(NAME), door, unguarded=unguarded)
            return
        raise TypeError(
            f"{NAME} needs a client of google-genai (genai.Client(...), or its `aio`), or the"
            " module google.generativeai"
        )

    def __getattr__(self, name: str) -> Any:
        if name == older.MODEL:
            return older.model_class(self._frame.door, getattr(self._raw, name))
        return super().__getattr__(name)
