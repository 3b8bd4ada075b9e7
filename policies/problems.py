"""What is wrong with a file, said so that a person can put it right, and the errors that carry it.

One `Problem` a fault; an error carries all of them at once, so that nobody mends a file one
complaint at a time.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache

from ..guards.redact import Redactor

_SPEAKABLE = re.compile(r"[\w.*?:\[\]/@$<> -]{1,64}\Z")


@dataclass(frozen=True, slots=True)
class Problem:
    """One fault of one file.

    `where` is `file:line`; `field` the path of the value (`agent.llm.provider`, `tools[0].name`);
    `wrong`, `allowed` and `fix` are phrases; `kind` is the machine's word for the fault, where it
    has one (pydantic's `extra_forbidden`, `int_type`, ...). No part ever holds a secret value.
    """

    where: str
    field: str
    wrong: str
    allowed: str = ""
    fix: str = ""
    kind: str = ""

    @property
    def place(self) -> tuple[str, int]:
        """The file and the line; 0 where no line is known."""
        file, _, line = self.where.rpartition(":")
        return (file, int(line)) if line.isdecimal() else (self.where, 0)

    def __str__(self) -> str:
        wrong = f"{self.wrong} ({self.kind})" if self.kind else self.wrong
        place = ": ".join(part for part in (self.where, self.field, wrong) if part)
        rest = (f"allowed: {self.allowed}" if self.allowed else "", self.fix)
        return "; ".join(part for part in (place, *rest) if part)


class ConfigError(ValueError):
    """A file that cannot be used. `problems` holds every fault found; the text has one a line."""

    def __init__(self, *problems: Problem) -> None:
        super().__init__(*problems)
        self.problems: tuple[Problem, ...] = problems

    def __str__(self) -> str:
        return "\n".join(map(str, self.problems))


class ConfigFileMissing(ConfigError):
    """There is no such file, or it cannot be read."""


class ConfigParseError(ConfigError):
    """The file is not YAML as this project reads it: syntax, a repeated key, a tag, a bound."""


class ConfigValidationError(ConfigError):
    """The file is YAML, but does not say what its schema allows."""


FieldPath = tuple[str | int, ...]
"""Where a value stands in the data: keys and list positions from the top."""


def spell(path: Iterable[str | int]) -> str:
    """`path` as a reader writes it: `agent.tools[0].name`; odd keys are quoted and cut short."""
    text = ""
    for part in path:
        if isinstance(part, int):
            text += f"[{part}]"
        else:
            text += f".{speak(part)}" if text else speak(part)
    return text


def speak(word: str) -> str:
    """`word` as it may stand in a message: without secrets, on one line, at most 64 characters."""
    word = _shipped_redactor().secrets(word)[0]
    return word if _SPEAKABLE.match(word) else ascii(word[:40]) + ("..." if len(word) > 40 else "")


@cache
def _shipped_redactor() -> Redactor:
    return Redactor()


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """`did you mean X?` for the nearest of `known`, or nothing where none is near."""
    if len(word) > 64:
        return ""
    by_fold = {k.casefold().replace("-", "_"): k for k in known}
    near = difflib.get_close_matches(word.casefold().replace("-", "_"), by_fold, n=1, cutoff=0.6)
    return f"did you mean {by_fold[near[0]]}?" if near else ""


def either(words: Sequence[str], *, limit: int = 40) -> str:
    """`a, b or c`; at most `limit` words are listed."""
    shown = [*words[:limit], f"{len(words) - limit} more"] if len(words) > limit else list(words)
    if len(shown) < 2:
        return "".join(shown)
    return f"{', '.join(shown[:-1])} or {shown[-1]}"
