"""Names for threads, and the command that goes on with one."""

from __future__ import annotations

import secrets
import shlex
from dataclasses import dataclass
from urllib.parse import urlsplit

from .options import DEFAULT_CHECKPOINTER, DEFAULT_STRATEGY

_HOW = "amber bold brisk calm clear early fair fresh gentle keen light mild quick quiet swift warm"
_WHO = (
    "badger crane falcon finch hare heron ibex lynx marten osprey otter raven robin seal swan wren"
)


def fresh_thread() -> str:
    """A name for a new thread that can be read out and typed: `calm-otter-3f9a1c`."""
    words = secrets.choice(_HOW.split()), secrets.choice(_WHO.split())
    return "-".join([*words, secrets.token_hex(3)])


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What was asked for on the command line: enough to build the agent, and to say it again."""

    profile: str
    strategy: str = DEFAULT_STRATEGY
    policy: str | None = None
    reload: bool = False
    model: str | None = None
    checkpointer: str = DEFAULT_CHECKPOINTER
    max_steps: int | None = None
    user: str = ""
    tenant: str = ""
    roles: tuple[str, ...] = ()

    def again(self, command: str, thread: str) -> str:
        """The shell command that goes on with `thread` as it was begun."""
        words = ["edgeward", command, self.profile, "--thread", thread]
        if self.strategy != DEFAULT_STRATEGY:
            words += ["--strategy", self.strategy]
        if self.checkpointer != DEFAULT_CHECKPOINTER:
            words += ["--checkpointer", _without_password(self.checkpointer)]
        for name, value in (("policy", self.policy), ("model", self.model)):
            if value is not None:
                words += [f"--{name}", value]
        if self.reload:
            words.append("--reload")
        who = [("user", self.user), ("tenant", self.tenant)]
        for name, value in [*who, *(("role", role) for role in self.roles)]:
            if value:
                words += [f"--{name}", value]
        if self.max_steps is not None:
            words += ["--max-steps", str(self.max_steps)]
        return shlex.join(words)

    @property
    def can_wait(self) -> bool:
        """Whether a thread outlives this process, so that an answer may come later."""
        return self.checkpointer != "memory"


def _without_password(address: str) -> str:
    """A database's address as it may be shown: `***` stands for a password."""
    parts = urlsplit(address)
    if not parts.password:
        return address
    return address.replace(f":{parts.password}@", ":***@", 1)
