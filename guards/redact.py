"""Masking: secrets and personal data in text become `[REDACTED:label]`.

`secrets` masks credentials only and is what every reason, record and tool result goes through;
`masked` masks the kinds that it is told, `all` every kind. Whole values are masked, hits that
overlap make one mask, and masking twice changes nothing. Time is linear in the text.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any, Literal, get_args

from .masks import Span, replaced, runs_of
from .patterns import PatternSet, compile_pattern, searchable
from .pii import PERSONAL, Candidate, PersonalData
from .secrets import SHIPPED, SecretPattern

__all__ = ["KINDS", "SHIPPED", "Kind", "Masked", "Redactor", "SecretPattern", "Span"]

Kind = Literal["secrets", "email", "card", "iban", "ssn", "phone", "ip", "presidio", "all"]
KINDS: tuple[Kind, ...] = get_args(Kind)
"""What a policy can have masked; `all` is every other one that is there."""

_KINDS = frozenset(KINDS)
_ALL = ("all",)
_EVERY = (*PERSONAL, "presidio")

Masked = tuple[str, tuple[str, ...]]
"""The text with masks, and the labels of what was masked, each once, in order of appearance."""

_MOST_CHARS = 16_384
"""Characters of a text of which it is remembered for a while which patterns may match it."""


class Redactor:
    """Finds and masks secrets: the shipped patterns, those of a policy, literal strings.

    Literal strings are for keys that are known (from a profile, the environment): they are masked
    wherever they stand, whatever they look like.
    """

    __slots__ = ("_caseless", "_finder", "_literals", "patterns", "personal")

    def __init__(
        self,
        patterns: Iterable[SecretPattern] = (),
        *,
        literals: Mapping[str, str] | None = None,
        personal: PersonalData | None = None,
    ) -> None:
        self.personal = personal or PersonalData()
        self.patterns: tuple[SecretPattern, ...] = (*patterns, *SHIPPED)
        self._literals = {label: value for label, value in (literals or {}).items() if value}
        self._finder = _finder(self.patterns, self.personal)
        self._caseless: _Finder | None = None

    def with_literals(self, literals: Mapping[str, str]) -> Redactor:
        """A redactor that also masks these strings, given by label."""
        extra = self.patterns[: len(self.patterns) - len(SHIPPED)]
        known = {**self._literals, **literals}
        return Redactor(extra, literals=known, personal=self.personal)

    @property
    def literals(self) -> Mapping[str, str]:
        """The literal strings that are masked, by label."""
        return self._literals

    def secrets(self, text: str) -> Masked:
        """`text` with its secrets masked."""
        spans = self.spans(text)
        return _masked(text, spans) if spans else (text, ())

    def all(self, text: str) -> Masked:
        """`text` with its secrets and personal data masked; of two labels the secret's counts."""
        return self.masked(text, _ALL)

    def masked(self, text: str, kinds: Collection[str]) -> Masked:
        """`text` with what is of these kinds masked; `all` is every kind.

        Raises:
            ValueError: one of them is no kind.
        """
        if kinds is not _ALL:
            self.check(kinds)
        read = searchable(text)
        hits = _hits(self._finder, read)
        if not (hits or self._literals or self.personal.detectors):
            return text, ()  # nearly always
        every = "all" in kinds
        wanted = _EVERY if every else kinds
        spans = self._secrets(read, hits) if every or "secrets" in kinds else []
        if hits:
            spans += self._finder.personal(read, hits, wanted)
        if self.personal.detectors:
            spans += self.personal.detected(read, wanted)
        return _masked(text, spans)

    def check(self, kinds: Collection[str]) -> None:
        """Refuse what is no kind, and a kind for which nothing was set up.

        Raises:
            ValueError: it says which.
        """
        if not _KINDS.issuperset(kinds):
            unknown = set(kinds).difference(KINDS)
            raise ValueError(f"no kind: {', '.join(sorted(unknown))}; kinds: {', '.join(KINDS)}")
        if "presidio" in kinds and "presidio" not in dict(self.personal.detectors):
            raise ValueError("the kind `presidio` needs `pii: {presidio: {...}}` in the policy")

    def spans(self, text: str) -> list[Span]:
        """Where the secrets in `text` stand."""
        hits = _hits(self._finder, text)
        return self._secrets(text, hits) if hits or self._literals else []

    def finds(self, text: str) -> bool:
        """Whether a secret stands in `text`, at which nobody else will look: it is not kept."""
        hits = self._finder.hits(text)
        return bool(hits or self._literals) and bool(self._secrets(text, hits))

    def _secrets(self, text: str, hits: frozenset[int]) -> list[Span]:
        found = list(self._finder.secrets(text, hits)) if hits else []
        for label, value in self._literals.items():
            found += _occurrences(text, value, label)
        return found

    def shown(self, text: str) -> str:
        """`text` fit for a reason, with what is a secret in any letter case masked.

        For host names above all, whose letter case is gone by the time that they are shown.
        """
        if self._caseless is None:
            self._caseless = _finder(self.patterns, None)
        text = self.secrets(text)[0]
        return _masked(text, list(self._caseless.secrets(text, _hits(self._caseless, text))))[0]

    def value(self, value: Any) -> Any:
        """A JSON value with the secrets in its strings (keys too) masked; a new value."""
        return self.found(value)[0]

    def found(self, value: Any) -> tuple[Any, tuple[str, ...]]:
        """`value`, and the labels of what was masked, each once."""
        labels: dict[str, None] = {}
        return self._walked(value, labels), tuple(labels)

    def _walked(self, value: Any, labels: dict[str, None]) -> Any:
        if isinstance(value, str):
            spans = self.spans(value)
            return _noting(_masked(value, spans), labels) if spans else value
        if isinstance(value, dict):
            return {self._walked(k, labels): self._under(k, v, labels) for k, v in value.items()}
        if isinstance(value, list):
            return [self._walked(v, labels) for v in value]
        return value

    def _under(self, key: Any, value: Any, labels: dict[str, None]) -> Any:
        """A value with its secrets masked, also those that only its name betrays."""
        if not isinstance(value, str):
            return self._walked(value, labels) if isinstance(value, dict | list) else value
        named = searchable(f"{key}={value}")
        first = len(named) - len(value)
        spans = [
            (max(start - first, 0), end - first, label)
            for start, end, label in self.spans(named)
            if end > first
        ]
        return _noting(_masked(value, spans), labels) if spans else value


def _noting(masked: Masked, labels: dict[str, None]) -> str:
    labels.update(dict.fromkeys(masked[1]))
    return masked[0]


class _Finder:
    """Compiled patterns of secrets and of personal data; one pass says which can match at all."""

    __slots__ = ("_personal", "_secrets", "_set", "hits")

    def __init__(
        self,
        patterns: Iterable[SecretPattern],
        candidates: Iterable[Candidate] = (),
        *,
        ignore_case: bool = False,
    ) -> None:
        self._set = PatternSet(signals=())
        self._secrets: dict[int, tuple[SecretPattern, Any]] = {}
        for pattern in patterns:
            compiled = compile_pattern(pattern.regex, ignore_case=ignore_case)
            number = self._set.add(pattern.regex, ignore_case=ignore_case)
            self._secrets[number] = (pattern, compiled)
        self._personal = {self._set.add(row.watched): row for row in candidates}
        self.hits = self._set.candidates
        """The patterns that may match a text."""

    def secrets(self, text: str, hits: frozenset[int]) -> Iterator[Span]:
        """What the patterns of secrets among `hits` find."""
        rows = self._secrets
        numbers = sorted(number for number in hits if number in rows)
        text = searchable(text) if numbers else text
        for number in numbers:
            pattern, compiled = rows[number]
            for start, end in pattern.finds(compiled, text):
                yield start, end, pattern.name

    def personal(self, text: str, hits: frozenset[int], kinds: Collection[str]) -> Iterator[Span]:
        """What those of personal data find; `text` is searchable."""
        for number, row in self._personal.items():
            if number in hits and row.kind in kinds:
                for match in compile_pattern(row.pattern).finditer(text):
                    yield from row.real(text, *match.span())


@lru_cache(maxsize=64)
def _finder(patterns: tuple[SecretPattern, ...], personal: PersonalData | None) -> _Finder:
    """Policies with the same patterns share one; without `personal` letter case means nothing."""
    if personal is None:
        return _Finder(patterns, ignore_case=True)
    return _Finder(patterns, personal.candidates(PERSONAL))


def _hits(finder: _Finder, text: str) -> frozenset[int]:
    """The patterns that may match: several steps look at the same text one after the other."""
    return _known_hits(finder, text) if len(text) <= _MOST_CHARS else finder.hits(text)


@lru_cache(maxsize=64)
def _known_hits(finder: _Finder, text: str) -> frozenset[int]:
    return finder.hits(text)


def _occurrences(text: str, part: str, label: str) -> Iterator[Span]:
    at = text.find(part)
    while at >= 0:
        yield at, at + len(part), label
        at = text.find(part, at + len(part))


def _masked(text: str, spans: list[Span]) -> Masked:
    if not spans:
        return text, ()
    text = searchable(text)
    runs = runs_of(spans)
    new = replaced(text, runs, lambda _, label: f"[REDACTED:{label}]")
    return new, tuple(dict.fromkeys(label for _, _, label in runs))
