"""What an agent's runs use, counted where its middleware sees model calls and tools."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from ..conversation import Conversations, Past
from ..ledger import History
from ..limits import ASSUMED_OUTPUT_TOKENS, Amounts, Spending, added, spender
from ..rules.limits import limits_of
from ..spent import CHARS_PER_TOKEN, UNCOUNTED, Usage
from .model import written
from .session import (
    amounts_of,
    caller_in,
    estimated,
    is_uncounted,
    messages_in,
    past_of,
    used_in,
)


@dataclass(frozen=True, slots=True)
class Counts:
    """The limits of one policy, as a middleware can count: tokens, money and calls of run and
    thread lie in the messages, seconds are kept in this process, and so is what callers use."""

    conversations: Conversations
    spending: Spending
    clock: Callable[[], float]

    @property
    def _bounds(self) -> bool:
        return limits_of(self.conversations.policy) is not None

    def past(self, request: Any) -> Past:
        """Where the conversation stands in which a model is asked."""
        caller = caller_in(request.runtime)
        return past_of(messages_in(request.state), self.conversations, caller=caller)

    @contextmanager
    def asking(self, request: Any, past: Past) -> Iterator[Asking]:
        """A model call, if there is room for it: what it may take of the caller's is set aside, for
        other runs may be taking theirs."""
        limits = limits_of(self.conversations.policy)
        if limits is None:
            yield Asking()
            return
        who, why, got = spender(caller_in(request.runtime)), "", None
        used = used_in(request.state, past, 0, self.conversations)
        used["caller"] = self.spending.of(who)
        limit = limits.beyond(used, {})
        if limit is None or limit.spent(used) == UNCOUNTED:
            read = Usage(past.chars // CHARS_PER_TOKEN)
            wish = replace(read, written=ASSUMED_OUTPUT_TOKENS).amounts(limits)
            got = limits.set_aside_tokens(self.spending, who, read.amounts(limits), wish)
            limit = None if got is not None else limits.full(used)
        if limit is not None:
            why = f"a limit is reached: {limit.told(used)}"
        asked, heard = Asking(why, got or {}), [0]
        writes = written.set(heard)
        try:
            yield asked
        except BaseException as error:
            # What broke off has been read, and was written as far as it came.
            if heard[0] or not isinstance(error, Exception):
                came = Usage(past.chars // CHARS_PER_TOKEN, heard[0] // CHARS_PER_TOKEN)
                self.spending.settle(who, asked.taken(), came.amounts(limits))
            raise
        finally:
            written.reset(writes)
            self.spending.settle(who, asked.taken(), {})

    def counted(self, past: Past, replies: list[Any]) -> list[Any]:
        """The replies, each of which says what it used: no call is free, and where nobody counted
        one it is estimated."""
        if not self._bounds:
            return replies
        read = past.chars // CHARS_PER_TOKEN
        return [
            estimated(m, read=read, written=_characters(m) // CHARS_PER_TOKEN)
            if m.type == "ai" and is_uncounted(m)
            else m
            for m in replies
        ]

    def replied(
        self, request: Any, past: Past, replies: list[Any], began: float, asked: Asking
    ) -> None:
        """Count what a model call has used."""
        if not self._bounds:
            return
        who = spender(caller_in(request.runtime))
        used: Amounts = {}
        for reply in replies:
            used = added(used, amounts_of(reply, self.conversations))
        self.spending.settle(who, asked.taken(), used)
        self._passed(who, past, began, part="")

    @contextmanager
    def ran(self, request: Any) -> Iterator[None]:
        """Count the seconds of the tool that runs in the body."""
        if not self._bounds:
            yield
            return
        began = self.clock()
        caller = caller_in(request.runtime)
        messages, call_id = messages_in(request.state), str(request.tool_call.get("id"))
        proposes = (n for n, m in enumerate(messages) if call_id in _ids(m))
        past = past_of(messages[: max(proposes, default=0)], self.conversations, caller=caller)
        try:
            yield
        finally:
            self._passed(spender(caller), past, began, part=call_id)

    @contextmanager
    def judging(self, request: Any, history: History) -> Iterator[Judging]:
        """The history with what the caller has used; one call is set aside until it is judged."""
        limits = limits_of(self.conversations.policy)
        judging = Judging(history)
        if limits is None or history.used is None:
            yield judging
            return
        who = spender(caller_in(request.runtime))
        used, got = limits.set_aside(self.spending, who, history.used, 1)
        judging.history = replace(history, used=used)
        try:
            yield judging
        finally:
            self.spending.settle(who, got, {"calls": int(judging.runs)})

    def _passed(self, who: str, past: Past, began: float, *, part: str) -> None:
        seconds = {"seconds": max(self.clock() - began, 0.0)}
        self.conversations.spend(past, seconds, part=part)
        self.spending.settle(who, {}, seconds)


@dataclass(slots=True)
class Asking:
    """A model call: why it may not be made, or what of the caller's is set aside for it."""

    why_not: str = ""
    set_aside: Amounts = field(default_factory=dict)

    def taken(self) -> Amounts:
        """What is set aside, once: who takes it settles it."""
        taken, self.set_aside = self.set_aside, {}
        return taken


@dataclass(slots=True)
class Judging:
    """What a call is judged by, and whether it came out that it runs."""

    history: History
    runs: bool = False


def _characters(reply: Any) -> int:
    """What a reply has written, calls included."""
    calls = [*reply.tool_calls, *reply.invalid_tool_calls]
    return len(str(reply.content)) + sum(len(f"{call['name']}{call['args']}") for call in calls)


def _ids(message: Any) -> list[str]:
    return [str(call["id"]) for call in getattr(message, "tool_calls", None) or ()]
