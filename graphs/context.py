"""What a caller says of a run, apart from its messages: `invoke(input, context=RunContext(…))`.

It comes from the program that runs the graph, never from the model or the messages.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..guards.caller import Caller


@dataclass(frozen=True, slots=True)
class RunContext:
    """Facts of one run."""

    max_steps: int | None = None
    """Tool rounds this run may take; None: what the graph was built with."""
    user: str = ""
    tenant: str = ""
    roles: tuple[str, ...] = ()
    run: str = ""
    """Which of the user's memories this is, where they are to be kept apart (by project, say)."""

    def __post_init__(self) -> None:
        """Refuse what is not of its type: a server hands these over as its client sent them.

        Raises:
            ValueError: naming the field.
        """
        steps = self.max_steps
        if steps is not None and (not isinstance(steps, int) or steps is True or steps < 1):
            raise ValueError("max_steps: a whole number of 1 or more, or None")
        if not isinstance(self.run, str):
            raise ValueError("run: text")
        object.__setattr__(self, "roles", self.caller.roles)

    @property
    def caller(self) -> Caller:
        """Who is asking, as policies see it."""
        return Caller(self.user, self.tenant, self.roles)
