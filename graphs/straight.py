"""Runs into which nobody looks between two steps go straight from node to node.

A run on a thread that nobody named, kept in this process alone, is gone with its result: nobody can
go on with it, or back in it, unless it waits for a person. Of such a run a tool node goes on into
the model's node, where its call was the only one, that into the guard, and that into the tool node
again, within one graph step.

The ways are the strategy's own, and the only one that leads into a tool node is the guard's
`allow`: with the one call that it let through, and the ticket for it, as it would travel in a graph
step of its own (I1, I2). Only a tool that was seen to use nothing of LangGraph's is run so; a graph
inside of one has the graph step's place in the thread for its own. Where the guard or a tool has to
ask a person, or where a node fails, the graph step ends in front of that node, with all that was
done written down.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn

from langchain_core.runnables import RunnableConfig
from langchain_core.runnables.config import set_config_context
from langgraph.errors import GraphBubbleUp, GraphInterrupt
from langgraph.types import interrupt

from ..nodes._base import Here, NodeFault
from ..nodes._messages import MessageLog
from .check import GUARD, TOOL
from .state import after, together

if TYPE_CHECKING:
    from .drive import NodeRunnable

ACT = "act"
GOES_ON = frozenset({(TOOL, ACT), (ACT, GUARD)})
"""The kinds of two nodes of which the second can run in the graph step of the first."""

ALLOW = "allow"
"""The outcome of a guard that leads into a tool node."""

ALONE = "alone"
"""In what a guard sends to a tool node: this is the one call that it let through."""

MOST_ROUNDS = 20
"""Calls that are run within one graph step: LangGraph's bound on steps counts those."""

STRAIGHT_KEY = "__edgeward_straight"
NAMESPACE_KEY = "checkpoint_ns"
SCRATCHPAD_KEY = "__pregel_scratchpad"
INSIDE = "|"
"""In the namespace of a graph that runs inside of another one."""

ASKED_INSIDE = (
    "the tool {name!r} asked a person from a graph inside of it, which it had not used before in "
    "this agent; run the task again: from now on its calls can wait for an answer"
)


def lead_on(nodes: Mapping[str, NodeRunnable]) -> None:
    """Give each node of a graph those that can run in its graph step, and no others."""
    allowed = {name: str(g.exits.get(ALLOW)) for name, g in nodes.items() if g.kind == GUARD}
    handed = {guard: nodes[name] for guard, name in allowed.items() if name in nodes}
    for node in nodes.values():
        ways = {name: nodes[name] for name in node.exits.values() if name in nodes}
        node.onward = {n: then for n, then in ways.items() if (node.kind, then.kind) in GOES_ON}
        if node.kind == TOOL:  # which holds the tools; what asks a model cannot reach them
            node.handed = handed


class Straight:
    """A run that goes straight, and what failed in it in a node whose graph step is to come."""

    __slots__ = ("failures", "thread")

    def __init__(self, thread: str) -> None:
        self.thread = thread
        self.failures: dict[str, Exception] = {}


def straight_of(config: RunnableConfig) -> Straight | None:
    """The run that a node is part of, if that goes straight; a graph inside of it does not."""
    settings = config.get("configurable") or {}
    found = settings.get(STRAIGHT_KEY)
    if not isinstance(found, Straight) or found.thread != settings.get("thread_id"):
        return None
    return None if INSIDE in str(settings.get(NAMESPACE_KEY) or "") else found


class MustAsk(GraphBubbleUp):
    """A guard has a question for a person, which needs a graph step of its own."""


def ask_later(question: Any, schema: Any) -> NoReturn:
    """What asks a person from within the graph step of another node: nobody yet."""
    raise MustAsk


@dataclass(frozen=True, slots=True)
class Left:
    """What a node leaves: updates of the state, and where it leads, with these calls if any."""

    target: str
    update: dict[str, Any]
    approved: list[Any] | None = None


class Way:
    """One graph step of such a run: the node that is next, and what those before it have left."""

    def __init__(
        self,
        first: NodeRunnable,
        given: Any,
        straight: Straight,
        config: RunnableConfig,
        whole: Callable[[], Mapping[str, Any]],
    ) -> None:
        """`whole` reads the state as it was when the graph step began.

        Raises:
            Exception: the first node failed already, or asked a person, in the step before.
        """
        failure = straight.failures.pop(str(first.name), None)
        if failure is not None:
            raise_again(failure, config)
        self.node: NodeRunnable | None = first
        self.given = given
        self.left: Left | None = None
        self.heres: dict[NodeRunnable, tuple[object, Here]] = {}
        """What nodes were given in this graph step, and what it was made for."""
        self._first = first
        self._state: Mapping[str, Any] | None = None
        self._rounds = 0
        self._straight = straight
        self._config = config
        self._whole = whole

    @property
    def is_first(self) -> bool:
        """Whether the node that is next begins the graph step."""
        return self.left is None

    def answered(self, call_id: str) -> bool:
        """Whether the thread, as it is by now, answers the call with this id."""
        messages = self._now().get("messages") or []
        log = messages if isinstance(messages, MessageLog) else MessageLog(messages)
        return log.answers(call_id)

    def go_on(self, left: Left) -> None:
        """The node has come to its end."""
        node, before = self.node, self.left
        assert node is not None
        then = self._next(node, left)
        if then is not None:
            self._state = after(self._now(), left.update)
            self.given = self._state
            if left.approved:
                self._rounds += 1
                self.given = {**left.approved[0], ALONE: True}
        self.node = then
        if before is not None:
            left = Left(left.target, together(before.update, left.update), left.approved)
        self.left = left

    def _now(self) -> Mapping[str, Any]:
        """The state with all that was done in this graph step."""
        if self._state is None:
            self._state = self._whole() if self._first.kind == TOOL else self.given
        return self._state

    def _next(self, node: NodeRunnable, left: Left) -> NodeRunnable | None:
        if left.approved:
            return self._tool(node, left)
        if node.kind == TOOL and not self.given.get(ALONE):
            return None
        return node.onward.get(left.target)

    def _tool(self, guard: NodeRunnable, left: Left) -> NodeRunnable | None:
        """The tool node for the one call that was let through, where that can run here."""
        sent = left.approved or ()
        if len(sent) != 1 or self._first.kind != TOOL or self._rounds >= MOST_ROUNDS:
            return None
        then = self._first.handed.get(str(guard.name))
        if then is None or then.name != left.target:
            return None
        fits = then.keeps_to_itself(str(sent[0]["call"]["name"]))
        return then if fits and is_untouched(self._config) else None

    def stop(self, error: Exception) -> None:
        """The node failed, or has to wait: it begins the next graph step.

        Raises:
            Exception: the error, where the node began this graph step.
        """
        node, self.node = self.node, None
        assert node is not None
        if self.left is None:
            raise error
        if isinstance(error, GraphBubbleUp) and node.kind != TOOL:
            return  # it begins anew; a tool, which may have done something by now, does not
        if isinstance(error, GraphInterrupt) and uses(self._config, *_INSIDE_COUNTERS):
            error = NodeFault(ASKED_INSIDE.format(name=self.given["call"]["name"]))
        self._straight.failures[str(node.name)] = error


_INSIDE_COUNTERS = ("call_counter", "subgraph_counter")
_COUNTERS = (*_INSIDE_COUNTERS, "interrupt_counter")
"""What LangGraph counts in a graph step: tasks and graphs that it began, questions."""


def uses(config: RunnableConfig, *counters: str) -> bool:
    """Whether something in this graph step has used one of these; True where nobody can tell."""
    pad = (config.get("configurable") or {}).get(SCRATCHPAD_KEY)
    found = (getattr(getattr(pad, name, None), "_counter", _UNKNOWN) for name in counters)
    return any(counter is not None for counter in found)


_UNKNOWN = object()


def is_untouched(config: RunnableConfig) -> bool:
    """Whether nothing in this graph step has used LangGraph, as far as it can tell."""
    return not uses(config, *_COUNTERS)


def raise_again(failure: Exception, config: RunnableConfig) -> None:
    """Raise what a node raised in the graph step before its own; what it asks of a person is asked
    from here, so that the answer comes to it."""
    asked: Sequence[Any] = ()
    if isinstance(failure, GraphInterrupt) and failure.args:
        asked = failure.args[0]
    if len(asked) == 1 and is_untouched(config):
        with set_config_context(config) as context:
            context.run(interrupt, asked[0].value, response_schema=asked[0].response_schema)
    raise failure
