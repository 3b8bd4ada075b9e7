"""What a guarded graph takes, and what it says of anything else.

`Command(goto=…)`, `Send` and `update_state` reach any node with any state. Tickets keep a tool from
running all the same; here the doors themselves are closed, with a message that says what to do.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from langgraph.errors import InvalidUpdateError
from langgraph.types import Command

from ..guards.faults import AgentError
from ..nodes._messages import with_ids


class LockViolation(InvalidUpdateError, AgentError):
    """Somebody tried to steer or rewrite a guarded graph from outside.

    To LangGraph's server it is a bad request, whose text it hands to the caller.
    """


class NothingWaiting(AgentError):
    """An answer came for a thread that asks nothing (any more)."""


STATE_IS_LOCKED = (
    "the state of a guarded graph cannot be set from outside; to go on with a thread, invoke the "
    'graph with {"messages": [...]}; to go back, invoke it with None and an earlier checkpoint_id'
)
NO_JUMPS = (
    "a guarded graph cannot be jumped in: Command takes `resume` here, and neither goto, update "
    "nor graph"
)
NO_INPUT = (
    'a guarded graph takes {{"messages": [...]}}, None (go on) or Command(resume=...), and no {}'
)
CONTEXTS = "a RunContext, a mapping of its fields, or None"
NOT_TWICE = (
    "from this checkpoint calls would run that have run already; go back to one before it, where "
    "the guard decides on them anew"
)
NOTHING_WAITING = (
    "this thread asks nothing (any more): the answer is not used; a question is answered once, "
    "while it is open"
)


def admit(input: Any) -> Any:
    """The input as the graph takes it: messages, None (go on) or the answer to a question.

    Messages are copied and get ids: what tells two of them apart must not depend on where in the
    thread they stand, nor on whether the caller sends one object twice. Of a mapping, and of an
    object (a parent graph's state may be one), nothing else is taken.

    Raises:
        LockViolation: the input would jump or write state, or is none of these.
    """
    if input is None:
        return None
    if isinstance(input, Command):
        if input.goto or input.update or input.graph is not None or input.resume is None:
            raise LockViolation(NO_JUMPS)
        return input
    if isinstance(input, Mapping):
        if input and "messages" not in input:
            raise LockViolation(NO_INPUT.format("mapping without messages"))
        return {"messages": with_ids(input["messages"])} if input else {}
    if not hasattr(input, "messages"):
        raise LockViolation(NO_INPUT.format(type(input).__name__))
    return {"messages": with_ids(input.messages)}
