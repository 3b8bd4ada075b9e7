"""Detectors of others (Prompt Guard and the like): a second opinion on a text, never the last word.

A detector is a callable: a text in, a number from 0 to 1 out. Installed packages offer detectors
through the entry point group `edgeward.detectors`, and `results.detectors` names the ones to ask; a
program may hand its own to `load_policy`. Alone a detector can have a text flagged, not withheld.
One that raises, hangs or answers with something else counts as one that flags, for what could not
be looked at is not known to be harmless (unless the policy says `fail_closed: false`).
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from numbers import Real
from typing import cast

Detect = Callable[[str], float]
"""Text -> how sure it is, from 0 to 1, that there is an injection in it."""

TIMEOUT_S = 2.0
MOST_HANGING = 4
"""Calls of one detector that may hang before it is not asked any more."""


@dataclass(frozen=True, slots=True)
class Detector:
    """A detector and the name under which its findings are told."""

    name: str
    detect: Detect
    timeout_s: float = TIMEOUT_S


@dataclass(frozen=True, slots=True)
class Opinion:
    """What one detector said; `score` None: it could not be asked."""

    name: str
    score: float | None


@cache
def installed() -> Mapping[str, Detect]:
    """The detectors of installed packages, by name.

    Raises:
        ValueError: what an entry point names is no callable.
    """
    from importlib.metadata import entry_points  # slow to import, and needed only here

    found: dict[str, Detect] = {}
    for entry in sorted(entry_points(group="edgeward.detectors"), key=lambda e: (e.name, e.value)):
        detect = entry.load()
        if not callable(detect):
            raise ValueError(f"edgeward.detectors entry point '{entry.name}' is no callable")
        found.setdefault(entry.name, cast(Detect, detect))
    return found


def opinions(detectors: Iterable[Detector], text: str) -> tuple[Opinion, ...]:
    """What each detector says of the text. Never raises, and waits no longer than their limits."""
    return tuple(Opinion(d.name, _ask(d, text)) for d in detectors)


_hanging: dict[str, int] = {}
_lock = threading.Lock()


def _ask(detector: Detector, text: str) -> float | None:
    """The score, or None where there is none to be had."""
    with _lock:
        if _hanging.get(detector.name, 0) >= MOST_HANGING:
            return None
    answer: list[float | None] = []
    late = threading.Event()

    def run() -> None:
        said: float | None = None
        with contextlib.suppress(BaseException):  # whatever it raises is no answer
            said = _score(detector.detect(text))
        with _lock:  # an answer is late or in time, never half of each
            answer.append(said)
            if late.is_set():
                _hanging[detector.name] -= 1

    thread = threading.Thread(target=run, name="edgeward detector", daemon=True)
    thread.start()
    thread.join(detector.timeout_s)
    with _lock:
        if not answer:
            late.set()
            _hanging[detector.name] = _hanging.get(detector.name, 0) + 1
            return None
    return answer[0]


def _score(answer: object) -> float | None:
    # A model's library has numbers of its own: NumPy's are no Python floats.
    if isinstance(answer, bool) or not isinstance(answer, Real):
        return None
    score = float(answer)
    return score if 0 <= score <= 1 else None
