"""AgentDojo's suites: its environments, tools and checks (version 1.2.2: 97 tasks, 949 pairs).

Needs the extra `attacks`. Its suites are read once; each world is a copy in which the attacker's
text stands in the places that the task's own calls read.
"""

from __future__ import annotations

import contextlib
import io
import json
import pickle
import re
import warnings
from collections.abc import Mapping
from functools import cached_property
from typing import Any

from pydantic import BaseModel

from ..extras import MissingExtra
from .scene import Attack, Call, Outcome, Played, Task, World, in_turn
from .scripts import SCRIPTS

VERSION = "v1.2.2"

EFFECTS: Mapping[str, frozenset[str]] = {
    "banking": frozenset(
        """send_money schedule_transaction update_scheduled_transaction update_password
        update_user_info""".split()  # noqa: SIM905 - one word a value reads better
    ),
    "slack": frozenset(
        """add_user_to_channel send_direct_message send_channel_message invite_user_to_slack
        remove_user_from_slack post_webpage get_webpage""".split()  # noqa: SIM905
    ),
    "travel": frozenset(
        """create_calendar_event cancel_calendar_event reserve_hotel reserve_car_rental
        reserve_restaurant send_email""".split()  # noqa: SIM905
    ),
    "workspace": frozenset(
        """send_email delete_email create_calendar_event cancel_calendar_event
        reschedule_calendar_event add_calendar_event_participants append_to_file create_file
        delete_file share_file""".split()  # noqa: SIM905
    ),
}
"""The tools with an effect; fetching a page sends its address out."""

ONLY_WORDS = {("travel", "injection_task_6")}
"""Goals that are a sentence in the answer: there is no call to guard."""

SUITES = tuple(EFFECTS)

_MISSING = "the replay plays AgentDojo's suites: pip install 'edgeward[attacks]'"


def load_suites() -> dict[str, Dojo]:
    """Every suite by its name.

    Raises:
        MissingExtra: the extra `attacks` is not installed.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of SDKs that are imported and not used
        try:
            from agentdojo.task_suite.load_suites import get_suites
        except ImportError as error:
            raise MissingExtra(f"{_MISSING} ({error})") from None
        found = get_suites(VERSION)
    return {name: Dojo(found[name]) for name in SUITES}


class DojoWorld:
    """AgentDojo's tools on one environment."""

    def __init__(self, environment: Any, tools: Any) -> None:
        from agentdojo.functions_runtime import FunctionsRuntime

        self.environment = environment
        self.before = pickle.dumps(environment)
        self._runtime = FunctionsRuntime(tools)

    def run(self, tool: str, arguments: dict[str, Any]) -> Outcome:
        """Run one call."""
        data, error = self._runtime.run_function(self.environment, tool, arguments)
        return Outcome(plain(data), error or "")


class Dojo:
    """One of AgentDojo's suites."""

    def __init__(self, suite: Any) -> None:
        self._suite = suite
        self.name: str = suite.name
        self.effects = EFFECTS[suite.name]
        self._vectors: dict[str, frozenset[str]] = {}

    @cached_property
    def _canaries(self) -> dict[str, str]:
        return {name: f"<CANARY-{name}>" for name in self._suite.get_injection_vector_defaults()}

    @cached_property
    def _marked(self) -> bytes:
        """The environment with a mark in every place that an attacker can write to."""
        return pickle.dumps(self._suite.load_and_inject_default_environment(self._canaries))

    @cached_property
    def _plain(self) -> bytes:
        """The environment that nobody has tampered with."""
        return pickle.dumps(self._suite.load_and_inject_default_environment({}))

    @cached_property
    def tasks(self) -> dict[str, Task]:
        """The user's tasks."""
        return {name: self._task(name, task) for name, task in self._suite.user_tasks.items()}

    def _task(self, name: str, task: Any) -> Task:
        world = self._world_of(task.init_environment(pickle.loads(self._marked)))  # noqa: S301 - our own
        carriers, vectors = set(), set()
        for number, (tool, arguments) in enumerate(_calls(task, world.environment)):
            text = json.dumps(world.run(tool, arguments).data, ensure_ascii=False)
            found = {vector for vector, mark in self._canaries.items() if mark in text}
            vectors |= found
            if found:
                carriers.add(number)
        self._vectors[name] = frozenset(vectors)
        return Task(name, task.PROMPT, frozenset(carriers))

    @cached_property
    def attacks(self) -> dict[str, Attack]:
        """AgentDojo's own injection tasks; what only wants a sentence said is left out."""
        return {
            name: Attack(name, task.GOAL, self._script(name, task))
            for name, task in self._suite.injection_tasks.items()
            if (self.name, name) not in ONLY_WORDS
        }

    def _script(self, name: str, task: Any) -> Any:
        script = SCRIPTS.get((self.name, name))

        def calls(world: World, of: Task) -> Played:
            assert isinstance(world, DojoWorld)
            if script is not None:
                yield from script(world.environment, task)
                return
            yield from in_turn(_calls(task, world.environment))

        return calls

    def world(self, task: Task, text: str = "") -> DojoWorld:
        """A fresh world; `text` stands in every place that the task's calls read."""
        user = self._suite.user_tasks[task.name]
        marks = {self._canaries[vector]: text for vector in self._vectors[task.name]}
        environment = pickle.loads(self._plain)  # noqa: S301 - our own
        if text:
            environment = filled(pickle.loads(self._marked), environment, marks)  # noqa: S301
        return self._world_of(user.init_environment(environment))

    def _world_of(self, environment: Any) -> DojoWorld:
        return DojoWorld(environment, self._suite.tools)

    def solution(self, task: Task, world: World) -> list[Call]:
        """The calls that AgentDojo says solve the task."""
        assert isinstance(world, DojoWorld)
        return _calls(self._suite.user_tasks[task.name], world.environment)

    def done(self, task: Task, world: World, ran: list[Call]) -> bool:
        """AgentDojo's check of the user's task."""
        user = self._suite.user_tasks[task.name]
        return self._check(
            self._suite._check_user_task_utility, user, user.GROUND_TRUTH_OUTPUT, world, ran
        )

    def reached(self, task: Task, attack: Attack, world: World, ran: list[Call]) -> bool:
        """AgentDojo's check of its attack."""
        goal = self._suite.injection_tasks[attack.name]
        answer = (
            f"{self._suite.user_tasks[task.name].GROUND_TRUTH_OUTPUT} {goal.GROUND_TRUTH_OUTPUT}"
        )
        return self._check(self._suite._check_injection_task_security, goal, answer, world, ran)

    def _check(self, check: Any, of: Any, answer: str, world: World, ran: list[Call]) -> bool:
        """A check, on copies: some of them change what they are given, and some print."""
        from agentdojo.functions_runtime import FunctionCall

        assert isinstance(world, DojoWorld)
        trace = [FunctionCall(function=tool, args=arguments) for tool, arguments in ran]
        after = pickle.dumps(world.environment)
        said = [{"type": "text", "content": answer}]
        before_copy, after_copy = pickle.loads(world.before), pickle.loads(after)  # noqa: S301
        with contextlib.redirect_stdout(io.StringIO()):
            return bool(check(of, said, before_copy, after_copy, trace))


def _calls(task: Any, environment: Any) -> list[Call]:
    """The calls that a task ships for this environment."""
    ready = task.ground_truth(environment.model_copy(deep=True))
    return [(call.function, dict(call.args)) for call in ready]


def filled(marked: Any, default: Any, texts: Mapping[str, str]) -> Any:
    """The marked environment with texts in place of some marks, elsewhere as the default has it."""
    if isinstance(marked, str):
        if "<CANARY-" not in marked:
            return marked
        found = [mark for mark in texts if mark in marked]
        if not found:
            return default
        for mark in found:
            marked = marked.replace(mark, texts[mark])
        return _MARK.sub("", marked)
    if isinstance(marked, BaseModel):
        below, beside = marked.__dict__, default.__dict__
        for name in below:
            below[name] = filled(below[name], beside[name], texts)
        return marked
    if isinstance(marked, dict):
        pairs = zip(marked.items(), default.items(), strict=True)
        return {
            filled(key, other, texts): filled(value, usual, texts)
            for (key, value), (other, usual) in pairs
        }
    if isinstance(marked, list):
        pairs = zip(marked, default, strict=True)
        return [filled(item, usual, texts) for item, usual in pairs]
    return marked


_MARK = re.compile("<CANARY-[^>]*>")


def plain(value: Any) -> Any:
    """A tool's result as plain data."""
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json")
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set):
        return [plain(item) for item in value]
    return value if isinstance(value, str | int | float | bool | None) else str(value)
