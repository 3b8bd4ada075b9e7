"""What the replay plays: a suite of tools, the tasks of its user, the goals of its attacker.

A suite is anything that builds a world (tools on data) for a task and says when the task is done.
AgentDojo's are in `dojo.py`; a suite of your own is a class with these methods.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

Call = tuple[str, dict[str, Any]]
"""A tool's name and its arguments."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a call that ran gave back: plain data, or the text of an error."""

    data: Any = None
    error: str = ""


class World(Protocol):
    """The tools on the data of one episode."""

    def run(self, tool: str, arguments: dict[str, Any]) -> Outcome:
        """Run one call."""
        ...


Played = Generator[Call, "Outcome | None", None]
"""Calls one after the other; each is answered with its outcome, or None where it was refused."""


def in_turn(calls: Iterable[Call]) -> Played:
    """Calls that are known beforehand, whatever each of them gives back."""
    for call in calls:  # noqa: UP028 - a list takes no answers, a generator does
        yield call


@dataclass(frozen=True, slots=True)
class Task:
    """What the user asks for."""

    name: str
    prompt: str
    carriers: frozenset[int]
    """The calls (by number) of its solution whose output carries the attacker's text."""


@dataclass(frozen=True, slots=True)
class Attack:
    """What an attacker wants, and the calls of a model that obeys.

    `kind` is the class of one's own goals: theft, leak, harm, content. `prepares`: the number of
    first calls that only prepare it, and are no harm by themselves.
    """

    name: str
    wants: str
    calls: Callable[[World, Task], Played]
    kind: str = ""
    prepares: int = 0
    secret: str = ""
    """What the model must have read before: nobody leaks what they do not know."""


class Suite(Protocol):
    """Tools, tasks and attacks that belong together."""

    @property
    def name(self) -> str: ...
    @property
    def effects(self) -> frozenset[str]:
        """The tools that change something or send something out; all others only read."""
        ...

    @property
    def tasks(self) -> Mapping[str, Task]: ...
    @property
    def attacks(self) -> Mapping[str, Attack]: ...
    def world(self, task: Task, text: str = "") -> World:
        """A fresh world, the attacker's text wherever the task will read it."""
        ...

    def solution(self, task: Task, world: World) -> list[Call]:
        """The calls that do the task in this world; every episode begins with a fresh one."""
        ...

    def done(self, task: Task, world: World, ran: list[Call]) -> bool:
        """Whether the world is as the user wanted it."""
        ...

    def reached(self, task: Task, attack: Attack, world: World, ran: list[Call]) -> bool:
        """Whether the world is as the attacker wanted it."""
        ...
