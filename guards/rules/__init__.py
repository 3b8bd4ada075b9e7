"""The kinds of rule, one file each; the file's name is the key in a policy.

A rule module has four names:

- `KEY`: the top-level key in the YAML file.
- `Field`: the pydantic type of its value. What a value may hold (regular expressions that
  compile, entries that are hosts) is checked there, so that a loader reports it with its line.
- `DEFAULT`: the value where the key is absent.
- `build(value, where, context)`: the check, or None where the value asks for none. `where(*path)`
  gives `file:line` for the value at that path below the key. Raises ValueError for what only
  several keys together show to be wrong. A check whose entries can be in shadow one by one says
  which there are, and what is left without them (`guards/shadow.py`).

Others add kinds through entry points of the group `edgeward.rules`, each naming such a module.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Annotated, Any, Protocol, runtime_checkable

from pydantic import AfterValidator, BeforeValidator, Field

from ..detectors import Detect
from ..ledger import History
from ..normalise import Examined
from ..patterns import PatternSet, compile_pattern
from ..redact import Redactor
from ..shadow import OPEN, Shadow
from ..verdict import Finding

Where = Callable[..., str]
"""`where(*path)` -> `file:line` of the value at that path below the rule's key."""


@runtime_checkable
class Check(Protocol):
    """One rule of a loaded policy. Pure: same call and history, same findings.

    One with `on_hits_only = True` has nothing to say of a call in which no pattern of the policy
    hits, if nothing was sent in pieces before: it is not asked.
    """

    @property
    def rule(self) -> str:
        """The policy key that it comes from."""

    def __call__(self, call: Examined, history: History, /) -> Iterable[Finding]:
        """What the rule says of the call; nothing where it has no objection."""


def silent(self: object, call: Examined, history: History, /) -> Iterable[Finding]:
    """The `__call__` of a rule that has nothing to say of calls: no decision asks it."""
    return ()


def speaks(check: Check) -> bool:
    """Whether a check may have something to say of a call."""
    return vars(type(check)).get("__call__") is not silent


@dataclass(frozen=True, slots=True)
class Context:
    """What a rule may know of the rest of its policy while it is built.

    `values` maps every key of the policy (also `default`, `otherwise`) to its validated value,
    `given` names the keys that the file itself holds, `patterns` is the policy's one set of
    regular expressions, shared by its rules and handed to the policy.
    """

    version: int
    values: Mapping[str, Any]
    given: frozenset[str]
    redactor: Redactor
    patterns: PatternSet = field(default_factory=PatternSet)
    detectors: Mapping[str, Detect] = field(default_factory=dict)
    """Detectors of injections that the program handed over, by name."""
    shadow: Shadow = OPEN
    """What of the policy decides nothing."""


def _compiles(pattern: str) -> str:
    compile_pattern(pattern)
    return pattern


Regex = Annotated[str, Field(min_length=1), AfterValidator(_compiles)]
"""A regular expression that RE2 takes."""

Name = Annotated[str, Field(min_length=1, pattern=r"\S")]
"""The name of a rule or a tool: not blank."""


OneOrMore = BeforeValidator(
    lambda value: [value] if isinstance(value, str) else value,
    json_schema_input_type=str | list[str],
)
"""In an annotation of a list of texts: one text stands for a list of it."""


class RuleModule(Protocol):
    """A module of this package, or one that an entry point names."""

    KEY: str
    Field: Any
    DEFAULT: Any

    def build(self, value: Any, where: Where, context: Context, /) -> Check | None:
        """The check for `value`, or None where it asks for none."""


@cache
def rule_modules() -> Mapping[str, RuleModule]:
    """Every rule module by its key: those of this package, then installed ones.

    Raises:
        ValueError: an installed module takes a key that is taken, or lacks a part. A rule that is
            silently missing would allow what it should block.
    """
    from importlib.metadata import entry_points  # slow to import, and needed only here

    found: dict[str, RuleModule] = {}
    for info in pkgutil.iter_modules(__path__):
        if not info.name.startswith("_"):
            module: Any = importlib.import_module(f"{__name__}.{info.name}")
            found[module.KEY] = module
    for entry in sorted(entry_points(group="edgeward.rules"), key=lambda e: (e.name, e.value)):
        module = entry.load()
        lacking = [n for n in ("KEY", "Field", "DEFAULT", "build") if not hasattr(module, n)]
        if lacking:
            raise ValueError(
                f"edgeward.rules entry point '{entry.name}' ({entry.value}) is no rule kind: it"
                f" lacks {', '.join(lacking)}"
            )
        if found.setdefault(module.KEY, module) is not module:
            raise ValueError(
                f"edgeward.rules entry point '{entry.name}' ({entry.value}): the key"
                f" '{module.KEY}' is taken; uninstall one of the two packages"
            )
    return found
