"""In what order tools may run (version 2).

Threat: a page or a mail tells the agent what to do next; what was read is sent on; a step is taken
before the one that makes it safe. After `after` has run, `ask` waits for a person and `block` does
not run, `until` the user writes again or another tool has run. `before` does not run unless each
tool of `require` has run; `until` makes that count no longer. Names may be globs, or lists.

    sequence:
      - {after: fetch_url, ask: ["send_*", "run_*"], until: user}
      - {after: read_secret, block: "post_*"}
      - {before: deploy, require: run_tests, until: "write_*", otherwise: ask}

What makes a rule stricter counts as soon as a call is let through, in every spelling of the name;
what makes it looser counts once the call has run without an error. Calls proposed in one turn may
run in any order: to each other they count as having run where that is stricter.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import BaseModel, ConfigDict, Discriminator, Tag, model_validator
from pydantic import Field as Limits
from typing_extensions import Self

from ..automata import OPEN, SHUT, Automata, Gate, States
from ..ledger import History
from ..names import shown_name
from ..normalise import Examined
from ..shadow import Shadow
from ..verdict import Finding, Word
from . import Check, Context, Name, OneOrMore, Where

if TYPE_CHECKING:
    from ..decide import Policy

KEY = "sequence"

USER_SPEAKS = "user"
"""In `until`: the user writes again."""

Names = Annotated[
    list[Name],
    Limits(min_length=1),
    OneOrMore,
]


class After(BaseModel):
    """What may no longer run, or only with a person's word, once something has run."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: Name | None = None
    """What verdicts call it: `sequence.name`."""
    after: Names
    ask: Names | None = None
    block: Names | None = None
    until: Names | None = None

    @model_validator(mode="after")
    def _does_something(self) -> Self:
        if self.ask is None and self.block is None:
            raise ValueError("says what comes first and not what follows; add `ask` or `block`")
        return self


class Before(BaseModel):
    """What may not run before something else has."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: Name | None = None
    """What verdicts call it: `sequence.name`."""
    before: Names
    require: Names
    """All of these."""
    until: Names | None = None
    otherwise: Literal["block", "ask"] = "block"


def _form(value: object) -> str:
    if isinstance(value, After | Before):
        return "After" if isinstance(value, After) else "Before"
    return "Before" if isinstance(value, dict) and "before" in value else "After"


Field = list[
    Annotated[
        Annotated[After, Tag("After")] | Annotated[Before, Tag("Before")], Discriminator(_form)
    ]
]
DEFAULT: list[After | Before] = []


@dataclass(frozen=True, slots=True)
class Order:
    """Holds each call against the gates, as the history says they stand."""

    automata: Automata
    held: frozenset[str] = frozenset()
    """The names of entries that are left out: in shadow, they move as the others do."""
    rule: str = KEY

    @property
    def parts(self) -> list[str]:
        """The entries that have a name."""
        return list(dict.fromkeys(g.rule for g in self.automata.gates if g.rule != KEY))

    def enforced(self, shadow: Shadow) -> Order | None:
        """Without the entries in shadow."""
        names = {gate.rule for gate in self.automata.gates}
        held = frozenset(name for name in names if shadow.holds(name))
        return replace(self, held=held) if names - held else None

    def __call__(self, call: Examined, history: History) -> Iterable[Finding]:
        return self.met(call.name, self.automata.shut if history.order is None else history.order)

    def met(self, name: str, states: States) -> list[Finding]:
        """What the shut gates say of a call of this tool."""
        return [
            Finding(
                gate.rule,
                gate.word,
                f"tool {shown_name(name)} {gate.reason}",
                gate.place,
                allowed=gate.allowed,
            )
            for gate in self.automata.met(states, name)
            if gate.rule not in self.held
        ]


def order_of(policy: Policy) -> Order | None:
    """A policy's rule on the order of calls; None where it has none."""
    return next((check for check in policy.checks if isinstance(check, Order)), None)


def build(value: list[After | Before], where: Where, context: Context) -> Check | None:
    """The check; None for an empty list.

    Raises:
        ValueError: in a version 1 file.
    """
    if not value:
        return None
    if context.version < 2:
        raise ValueError("`sequence` needs `version: 2`")
    return Order(Automata(tuple(g for at, e in enumerate(value) for g in _gates(e, where(at)))))


def _gates(entry: After | Before, place: str) -> Iterator[Gate]:
    until = tuple(entry.until or ())
    tools = tuple(name for name in until if name != USER_SPEAKS)
    speaks = USER_SPEAKS in until
    rule = f"{KEY}.{entry.name}" if entry.name else KEY
    ends = [*(["the user writes again"] if speaks else []), *(f"{name} has run" for name in tools)]
    if isinstance(entry, After):
        rest = f" until {' or '.join(ends)}" if ends else ""
        user = OPEN if speaks else None
        said: tuple[tuple[Word, str, list[str] | None], ...] = (
            ("ask", "needs approval", entry.ask),
            ("block", "may not run", entry.block),
        )
        for word, what, names in said:
            reason = f"{what} after {' or '.join(entry.after)}{rest}"
            if names:
                shuts = tuple(entry.after)
                yield Gate(tuple(names), word, reason, OPEN, shuts, tools, user, place, rule)
        return
    rest = f", and again once {' or '.join(ends)}" if ends else ""
    user = SHUT if speaks else None
    for needed in entry.require:
        reason = f"may run only after {needed} has run without an error{rest}"
        held, opens = tuple(entry.before), (needed,)
        yield Gate(held, entry.otherwise, reason, SHUT, tools, opens, user, place, rule)
