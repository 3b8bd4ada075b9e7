"""Hears the model calls that a tool makes, with any model of LangChain's: lets none begin for which
a limit has no room, and adds them up."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any
from uuid import UUID

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.messages import BaseMessage
from langchain_core.outputs import LLMResult

from ..guards.langchain.session import usage_of
from ..guards.limits import Amounts, Limits, added
from ..guards.spent import Usage
from ..nodes._sizes import text_tokens, tokens


class Beside:
    """What the model calls of the tools of one turn take, those that are over and those under way.

    The tools may run side by side: what one of them takes is not there for the others.
    """

    __slots__ = ("lock", "taken")

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.taken: Amounts = {}

    def settle(self, takes: Amounts, used: Amounts) -> None:
        """A call is over: count what it used in place of what it was to take. Under the lock."""
        back = {name: -amount for name, amount in takes.items()}
        self.taken = added(added(self.taken, back), used)


class Turns:
    """What is taken in each turn of calls whose tools run side by side; the oldest are forgotten.

    It belongs to the process: tools that run again in another one begin from nothing.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._turns: OrderedDict[str, Beside] = OrderedDict()

    def of(self, turn: str | None) -> Beside:
        """What is taken in this turn; None: in one of a single call."""
        if turn is None:
            return Beside()
        with self._lock:
            found = self._turns.setdefault(turn, Beside())
            while len(self._turns) > MOST_TURNS:
                self._turns.popitem(last=False)
            return found


MOST_TURNS = 1_024


class SubCalls(BaseCallbackHandler):
    """Listens to one run of a tool. Models may be called in several threads at once.

    `admit` says what a call may take, and what of it is set aside elsewhere, or raises what keeps
    it from being made: from the model's name, what it is to read, and what the calls before it and
    `beside` it take. Each call is told to `counted` as it ends, with what was set aside. A model
    that the policy has no price for is taken to cost what the dearest one does.
    """

    run_inline = True
    raise_error = True

    def __init__(
        self,
        limits: Limits,
        *,
        admit: Callable[[str, int, Amounts], tuple[Amounts, Amounts]],
        counted: Callable[[Amounts, Amounts], None],
        beside: Beside,
    ) -> None:
        self._limits = limits
        self._admit = admit
        self._counted = counted
        self._beside = beside
        self._lock = beside.lock
        self._open: dict[UUID, _Open] = {}
        self._sum: Amounts = {}

    def on_chat_model_start(
        self,
        serialized: dict[str, Any],
        messages: list[list[BaseMessage]],
        *,
        run_id: UUID,
        metadata: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        """Note which model is asked, and how much it reads.

        Raises:
            LimitReached: there is no room for it.
        """
        self._begun(run_id, metadata, sum(tokens(message) for one in messages for message in one))

    def on_llm_start(
        self,
        serialized: dict[str, Any],
        prompts: list[str],
        *,
        run_id: UUID,
        metadata: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        """The same for a model that takes text."""
        self._begun(run_id, metadata, sum(map(text_tokens, prompts)))

    def _begun(self, run_id: UUID, metadata: dict[str, Any] | None, read: int) -> None:
        name = str((metadata or {}).get("ls_model_name") or "")
        with self._lock:  # two threads must not both take what is left
            takes, reserved = self._admit(name, read, self._beside.taken)
            self._beside.settle({}, takes)
            self._open[run_id] = _Open(name, read, takes, reserved)

    def on_llm_end(self, response: LLMResult, *, run_id: UUID, **kwargs: Any) -> None:
        """Add up what the call has used."""
        with self._lock:
            call = self._open.pop(run_id, _UNKNOWN)
        total: Amounts = {}
        for generations in response.generations:
            for generation in generations:
                message = getattr(generation, "message", None)
                used = Usage() if message is None else usage_of(message)
                if not getattr(message, "usage_metadata", None) or not used.amounts(None)["tokens"]:
                    used = Usage(call.read, text_tokens(generation.text))
                total = added(total, replace(used, model=call.name).amounts(self._limits))
        with self._lock:
            self._beside.settle(call.takes, total)
            self._sum = added(self._sum, total)
        self._counted(call.reserved, total)

    def on_llm_error(self, error: BaseException, *, run_id: UUID, **kwargs: Any) -> None:
        """A call that failed used nothing that anybody knows of; a cancelled one was read."""
        cancelled = not isinstance(error, Exception)
        with self._lock:
            call = self._open.pop(run_id, _UNKNOWN)
            used = Usage(call.read, model=call.name).amounts(self._limits) if cancelled else {}
            self._beside.settle(call.takes, used)
            self._sum = added(self._sum, used)
        self._counted(call.reserved, used)

    def close(self) -> Amounts:
        """What was used by now; what is set aside for calls that nobody ended is free again."""
        with self._lock:
            left, self._open = list(self._open.values()), {}
            used = self._sum
            for call in left:
                self._beside.settle(call.takes, {})
        for call in left:
            self._counted(call.reserved, {})
        return used


@dataclass(frozen=True, slots=True)
class _Open:
    """A call that is under way."""

    name: str = ""
    read: int = 0
    takes: Amounts = field(default_factory=dict)
    reserved: Amounts = field(default_factory=dict)


_UNKNOWN = _Open()
