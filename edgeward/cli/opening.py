"""What the commands have in common before the first event: an agent, on a thread."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import typer

from ..graphs.context import RunContext
from .agents import build_agent, shadow_line
from .documents import documents_before_a_run
from .printable import printable
from .session import Asked, Session
from .threads import Wanted
from .views import View

if TYPE_CHECKING:
    from pathlib import Path


def open_session(
    wanted: Wanted, thread: str, *, view: View, ask: Asked, checkpointer: Path | None = None
) -> Session:
    """The agent that was asked for, on a thread."""
    agent: Any = build_agent(wanted, checkpointer=checkpointer)
    documents_before_a_run(agent.profile)
    if line := shadow_line(wanted):
        typer.echo(printable(line), err=True)
    facts = RunContext(wanted.max_steps, wanted.user, wanted.tenant, wanted.roles)
    return Session(agent, thread, view=view, ask=ask, facts=facts)
