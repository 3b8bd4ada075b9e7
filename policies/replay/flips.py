"""Which recorded verdicts come out otherwise under another policy, the most dangerous first.

    found = replay(load_policy("new.yaml"), threads)
    for flip in found.ranked():
        print(flip.pair, flip.tool, flip.new.deciding)

Every call is counted: it comes out the same, it is a flip, or it cannot be replayed, and why.
No call is run, no model is asked, nothing is written.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace

from ...guards.decide import Policy
from ...guards.rules.limits import KEY as LIMITS
from ...guards.rules.limits import UNCOUNTABLE
from ...guards.verdict import STRICTNESS, Verdict, canonical_json
from .recorded import Old, Recorded, Said, Spoke, Steps, Turn
from .thread import Decided, Thread

DANGER = (
    "block:allow",
    "ask:allow",
    "block:redact",
    "ask:redact",
    "redact:allow",
    "block:ask",
    "ask:block",
    "redact:block",
    "allow:block",
    "redact:ask",
    "allow:ask",
    "allow:redact",
)
"""All that can become of a verdict, the most dangerous first; the last six are tighter."""

LOOSER = frozenset(DANGER[:6])
TIGHTER = "tighter"

UNKNOWN = "it is not known what became of it"
MASKED = "a secret in its arguments is masked in the record"
BY_THE_DOOR = "it was refused before any policy was asked"
NOT_COUNTED = "what it is limited by was not counted when it was recorded"


MAX_SHOWN = 300
"""Characters of a call's arguments that are kept of a flip."""

MAX_PLACES = 5
"""Places that are named of calls that cannot be replayed for one reason."""


@dataclass(frozen=True, slots=True)
class Flip:
    """A verdict that comes out otherwise. `name` and `place` are the recorded call's."""

    name: str
    place: str
    tool: str
    arguments: str
    """As JSON, secrets masked, the beginning of it."""
    old: Old
    new: Old
    thread: str = ""
    time: str = ""

    @property
    def pair(self) -> str:
        """`ask:allow`: what it was, and what it would be."""
        return f"{self.old.word}:{self.new.word}"

    @property
    def looser(self) -> bool:
        """Whether more may happen than then."""
        return self.pair in LOOSER

    @property
    def rank(self) -> tuple[int, int]:
        """The lower, the more dangerous: what a person refused to have done comes before the rest,
        what a person agreed to after it."""
        approval = self.old.approval
        return DANGER.index(self.pair), 1 if approval is None else 2 if self.old.ran else 0


@dataclass(frozen=True, slots=True)
class Skipped:
    """Why calls could not be replayed: how many, and where the first of them stand."""

    calls: int = 0
    places: tuple[str, ...] = ()

    def and_at(self, place: str) -> Skipped:
        """With one more."""
        places = self.places if len(self.places) >= MAX_PLACES else (*self.places, place)
        return Skipped(self.calls + 1, places)


@dataclass(frozen=True, slots=True)
class Allowed:
    """The flips that are meant: pairs as `ask:allow`, and names of single calls."""

    pairs: frozenset[str] = frozenset()
    names: frozenset[str] = frozenset()

    @classmethod
    def of(cls, given: Iterable[str]) -> Allowed:
        """What was given on a command line; `tighter` is every pair that lets less through.

        Raises:
            ValueError: it has the form of a pair, and is none.
        """
        pairs, names = set[str](), set[str]()
        for text in given:
            old, colon, new = text.partition(":")
            if text == TIGHTER:
                pairs |= set(DANGER) - LOOSER
            elif text in DANGER:
                pairs.add(text)
            elif colon and {old, new} & STRICTNESS.keys():
                raise ValueError(f"no flip: {text}; flips: {', '.join(DANGER)}, {TIGHTER}")
            else:
                names.add(text)
        return cls(frozenset(pairs), frozenset(names))

    def holds(self, flip: Flip) -> bool:
        """Whether the flip is meant."""
        return flip.pair in self.pairs or flip.name in self.names


@dataclass(slots=True)
class Replayed:
    """What came of a replay. `skipped`: calls that could not be replayed, by the reason."""

    same: int = 0
    flips: list[Flip] = field(default_factory=list)
    skipped: dict[str, Skipped] = field(default_factory=dict)
    beyond: Skipped = field(default_factory=Skipped)
    """Calls after the last round that a strategy allows in a run."""
    strategies: dict[str, int] = field(default_factory=dict)
    """Digests of the strategies under which calls were recorded, and how many; empty: none."""

    @property
    def replayed(self) -> int:
        """Calls that were decided again."""
        return self.same + len(self.flips)

    @property
    def calls(self) -> int:
        """Calls that were recorded."""
        return self.replayed + sum(skipped.calls for skipped in self.skipped.values())

    def ranked(self) -> list[Flip]:
        """The flips, the most dangerous first; of equal ones in the order of the record."""
        return sorted(self.flips, key=lambda flip: flip.rank)

    def add(self, decided: Decided, policy: Policy) -> None:
        """Count one call."""
        recorded, verdict, old = decided.call, decided.verdict, decided.call.old
        self.strategies[recorded.strategy] = self.strategies.get(recorded.strategy, 0) + 1
        why_not = decided.why_not or _unsure(recorded, verdict, policy)
        if why_not or verdict is None or old is None:
            place = policy.redactor.secrets(recorded.place)[0]
            self.skipped[why_not] = self.skipped.get(why_not, Skipped()).and_at(place)
        elif verdict.word == old.word:
            self.same += 1
        else:
            self.flips.append(_flip(recorded, old, verdict, policy))


def replay(
    policy: Policy,
    threads: Iterable[Steps],
    *,
    rounds: int | None = None,
    tick: Callable[[], object] | None = None,
) -> Replayed:
    """What the policy says of every call of these threads.

    `rounds`: turns of calls that a strategy allows in a run. `tick` is called after each call.
    """
    found = Replayed()
    for steps in threads:
        thread, turns = Thread(policy), 0
        for step in steps:
            turns = 0 if isinstance(step, Said) else turns + isinstance(step, Turn)
            for decided in thread.take(step):
                found.add(decided, policy)
                if rounds is not None and turns > rounds:
                    place = policy.redactor.secrets(decided.call.place)[0]
                    found.beyond = found.beyond.and_at(place)
                if tick is not None:
                    tick()
    return found


def _unsure(recorded: Recorded, verdict: Verdict | None, policy: Policy) -> str:
    """Why nothing can be said of a call although it was decided; empty where something can."""
    old = recorded.old
    if old is None or verdict is None:
        return UNKNOWN
    blocked = old.word == verdict.word == "block"
    if recorded.masked and not (blocked and recorded.secrets):
        return MASKED
    known = {pattern.name for pattern in policy.redactor.patterns} if recorded.secrets else set()
    if not known.issuperset(recorded.secrets):
        return MASKED  # a pattern that this policy does not have
    if _uncounted(recorded, verdict):
        return NOT_COUNTED
    by_door = bool(old.deciding) and all(
        spoke.rule in _OF_DOORS and not spoke.where for spoke in old.deciding
    )
    if by_door and not blocked and old.word == "block" and recorded.call.fault is None:
        return BY_THE_DOOR
    return ""


_OF_DOORS = frozenset({"arguments", "sequence"})
"""Rules in whose name a door refuses what no policy was asked about."""


def _uncounted(recorded: Recorded, verdict: Verdict) -> bool:
    """Whether all that decides is a limit on what nobody had counted."""
    if recorded.known is not None and recorded.known.used is not None:
        return False
    return bool(verdict.deciding) and all(
        finding.rule.startswith(f"{LIMITS}.") and finding.reason.endswith(UNCOUNTABLE)
        for finding in verdict.deciding
    )


def _flip(recorded: Recorded, old: Old, verdict: Verdict, policy: Policy) -> Flip:
    """The flip as it may be shown: an export holds what nobody has masked."""
    redactor, call = policy.redactor, recorded.call
    shown = redactor.secrets(canonical_json(redactor.value(call.arguments)))[0]
    rules = tuple(Spoke(f.rule, f.word, f.where, f.reason) for f in verdict.findings)
    told = [part for s in old.rules for part in (s.rule, s.where, s.reason)]
    texts = [recorded.name, recorded.place, call.name, recorded.thread, *told]
    if redactor.secrets("\n".join(texts))[1]:
        texts = [redactor.secrets(text)[0] for text in texts]
    name, place, tool, thread, *told = texts
    then = tuple(
        Spoke(told[at], spoke.word, told[at + 1], told[at + 2])
        for at, spoke in zip(range(0, len(told), 3), old.rules, strict=True)
    )
    approval = None if old.approval is None else redactor.value(dict(old.approval))
    return Flip(
        name=name,
        place=place,
        tool=tool,
        arguments=shown if len(shown) <= MAX_SHOWN else f"{shown[:MAX_SHOWN]}…",
        old=replace(old, rules=then, approval=approval),
        new=Old(verdict.word, rules, verdict.policy),
        thread=thread,
        time=recorded.time,
    )
