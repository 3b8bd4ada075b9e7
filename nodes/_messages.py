"""The messages of a thread as the state holds them: a list that is cheap to append to."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterable, Sequence
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


class _Line:
    """The longest version of a thread, and what is known of its messages."""

    __slots__ = ("answers", "by_id", "messages", "shown", "sums")

    def __init__(self, messages: list[BaseMessage]) -> None:
        self.messages: list[BaseMessage] = []
        self.by_id: dict[str, BaseMessage] = {}
        self.answers: dict[str, int] = {}
        """By the id of a call: where it is answered first."""
        self.shown: dict[str, list[BaseMessage]] = {}
        """By name: what a model reads in place of the first messages."""
        self.sums: dict[str, list[int]] = {}
        """By name: what so many of the first messages take, for each number from none."""
        self.extend(messages)

    def extend(self, new: Sequence[BaseMessage]) -> None:
        for position, message in enumerate(new, start=len(self.messages)):
            self.by_id[_key(message, position)] = message
            if isinstance(message, ToolMessage):
                self.answers.setdefault(message.tool_call_id, position)
        self.messages.extend(new)


class MessageLog(list[BaseMessage]):
    """The messages of a thread, with the index of ids that makes appending cheap.

    Versions share one line as long as one continues the other; a replaced or removed message,
    or another branch of the thread, starts a new one.
    """

    __slots__ = ("_line",)

    def __init__(self, messages: Iterable[BaseMessage] = (), *, line: _Line | None = None) -> None:
        super().__init__(messages)
        self._line = _Line(self) if line is None else line

    def __reduce__(self) -> tuple[type[MessageLog], tuple[list[BaseMessage]]]:
        return MessageLog, (list(self),)

    def answers(self, call_id: str) -> bool:
        """Whether a tool message in this log answers the call with this id."""
        return self._line.answers.get(call_id, len(self)) < len(self)

    def answer(self, call_id: str) -> ToolMessage | None:
        """The tool message that answers the call with this id, if this log has one."""
        position = self._line.answers.get(call_id, len(self))
        found = self[position] if position < len(self) else None
        return found if isinstance(found, ToolMessage) else None

    def holds(self, message_id: str | None) -> bool:
        """Whether this log, or another version of the thread, has a message with this id."""
        return message_id is not None and message_id in self._line.by_id

    def shown_as(self, name: str, show: Callable[[BaseMessage], BaseMessage]) -> list[BaseMessage]:
        """What a model reads in place of each message; under one name always the same `show`.

        Each model call reads the whole thread: what it was shown before is not made again.
        """
        shown = self._line.shown.setdefault(name, [])
        shown.extend(map(show, self[len(shown) :]))
        return shown[: len(self)]

    def sum_of(
        self,
        size: Callable[[BaseMessage], int],
        *,
        name: str = "",
        of: Sequence[BaseMessage] | None = None,
    ) -> int:
        """The sizes of all messages together; under one name always the same `size`, and the same
        messages `of` which it is taken in their place.

        What was summed up before, in whatever version of the thread, is not measured again: a run
        of many steps costs what its messages cost once.
        """
        sums = self._line.sums.setdefault(name, [0])
        for message in (self if of is None else of)[len(sums) - 1 :]:
            sums.append(sums[-1] + size(message))
        return sums[len(self)]

    def merged(self, new: Sequence[BaseMessage]) -> MessageLog:
        """A version with `new` merged in: same id replaces, `RemoveMessage` removes."""
        grown = self._grown(new)
        if grown is None:
            return self._rewritten(new)
        self._line.extend(new[grown:])
        made = MessageLog(self, line=self._line)
        made.extend(new)
        return made

    def _grown(self, new: Sequence[BaseMessage]) -> int | None:
        """How many of `new` the shared line holds already; None where `new` does not continue it.

        Between a step and its edge the same messages are merged twice.
        """
        line, here = self._line, len(self)
        if len(new) == 1 and here == len(line.messages):  # as nearly always
            (message,) = new
            is_known = _key(message, here) in line.by_id or isinstance(message, RemoveMessage)
            return None if is_known else 0
        ahead = line.messages[here:]
        if len(ahead) > len(new) or any(a is not m for a, m in zip(ahead, new, strict=False)):
            return None
        rest = [_key(m, n) for n, m in enumerate(new[len(ahead) :], start=len(line.messages))]
        if len(set(rest)) < len(rest) or any(key in line.by_id for key in rest):
            return None
        return None if any(isinstance(m, RemoveMessage) for m in new) else len(ahead)

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
