"""A chat completion that comes in pieces: text flows on, calls wait until they are whole.

Chunks in, chunks out. What a choice calls is kept until the choice is finished, judged, and then
sent on in one piece each, numbered anew, before the chunk that says why the choice ended. Text goes
through a holdback, which keeps back what could still become part of a secret.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from ...spent import Usage
from ...streamed import Streamed
from .._alike import Word
from .._cut_off import CUT_OFF, chars_in, estimated_tokens
from .._exchange import Exchange
from .._reply import StreamedReply
from . import chat
from .call_pieces import Pieces, assembled
from .chat import FINISHED_FOR_CALLS, REPEATED, TEXTS, passed_call, passed_function, tokens_of

_OF_A_CHUNK = ("choices", "usage", "obfuscation", "x_groq")
"""Fields of a chunk that a new chunk beside it does not repeat."""

_SEEN = ("content", "refusal")


@dataclass
class _Choice:
    """What is known of one choice so far."""

    number: int
    texts: dict[str, Any] = field(default_factory=dict)
    """A holdback for each field of text."""
    said: bool = False
    """Whether text was sent on that a reader sees."""
    calls: Pieces = field(default_factory=Pieces)
    function: list[Any] = field(default_factory=list)
    """The pieces of the old `function_call`."""
    sent: int = 0
    """Calls that were sent on."""
    done: bool = False


class ChatStream(StreamedReply):
    """A chat completion in flight, streamed."""

    unstreamed = chat.ChatReply

    def __init__(self, body: Mapping[str, Any], exchange: Exchange) -> None:
        super().__init__(body, exchange)
        self._usage: Usage | None = None
        self._choices: dict[int, _Choice] = {}
        self._last: dict[str, Any] = {"object": "chat.completion.chunk"}

    def event(self, data: dict[str, Any]) -> list[dict[str, Any]] | None:
        """The chunks that go out in place of one; None: it goes out as it came."""
        choices = data.get("choices")
        self.tokens = max(tokens_of(data) or 0, self.tokens or 0) or None
        self._usage = chat.usage_of(data) or self._usage
        changes = chat.beside(data, chat.FRAME, self.exchange)
        data = {**data, **changes} if changes else data
        if not choices:
            return [data] if changes else None
        if not isinstance(choices, list):
            return []  # nothing that could not be looked into
        self._last = data
        plain = self._plain(data, choices)
        if plain is not None:
            return plain
        before: list[dict[str, Any]] = []
        kept: list[Any] = []
        same = True
        for given in choices:
            new = self._given(given, before)
            same = same and new is given
            if new is not None:
                kept.append(new)
        if same and not before and not changes:
            return None
        if kept or data.get("usage") is not None:
            return [*before, {**data, "choices": kept}]
        return before

    def _plain(self, data: dict[str, Any], choices: list[Any]) -> list[dict[str, Any]] | None:
        """The way of nearly all chunks, which are a word of one choice; None for all others."""
        choice = self._worded(data)
        if choice is None:
            return None
        given = choices[0]
        passed = self._text(choice, "content", given["delta"]["content"])
        delta = {**given["delta"], "content": passed}
        return [{**data, "choices": [{**given, "delta": delta}]}] if passed else []

    def _worded(self, data: dict[str, Any]) -> _Choice | None:
        """The choice of which a chunk is a piece of the content, and nothing else."""
        choices = data.get("choices")
        if type(choices) is not list or len(choices) != 1 or type(choices[0]) is not dict:
            return None
        given = choices[0]
        delta, number = given.get("delta"), given.get("index")
        if type(delta) is not dict or type(number) is not int:
            return None
        if len(delta) > 1 and any(delta[k] for k in delta if k not in ("role", "content")):
            return None
        text = delta.get("content")
        choice = self._choices.get(number)
        if choice is None or choice.done or type(text) is not str or not text:
            return None
        if given.get("finish_reason") or given.get("logprobs") is not None or _repeats(given):
            return None
        if data.get("usage") is not None:
            return None
        beside = (data[name] for name in data.keys() - chat.FRAME)
        return None if any(value is not None for value in beside) else choice

    def word(self, data: dict[str, Any]) -> Word | None:
        """Whether a chunk was a piece of a content and nothing else."""
        choice = self._worded(data)
        if choice is None:
            return None
        more: Callable[[str], str | None] = partial(self._more, choice, choice.texts["content"])
        return Word(("choices", 0, "delta", "content"), more)

    def _more(self, choice: _Choice, held: Streamed, text: str) -> str | None:
        """What may go out of one more piece of a content that is open; None where it is not."""
        if choice.done or choice.texts.get("content") is not held:
            return None
        self._chars += len(text)
        passed: str = held.feed(text)
        if passed and not choice.said:
            choice.said = bool(passed.strip())
        return passed

    def end(self, *, finished: bool) -> list[dict[str, Any]]:
        """What is left: the ends of texts, and calls where the provider says that it is done."""
        out: list[dict[str, Any]] = []
        for choice in self._choices.values():
            if not choice.done:
                out += self._rest(choice, finished=finished)
        if not self._seen:
            if self.tokens is None:
                self.estimated = True
                self.tokens = estimated_tokens(self._chars, self.body.get("messages"))
            self.exchange.add_tokens(self.tokens, usage=self._usage)
        self._seen = True
        return out

    def _given(self, given: Any, before: list[dict[str, Any]]) -> Any:
        """A choice of a chunk as it goes out; None where nothing of it does."""
        if not isinstance(given, dict):
            return None
        number = given.get("index")
        number = number if isinstance(number, int) else 0
        choice = self._choices.setdefault(number, _Choice(number))
        delta = given.get("delta")
        delta = delta if isinstance(delta, dict) else {}
        new = self._delta(choice, delta)
        made = given
        if new is not delta or _repeats(given):
            made = {k: v for k, v in given.items() if k not in REPEATED} | {"delta": new}
        logged = given.get("logprobs")
        if logged is not None and (new is not delta or chat.spelled(logged) != _said(delta)):
            made = {**made, "logprobs": None}  # it spells out text that does not go out as it came
        if given.get("finish_reason"):
            return self._finished(choice, made, before)
        if new is not delta and not new:
            return None
        return made

    def _finished(
        self, choice: _Choice, made: dict[str, Any], before: list[dict[str, Any]]
    ) -> dict[str, Any]:
        """The chunk that ends a choice; what is left of the choice goes `before` it."""
        called = bool(choice.calls or choice.function)
        left = self._rest(choice, finished=True)
        if left:
            if made.get("delta"):
                before.append(self._chunk(choice, made["delta"]))
            before += left
            made = {**made, "delta": {}}
        if called and not choice.sent and made["finish_reason"] in FINISHED_FOR_CALLS:
            made = {**made, "finish_reason": "stop"}
        choice.done = True
        return made

    def _delta(self, choice: _Choice, delta: dict[str, Any]) -> dict[str, Any]:
        """What of a delta may go out now; the same object where all of it may."""
        new = delta
        choice.done = choice.done and not delta
        for name in TEXTS:
            text = delta.get(name)
            if not text:
                continue
            passed = self._text(choice, name, text)
            if passed != text:
                new = {k: v for k, v in new.items() if k != name}
                if passed:
                    new[name] = passed
        audio = delta.get("audio")
        if isinstance(audio, dict) and isinstance(audio.get("transcript"), str):
            said = self._text(choice, "transcript", audio["transcript"])
            new = {**new, "audio": {**audio, "transcript": said}}
        for name in delta.keys() - chat.KNOWN:
            if delta[name] is not None:
                new = {**new, name: self._unknown(choice, name, delta[name])}
        if delta.get("tool_calls"):
            new = {k: v for k, v in new.items() if k != "tool_calls"}
            calls = delta["tool_calls"]
            for piece in calls if isinstance(calls, list) else [calls]:
                choice.calls.add(piece)
        if delta.get("function_call") is not None:
            new = {k: v for k, v in new.items() if k != "function_call"}
            choice.function.append(delta["function_call"])
        return new

    def _unknown(self, choice: _Choice, name: str, value: Any) -> Any:
        """A field of a delta that nobody knows yet: a text of it flows as others do."""
        if isinstance(value, str) and "." not in name:
            return self._text(choice, name, value)
        return self.exchange.masked_data({name: value})[name]

    def _text(self, choice: _Choice, name: str, text: Any) -> Any:
        if isinstance(text, list):
            return [self._part(choice, name, part) for part in text]
        if not isinstance(text, str):
            return chat.masked_content(text, self.exchange)
        self._chars += len(text)
        held = choice.texts.get(name)
        if held is None:
            held = choice.texts[name] = self.exchange.holdback()
        passed: str = held.feed(text)
        if name.startswith(_SEEN):
            choice.said = choice.said or bool(passed.strip())
        return passed

    def _part(self, choice: _Choice, name: str, part: Any) -> Any:
        if not isinstance(part, dict):
            return part
        return {
            key: self._text(choice, f"{name}.{key}", value)
            if key in ("text", "thinking") and value
            else value
            for key, value in part.items()
        }

    def _rest(self, choice: _Choice, *, finished: bool) -> list[dict[str, Any]]:
        """The chunks with what is left of a choice: ends of texts, calls, the block message."""
        out = []
        for name, held in choice.texts.items():
            if tail := held.close():
                choice.said = choice.said or (name.startswith(_SEEN) and bool(tail.strip()))
                out.append(self._chunk(choice, _tail(name, tail)))
        choice.texts.clear()
        called = bool(choice.calls or choice.function)
        out += [self._chunk(choice, delta) for delta in self._called(choice, finished=finished)]
        if called and finished and not choice.sent and not choice.said:
            message = self.exchange.policy.block_message
            out.append(self._chunk(choice, {chat.refusal_field(self.body): message}))
            choice.said = True
        return out

    def _called(self, choice: _Choice, *, finished: bool) -> list[dict[str, Any]]:
        """The deltas with the calls that stay, each whole."""
        calls = choice.calls.whole
        message: dict[str, Any] = {"tool_calls": calls}
        if choice.function:
            message["function_call"] = assembled(choice.function)
        choice.calls, choice.function = Pieces(), []
        found = list(chat.proposed_in(message))
        if not finished:
            self.exchange.refuse(found, CUT_OFF)
            return []
        self.exchange.estimate(self._chars + chars_in(message))
        judged = self.exchange.judge(found, choice=choice.number)
        deltas: list[dict[str, Any]] = []
        for call, one in zip(calls, judged, strict=False):
            if one.keep:
                deltas.append({"tool_calls": [{**passed_call(call, one), "index": choice.sent}]})
                choice.sent += 1
        if "function_call" in message and judged[-1].keep:
            deltas.append({"function_call": passed_function(message["function_call"], judged[-1])})
            choice.sent += 1
        return deltas

    def _chunk(self, choice: _Choice, delta: Mapping[str, Any]) -> dict[str, Any]:
        made = {"index": choice.number, "delta": dict(delta), "finish_reason": None}
        frame = {key: value for key, value in self._last.items() if key not in _OF_A_CHUNK}
        return {**frame, "choices": [made]}


def _repeats(choice: Mapping[str, Any]) -> bool:
    """Whether a choice says beside its delta what it has said: it would go around the holdback."""
    return any(name in choice for name in REPEATED if name != "delta")


def _said(delta: Mapping[str, Any]) -> str:
    """What a delta says, as far as a log of tokens spells it out."""
    said = (delta.get("content"), delta.get("refusal"))
    return "".join(text for text in said if isinstance(text, str))


def _tail(name: str, text: str) -> dict[str, Any]:
    """The delta with the end of a text."""
    field_name, _, part = name.partition(".")
    if field_name == "transcript":
        return {"audio": {"transcript": text}}
    if part:
        kind = "thinking" if part == "thinking" else "text"
        return {field_name: [{"type": kind, part: text}]}
    return {field_name: text}
