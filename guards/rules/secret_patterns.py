"""What a credential looks like: blocked in arguments, masked in text.

Threat: a key that the agent has seen leaves in the arguments of a call, or in pieces over the
arguments of several. The shipped patterns
(current key formats of common providers) always apply; the list adds to them. A tool whose verdict
is `redact` runs with the secrets masked instead.

    secret_patterns:
      - {name: badge, regex: 'BADGE-[0-9]{8}'}
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Annotated, Any, ClassVar

from pydantic import AfterValidator, BaseModel, ConfigDict

from ..ledger import History
from ..normalise import Examined
from ..patterns import PatternSet, compile_pattern, searchable
from ..pieces import HEAD, pieces, put_together
from ..redact import Redactor
from ..secrets import SecretPattern
from ..shadow import Shadow
from ..verdict import Arguments, Finding
from . import Check, Context, Name, Regex, Where
from .tools import ToolTable, redacted_tools

KEY = "secret_patterns"


def _finds_something(pattern: str) -> str:
    if compile_pattern(pattern).search("") is not None:
        raise ValueError("the pattern matches the empty text, and so every text; make it say more")
    return pattern


class SecretEntry(BaseModel):
    """One entry: the label of the mask and the pattern (group `secret`, or all, is masked)."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: Name
    regex: Annotated[Regex, AfterValidator(_finds_something)]
    examples: list[str] = []
    """Texts that the pattern matches: `edgeward lint` holds it to them."""


Field = list[SecretEntry]
DEFAULT: list[SecretEntry] = []


@dataclass(frozen=True, slots=True)
class Secrets:
    """Blocks a call whose arguments hold a secret; masks them for tools that run redacted."""

    rows: dict[int, tuple[SecretPattern, Any]]
    redactor: Redactor
    redacted: ToolTable | None = None
    head: int = 0
    """The number of the pattern that finds the beginning of a key."""
    masks: frozenset[str] = frozenset()
    """The pieces of a mask, which are pieces of no secret."""
    rule: str = KEY
    on_hits_only: ClassVar[bool] = True

    @property
    def parts(self) -> list[str]:
        """The patterns by name, those that are always known, too."""
        return [f"{KEY}.{pattern.name}" for pattern, _ in self.rows.values()]

    def enforced(self, shadow: Shadow) -> Secrets | None:
        """Without the patterns in shadow; what is masked, is masked of all of them."""
        rows = {n: row for n, row in self.rows.items() if not shadow.holds(f"{KEY}.{row[0].name}")}
        table = self.redacted.enforced(shadow) if self.redacted is not None else None
        return replace(self, rows=rows, redacted=table) if rows else None

    def __call__(self, call: Examined, history: History) -> Iterable[Finding]:
        if not call.hits and not history.sent:
            return ()
        hits = call.hits & self.rows.keys()
        found = list(self._findings(call, history, hits)) if hits else []
        if not (history.sent or self.head in call.hits) or any(f.word == "block" for f in found):
            return found
        # A call that runs masked sends what is left of it.
        runs = next((f.masked for f in found if f.masked is not None), call.arguments)
        return [*found, *self._in_pieces(call.patterns, runs, history)]

    def _in_pieces(
        self, patterns: PatternSet, arguments: Arguments, history: History
    ) -> Iterator[Finding]:
        """A secret that is whole once the pieces of several calls are put together."""
        own = [piece for piece in pieces(arguments) if piece not in self.masks]
        sent = [piece for piece in history.sent if piece not in self.masks]
        texts = list(put_together(own, sent))
        if not self._near(patterns, texts):
            return
        # What is a whole secret is refused for itself; a call beside it has no part in it.
        parts = [piece for piece in sent if not self._is_one(patterns, piece)]
        texts = texts if len(parts) == len(sent) else list(put_together(own, parts))
        for number in sorted(self._near(patterns, texts)):
            pattern, compiled = self.rows[number]
            if not pattern.in_text and any(_is_in(text, pattern, compiled) for text in texts):
                reason = f"secret '{pattern.name}' in pieces, over the calls of this thread"
                shown = f"[REDACTED:{pattern.name}]"
                allowed = "the call without its piece of it"
                yield Finding(
                    f"{KEY}.{pattern.name}",
                    "block",
                    reason,
                    pattern.where,
                    value=shown,
                    allowed=allowed,
                )

    def _near(self, patterns: PatternSet, texts: Sequence[str]) -> Set[int]:
        """The patterns that may be found in one of the texts."""
        return patterns.candidates("\n".join(texts)) & self.rows.keys() if texts else set()

    def _is_one(self, patterns: PatternSet, piece: str) -> bool:
        near = (self.rows[number] for number in self._near(patterns, [piece]))
        return any(_is_in(piece, *row) for row in near)

    def _findings(self, call: Examined, history: History, hits: Iterable[int]) -> Iterator[Finding]:
        masked: Arguments | None = None
        looked = False
        for number in sorted(hits):
            pattern, compiled = self.rows[number]
            found = _first(call, pattern, compiled)
            if found is None:
                continue
            index, text = found
            if not looked:
                masked, looked = self._masked(call), True
            yield Finding(
                f"{KEY}.{pattern.name}",
                "block" if masked is None else "redact",
                f"secret '{pattern.name}' in argument",
                pattern.where,
                call.path(index),
                f"[REDACTED:{pattern.name}]",
                history.origin(text),
                masked,
                "the call without it, or masked where the tool's word is `redact`",
            )

    def _masked(self, call: Examined) -> Arguments | None:
        """The arguments to run with; None where the tool does not run redacted.

        None also where something is still there once the texts are masked: a secret in base64, or
        one that is split over two arguments.
        """
        rows = self.redacted.rows(call.name) if self.redacted is not None else ()
        if not rows or any(row.word != "redact" for row in rows):
            return None
        masked: Arguments = self.redactor.value(call.arguments)
        again = Examined(replace(call.call, arguments=masked), call.patterns)
        left = (row for number, row in self.rows.items() if number in again.hits)
        return None if any(_first(again, *row) for row in left) else masked


def _is_in(text: str, pattern: SecretPattern, compiled: Any) -> bool:
    """Whether a text holds a secret of this pattern, and no name in a program that resembles it."""
    return next(pattern.finds(compiled, text), None) is not None


def _first(call: Examined, pattern: SecretPattern, compiled: Any) -> tuple[int, str] | None:
    """The first text of the call that holds the secret, and what was matched."""
    joined = ((-1, text) for text in call.joined if not pattern.in_text)
    for index, text in (*call.texts(), *joined, *call.noise):
        read = searchable(text)
        for start, end in pattern.finds(compiled, read):
            return index, read[start:end]
    return None


@lru_cache(maxsize=1_024)
def _pieces_of_mask(label: str) -> tuple[str, ...]:
    return pieces(f"[REDACTED:{label}]")


def build(value: list[SecretEntry], where: Where, context: Context) -> Check:
    """The check over the redactor's patterns, which are these entries and the shipped ones."""
    rows = {
        context.patterns.add(pattern.regex): (pattern, compile_pattern(pattern.regex))
        for pattern in context.redactor.patterns
    }
    head = context.patterns.add(HEAD)
    labels = (pattern.name for pattern in context.redactor.patterns)
    masks = frozenset().union(*map(_pieces_of_mask, labels))
    return Secrets(rows, context.redactor, redacted_tools(context), head, masks)
