"""The past of a stateless request: what `decide` may know, read from the conversation it carries.

One client serves many users, and a request of an SDK holds its whole conversation. So the history
is a function of the request's turns and of nothing else:

    conversations = Conversations(policy)
    turns = [UserText("Pay bill 7."), ModelTurn((Proposed("get_bill", "{}", "c1"),))]
    past = conversations.past([*turns, ToolResult("c1", '{"iban": "DE89..."}')])
    decide(policy, call, past.history)

Whoever knows a vendor's messages translates them into turns. What the user wrote counts as stated;
what a tool gave back is observed as the policy says, together with the call that it answers. System
text is nobody's word and is left out, as it is in a graph. Text in a user's message counts as the
user's, also where a program put a document there.

What a prefix of a conversation came to is kept (bounded, by digest), so that a longer request costs
its new turns only. A forgotten prefix is read again, with the same result. The ledger is read when
a decision asks where a value is from, and not before: most policies never do.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from .automata import States
from .caller import NOBODY, Caller
from .decide import Policy
from .following import going_on
from .ledger import USER, Entry, History, Ledger
from .limits import Amounts
from .outputs import as_data
from .patterns import searchable
from .pieces import kept, may_hold_pieces
from .python_values import as_call
from .results import asked, screen
from .rules.limits import limits_of
from .rules.sequence import order_of
from .spent import UNCOUNTED, UNSEEN, Accounts, Spent
from .telling import private_pieces
from .turns import ModelTurn, Proposed, ToolResult, Turn, UserText, digest_of, digests
from .verdict import ToolCall

__all__ = [
    "Conversations",
    "ModelTurn",
    "Past",
    "Proposed",
    "ToolResult",
    "Turn",
    "UserText",
    "observed",
]

MAX_CHARS = 32_000_000
"""Characters of all conversations whose state is kept."""

UNKNOWN_PAST = "what came before was not seen here"
"""Why a text cannot be told to be free of private data."""


Open: TypeAlias = tuple[Proposed | ToolCall, ...]
"""Calls with one id that have no answer yet, two at most: nobody can tell which is answered.

A call whose arguments are a mapping is parsed already: its owner may change it meanwhile."""


@dataclass(frozen=True, slots=True)
class Past:
    """What a conversation came to: its history, and what is needed to go on from here."""

    history: History
    digest: bytes = b""
    open: Mapping[str, Open] = field(default_factory=dict)
    """Calls that have no answer yet, by id."""
    turn: tuple[str, ...] = ()
    """The tools that the last turn of the model called."""
    chars: int = 0
    ran: float = 0
    """Calls that were let through in the whole thread."""
    spent: Spent = field(default_factory=Spent)
    """What model calls have used up to here; what follows on this past is not among it."""


Unread: TypeAlias = UserText | tuple[Open, ToolResult]
"""What the ledger is still to be told: a word of the user's, or a result and the calls that it may
be of."""


@dataclass(slots=True, eq=False)
class _Reading:
    """The ledger of a past, which is read when it is first asked for (see `Late`)."""

    of: Conversations
    caller: Caller
    before: _Reading | Ledger | None
    """None: nothing came before."""
    unread: list[Unread]

    @property
    def judge(self) -> str:
        """The digest of the policy that it is read under."""
        return self.of.policy.digest

    def __call__(self) -> Ledger:
        """The ledger as that policy may believe it."""
        return self.ledger().judged_by(self.judge, self.caller)

    def ledger(self) -> Ledger:
        """All that was observed, in order."""
        with self.of.lock:
            before, waiting = self.before, [self]
            while isinstance(before, _Reading):
                waiting.append(before)
                before = before.before
            ledger = Ledger() if before is None else before
            for reading in reversed(waiting):
                if reading.before is None and not reading.unread:
                    continue  # where all conversations begin: each has a ledger of its own
                for seen in reading.unread:
                    entry = self.of.entry(ledger, seen, self.caller)
                    ledger = ledger.appended([entry]) if entry else ledger
                reading.before, reading.unread = ledger, []
            return ledger


@dataclass(slots=True)
class _Going:
    """A past that goes on, turn by turn; the past that it began as stays what it was."""

    unread: list[Unread]
    calls: dict[str, int]
    order: States | None
    sent: tuple[str, ...]
    open: dict[str, Open]
    turn: tuple[str, ...]
    chars: int
    ran: float

    @classmethod
    def on(cls, past: Past) -> _Going:
        """Where a past stands."""
        known, waits = past.history, dict(past.open)
        return cls(
            [], dict(known.calls), known.order, known.sent, waits, past.turn, past.chars, past.ran
        )

    def past(self, before: Past, digest: bytes, of: Conversations) -> Past:
        """The past as far as it has come."""
        known = before.history
        late = known.late if isinstance(known.late, _Reading) else known.ledger
        reading = _Reading(of, known.caller, late, self.unread)
        history = known.reading(reading, calls=self.calls, order=self.order, sent=self.sent)
        return Past(history, digest, self.open, self.turn, self.chars, self.ran, before.spent)


class Conversations:
    """The pasts of a client's conversations under one policy. May be shared by threads.

    `keep`: pasts that are kept at most. `before`: those of the policy that counted before this one.
    What was used, and which replies can be followed by their ids, goes on; their texts are judged
    anew as far as a request brings them along.
    """

    def __init__(
        self, policy: Policy, *, before: Conversations | None = None, keep: int = 1_024
    ) -> None:
        policy.in_plain_sight()
        self.policy = policy
        self._private = any(hasattr(check, "pieces") for check in policy.checks)
        rule = order_of(policy)
        self._automata = None if rule is None else rule.automata
        self._keep = keep
        self._pasts: OrderedDict[bytes, Past] = OrderedDict()
        self._chars = 0
        self._begun: Past | None = None
        self._limited = limits_of(policy) is not None
        self._accounts: Accounts = Accounts() if before is None else before._accounts
        self._by_id: OrderedDict[tuple[Caller, str], tuple[Policy, Past]] = (
            OrderedDict() if before is None else before._by_id
        )
        # Versions of a ledger share an index that grows.
        self.lock: threading.RLock = threading.RLock() if before is None else before.lock

    def past(
        self,
        turns: Iterable[Turn],
        *,
        after: str = "",
        caller: Caller = NOBODY,
        thread: str = "",
        now: float | None = None,
    ) -> Past:
        """What the turns came to. `after`: the id of a reply that they follow, kept elsewhere.

        After an id that `remember` was not told of (for this caller), or that is forgotten, nothing
        is known: with a `private` rule no text counts as free of private data, every gate of
        `sequence` is shut, and what a limit of the thread bounds counts as used up. `now`: the time
        in seconds; what passed since the run's last model call is then its tools' time.
        """
        with self.lock:
            start = self._followed(after, caller) if after else self._beginning(caller)
            listed = list(turns)
            places = digests(start.digest, listed)
            past, done = self._longest(places)
            past = past or start
            if done < len(listed):
                past = self._after(past, listed[done:], places[-1])
                self._keep_past(past)
            spent = self._accounts.before(start.spent, listed, places)
            amounts, answered = self._accounts.at(past.digest)
            if now is not None and self._limited and answered is None:
                self._accounts.waited(spent, past.digest, now)
                amounts, _ = self._accounts.at(past.digest)
            history = self._with_used(past, spent.plus(amounts) if amounts else spent, thread)
            if history is past.history and spent == past.spent:
                return past
            return Past(history, past.digest, past.open, past.turn, past.chars, past.ran, spent)

    def _with_used(self, past: Past, spent: Spent, thread: str) -> History:
        """The history with what was used so far, by an earlier reply to the same turns as well."""
        history = past.history
        used = spent.thread.get("tokens", 0)
        # Where the past was not seen, `limits` blocks; a budget of version 1 begins anew.
        tokens = 0 if used == UNCOUNTED else int(used)
        if self._limited:
            ran = sum(history.calls.values())
            told = spent.used(run=ran, thread=past.ran)
            return history.but(thread=thread, tokens_used=tokens, used=told)
        if tokens == history.tokens_used and thread == history.thread:
            return history
        return history.but(thread=thread, tokens_used=tokens)

    def spend(
        self, past: Past, amounts: Amounts, *, part: str = "", ended: float | None = None
    ) -> None:
        """Count what the model call that followed `past` has used: its conversation remembers.

        `part` tells several things apart that follow on one past; `ended`: when the call ended.
        """
        with self.lock:
            self._accounts.note(past.digest, amounts, part=part, ended=ended)

    def remember(self, reply_id: str, past: Past, *reply: Turn) -> None:
        """Let a later request follow `reply` by its id: the provider keeps what went before.

        A reply is a model's turn, and with it the results of what the provider ran itself.
        """
        if not reply_id:
            return
        with self.lock:
            amounts, ended = self._accounts.at(past.digest)
            past = replace(past, spent=past.spent.plus(amounts, ended))
            if reply:
                past = self._after(past, reply, digests(past.digest, reply)[-1])
            _ = past.history.ledger  # what is kept by its id must not keep every text with it
            key = (past.history.caller, reply_id)
            self._by_id[key] = (self.policy, past)
            self._by_id.move_to_end(key)
            while len(self._by_id) > self._keep:
                self._by_id.popitem(last=False)

    def _beginning(self, caller: Caller) -> Past:
        begun = self._begun
        if begun is None or begun.history.caller is not caller:
            order = None if self._automata is None else self._automata.start
            nothing = _Reading(self, caller, None, [])
            history = History(caller=caller).reading(nothing, calls={}, sent=(), order=order)
            begun = self._begun = Past(history, digest_of(caller))
        return begun

    def _followed(self, after: str, caller: Caller) -> Past:
        known = self._by_id.get((caller, after))
        if known is not None:
            self._by_id.move_to_end((caller, after))
            policy, past = known
            return replace(past, history=going_on(past.history, policy, self.policy))
        order = None if self._automata is None else self._automata.shut
        ledger = Ledger(gap=UNKNOWN_PAST if self._private else "")
        history = History(ledger=ledger, caller=caller, order=order)
        return Past(history, digest_of(caller, after), ran=UNCOUNTED, spent=UNSEEN)

    def _longest(self, places: Sequence[bytes]) -> tuple[Past | None, int]:
        """What is known of the most turns, and how many they are."""
        for done in range(len(places), 0, -1):
            known = self._pasts.get(places[done - 1])
            if known is not None:
                self._pasts.move_to_end(known.digest)
                return known, done
        return None, 0

    def _keep_past(self, past: Past) -> None:
        self._pasts[past.digest] = past
        self._chars += past.chars
        while self._pasts and (len(self._pasts) > self._keep or self._chars > MAX_CHARS):
            _, dropped = self._pasts.popitem(last=False)
            self._chars -= dropped.chars

    def _after(self, past: Past, turns: Iterable[Turn], digest: bytes) -> Past:
        """The past with more turns, which has this digest."""
        going = _Going.on(past)
        for turn in turns:
            if isinstance(turn, UserText):
                self._said(going, turn)
            elif isinstance(turn, ModelTurn):
                self._proposed(going, turn)
            else:
                self._answered(going, turn)
        after = going.past(past, digest, self)
        if self.policy.results.detectors:  # they take their time: not while a reply waits
            _ = after.history.ledger
        return after

    def _said(self, going: _Going, turn: UserText) -> None:
        going.unread.append(turn)
        if self._automata is not None and going.order is not None:
            going.order = self._automata.spoke(going.order)
        going.calls, going.turn = {}, ()
        going.chars += len(turn.text)

    def _proposed(self, going: _Going, turn: ModelTurn) -> None:
        calls = [c if isinstance(c.arguments, str) else _parsed(c) for c in turn.calls]
        for call in calls:
            going.calls[call.name] = going.calls.get(call.name, 0) + 1
            going.open[call.id] = (*going.open.get(call.id, ())[:1], call)
        going.turn = tuple([call.name for call in calls])
        if odd := [call for call in calls if _may_hold_pieces(call)]:
            going.sent = kept(going.sent, [_parsed(call).arguments for call in odd])
        going.order = self._moved(going.order, going.turn)
        going.ran += len(turn.calls)

    def _answered(self, going: _Going, result: ToolResult) -> None:
        calls = going.open.pop(result.call_id, ())
        going.unread.append((calls, result))
        if len(calls) == 1 and not result.failed:
            # What the turn's other calls shut stays shut: they may have run in any order.
            done = (calls[0].name,)
            going.order = self._moved(going.order, going.turn or done, done)
        going.chars += len(result.text)

    def _moved(
        self, order: States | None, through: Collection[str], done: Collection[str] = ()
    ) -> States | None:
        """How the gates stand once these were let through, and those have run."""
        if self._automata is None or order is None:
            return None
        return self._automata.advance(order, through=through, done=done)

    def entry(self, ledger: Ledger, seen: Unread, caller: Caller) -> Entry | None:
        """What a ledger keeps of a word of the user's, or of a result: as a graph's nodes do."""
        if isinstance(seen, UserText):
            return ledger.observed(seen.text, source=USER)
        calls, result = seen
        text = self.policy.redactor.secrets(searchable(result.text))[0]
        if len(calls) == 1:
            call = _parsed(calls[0])
            return observed(self.policy, call, text, failed=result.failed, caller=caller)
        # Nobody knows which tool said this: nothing is believed, and it may be private.
        entry = ledger.observed(text, source="tool unknown", call_id=result.call_id)
        pieces = private_pieces(as_data(text)) if self._private else []
        if not pieces:
            return entry
        empty: Entry = {"source": "tool unknown", "call": result.call_id, "values": []}
        return {**(entry or empty), "private": pieces}


def _parsed(call: Proposed | ToolCall) -> ToolCall:
    return call if isinstance(call, ToolCall) else as_call(call.name, call.arguments, id=call.id)


def _may_hold_pieces(call: Proposed | ToolCall) -> bool:
    raw = call.arguments
    return not isinstance(raw, str) or may_hold_pieces(raw)


def observed(
    policy: Policy, call: ToolCall, text: str, *, failed: bool = False, caller: Caller = NOBODY
) -> Entry | None:
    """The ledger's entry for a result, secrets masked already: as a graph's tool node keeps it.

    A failure's text, and what the model does not get to see, is nothing to believe.
    """
    seen = screen(policy, text, said=asked(policy, text))
    return policy.observed(
        call,
        seen.text if failed or seen.withheld else seen.whole,
        source=f"tool {call.name}",
        caller=caller,
        failed=failed,
        withheld=seen.withheld,
    )
