"""Objects that are shaped like OpenAI's client and are none: fakes, routers, other SDKs.

Requests and replies may be dicts or objects with attributes. A stream of such an object has no
format that could be relied on, and is refused.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .._exchange import Exchange, attach
from .._proxy import Target, UnguardedMethod, settled
from .._request import materialised
from . import chat
from .chat import TEXTS, ChatReply

_PLACE = "edgeward_place"


def create(target: Target, /, **request: Any) -> Any:
    """`chat.completions.create`, guarded."""
    if request.get("stream"):
        raise UnguardedMethod(
            "a stream is guarded for clients of an SDK like openai's only; leave `stream` out"
        )
    request = materialised(request)
    extra = request.get("extra_body")
    extra = dict(extra) if isinstance(extra, Mapping) else {}
    messages = extra.get("messages", request.get("messages"))
    exchange = target.door.exchange(chat.turns_of(_plain(messages)))
    for body in (request, extra):
        body.update(exchange.rules.sent(body, chat.CONTENT))
    if extra:
        request["extra_body"] = extra
    return settled(target.raw(**request), lambda reply: guarded(reply, request, exchange))


def guarded(reply: Any, request: Mapping[str, Any], exchange: Exchange) -> Any:
    """The reply, changed in place: only what the guard changes is written."""
    view = ChatReply(request, exchange)
    choices = _get(reply, "choices")
    if not isinstance(choices, list | tuple):
        raise UnguardedMethod("the reply has no `choices`; it was withheld, for it cannot be read")
    data = {
        "choices": [_choice(choice) for choice in choices],
        "usage": _usage(reply),
        "model": _get(reply, "model"),
    }
    for choice, new in zip(choices, view.whole(data)["choices"], strict=True):
        _write(choice, new)
    made = exchange.decision()
    attach(reply, made)
    if not isinstance(reply, dict) and not hasattr(type(reply), "model_extra"):
        extra = _get(reply, "model_extra")
        beside = extra if isinstance(extra, Mapping) else {}
        _put(reply, "model_extra", {**beside, "firewall": made})
    return reply


def _choice(choice: Any) -> dict[str, Any]:
    given = _get(choice, "message")
    message = {name: _get(given, name) for name in (*TEXTS, "function_call")}
    message["function_call"] = _call(message["function_call"])
    calls = _get(given, "tool_calls")
    if calls is not None:
        listed = calls if isinstance(calls, list | tuple) else [calls]
        made = [{**_tool_call(c), _PLACE: n} for n, c in enumerate(listed)]
        message["tool_calls"] = made
    return {"message": message, "finish_reason": _get(choice, "finish_reason")}


def _write(choice: Any, new: dict[str, Any]) -> None:
    given, message = _get(choice, "message"), new["message"]
    for name in TEXTS:
        if message.get(name) != _get(given, name):
            _put(given, name, message[name])
    calls = _get(given, "tool_calls")
    if calls:
        left = message.get("tool_calls") or []
        for call in left:
            _write_arguments(calls[call[_PLACE]], call)
        if len(left) < len(calls):
            _put(given, "tool_calls", [calls[call[_PLACE]] for call in left] or None)
    function = _get(given, "function_call")
    if function is not None:
        if message.get("function_call") is None:
            _put(given, "function_call", None)
        elif message["function_call"]["arguments"] != _get(function, "arguments"):
            _put(function, "arguments", message["function_call"]["arguments"])
    if new["finish_reason"] != _get(choice, "finish_reason"):
        _put(choice, "finish_reason", new["finish_reason"])


def _write_arguments(call: Any, new: dict[str, Any]) -> None:
    for part, name in (("function", "arguments"), ("custom", "input")):
        inner = _get(call, part)
        if inner is not None and new[part][name] != _get(inner, name):
            _put(inner, name, new[part][name])


def _tool_call(call: Any) -> dict[str, Any]:
    made = {"id": _get(call, "id"), "function": _call(_get(call, "function"))}
    custom = _get(call, "custom")
    if custom is not None:
        made["custom"] = {"name": _get(custom, "name"), "input": _get(custom, "input")}
    return made


def _call(function: Any) -> dict[str, Any] | None:
    if function is None:
        return None
    return {"name": _get(function, "name"), "arguments": _get(function, "arguments")}


def _usage(reply: Any) -> Any:
    return _plain(_get(reply, "usage"))


def _plain(value: Any) -> Any:
    """Messages as dicts, whatever they are."""
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    if hasattr(value, "model_dump"):
        return value.model_dump()
    return value if not hasattr(value, "__dict__") else _plain(vars(value))


def _get(value: Any, name: str) -> Any:
    return value.get(name) if isinstance(value, Mapping) else getattr(value, name, None)


def _put(value: Any, name: str, new: Any) -> None:
    if isinstance(value, dict):
        value[name] = new
    else:
        setattr(value, name, new)
