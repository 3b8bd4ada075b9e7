"""How many tokens a session may use; the call that comes after them is blocked.

Threat: a loop, or an injected task, burns money without end. Counted are the tokens of this
thread's model calls. A version 1 file has a budget of 20000 where it names none; in a version 2
file an absent key sets no limit.

    token_budget_per_session: 20000
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated

from pydantic import Field as Limits

from ..ledger import History
from ..normalise import Examined
from ..verdict import Finding
from . import Check, Context, Where

KEY = "token_budget_per_session"
Field = Annotated[int, Limits(ge=0)]
DEFAULT = 20_000


@dataclass(frozen=True, slots=True)
class TokenBudget:
    """Blocks every call once the budget is used up."""

    tokens: int
    place: str
    rule: str = KEY

    def __call__(self, call: Examined, history: History) -> Iterable[Finding]:
        if history.tokens_used < self.tokens:
            return ()
        reason = f"the session's token budget of {self.tokens} is used up ({history.tokens_used})"
        allowed = f"calls of a session that has used less than {self.tokens} tokens"
        return (Finding(KEY, "block", reason, self.place, allowed=allowed),)


def build(value: int, where: Where, context: Context) -> Check | None:
    """The check; None where the key is absent from a version 2 file."""
    if context.version >= 2 and KEY not in context.given:
        return None
    return TokenBudget(value, where())
