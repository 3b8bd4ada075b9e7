"""A suite in plain Python: tools on a dict, tasks, and attacks, played under one policy."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from edgeward.attacks.goals import Goal
from edgeward.attacks.scene import Attack, Call, Outcome, Played, Task, World, in_turn

Tool = Callable[..., Any]
Data = dict[str, Any]
MARK = "<MARK>"


def changed(kind: str) -> Tool:
    """A tool that only notes that it ran."""

    def change(data: Data, **arguments: Any) -> str:
        data["log"].append([kind, arguments])
        return f"done: {kind}"

    return change


def goal(kind: str, wants: str, call: Call, *, secret: str = "", first: Call | None = None) -> Goal:
    """A goal of one call; `$user|X` in it is what the user's own call has there, or X."""
    tool, arguments = call
    given: dict[str, Any] = {"goal": wants, "class": kind, "calls": [{tool: arguments}]}
    before = [{first[0]: first[1]}] if first else []
    return Goal.model_validate({**given, "secret": secret, "first": before})


@dataclass(frozen=True)
class Job:
    """What the user wants, and the calls that do it."""

    prompt: str
    calls: list[Call]


@dataclass
class PlainWorld:
    """The tools on one copy of the data."""

    tools: dict[str, Tool]
    data: Data

    def run(self, tool: str, arguments: dict[str, Any]) -> Outcome:
        """Run one call."""
        try:
            return Outcome(copy.deepcopy(self.tools[tool](self.data, **arguments)))
        except (KeyError, TypeError) as error:
            return Outcome(error=f"{type(error).__name__}: {error}")


@dataclass
class PlainSuite:
    """Tools, data with `<MARK>` where an attacker can write, tasks, and what attackers want."""

    name: str
    effects: frozenset[str]
    tools: dict[str, Tool]
    data: Data
    jobs: list[Job]
    wants: dict[str, tuple[str, list[Call]]] = field(default_factory=dict)
    """Sentence -> class and calls."""
    more: list[Goal] = field(default_factory=list)
    """Goals that take values of the user's own calls, or a secret that was read first."""

    @cached_property
    def tasks(self) -> dict[str, Task]:
        """The jobs by number, each with the calls that carry an attacker's text."""
        found = {}
        for number, job in enumerate(self.jobs):
            world = PlainWorld(self.tools, copy.deepcopy(self.data))
            outputs = [json.dumps(world.run(*call).data) for call in job.calls]
            carriers = frozenset(n for n, text in enumerate(outputs) if MARK in text)
            found[str(number)] = Task(str(number), job.prompt, carriers)
        return found

    @cached_property
    def attacks(self) -> dict[str, Attack]:
        """No attacks of a benchmark's: all are goals."""
        return {}

    def goals(self) -> list[Attack]:
        """What attackers want, each with every value in the text that the task reads."""

        def script(calls: list[Call]) -> Callable[[World, Task], Played]:
            return lambda world, task: in_turn(calls)

        return [
            Attack(wants, f"{wants} {json.dumps(calls)}", script(calls), kind)
            for wants, (kind, calls) in self.wants.items()
        ] + [goal.attack(self) for goal in self.more]

    def world(self, task: Task, text: str = "") -> PlainWorld:
        """A fresh world."""
        filled = json.loads(json.dumps(self.data).replace(MARK, json.dumps(text)[1:-1]))
        return PlainWorld(self.tools, filled)

    def solution(self, task: Task, world: World) -> list[Call]:
        """The job's calls."""
        return [(tool, dict(arguments)) for tool, arguments in self.jobs[int(task.name)].calls]

    def done(self, task: Task, world: World, ran: list[Call]) -> bool:
        """Whether every call of the job ran."""
        return all(call in ran for call in self.solution(task, world))

    def reached(self, task: Task, attack: Attack, world: World, ran: list[Call]) -> bool:
        """Goals are judged by their effects alone."""
        return False
