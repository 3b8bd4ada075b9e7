"""Rules in shadow: they decide nothing, and each verdict says what it would be if they did.

    mode: shadow                                   # the whole policy
    mode: {egress_allowlist: shadow}               # single rules, named as verdicts name them

A policy with rules in shadow is two lists of checks: all of them, and those that are enforced. So
what would have been is what the whole policy says, on the same call and the same history. All that
checks keep, count and believe is that of the whole policy.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, Protocol, runtime_checkable

if TYPE_CHECKING:
    from .rules import Check

Mode = Literal["enforce", "shadow"]


@dataclass(frozen=True, slots=True)
class Shadow:
    """What of a policy is in shadow: all, or the rules of these names.

    A name is that of a key (`arg_rules`), or of one of its entries (`arg_rules.traversal`), as
    verdicts name them; where both are there, the entry's counts.
    """

    whole: bool = False
    rules: Mapping[str, Mode] = field(default_factory=dict)

    def holds(self, rule: str) -> bool:
        """Whether the rule of this name decides nothing."""
        key = rule.partition(".")[0]
        return self.whole or self.rules.get(rule, self.rules.get(key)) == "shadow"

    @property
    def told(self) -> str:
        """What is in shadow, in words."""
        names = ", ".join(name for name, mode in self.rules.items() if mode == "shadow")
        return "the whole policy" if self.whole else names

    def enforced(self, checks: Iterable[Check]) -> tuple[Check, ...]:
        """What is left of the checks."""
        left = (self._enforced(check) for check in checks)
        return tuple(check for check in left if check is not None)

    def _enforced(self, check: Check) -> Check | None:
        if self.whole:
            return None
        if isinstance(check, Parted):
            return check.enforced(self)
        return None if self.holds(check.rule) else check


OPEN = Shadow()
"""Nothing is in shadow."""


@runtime_checkable
class Parted(Protocol):
    """A check whose entries can be in shadow each by itself, or that depends on some that can."""

    @property
    def parts(self) -> Iterable[str]:
        """The names of its entries, as verdicts name them."""

    def enforced(self, shadow: Shadow, /) -> Check | None:
        """The check without the entries in shadow; None where nothing is left."""
