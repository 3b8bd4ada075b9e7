"""A response of OpenAI's Responses API in flight, not streamed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ...conversation import Turn
from .._cut_off import chars_in
from .._exchange import Exchange, Judged
from .._reply import GuardedReply
from . import items
from .chat import beside, tells, usage_of

CONTENT = ("input", "instructions", "prompt")
"""The fields of a request that hold text for the model."""

UNFINISHED = ("queued", "in_progress")
_PROVIDERS = ("output", "outputs", "results", "error")
"""Fields of a call that the provider ran: what it gave back."""

MESSAGE_ID = "msg_edgeward_blocked"


def after_of(body: Mapping[str, Any]) -> str:
    """The id of what the request follows, which the provider keeps."""
    kept = body.get("previous_response_id") or body.get("conversation")
    kept = kept.get("id") if isinstance(kept, Mapping) else kept
    return kept if isinstance(kept, str) else ""


_OF_A_PART = frozenset({"type", "text", "refusal", "transcript", "logprobs", "data"})
_OF_A_MESSAGE = frozenset({"type", "id", "role", "status", "phase", "content"})
"""Fields that are looked at one by one, or in which nobody writes."""


class ResponseItems:
    """The items of one response: each is judged or masked once, and kept as it goes out."""

    def __init__(self, body: Mapping[str, Any], exchange: Exchange) -> None:
        self.body = body
        self.exchange = exchange
        self.out: list[dict[str, Any]] = []
        self.refused = False

    def passed(self, item: Any) -> dict[str, Any] | None:
        """The item as it goes out; None where it does not."""
        (new,) = self.passed_together([item])
        return new

    def passed_together(self, given: list[Any]) -> list[dict[str, Any] | None]:
        """The same for several, whose calls are judged beside each other."""
        listed = [item if isinstance(item, dict) else {} for item in given]  # `{}`: a nameless call
        calls = [items.proposed(item) for item in listed if items.is_call(item)]
        judged = iter(self.exchange.judge(calls) if calls else [])
        made = [
            self._call(item, next(judged)) if items.is_call(item) else self.masked(item)
            for item in listed
        ]
        self.out += [new for new in made if new is not None]
        return made

    def _call(self, given: dict[str, Any], judged: Judged) -> dict[str, Any] | None:
        if not judged.keep:
            self.refused = True
            return None
        new = given if judged.arguments is None else items.with_arguments(given, judged.arguments)
        back = {name: new[name] for name in _PROVIDERS if new.get(name)}
        return {**new, **self.exchange.masked_data(back)} if back else new

    def masked(self, item: dict[str, Any]) -> dict[str, Any]:
        """An item that is no call, masked."""
        if item.get("type", "message") != "message":
            masked: dict[str, Any] = self.exchange.masked_data(item)
            return masked
        item = item | beside(item, _OF_A_MESSAGE, self.exchange)
        content = item.get("content")
        if isinstance(content, str):
            return {**item, "content": self.exchange.masked(content)}
        parts = content if isinstance(content, list) else []
        return {**item, "content": [self.part(part) for part in parts if isinstance(part, dict)]}

    def part(self, part: dict[str, Any]) -> dict[str, Any]:
        """A part of a message, masked."""
        new = dict(part)
        for name in ("text", "refusal", "transcript"):
            if isinstance(part.get(name), str):
                new[name] = self.exchange.masked(part[name])
        logged = part.get("logprobs")
        if logged and (new != part or tells(logged, self.exchange)):
            new["logprobs"] = []  # they spell the text out, token by token
        return new | beside(part, _OF_A_PART, self.exchange)

    @property
    def block_message(self) -> dict[str, Any] | None:
        """The message to put in where everything was refused and nothing was said."""
        if not self.refused or any(items.is_call(item) or _says(item) for item in self.out):
            return None
        text = self.exchange.policy.block_message
        part: dict[str, Any] = {"type": "output_text", "text": text, "annotations": []}
        if wants_structure(self.body):
            part = {"type": "refusal", "refusal": text}
        return {
            "id": MESSAGE_ID,
            "type": "message",
            "role": "assistant",
            "status": "completed",
            "content": [part],
        }

    def close(self, data: Mapping[str, Any]) -> None:
        """Let later requests follow the response."""
        conversation = data.get("conversation")
        held = conversation.get("id") if isinstance(conversation, Mapping) else None
        for kept_id in (data.get("id"), held):
            if isinstance(kept_id, str):
                self.exchange.remember(kept_id, self._turns())

    def _turns(self) -> Iterable[Turn]:
        return [turn for item in self.out for turn in items.turns_of_item(item)]


class ResponseReply(GuardedReply):
    """A response in flight."""

    def __init__(self, body: Mapping[str, Any], exchange: Exchange) -> None:
        super().__init__(body, exchange)
        self.items = ResponseItems(body, exchange)

    def whole(self, data: dict[str, Any]) -> dict[str, Any]:
        """The response, guarded, with the decision as `firewall`."""
        output = data.get("output")
        total = tokens_of(data)
        if total is None:
            self.exchange.estimate(chars_in(output))
        self.exchange.add_tokens(total, usage=usage_of(data))
        self.items.passed_together(output if isinstance(output, list) else [])
        message = self.items.block_message
        if message is not None:
            self.items.out.append(message)
        data["output"] = self.items.out
        data.pop("output_text", None)  # the SDK makes it of the output
        self.items.close(data)
        self._seen = data.get("status") not in UNFINISHED
        data["firewall"] = self.firewall
        return data


def wants_structure(body: Mapping[str, Any]) -> bool:
    """Whether a structured answer is asked for, which is no place for prose."""
    text = body.get("text")
    wanted = text.get("format") if isinstance(text, Mapping) else None
    kind = wanted.get("type") if isinstance(wanted, Mapping) else None
    return kind in ("json_schema", "json_object")


def tokens_of(data: Mapping[str, Any]) -> int | None:
    """The tokens that a response says it used; None where it says none: no call is free."""
    usage = data.get("usage")
    total = usage.get("total_tokens") if isinstance(usage, Mapping) else None
    return total if isinstance(total, int) and total > 0 else None


def _says(item: Mapping[str, Any]) -> bool:
    """Whether a message says something."""
    content = item.get("content")
    if item.get("type", "message") != "message":
        return False
    parts = content if isinstance(content, list) else [{"text": content}]
    said = (p.get("text") or p.get("refusal") for p in parts if isinstance(p, Mapping))
    return any(isinstance(text, str) and text.strip() for text in said)
