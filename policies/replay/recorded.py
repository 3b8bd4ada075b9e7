"""What was recorded of a thread: the steps that a replay goes through, whatever they are read from.

A thread is an iterable of steps in the order in which they happened:

    Said("Mail Ann the figures.")                      # the user wrote something
    Turn((Recorded("c1", …),))                         # calls that were decided, of one turn
    Returned(ToolCall("find_person", …), "[…]")        # what a call gave back
    Lost("a result was too long to be kept")           # what came then is not known
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from ...guards.automata import States
from ...guards.caller import NOBODY, Caller
from ...guards.verdict import STRICTNESS, ToolCall, Word, canonical_json


@dataclass(frozen=True, slots=True)
class Said:
    """The user wrote something: a new run begins."""

    text: str


@dataclass(frozen=True, slots=True)
class Returned:
    """What a call gave back; `withheld`: the model did not get to see it.

    `raw`: as the tool gave it, so that the policy still has to look through it as a door does.
    """

    call: ToolCall
    text: str
    failed: bool = False
    withheld: bool = False
    caller: Caller = NOBODY
    raw: bool = False


@dataclass(frozen=True, slots=True)
class Lost:
    """Something is not known: what comes after it in this thread cannot be replayed."""

    why: str


@dataclass(frozen=True, slots=True)
class Spoke:
    """One rule's say, as far as it is known."""

    rule: str
    word: Word
    where: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Old:
    """What was decided then. `approval`: what a person said to an `ask`."""

    word: Word
    rules: tuple[Spoke, ...] = ()
    policy: str = ""
    approval: Mapping[str, Any] | None = None

    @property
    def deciding(self) -> tuple[Spoke, ...]:
        """The rules whose word is the verdict's."""
        return tuple(spoke for spoke in self.rules if spoke.word == self.word)

    @property
    def ran(self) -> bool:
        """Whether the call was let through."""
        if self.word == "ask":
            return self.approval is not None and self.approval.get("decision") != "reject"
        return self.word in ("allow", "redact")


@dataclass(frozen=True, slots=True)
class Known:
    """What a receipt says that the call was decided on, besides what was said and given back."""

    calls: Mapping[str, int] = field(default_factory=dict)
    tokens: int = 0
    used: Mapping[str, Mapping[str, float]] | None = None
    sent: tuple[str, ...] = ()
    gap: str = ""
    granted: frozenset[str] = frozenset()
    order: tuple[str, States] | None = None
    """Of which gates (`Automata.key`), and how they stood."""


@dataclass(frozen=True, slots=True)
class Recorded:
    """One call as it was decided. `name` tells it from all others of its source."""

    name: str
    place: str
    call: ToolCall
    old: Old | None = None
    """None: nobody knows what became of it."""
    known: Known | None = None
    """None: it follows from the steps before."""
    caller: Caller = NOBODY
    thread: str = ""
    time: str = ""
    strategy: str = ""
    """The digest of the strategy that it came from."""
    secrets: tuple[str, ...] = ()
    """Labels of what was masked in the arguments, and judged all the same."""
    masked: bool = False
    """Whether the arguments were judged as they are and masked for the record only."""
    why_not: str = ""
    """Why it cannot be replayed; empty where it can."""


@dataclass(frozen=True, slots=True)
class Turn:
    """The calls of one turn, which may have run in any order."""

    calls: tuple[Recorded, ...]
    again: bool = False
    """They were replayed already, on another branch of the thread: only what they move counts."""
    tokens: int | None = None
    """What the thread's model calls had used by then; None: see `Known`."""


Step = Said | Returned | Lost | Turn
Steps = Iterable[Step]


HIDDEN = "personal data in its arguments is hidden in the record"

_NOBODY_COULD_BE_ASKED = "ask"
"""The rule in whose name a door blocks what asks, where nobody is there to be asked."""


def old_of(record: Mapping[str, Any]) -> Old | None:
    """The verdict that a record (`guards/audit.py`) holds, as the policy gave it; None for none.

    Raises:
        KeyError, TypeError, ValueError, AttributeError: it is no record of this program.
    """
    if record.get("word") not in STRICTNESS:
        return None
    rules = tuple(
        Spoke(
            str(rule.get("rule") or ""),
            _word(rule["word"]),
            str(rule.get("where") or ""),
            str(rule.get("reason") or ""),
        )
        for rule in record.get("rules") or ()
    )
    word = _word(record["word"])
    own = tuple(spoke for spoke in rules if spoke.rule != _NOBODY_COULD_BE_ASKED)
    if len(own) < len(rules):
        word = max((spoke.word for spoke in own), key=STRICTNESS.__getitem__, default="allow")
    approval = record.get("approval")
    if not (approval is None or isinstance(approval, Mapping)):
        raise TypeError("no approval")
    return Old(word, own, str(record.get("policy") or ""), approval)


def _word(text: object) -> Word:
    if text not in STRICTNESS:
        raise ValueError("no verdict")
    return cast("Word", text)


def secrets_in(call: ToolCall, old: Old) -> tuple[str, ...]:
    """The labels of secrets that the verdict speaks of and that the call holds no more."""
    labels = [
        spoke.rule.removeprefix(_SECRETS) for spoke in old.rules if spoke.rule.startswith(_SECRETS)
    ]
    text = canonical_json(call.arguments) if labels else ""
    return tuple(label for label in labels if f"[REDACTED:{label}]" in text)


_SECRETS = "secret_patterns."


def returned(tool: str, call_id: str, ran: Mapping[str, Any]) -> Returned:
    """A result as `receipts: history` keeps it (`guards/receipts/past.py`)."""
    call = ToolCall(tool, dict(ran.get("arguments") or {}), id=call_id)
    return Returned(
        call,
        str(ran["text"]),
        failed=bool(ran.get("failed")),
        withheld=bool(ran.get("withheld")),
        caller=Caller(str(ran.get("user") or ""), str(ran.get("tenant") or "")),
    )
