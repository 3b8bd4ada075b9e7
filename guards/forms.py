"""A value of a record in every form in which a ledger can be asked for it.

The same few values come up again and again: what a value can be read as is told once.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

from .dates import Day, days_in
from .hosts import host_of
from .identifiers import addresses_of, identifiers
from .sums import round_sums, told_sum
from .tokens import other_spellings, tokens, words

MAX_NAME_WORDS = 12
"""Words of a name; the words of a longer value count only where its source is trusted as text."""
_LONGEST_KEPT = 300
_NUMBER = re.compile(r"(?!(?:19|20)\d\d\Z)\d{1,12}(?:\.\d{1,6})?")
"""A number that can be an amount: neither a year nor an account."""
_LETTERS = re.compile(r"(?<![\w.'\u2019/@-])[A-Z]{2}(?![\w'\u2019/@-])")
_WORDS = frozenset("ID OK AM PM NO IT HR TV PC QA AI PR CV VS IN ON AT TO IF OR IS".split())  # noqa: SIM905
"""Capitals that people write for words."""


class Forms(NamedTuple):
    """What a value can be read as."""

    whole: tuple[str, ...]
    """Its tokens with one space between, and what else is the same value."""
    words: tuple[str, ...]
    numbers: frozenset[float]
    hosts: tuple[str, ...]
    days: tuple[Day, ...]


def forms_of(value: str) -> Forms:
    """Every form of a value that counts as a whole."""
    return _kept(value) if len(value) <= _LONGEST_KEPT else _forms_of(value)


def _forms_of(value: str) -> Forms:
    run, said = tokens(value), words(value)
    alone = len(run) == 1 or told_sum(value)
    whole = (" ".join(run), *other_spellings(value), *addresses_of(value.casefold()))
    return Forms(
        tuple(filter(None, whole)),
        tuple(filter(None, said)) if len(said) <= MAX_NAME_WORDS else (),
        numbers_in([*run, *round_sums(value)]) if alone else frozenset(),
        hosts_in(value),
        tuple(days_in(value)),
    )


_kept = lru_cache(maxsize=4_096)(_forms_of)


def numbers_in(run: Iterable[str]) -> frozenset[float]:
    """The tokens that can be amounts."""
    return frozenset({float(token) for token in run if _NUMBER.fullmatch(token)})


def hosts_in(text: str) -> tuple[str, ...]:
    """The hosts that a text names."""
    return tuple(filter(None, map(host_of, identifiers(text))))


def letter_codes_in(text: str) -> tuple[str, ...]:
    """Codes of two capital letters (a country, a state), in lower case; none where all are."""
    found = {*_LETTERS.findall(text)} - _WORDS
    return () if found and text.isupper() and len(text) > _ALONE else (*map(str.lower, found),)


_ALONE = 3
