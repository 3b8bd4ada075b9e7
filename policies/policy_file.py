"""A policy file that a running guard follows: what is written there counts from the next call on.

    client = FirewallOpenAI(OpenAI(), PolicyFile("clerk.yaml"))

Each decision asks the file system once whether the file is still the same (a few microseconds), and
reads it only where it is not, or where it changed so lately that the clock of the file system might
not show another change. What was read is taken when it reads the same a moment later, so that an
editor at work is not cut short, and loads as a policy. Anything else (bad YAML, a rule that is
wrong, no file, no permission) leaves the last good policy in force, and says so: in the log
`edgeward.policies`, in `problem`, and in every receipt.
"""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from hashlib import sha256
from pathlib import Path
from stat import S_ISREG
from threading import Lock
from typing import Any

from ..arguments import require
from ..guards.decide import Policy
from ..guards.detectors import Detect
from ..guards.faults import words_of
from ..guards.receipts.log import ReceiptLog
from .problems import ConfigError, ConfigFileMissing, Problem, speak
from .schema import policy_of
from .yaml_file import MAX_BYTES, parse_bytes

PAUSE_S = 0.02
"""Between two readings of a changed file, which have to be the same."""

MOST_READINGS = 10
"""Of a file that changes all the time; then the next call looks again."""

SETTLED_S = 2.5
"""For so long a file is read although it looks the same: clocks of file systems tick every two
seconds, or faster."""

MOST_CHARS = 400
"""Of what is said about a bad file."""

_LOG = logging.getLogger("edgeward.policies")

_Stamp = tuple[int, ...] | None
"""What tells that a file is another or was written to; None: it cannot be looked at."""

_Read = bytes | str
"""What a file holds, or in words why that cannot be said."""


@dataclass(frozen=True, slots=True)
class _Kept:
    """What counts, by a file that looked so. `settled`: if it looks so again, it is the same."""

    policy: Policy
    stamp: _Stamp
    settled: bool


class PolicyFile:
    """A policy file to follow, wherever a policy is taken. May be shared by threads.

    The path is followed, not the file: a link that is set elsewhere, or a file that is put in its
    place, counts. Keep it where no tool of the agent can write: who writes this file decides.
    `detectors` and `receipts` are as for `load_policy`.
    """

    def __init__(
        self,
        path: str | Path,
        *,
        detectors: Mapping[str, Detect] | None = None,
        receipts: ReceiptLog | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Load the policy. `clock` gives seconds: how long the file has looked the same.

        Raises:
            ConfigError: the file is no policy, and there is no last good one yet. TypeError: it is
                no path.
        """
        require("policy", path, str | Path, "a path")
        self._again = partial(PolicyFile, path, detectors=detectors, receipts=receipts)
        self._name = str(path)
        self.path = Path(path).absolute()
        self._file = str(self.path)
        self._detectors = dict(detectors or {})
        self._receipts = receipts
        self._clock = clock
        self._lock = Lock()
        self._since = clock()
        stamp, found = self._stamp(), self._read()
        if isinstance(found, str):
            raise ConfigFileMissing(Problem(speak(self._name), "", found, fix="check the path"))
        self._judged = _key(found)
        self._kept = _Kept(self._loaded(found), stamp, settled=False)

    def __reduce__(self) -> tuple[Any, ...]:
        return self._again, ()

    def __repr__(self) -> str:
        return f"PolicyFile({self._name!r})"

    @property
    def current(self) -> Policy:
        """The policy that counts now: what the file says, or the last good one."""
        kept = self._kept
        if kept.settled and kept.stamp == self._stamp():
            return kept.policy
        with self._lock:
            self._kept = self._looked()
            return self._kept.policy

    @property
    def problem(self) -> str:
        """Why what is there now does not count; empty where it does."""
        return self.current.problem

    def _looked(self) -> _Kept:
        kept, stamp, now = self._kept, self._stamp(), self._clock()
        if stamp != kept.stamp:
            self._since = now
        found = self._steady()
        if found is None:
            return replace(kept, stamp=stamp, settled=False)
        policy = kept.policy
        if _key(found) != self._judged:
            policy = self._taken(found, policy)
            self._judged = _key(found)
        # What could not be read may be readable the next time, and look the same.
        settled = isinstance(found, bytes) and now - self._since >= SETTLED_S
        return _Kept(policy, stamp, settled)

    def _steady(self) -> _Read | None:
        """What is there, if that is known already or the same a moment later."""
        found = self._read()
        for _ in range(MOST_READINGS):
            if _key(found) == self._judged:
                return found
            time.sleep(PAUSE_S)
            before, found = found, self._read()
            if found == before:
                return found
        return None

    def _taken(self, found: _Read, last: Policy) -> Policy:
        """The policy in what was found; where there is none, the last one, which says why."""
        try:
            if isinstance(found, bytes):
                policy = self._loaded(found)
                _LOG.info("%s: the changed policy counts now", self.path.name)
                return policy
            why = found
        except ConfigError as error:
            why = "; ".join(str(error).splitlines())
        except Exception as error:  # noqa: BLE001 - an installed rule can raise anything
            why = f"it cannot be loaded ({type(error).__name__})"
        told = last.redactor.secrets(
            f"{speak(self.path.name)}: the last good policy counts: {why}"
        )[0]
        told = told if len(told) <= MOST_CHARS else f"{told[:MOST_CHARS]}..."
        _LOG.warning("%s", told)
        return replace(last, problem=told)

    def _loaded(self, raw: bytes) -> Policy:
        document = parse_bytes(raw, name=self._name)
        policy = policy_of(document, self._detectors, name=self.path.stem, source=self._name)
        return replace(policy, receipts=self._receipts)

    def _read(self) -> _Read:
        try:
            if not S_ISREG(os.stat(self._file).st_mode):
                return "is no regular file"
            with open(self._file, "rb") as file:
                return file.read(MAX_BYTES + 1)
        except (FileNotFoundError, ValueError):  # no file has a name with a NUL in it
            return "there is no such file"
        except OSError as error:
            return f"cannot be read ({words_of(error)})"

    def _stamp(self) -> _Stamp:
        try:
            s = os.stat(self._file)
        except (OSError, ValueError):
            return None
        return s.st_dev, s.st_ino, s.st_mode, s.st_size, s.st_mtime_ns, s.st_ctime_ns


def _key(found: _Read) -> _Read:
    """What tells one content from another."""
    return sha256(found).digest() if isinstance(found, bytes) else found
