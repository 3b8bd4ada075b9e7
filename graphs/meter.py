"""Counts what model calls and tools use, and lets no call begin that a limit has no room for.

It stands at the one place where a graph does I/O, so that every model call is counted, whichever
node asks for it; and calls of tools that ask models of LangChain's are heard as they happen. What a
thread and a run have used lies in the state, what a caller has used in `Spending`.
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from contextvars import ContextVar, Token
from dataclasses import dataclass, field, replace
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, SystemMessage
from langchain_core.runnables import RunnableConfig
from langchain_core.runnables.config import merge_configs

from ..guards.caller import Caller
from ..guards.langchain.model import written
from ..guards.langchain.session import estimated, is_uncounted, usage_of
from ..guards.limits import (
    ASSUMED_OUTPUT_TOKENS,
    Amounts,
    Price,
    Spending,
    Used,
    added,
    spender,
)
from ..guards.spent import CHARS_PER_TOKEN, Usage
from ..nodes._base import CallModel, Effect, LimitReached, RunTool, State, run_id
from ..nodes._sizes import tokens, tokens_of
from ..profiles.fallback import MARK as FALLBACK
from .budget import Budget
from .subcalls import SubCalls

USED = "used"
"""The state's key for what a thread and its run have used."""

NOTHING = (0, 0)
"""Tokens read so far in a thread: as estimated, and as the model's provider counted them."""

_heard_by: ContextVar[Spending | None] = ContextVar("_heard_by", default=None)
"""The counter that hears the model calls of the tool in which this code runs."""

_set_aside_by: ContextVar[Spending | None] = ContextVar("_set_aside_by", default=None)
"""The counter with which the model call that is being made was set aside already."""


def add_used(used: dict[str, Any], more: dict[str, Any]) -> dict[str, Any]:
    """Reducer of `used`: sums; what a run has used begins anew with the next run."""
    run, told = used.get("run") or {}, used.get("told") or []
    named = more.get("id")
    if named is not None and named != used.get("id"):
        run, told = {}, []
    return {
        "id": used.get("id") if named is None else named,
        "run": added(run, more["amounts"]),
        "thread": added(used.get("thread") or {}, more["amounts"]),
        "told": [*told, *(key for key in more["told"] if key not in told)],
        "read": [a + b for a, b in zip(used.get("read") or NOTHING, more["read"], strict=True)],
    }


def used_by_both(first: Mapping[str, Any], then: Mapping[str, Any]) -> dict[str, Any]:
    """What two nodes have used, one after the other in one run, as one write of it."""
    return {
        "id": first.get("id") if then.get("id") is None else then["id"],
        "amounts": added(first["amounts"], then["amounts"]),
        "told": [*first["told"], *then["told"]],
        "read": [a + b for a, b in zip(first["read"], then["read"], strict=True)],
    }


@dataclass(slots=True)
class Meter:
    """What one node uses while it runs."""

    budget: Budget
    caller: str
    run: str | None
    used: dict[str, dict[str, float]]
    told: list[str]
    read: tuple[int, int] = NOTHING
    newly_read: tuple[int, int] = NOTHING
    amounts: dict[str, float] = field(default_factory=dict)
    news: list[str] = field(default_factory=list)
    turn: str | None = None
    """Of a tool: what tells the turn from others whose tools run beside it."""
    _reserved: dict[str, float] = field(default_factory=dict)
    _asked: CallModel | None = None
    _estimate: int = 0
    _read: int = 0
    _since: float = 0.0
    _hears: SubCalls | None = None
    _token: Token[Spending | None] | None = None
    _asks: Token[Spending | None] | None = None
    _written: list[int] = field(default_factory=lambda: [0])
    _writes: Token[list[int] | None] | None = None
    _within: bool = False
    """Whether the tool that is heard is one of a graph in a tool of a graph that counts as well."""

    @classmethod
    def of(cls, budget: Budget, state: State, caller: Caller) -> Meter:
        """A meter that goes on from what the state says."""
        # A tool's task gets its call, what was used before it, and not the state; what it uses is
        # added there all the same.
        whole = "messages" in state
        run = run_id(state) if whole else None
        kept: Mapping[str, Any] = state.get(USED) or {}
        same = not whole or kept.get("id") == run
        used = {
            "run": dict(kept.get("run") or {}) if same else {},
            "thread": dict(kept.get("thread") or {}),
        }
        told = list(kept.get("told") or ()) if same else []
        read, turn = tuple(kept.get("read") or NOTHING), kept.get("turn")
        return cls(budget, spender(caller), run, used, told, read, turn=turn)

    def so_far(self) -> dict[str, dict[str, float]]:
        """What run, thread and caller have used by now."""
        return {**self.used, "caller": self.budget.spending.of(self.caller)}

    def before(self, effect: Effect, config: RunnableConfig) -> tuple[Effect, RunnableConfig]:
        """The effect as it may happen, and its configuration.

        Raises:
            LimitReached: there is no room for it.
        """
        self._since = self.budget.clock()
        if isinstance(effect, CallModel):
            self._has_asked()
            effect = self._admitted(effect)
            self._asks = _set_aside_by.set(self.budget.spending)
            self._written = [0]
            self._writes = written.set(self._written)
            return effect, config
        if isinstance(effect, RunTool):
            return effect, self._listening(config)
        return effect, config

    def __enter__(self) -> None:
        """What may happen happens in this block."""

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        # What fails at once used nothing that anybody knows of. What broke off has been read, and
        # was written as far as it came: whoever cancels runs does not have them for nothing.
        if kind is None or self._asks is None:
            return
        characters = self._written[0]
        if characters or not issubclass(kind, Exception):
            assert self._asked is not None
            self._has_asked()
            read = self._read or _size(self._asked)
            used = Usage(read, characters // CHARS_PER_TOKEN, model=self.budget.model)
            self._count({**used.amounts(self.budget.limits), "seconds": self._passed()})

    def after(self, effect: Effect, answer: Any) -> Any:
        """What came of it, counted; a reply gets an estimate of its tokens where it has none."""
        if isinstance(effect, CallModel):
            self._has_asked()
            return self._counted(answer)
        if isinstance(effect, RunTool):
            self._tool_ran()
        return answer

    def _admitted(self, effect: CallModel) -> CallModel:
        """The model call with a word near a limit, cut to what is left."""
        budget = self.budget
        self._asked = effect
        if not budget.limits.held:
            return effect
        used = self.so_far()
        self._estimate = _size(effect) + (budget.tool_tokens if effect.tools else 0)
        self._estimate += sum(budget.more_tokens.get(name, 0) for name in effect.more)
        read = self._read = round(self._estimate * self._ratio())
        write, _, self._reserved = self._taken(used, read, budget.price, budget.output_tokens)
        effect = self._noted(effect, used, _amounts(budget.price, read))
        cut = budget.can_be_cut and write < budget.output_tokens
        return replace(effect, max_tokens=write) if cut else effect

    def _counted(self, reply: AIMessage) -> AIMessage:
        used = usage_of(reply)
        # No call is free: a reply that says nothing, nought or less has its tokens estimated.
        if is_uncounted(reply):
            assert self._asked is not None
            reply = _estimated(reply, self._estimate or _size(self._asked))
            used = usage_of(reply)
        elif self._estimate:
            self.newly_read = (self._estimate, max(used.read, 0))
        fallback = reply.response_metadata.get(FALLBACK) or {}
        name = fallback.get("model") or self.budget.model
        amounts = replace(used, model=name).amounts(self.budget.limits)
        self._count({**amounts, "seconds": self._passed()})
        return reply

    def close(self) -> None:
        """Give back what was set aside for a call that came to nothing."""
        self._has_asked()
        self._stop_listening()
        if self._hears is not None:
            self._hears.close()
        if self._reserved:
            self.budget.spending.settle(self.caller, self._reserved, {})
            self._reserved = {}

    def to_judge(self, proposed: int) -> dict[str, dict[str, float]]:
        """What was used, for a guard that judges so many calls. Of the caller's calls only those
        that are set aside here are free: other runs may be taking theirs."""
        budget = self.budget
        used, got = budget.limits.set_aside(budget.spending, self.caller, self.used, proposed)
        self._reserved = got or self._reserved
        return used

    def _listening(self, config: RunnableConfig) -> RunnableConfig:
        """The configuration of a tool, so that its model calls are heard."""
        if not self.budget.limits.limits:
            return config
        self._hears = SubCalls(
            self.budget.limits,
            admit=self._admit_heard,
            counted=self._heard,
            beside=self.budget.turns.of(self.turn),
        )
        self._within = _heard_by.get() is self.budget.spending
        self._token = _heard_by.set(self.budget.spending)
        return merge_configs(config, {"callbacks": [self._hears]})

    def _tool_ran(self) -> None:
        self._stop_listening()
        if self._hears is not None:
            self.amounts = added(self.amounts, self._hears.close())
        self._count({"seconds": self._passed()})

    def left(self, approved: Sequence[Any] | None) -> dict[str, Any] | None:
        """What to write to the state as the node ends, and has let these calls through; None where
        nothing was used."""
        if approved is not None:
            self._count({"calls": len(approved)})
        if not any(self.amounts.values()) and not self.news:
            return None
        news = {"told": self.news, "read": list(self.newly_read)}
        return {"id": self.run, "amounts": self.amounts, **news}

    def for_tools(self, calls: int) -> dict[str, Any]:
        """What goes along with each of so many calls to the node that runs them: what was used."""
        turn = uuid.uuid4().hex if calls > 1 else None
        return {"run": self.used["run"], "thread": self.used["thread"], "turn": turn}

    def _passed(self) -> float:
        return max(self.budget.clock() - self._since, 0.0)

    def _stop_listening(self) -> None:
        if self._token is not None:
            _heard_by.reset(self._token)
            self._token = None

    def _admit_heard(self, name: str, read: int, taken: Amounts) -> tuple[Amounts, Amounts]:
        """What a model call that a tool makes may take, beside what others of the turn's tools have
        `taken`; and what of it is set aside of the caller's.

        Raises:
            LimitReached: there is no room for it.
        """
        limits, spending = self.budget.limits, self.budget.spending
        price = limits.price(name) or limits.dearest
        used = {scope: added(used, taken) for scope, used in self.used.items()}
        # Who holds to the caller's already: a graph within, or one that this is within.
        apart = self._within or _set_aside_by.get() is spending
        if not apart:
            used["caller"] = spending.of(self.caller)
        _, _, got = self._taken(used, read, price, ASSUMED_OUTPUT_TOKENS, apart=apart)
        # A tool's own model cannot be told to write less: no room beside it that it may yet fill.
        return _amounts(price, read, ASSUMED_OUTPUT_TOKENS), got

    def _taken(
        self, used: Used, read: int, price: Price, most: int, *, apart: bool = False
    ) -> tuple[int, Amounts, dict[str, float]]:
        """How many tokens a model call may write, what it takes at most, and what of that is set
        aside of the caller's; `apart`: nothing is.

        Raises:
            LimitReached: there is no room for it.
        """
        limits, need = self.budget.limits, _amounts(price, read)
        limit = limits.beyond(used, need)
        if limit is not None:
            raise LimitReached(limit.stop, limit.told(used))
        write = self._room(used, read, price, most)
        takes = _amounts(price, read, write)
        if apart:
            return write, takes, {}
        got = limits.set_aside_tokens(self.budget.spending, self.caller, need, takes)
        if got is None:  # other runs of this caller took the rest since
            limit = limits.full(self.so_far())
            raise LimitReached(limit.stop, limit.told(self.so_far()))
        return write, takes, got

    def _heard(self, reserved: Amounts, amounts: Amounts) -> None:
        # Inside a tool of a graph that shares the counter, that graph hears it as well.
        mine = {} if self._within else amounts
        self.budget.spending.settle(self.caller, reserved, mine)

    def _has_asked(self) -> None:
        if self._asks is not None:
            _set_aside_by.reset(self._asks)
            self._asks = None
        if self._writes is not None:
            written.reset(self._writes)
            self._writes = None

    def _count(self, amounts: Amounts) -> None:
        reserved, self._reserved = self._reserved, {}
        spending = self.budget.spending
        mine = amounts
        if _heard_by.get() is spending:
            # Inside a tool of a graph that shares the counter, that graph counts all but calls.
            mine = {name: amount for name, amount in amounts.items() if name == "calls"}
        spending.settle(self.caller, reserved, mine)
        self.amounts = added(self.amounts, amounts)
        self.used = {scope: added(used, amounts) for scope, used in self.used.items()}

    def _room(self, used: Used, read: int, price: Price, most: int) -> int:
        """How much the model may write: what it would at most, or what is left."""
        limits, room = self.budget.limits, [most]
        left = limits.left(used, "tokens")
        if left is not None:
            room.append(int(left) - read)
        money = limits.left(used, "cost_usd")
        if money is not None and price.output > 0:
            room.append(int((money - price.of(read, 0)) * 1e6 / price.output))
        return max(min(room), 1)

    def _ratio(self) -> float:
        """What the provider's tokens are to ours, as far as this thread has seen."""
        ours, theirs = (a + b for a, b in zip(self.read, self.newly_read, strict=True))
        return min(max(theirs / ours, 0.05), 3.0) if ours and theirs else 1.0

    def _noted(
        self, effect: CallModel, used: dict[str, dict[str, float]], need: Amounts
    ) -> CallModel:
        """The call with a line for the model on each limit that it is near for the first time."""
        if not effect.tools:
            return effect
        close = {f"{lim.scope}.{lim.amount}": lim for lim in self.budget.limits.close(used, need)}
        new = {key: lim for key, lim in close.items() if key not in (*self.told, *self.news)}
        if not new:
            return effect
        self.news += new
        lines = [NEAR.format(lim.told(used)) for lim in new.values()]
        return replace(effect, messages=with_system_lines(effect.messages, lines))


NEAR = "Near a limit: {}. Finish now, and answer with what you have."


def with_system_lines(messages: Sequence[BaseMessage], lines: Sequence[str]) -> list[BaseMessage]:
    """The messages with lines at the end of their one system message."""
    first = messages[0] if messages else None
    if isinstance(first, SystemMessage) and isinstance(first.content, str):
        return [SystemMessage("\n\n".join([first.content, *lines])), *messages[1:]]
    return [SystemMessage("\n\n".join(lines)), *messages]


def _amounts(price: Price, read: int, written: int = 0) -> Amounts:
    return {"tokens": read + written, "cost_usd": price.of(read, written)}


def _size(asked: CallModel) -> int:
    """What the model is to read, as far as it is text; counted where the node did not say."""
    return tokens_of(asked.messages) if asked.size is None else asked.size


def with_estimate(reply: AIMessage, asked: CallModel) -> AIMessage:
    """The reply, with an estimate of its tokens where nobody counted them."""
    return _estimated(reply, _size(asked)) if is_uncounted(reply) else reply


def _estimated(reply: AIMessage, read: int) -> AIMessage:
    made: AIMessage = estimated(reply, read=read, written=tokens(reply))
    return made
