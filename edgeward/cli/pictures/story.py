"""A run as it is shown: steps in the order in which they happened, each with its calls.

Whatever a story is told from may have been written by an attacker: nothing here is trusted, and
nothing is masked yet. `page.py` does both.
"""

from __future__ import annotations

import json
import re
from collections import Counter, deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from ...guards.ledger import USER, Ledger
from ...guards.values import MAX_VALUE_CHARS, values_in
from ...guards.verdict import Origin

StepKind = Literal["user", "model", "answer", "plan", "summary", "decision", "result", "note"]

MASK = re.compile(r"\[REDACTED:[^\]\n]{1,80}\]")
"""Bounded: a text of openings that nothing closes is read once, not once for each."""
MAX_LEAVES = 200
"""Arguments of one call that are shown."""
MAX_DEPTH = 12
MAX_PARTS = 8
"""Values within one argument whose origin is told."""


@dataclass(frozen=True, slots=True)
class Argument:
    """One value of a call's arguments, and where it, or values in it, were first seen."""

    path: str
    value: str
    seen: tuple[tuple[str, Origin], ...] | None = ()
    """Each value with its origin; None: what is shown does not tell."""
    edited: bool = False
    """Whether a person changed it, who answered for the call."""
    before: str = ""
    """What the model had proposed in its place, as far as that is known."""


@dataclass(slots=True)
class Call:
    """One call: what was proposed, decided, answered by a person, and what came back."""

    id: str
    tool: str
    word: str = ""
    """The verdict's word; `waits` where a person has yet to answer; empty: none was made."""
    reason: str = ""
    rules: Sequence[Mapping[str, Any]] = ()
    asked: Mapping[str, Any] = field(default_factory=dict)
    """The question that was put to a person."""
    approval: Mapping[str, Any] = field(default_factory=dict)
    shadow: Mapping[str, Any] = field(default_factory=dict)
    arguments: Sequence[Argument] | None = None
    """None: they are not in the record."""
    result: str | None = None
    failed: bool = False
    facts: tuple[tuple[str, str], ...] = ()
    """What else is known, label and text."""

    def decided(self, record: Mapping[str, Any]) -> None:
        """Take over what a record says of the verdict."""
        self.word = text_of(record.get("word"))
        self.reason = text_of(record.get("reason"))
        self.rules = mappings_in(record.get("rules"))
        self.approval = mapping_of(record.get("approval"))
        self.shadow = mapping_of(record.get("shadow"))


@dataclass(frozen=True, slots=True)
class Step:
    """One thing that happened; which fields are filled depends on `kind`."""

    kind: StepKind
    time: str = ""
    title: str = ""
    text: str = ""
    calls: tuple[Call, ...] = ()
    thread: str = ""


@dataclass(frozen=True, slots=True)
class Seal:
    """Whether what is shown is as it was written: `holds` None where that was not checked."""

    holds: bool | None
    text: str


class Story:
    """The steps of a run, the newest `limit` of them, and what is known of the run."""

    def __init__(self, title: str, *, limit: int) -> None:
        self.title = title
        self.steps: deque[Step] = deque(maxlen=limit)
        self.told = 0
        """How many steps there were in all."""
        self.facts: dict[str, dict[str, None]] = {}
        """By label, the texts that were found for it, in their order."""
        self.words: Counter[str] = Counter()
        """How often each verdict was given, in all steps."""
        self.seal: Seal | None = None

    def add(self, step: Step) -> None:
        """Go on with the next step."""
        self.told += 1
        self.steps.append(step)

    def know(self, label: str, text: object) -> None:
        """Note a fact of the run."""
        if found := text_of(text):
            self.facts.setdefault(label, {}).setdefault(found)


def arguments_of(arguments: object, ledger: Ledger | None) -> list[Argument]:
    """The values in a call's arguments, with what the ledger knows of each; None: nothing."""
    found: list[Argument] = []
    for path, value in _leaves(arguments, "", 0):
        if len(found) == MAX_LEAVES:
            found.append(Argument("...", f"more than {MAX_LEAVES} values; the rest is left out"))
            break
        found.append(Argument(path, value, None if ledger is None else _seen(value, ledger)))
    return found


def with_edits(ran: Sequence[Argument], proposed: Sequence[Argument]) -> list[Argument]:
    """The arguments that ran, each beside what the model had proposed where that is another."""
    before = {argument.path: argument.value for argument in proposed}
    now = {argument.path for argument in ran}
    edited = [
        a
        if before.get(a.path) == a.value
        else replace(a, edited=True, before=before.get(a.path, ""))
        for a in ran
    ]
    gone = [
        Argument(a.path, "", edited=True, before=a.value) for a in proposed if a.path not in now
    ]
    return [*edited, *gone]


def _seen(value: str, ledger: Ledger) -> tuple[tuple[str, Origin], ...]:
    whole = ledger.origin(value)
    if whole is None and len(value) <= MAX_VALUE_CHARS and ledger.stated(value):
        whole = Origin(USER)
    if whole is not None:
        return ((value, whole),)
    parts = [(part, ledger.origin(part)) for part in values_in(MASK.sub(" ", value))]
    return tuple((part, origin) for part, origin in parts if origin is not None)[:MAX_PARTS]


def _leaves(value: object, path: str, depth: int) -> Iterator[tuple[str, str]]:
    if depth < MAX_DEPTH and isinstance(value, Mapping) and value:
        for key, item in value.items():
            yield from _leaves(item, f"{path}.{key}" if path else str(key), depth + 1)
    elif depth < MAX_DEPTH and isinstance(value, list) and value:
        for number, item in enumerate(value):
            yield from _leaves(item, f"{path}[{number}]", depth + 1)
    elif depth or value:
        yield path, _leaf(value)


def _leaf(value: object) -> str:
    if isinstance(value, float):  # as people write it, so that it is found where they did
        return f"{value:.15g}"
    return value if isinstance(value, str) else json_of(value)


def json_of(value: object) -> str:
    """A value as JSON text; what is none is named by its type."""
    try:
        return json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError):
        return f"({type(value).__name__})"


def text_of(value: object) -> str:
    """A field that should be a text: anything else as JSON, nothing as nothing."""
    if isinstance(value, str):
        return value
    return "" if value is None else json_of(value)


def mapping_of(value: object) -> Mapping[str, Any]:
    """A field that should be a mapping; empty where it is none."""
    return value if isinstance(value, Mapping) else {}


def mappings_in(value: object) -> list[Mapping[str, Any]]:
    """A field that should be a list of mappings; whatever else is in it is left out."""
    return [item for item in value if isinstance(item, Mapping)] if isinstance(value, list) else []
