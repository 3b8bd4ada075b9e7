"""Chat completions as OpenAI's API words them: the turns of a request, the calls of a reply.

Reads and writes JSON objects; every verdict is the exchange's.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ...content import read_by_model
from ...conversation import ModelTurn, Proposed, ToolResult, Turn, UserText
from ...spent import Usage
from .._cut_off import chars_in
from .._exchange import Exchange, Judged
from .._reply import GuardedReply

CONTENT = ("messages", "prediction")
"""The fields of a request that hold text for the model."""

TEXTS = ("content", "refusal", "reasoning_content", "reasoning")
"""The fields of a message, or of a delta, that hold the model's text."""

CALLS = ("tool_calls", "function_call")
KNOWN = frozenset((*TEXTS, *CALLS, "role", "audio", "reasoning_details"))
"""The fields of a message, or of a delta, that are looked at one by one; signed reasoning stays."""

FRAME = frozenset(
    """id object created model choices usage obfuscation p system_fingerprint service_tier
    provider""".split()  # noqa: SIM905 - one word a value reads better
)
"""The fields of a completion, or of a chunk, in which nobody writes."""

REPEATED = ("message", "delta", "text")
"""Fields of a choice that hold what was said; some servers give several, with the same in them."""
FINISHED_FOR_CALLS = ("tool_calls", "function_call")

_LISTS = (list, tuple)


def turns_of(messages: Any) -> Iterator[Turn]:
    """The conversation that a request carries. What the system says is nobody's word."""
    old = ""
    for number, message in enumerate(messages if isinstance(messages, _LISTS) else ()):
        if type(message) is not dict and not isinstance(message, Mapping):
            continue
        role, content = message.get("role"), message.get("content")
        if role == "user":
            yield UserText(text_of(content))
        elif role == "assistant":
            calls = tuple(proposed_in(message))
            if message.get("function_call") is not None:
                old = f"function_call {number}"  # it has no id; the next answer is its own
                calls = (*calls[:-1], replace(calls[-1], id=old))
            if calls:
                yield ModelTurn(calls)
        elif role == "tool":
            yield ToolResult(str(message.get("tool_call_id") or ""), read_by_model(content))
        elif role == "function":
            yield ToolResult(old, read_by_model(content))


def text_of(content: Any) -> str:
    """The text of a message's content, which is a text or a list of parts."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list | tuple) else ()
    texts = (part if isinstance(part, str) else _part_text(part) for part in parts)
    return "\n".join(text for text in texts if text)


def _part_text(part: Any) -> str:
    found = part.get("text") or part.get("refusal") if isinstance(part, Mapping) else None
    return found if isinstance(found, str) else ""


def proposed_in(message: Mapping[str, Any]) -> Iterator[Proposed]:
    """The calls of a message, the old `function_call` last."""
    calls = message.get("tool_calls")
    for call in calls if isinstance(calls, _LISTS) else ():
        yield proposed(call)
    if message.get("function_call") is not None:
        yield old_call(message["function_call"])


def proposed(call: Any) -> Proposed:
    """One of `tool_calls`. What is no call that we know has no name, and is refused for that."""
    if type(call) is not dict and not isinstance(call, Mapping):
        return Proposed("")
    call_id = name_of(call.get("id"))
    function, custom = call.get("function"), call.get("custom")
    if (type(function) is dict or isinstance(function, Mapping)) and custom is None:
        return Proposed(name_of(function.get("name")), _text(function.get("arguments")), call_id)
    if isinstance(custom, Mapping) and function is None:
        return Proposed(name_of(custom.get("name")), {"input": _text(custom.get("input"))}, call_id)
    return Proposed("", id=call_id)


def old_call(call: Any) -> Proposed:
    """A `function_call`, which has no id: its answer names the function."""
    given = call if isinstance(call, Mapping) else {}
    name = name_of(given.get("name"))
    return Proposed(name, _text(given.get("arguments")), name)


def name_of(value: Any) -> str:
    """A name or an id. What is no text names nothing, and is refused for that."""
    return value if isinstance(value, str) else ""


def _text(value: Any) -> Any:
    """A field's text; anything else as it is, for the guard to refuse."""
    return "" if value is None else value


class ChatReply(GuardedReply):
    """A chat completion in flight, not streamed."""

    def whole(self, data: dict[str, Any]) -> dict[str, Any]:
        """The completion, guarded, with the decision as `firewall`."""
        given = data.get("choices")
        choices = [c for c in given if isinstance(c, dict)] if isinstance(given, list) else []
        total = tokens_of(data)
        if total is None:
            self.exchange.estimate(chars_in(choices))
        self.exchange.add_tokens(total, usage=usage_of(data))
        for number, choice in enumerate(choices):
            self._choice(choice, number)
        data["choices"] = choices  # nothing that could not be looked into
        data |= beside(data, FRAME, self.exchange)
        self._seen = True
        data["firewall"] = self.firewall
        return data

    def _choice(self, choice: dict[str, Any], number: int) -> None:
        for name in REPEATED:
            if name != "message":
                choice.pop(name, None)
        message = choice.get("message")
        if not isinstance(message, dict):
            choice.pop("message", None)  # it could not be looked into
            return
        message |= beside(message, KNOWN, self.exchange)
        changed, logged = mask_texts(message, self.exchange), choice.get("logprobs")
        if logged is not None and (changed or tells(logged, self.exchange)):
            choice["logprobs"] = None  # it spells the text out, token by token
        stripped = self._strip(message, number)
        if not stripped or any(message.get(field) for field in CALLS):
            return
        if choice.get("finish_reason") in FINISHED_FOR_CALLS:
            choice["finish_reason"] = "stop"
        if not has_text(message):
            message[refusal_field(self.body)] = self.exchange.policy.block_message

    def _strip(self, message: dict[str, Any], number: int) -> bool:
        """Take the refused calls out of the message; whether there were any."""
        calls = message.get("tool_calls")
        if calls and not isinstance(calls, list):
            calls = message["tool_calls"] = [calls]
        judged = self.exchange.judge(proposed_in(message), choice=number)
        if isinstance(calls, list) and calls:
            pairs = zip(calls, judged, strict=False)
            message["tool_calls"] = [passed_call(c, j) for c, j in pairs if j.keep]
            if not message["tool_calls"]:
                del message["tool_calls"]
        if message.get("function_call") is not None:
            if judged[-1].keep:
                message["function_call"] = passed_function(message["function_call"], judged[-1])
            else:
                del message["function_call"]
        return any(not one.keep for one in judged)


def passed_call(call: dict[str, Any], judged: Judged) -> dict[str, Any]:
    """A call that stays, with what the verdict puts in place of its arguments."""
    if judged.arguments is None:
        return call
    if isinstance(call.get("custom"), dict):
        return {**call, "custom": {**call["custom"], "input": masked_input(judged)}}
    return {**call, "function": passed_function(call["function"], judged)}


def passed_function(function: dict[str, Any], judged: Judged) -> dict[str, Any]:
    """A function's name and arguments, as the verdict lets them pass."""
    if judged.arguments is None:
        return function
    return {**function, "arguments": judged.arguments}


def masked_input(judged: Judged) -> str:
    """The masked text of a custom tool, which takes a text and no arguments."""
    return str(json.loads(judged.arguments or "{}").get("input", ""))


def mask_texts(message: dict[str, Any], exchange: Exchange) -> bool:
    """Mask the model's text in a message, in place; whether something was masked."""
    changed = False
    for field in TEXTS:
        if said := message.get(field):
            message[field] = masked_content(said, exchange)
            changed = changed or message[field] != said
    audio = message.get("audio")
    if isinstance(audio, dict) and isinstance(audio.get("transcript"), str):
        message["audio"] = {**audio, "transcript": exchange.masked(audio["transcript"])}
    return changed


def beside(value: Mapping[str, Any], known: frozenset[str], exchange: Exchange) -> dict[str, Any]:
    """What has to change in the fields that are not known."""
    given = {key: value[key] for key in value if key not in known and value[key] is not None}
    if not given:
        return given
    masked: dict[str, Any] = exchange.masked_data(given)
    return {key: item for key, item in masked.items() if item is not given[key]}


def tells(logged: Any, exchange: Exchange) -> bool:
    """Whether a log of tokens spells out what has to be masked."""
    return bool(exchange.policy.redactor.all(spelled(logged))[1])


def spelled(logged: Any, fields: Sequence[str] = ("content", "refusal")) -> str:
    """The text that a log of tokens spells out."""
    lists = [logged.get(name) for name in fields] if isinstance(logged, Mapping) else [logged]
    tokens = [token for listed in lists if isinstance(listed, list) for token in listed]
    return "".join(str(token.get("token") or "") for token in tokens if isinstance(token, Mapping))


def masked_content(content: Any, exchange: Exchange) -> Any:
    """A text, or a list of parts whose texts are masked."""
    if isinstance(content, str):
        return exchange.masked(content)
    if isinstance(content, list):
        return [masked_content(part, exchange) for part in content]
    if isinstance(content, dict):
        said = ("text", "refusal", "thinking")
        return {k: masked_content(v, exchange) if k in said else v for k, v in content.items()}
    return content


def has_text(message: Mapping[str, Any]) -> bool:
    """Whether the message says something besides its calls."""
    return any(text_of(message.get(field)).strip() for field in ("content", "refusal"))


def refusal_field(body: Mapping[str, Any]) -> str:
    """Where the block message goes: a structured answer is no place for prose."""
    wanted = body.get("response_format")
    kind = wanted.get("type") if isinstance(wanted, Mapping) else None
    return "refusal" if kind in ("json_schema", "json_object") else "content"


def tokens_of(data: Mapping[str, Any]) -> int | None:
    """The tokens that a completion or a chunk says it used; None where it says none: no call is
    free."""
    usage = data.get("usage")
    if not isinstance(usage, Mapping):
        extra = data.get("x_groq")  # Groq's place for it in a stream
        usage = extra.get("usage") if isinstance(extra, Mapping) else None
    total = usage.get("total_tokens") if isinstance(usage, Mapping) else None
    return total if isinstance(total, int) and total > 0 else None


def usage_of(data: Mapping[str, Any]) -> Usage | None:
    """The same with what was read and written, as chat completions or as responses word it."""
    total, usage = tokens_of(data), data.get("usage")
    if total is None or not isinstance(usage, Mapping):
        return None
    read = _number(usage, "prompt_tokens", "input_tokens")
    written = _number(usage, "completion_tokens", "output_tokens")
    details = usage.get("prompt_tokens_details") or usage.get("input_tokens_details")
    cached = _number(details, "cached_tokens") if isinstance(details, Mapping) else 0
    return Usage(read, written, cached, name_of(data.get("model")), total=total)


def _number(usage: Mapping[str, Any], *names: str) -> int:
    for name in names:
        if isinstance(number := usage.get(name), int):
            return number
    return 0
