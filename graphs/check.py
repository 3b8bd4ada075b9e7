"""What must hold of a strategy before it may be compiled: one pure function an invariant.

Each function takes the plan and gives problems with file and line; `check_strategy` runs them all,
so that a person sees every fault at once. Nothing here knows LangGraph.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from dataclasses import dataclass

from ..nodes._base import APPROVED, STATE_KEYS, NodeSpec
from ..policies.yaml_file import FieldPath, Problem, did_you_mean, either

TOOL, GUARD = "tool", "guard"


@dataclass(frozen=True, slots=True)
class Edge:
    """`node.outcome: target`."""

    node: str
    outcome: str
    target: str

    @property
    def key(self) -> str:
        return f"{self.node}.{self.outcome}" if self.node else self.outcome


@dataclass(frozen=True, slots=True)
class Plan:
    """A strategy as the checks see it.

    `where` turns a path of the file into `file:line`; `unread` are nodes with a problem of their
    own, of which nothing more is said.
    """

    start: str
    end: str
    nodes: Mapping[str, NodeSpec]
    edges: list[Edge]
    where: Callable[[FieldPath], str]
    unread: Set[str] = frozenset()

    def problem(
        self, at: FieldPath, field: str, wrong: str, allowed: str = "", fix: str = ""
    ) -> Problem:
        return Problem(self.where(at), field, wrong, allowed, fix)

    def at_edge(self, edge: Edge, wrong: str, allowed: str = "", fix: str = "") -> Problem:
        return self.problem(("edges", edge.key), f"edges.{edge.key}", wrong, allowed, fix)

    def successors(self) -> dict[str, list[str]]:
        """Where each node can lead, by name; `end` included."""
        out: dict[str, list[str]] = {name: [] for name in self.nodes}
        for edge in self.edges:
            out[edge.node].append(edge.target)
        return out


def check_strategy(plan: Plan) -> list[Problem]:
    """All problems of a strategy; empty where it may be compiled."""
    problems = _all(
        plan, names_exist, outcomes_are_routed, only_guards_lead_to_tools, only_guards_sign
    )
    if problems or plan.unread:
        return problems
    # Reachability and loops mean something only once every edge leads somewhere.
    return _all(plan, nodes_are_reached, nodes_reach_the_end, loops_are_bounded)


def _all(plan: Plan, *checks: Callable[[Plan], Iterator[Problem]]) -> list[Problem]:
    return [problem for check in checks for problem in check(plan)]


def names_exist(plan: Plan) -> Iterator[Problem]:
    """I6: every edge starts at a node and leads to a node or to `end`."""
    known = [*plan.nodes, *plan.unread]
    if plan.start not in known:
        fix = did_you_mean(plan.start, known)
        yield plan.problem(("start",), "start", f"no node {plan.start!r}", either(known), fix)
    for edge in plan.edges:
        if not edge.node:
            yield plan.at_edge(edge, "is no edge", "node.outcome: target")
        elif edge.node not in known:
            fix = did_you_mean(edge.node, known)
            yield plan.at_edge(edge, f"no node {edge.node!r}", either(known), fix)
        if edge.target not in known and edge.target != plan.end:
            targets = [*known, plan.end]
            fix = did_you_mean(edge.target, targets)
            yield plan.at_edge(edge, f"leads to no node ({edge.target!r})", either(targets), fix)


def outcomes_are_routed(plan: Plan) -> Iterator[Problem]:
    """I6: each node's outcomes are exactly those that have an edge."""
    for name, spec in plan.nodes.items():
        routed = {edge.outcome for edge in plan.edges if edge.node == name}
        for outcome in spec.outcomes():
            if outcome not in routed:
                wrong = f"the outcome {outcome!r} of this {spec.kind} node leads nowhere"
                fix = f"add `{name}.{outcome}: …` below edges"
                yield plan.problem(("nodes", name), f"nodes.{name}", wrong, "", fix)
    for edge in plan.edges:
        owner = plan.nodes.get(edge.node)
        if owner is not None and edge.outcome not in owner.outcomes():
            known = list(owner.outcomes())
            wrong = f"a {owner.kind} node has no outcome {edge.outcome!r}"
            yield plan.at_edge(edge, wrong, either(known), did_you_mean(edge.outcome, known))


def only_guards_lead_to_tools(plan: Plan) -> Iterator[Problem]:
    """I1: the only edge into a tool node is `<guard>.allow`; and it leads nowhere else."""
    kind = {name: spec.kind for name, spec in plan.nodes.items()}
    if kind.get(plan.start) == TOOL:
        wrong = "a run cannot start with a tool node: nothing was decided yet"
        yield plan.problem(
            ("start",), "start", wrong, "", "start with the node that proposes calls"
        )
    for edge in plan.edges:
        allows = kind.get(edge.node) == GUARD and edge.outcome == "allow"
        if kind.get(edge.target) == TOOL and not allows:
            wrong = f"leads into the tool node {edge.target!r} without a guard"
            fix = "lead it to a guard node; `<guard>.allow` may lead to the tool"
            yield plan.at_edge(edge, wrong, "only `<guard>.allow`", fix)
        elif allows and edge.target not in plan.unread and kind.get(edge.target) != TOOL:
            wrong = "what a guard lets through must go to a tool node"
            yield plan.at_edge(edge, wrong, either(_of_kind(plan, TOOL)) or "a node of kind tool")


def only_guards_sign(plan: Plan) -> Iterator[Problem]:
    """I5: a kind writes keys of the state; none but the guard approves calls or has the key."""
    for name, spec in plan.nodes.items():
        if spec.kind != GUARD and (APPROVED in spec.writes or "tickets" in spec.needs):
            wrong = f"the kind {spec.kind!r} claims to write tickets, which only a guard does"
            yield plan.problem(("nodes", name), f"nodes.{name}", wrong)
        unknown = sorted(spec.writes - STATE_KEYS - {APPROVED})
        if unknown:
            wrong = f"the kind {spec.kind!r} claims to write {', '.join(unknown)}"
            yield plan.problem(("nodes", name), f"nodes.{name}", wrong, either(sorted(STATE_KEYS)))


def nodes_are_reached(plan: Plan) -> Iterator[Problem]:
    """I6: every node can be reached from the start."""
    reached = _closure([plan.start], plan.successors())
    for name in plan.nodes:
        if name not in reached:
            wrong = f"cannot be reached from {plan.start!r}"
            yield plan.problem(
                ("nodes", name), f"nodes.{name}", wrong, "", "lead an outcome to it, or remove it"
            )


def nodes_reach_the_end(plan: Plan) -> Iterator[Problem]:
    """I6: from every node the run can end."""
    before: dict[str, list[str]] = {name: [] for name in [*plan.nodes, plan.end]}
    for name, targets in plan.successors().items():
        for target in targets:
            before[target].append(name)
    ending = _closure([plan.end], before)
    for name in plan.nodes:
        if name not in ending:
            wrong = f"is a dead end: no way leads from it to {plan.end!r}"
            fix = f"lead one of its outcomes, or a later node's, to {plan.end!r}"
            yield plan.problem(("nodes", name), f"nodes.{name}", wrong, "", fix)


def loops_are_bounded(plan: Plan) -> Iterator[Problem]:
    """I6: every loop takes an outcome whose rounds are counted: a call, a plan's step, a revision.

    A node that counts is not enough: a loop through `act.answer` or `act.limit` passes an act node
    and never ends.
    """
    uncounted: dict[str, list[str]] = {name: [] for name in plan.nodes}
    for edge in plan.edges:
        if edge.target in plan.nodes and edge.outcome not in plan.nodes[edge.node].counted:
            uncounted[edge.node].append(edge.target)
    for name in uncounted:
        if name in _closure(uncounted[name], uncounted):
            wrong = "is part of a loop that nothing bounds"
            fix = "lead it through an outcome that is counted: `call` of an act node, `step` of a "
            fix += "plan node, `revise` of a reflect node"
            yield plan.problem(("nodes", name), f"nodes.{name}", wrong, "", fix)


def _closure(start: Iterable[str], successors: Mapping[str, list[str]]) -> set[str]:
    reached: set[str] = set()
    stack = list(start)
    while stack:
        name = stack.pop()
        if name not in reached:
            reached.add(name)
            stack += successors.get(name, [])
    return reached


def _of_kind(plan: Plan, kind: str) -> list[str]:
    return [name for name, spec in plan.nodes.items() if spec.kind == kind]
