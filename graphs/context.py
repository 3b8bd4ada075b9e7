"""What a caller says of a run, apart from its messages: `invoke(input, context=RunContext(…))`.

It comes from the program that runs the graph, never from the model or the messages.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class RunContext:
    """Facts of one run."""

    max_steps: int | None = None
    """Tool rounds this run may take; None: what the graph was built with."""
    user: str = ""
    tenant: str = ""
    roles: tuple[str, ...] = ()
