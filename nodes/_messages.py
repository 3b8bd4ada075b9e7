"""The messages of a thread as the state holds them: a list that is cheap to append to."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from langchain_core.messages import (
    BaseMessage,
    RemoveMessage,
    ToolMessage,
    convert_to_messages,
)
from langgraph.graph.message import REMOVE_ALL_MESSAGES

from ..guards.patterns import searchable

KEPT = "edgeward_kept"
"""In what clears a thread: how many of the messages that follow it are the thread's own."""


def rewritten(messages: Sequence[BaseMessage]) -> list[BaseMessage]:
    """What to write so that a thread holds these messages and no others."""
    cleared = RemoveMessage(id=REMOVE_ALL_MESSAGES, additional_kwargs={KEPT: len(messages)})
    return [cleared, *messages]


def new_in(written: Sequence[Any]) -> list[Any]:
    """Of the messages that a node wrote, those that are new: a thread that is written anew holds
    what was there before."""
    new: list[Any] = []
    old = 0
    for message in written:
        if isinstance(message, RemoveMessage):
            old = int(message.additional_kwargs.get(KEPT) or 0)
        elif old:
            old -= 1
        else:
            new.append(message)
    return new


def with_ids(messages: Any) -> list[BaseMessage]:
    """Messages, or what LangChain takes for one or several of them, as messages with ids."""
    read = convert_to_messages(messages if isinstance(messages, list) else [messages])
    whole = [_with_whole_letters(message) for message in read]
    return [m if m.id else m.model_copy(update={"id": uuid.uuid4().hex}) for m in whole]


def _with_whole_letters(message: BaseMessage) -> BaseMessage:
    """The message without halves of characters, as cutting a text leaves them: no provider and no
    checkpoint takes them, and they would stay in the thread."""
    content = _whole(message.content)
    return (
        message if content == message.content else message.model_copy(update={"content": content})
    )


def _whole(content: Any) -> Any:
    match content:
        case str():
            return searchable(content)
        case list():
            return [_whole(part) for part in content]
        case dict():
            return {key: _whole(value) for key, value in content.items()}
    return content


Shown = tuple[BaseMessage, BaseMessage]
"""A message, and what a model reads in its place."""


_NOTHING: Mapping[str, tuple[int, int]] = {}


class MessageLog(list[BaseMessage]):
    """The messages of a thread, with the index of ids that makes appending cheap.

    Versions share one index as long as one continues the other; a replaced or removed message,
    or another branch of the thread, starts a new one.
    """

    __slots__ = ("_answers", "_summed", "_tip", "shown")

    def __init__(
        self,
        messages: Iterable[BaseMessage] = (),
        *,
        tip: dict[str, BaseMessage] | None = None,
        answers: dict[str, int] | None = None,
        shown: dict[str, dict[int, Shown]] | None = None,
        summed: Mapping[str, tuple[int, int]] = _NOTHING,
    ) -> None:
        super().__init__(messages)
        self._summed = dict(summed)
        self.shown = {} if shown is None else shown
        """How a model was shown each message, by boundary and the message's identity."""
        self._tip = {_key(m, i): m for i, m in enumerate(self)} if tip is None else tip
        self._answers = _answers(self, 0) if answers is None else answers

    def __reduce__(self) -> tuple[type[MessageLog], tuple[list[BaseMessage]]]:
        return MessageLog, (list(self),)

    def answers(self, call_id: str) -> bool:
        """Whether a tool message in this log answers the call with this id."""
        return self._answers.get(call_id, len(self)) < len(self)

    def answer(self, call_id: str) -> ToolMessage | None:
        """The tool message that answers the call with this id, if this log has one."""
        position = self._answers.get(call_id, len(self))
        found = self[position] if position < len(self) else None
        # Another version of the thread may have put another message there.
        return found if isinstance(found, ToolMessage) and found.tool_call_id == call_id else None

    def holds(self, message_id: str | None) -> bool:
        """Whether this log, or another version of the thread, has a message with this id."""
        return message_id is not None and message_id in self._tip

    def sum_of(self, size: Callable[[BaseMessage], int], *, name: str = "") -> int:
        """The sizes of all messages together; under one name always the same `size`.

        What was summed up before, in this log or the one that it continues, is not measured again:
        a run of many steps costs what its messages cost once.
        """
        count, total = self._summed.get(name, (0, 0))
        if count < len(self):
            total += sum(map(size, self[count:] if count else self))
            self._summed[name] = len(self), total
        return total

    def merged(self, new: Sequence[BaseMessage]) -> MessageLog:
        """A version with `new` merged in: same id replaces, `RemoveMessage` removes."""
        grown = self._grown(new)
        if grown is None:
            return self._rewritten(new)
        at = len(self) + grown
        self._tip.update((_key(m, at + i), m) for i, m in enumerate(new[grown:]))
        for call_id, position in _answers(new[grown:], at).items():
            self._answers.setdefault(call_id, position)
        return MessageLog(
            [*self, *new],
            tip=self._tip,
            answers=self._answers,
            shown=self.shown,
            summed=self._summed,
        )

    def _grown(self, new: Sequence[BaseMessage]) -> int | None:
        """How many of `new` the shared index holds already; None where `new` does not continue it.

        Between a step and its edge the same messages are merged twice.
        """
        tip, here = self._tip, len(self)
        grown = len(tip) - here
        if not 0 <= grown <= len(new):
            return None
        keys = [_key(m, here + i) for i, m in enumerate(new)]
        if any(tip.get(k) is not m for k, m in zip(keys[:grown], new, strict=False)):
            return None
        rest = keys[grown:]
        if len(set(rest)) < len(rest) or any(k in tip for k in rest):
            return None
        return None if any(isinstance(m, RemoveMessage) for m in new) else grown

    def _rewritten(self, new: Sequence[BaseMessage]) -> MessageLog:
        kept: dict[str, BaseMessage] = {_key(m, i): m for i, m in enumerate(self)}
        for number, message in enumerate(new, start=len(self)):
            if not isinstance(message, RemoveMessage):
                kept[_key(message, number)] = message
            elif message.id == REMOVE_ALL_MESSAGES:
                kept.clear()
            else:
                kept.pop(message.id or "", None)
        return MessageLog(kept.values())


def _key(message: BaseMessage, position: int) -> str:
    return message.id or f"\0{position}"


def _answers(messages: Sequence[BaseMessage], start: int) -> dict[str, int]:
    found: dict[str, int] = {}
    for position, message in enumerate(messages, start=start):
        if isinstance(message, ToolMessage):
            found.setdefault(message.tool_call_id, position)
    return found
