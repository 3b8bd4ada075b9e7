"""Runs into which nobody looks between two steps go straight from node to node.

A run on a thread that nobody named, kept in this process alone, is gone with its result: nobody can
go on with it, or back in it, unless it waits for a person. Of such a run a tool node goes on into
the model's node, where its call was the only one, and that into the guard, within one graph step.

The ways are the strategy's own, and none of them leads into a tool node: what the guard lets
through begins a graph step, with its ticket (I1, I2). Where the guard has to ask a person, or where
a node fails, the graph step ends in front of that node, with all that was done written down.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn

from langchain_core.runnables import RunnableConfig
from langgraph.errors import GraphBubbleUp

from .check import GUARD, TOOL
from .state import after, together

if TYPE_CHECKING:
    from .drive import NodeRunnable

ACT = "act"
GOES_ON = frozenset({(TOOL, ACT), (ACT, GUARD)})
"""The kinds of two nodes of which the second can run in the graph step of the first."""

ALONE = "alone"
"""In what a guard sends to a tool node: this is the one call that it let through."""

STRAIGHT_KEY = "__edgeward_straight"
NAMESPACE_KEY = "checkpoint_ns"
INSIDE = "|"
"""In the namespace of a graph that runs inside of another one."""


def lead_on(nodes: Mapping[str, NodeRunnable]) -> None:
    """Give each node of a graph those that can run in its graph step, and no others."""
    for node in nodes.values():
        ways = {name: nodes[name] for name in node.exits.values() if name in nodes}
        node.onward = {n: then for n, then in ways.items() if (node.kind, then.kind) in GOES_ON}


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
        whole: Callable[[], Mapping[str, Any]],
    ) -> None:
        """`given` is what LangGraph gives the first node; `whole` reads the state as it is then.

        Raises:
            Exception: what this node failed with in the graph step before.
        """
        failure = straight.failures.pop(str(first.name), None)
        if failure is not None:
            raise failure
        self.node: NodeRunnable | None = first
        self.given = given
        self.left: Left | None = None
        self._straight = straight
        self._whole = whole

    def go_on(self, left: Left) -> None:
        """The node has come to its end."""
        node, before = self.node, self.left
        assert node is not None
        self.node = then = self._next(node, left)
        if then is not None:
            state = self._whole() if node.kind == TOOL else self.given
            self.given = after(state, left.update)
        if before is not None:
            left = Left(left.target, together(before.update, left.update), left.approved)
        self.left = left

    def _next(self, node: NodeRunnable, left: Left) -> NodeRunnable | None:
        if left.approved or (node.kind == TOOL and not self.given.get(ALONE)):
            return None
        return node.onward.get(left.target)

    def stop(self, error: Exception) -> None:
        """The node failed, or has to wait: it begins the next graph step.

        Raises:
            Exception: the error, where the node began this graph step.
        """
        node, self.node = self.node, None
        assert node is not None
        if self.left is None:
            raise error
        if not isinstance(error, GraphBubbleUp):
            self._straight.failures[str(node.name)] = error
