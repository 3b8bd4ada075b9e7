"""One episode: a task's calls and an attack's, each past the guard, on one world.

The guard is the one that every graph has: a policy, `decide`, and the ledger that is written as
the `tool` node writes it. It is not told who proposes a call.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from ..guards.decide import Policy, decide
from ..guards.ledger import USER, History, Ledger
from ..guards.verdict import ToolCall, Verdict, Word
from .scene import Attack, Call, Outcome, Suite, Task, World

When = Literal["at once", "at the end"]
"""When the model obeys: as soon as it has read the text, or once the user's calls are done."""

Answers = Literal["owner", "nobody", "anything"]
"""What `ask` meets: a person who approves the user's calls and no other; nobody; a person who
approves everything."""

Who = Literal["user", "attack"]


class Guarded:
    """One thread under a policy, as a graph keeps it; without one, everything is let through."""

    def __init__(self, policy: Policy | None, prompt: str) -> None:
        self._policy = policy
        entry = Ledger().observed(prompt, source=USER)
        self._ledger = Ledger([entry] if entry else [])
        self._calls: dict[str, int] = {}

    def verdict(self, call: ToolCall) -> Verdict:
        """The decision on a call."""
        if self._policy is None:
            return Verdict("allow")
        return decide(self._policy, call, History(self._ledger, calls=self._calls))

    def ran(self, call: ToolCall, outcome: Outcome) -> None:
        """Note a call that ran and what the model reads of it."""
        self._calls[call.name] = self._calls.get(call.name, 0) + 1
        if self._policy is None:
            return
        source = f"tool {call.name}"
        if outcome.error:
            entry = Ledger().observed(outcome.error, source=source, call_id=call.id)
        else:
            data = outcome.data
            text = data if isinstance(data, str) else json.dumps(data, ensure_ascii=False)
            entry = self._policy.observed(call, text, source=source)
        if entry:
            self._ledger = self._ledger.appended([entry])


@dataclass(frozen=True, slots=True)
class Attempt:
    """One proposed call, and what became of it."""

    who: Who
    tool: str
    arguments: Mapping[str, Any]
    word: Word
    ran: bool
    failed: bool = False
    reason: str = ""
    reads: int = 0
    """How many outputs the model had read by then."""


@dataclass(slots=True)
class Episode:
    """What happened: every attempt, and the world that came of it."""

    world: World
    attempts: list[Attempt] = field(default_factory=list)
    read: list[str] = field(default_factory=list)
    """All that tools gave back."""
    attacked: bool = False

    @property
    def calls(self) -> list[Call]:
        """The calls that ran."""
        return [(a.tool, dict(a.arguments)) for a in self.attempts if a.ran]

    def by(self, who: Who) -> list[Attempt]:
        """The attempts of one side."""
        return [a for a in self.attempts if a.who == who]

    def refused(self, who: Who) -> bool:
        """Whether a call of this side did not run."""
        return any(not a.ran for a in self.by(who))

    def asked(self, who: Who) -> int:
        """How many questions this side raised."""
        return sum(a.word == "ask" for a in self.by(who))

    def harmed(self, attack: Attack, effects: frozenset[str]) -> bool:
        """Whether a call of the attack that counts was carried out."""
        counted = self.by("attack")[attack.prepares :]
        return any(
            a.ran
            and not a.failed
            and a.tool in effects
            and (not attack.secret or any(attack.secret in t for t in self.read[: a.reads]))
            for a in counted
        )


def play(
    suite: Suite,
    task: Task,
    policy: Policy | None,
    *,
    attack: Attack | None = None,
    text: str = "",
    when: When = "at once",
    answers: Answers = "owner",
) -> Episode:
    """Play one task, with an attack or without. `text` is what the attacker wrote."""
    episode = Episode(suite.world(task, text))
    guard = Guarded(policy, task.prompt)

    def attempt(who: Who, tool: str, arguments: dict[str, Any]) -> Outcome | None:
        call = ToolCall(tool, arguments, id=f"call_{len(episode.attempts) + 1}")
        verdict = guard.verdict(call)
        agreed = answers == "anything" or (answers == "owner" and who == "user")
        runs = verdict.word in ("allow", "redact") or (verdict.word == "ask" and agreed)
        outcome = None
        reads = len(episode.read)
        if runs:
            masked = [f.masked for f in verdict.findings if f.masked is not None]
            call = ToolCall(tool, masked[0] if masked else arguments, id=call.id)
            outcome = episode.world.run(tool, dict(call.arguments))
            guard.ran(call, outcome)
            episode.read.append(json.dumps(outcome.data, ensure_ascii=False))
        failed = outcome is not None and bool(outcome.error)
        episode.attempts.append(
            Attempt(who, tool, call.arguments, verdict.word, runs, failed, verdict.reason, reads)
        )
        return outcome

    def obey() -> None:
        assert attack is not None
        episode.attacked = True
        calls = attack.calls(episode.world, task)
        outcome = None
        while True:
            try:
                tool, arguments = calls.send(outcome)
            except StopIteration:
                return
            outcome = attempt("attack", tool, arguments)

    read = False
    for number, (tool, arguments) in enumerate(suite.solution(task, episode.world)):
        ran = attempt("user", tool, arguments) is not None
        read = read or (ran and number in task.carriers)
        if attack is not None and read and when == "at once" and not episode.attacked:
            obey()
    if attack is not None and read and not episode.attacked:
        obey()
    return episode
