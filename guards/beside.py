"""Values beside which the name of their field stands: in pairs, in rows below a header.

    {name: url, value: evil.test/x}    [[Host, evil.test]]    {columns: [url], rows: [[evil.test]]}

A tool makes one field of the two, so the value is looked at as the value of a field of that name.
Linear in the value.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import reduce
from itertools import accumulate
from operator import or_
from typing import Any

from .bare_hosts import AMOUNT
from .fields import LISTED_NAMES, MAX_NAME, Kind, kind_named, kind_of, kind_of_word
from .hosts import canonical_host, is_public

Beside = tuple[int, int, str]
"""The number of a leaf, the kind that its name says, and the name."""

Rows = tuple[list[Any], list[int]]
"""A list of lists, and the number of the first leaf of each."""
Columns = dict[int, tuple[int, str]]
"""By the number of a column, what its name says, and the name."""

_MOST_READ = 500
"""Names of pairs in a list that are taken apart into words; of more only whole names count."""


def in_mapping(value: Mapping[str, Any], places: Sequence[int]) -> Iterator[Beside]:
    """`{name: url, value: ...}`, in whatever order; `places` are the first leaves of the values."""
    named = [
        (kind, item)
        for key, item in value.items()
        if type(item) is str
        and len(key) <= MAX_NAME
        and kind_of(key) & Kind.NAME
        and (kind := kind_named(item))
    ]
    if not named:
        return
    kinds = reduce(or_, (kind for kind, _ in named))
    _, name = max(named, key=lambda said: said[0] & Kind.SECRET)
    values = (v for key, v in value.items() if len(key) <= MAX_NAME and kind_of(key) & Kind.VALUE)
    for item, place in zip(values, places, strict=True):
        yield from _taken(item, place, kinds, name)


def in_table(value: Mapping[str, Any], tables: Sequence[Rows]) -> Iterator[Beside]:
    """`{columns: [url], rows: [[evil.test]]}`: a list of names, and rows of as many values."""
    columns = dict[int, Columns]()
    for header in value.values():
        if type(header) is list:
            columns.setdefault(len(header), {}).update(_columns(header))
    for rows, starts in tables:
        yield from _below(columns.get(len(rows[0]), {}), rows, starts)


def in_rows(rows: Sequence[Any], starts: Sequence[int]) -> Iterator[Beside]:
    """A list of pairs, or of rows of which the first names the columns; with the first leaf of
    each."""
    yield from _below(_columns(rows[0]), rows[1:], starts[1:])
    kind_of_name = kind_named if len(rows) <= _MOST_READ else kind_of_word
    for row, start in zip(rows, starts, strict=True):
        if type(row) is list and len(row) == 2 and type(row[0]) is str:
            kind = kind_of_name(row[0])
            if kind and not _is_column(row[1]):
                yield from _taken(row[1], start + 1, kind, row[0])


def in_list(texts: Sequence[str], start: int) -> Iterator[Beside]:
    """`[Host, evil.test, Accept, text/html]`, `[--url, evil.test]`: not as sure as a pair."""
    for at, name in enumerate(texts[:-1], start=1):
        if name in LISTED_NAMES:
            kind = kind_named(name.lstrip("-"))
            points = kind & Kind.POINTS and (name[0] == "-" or not _is_column(texts[at]))
            kind = (kind & Kind.SECRET) | (Kind.LABELLED if points else 0)
            yield start + at, kind, name.lstrip("-")


_COLUMN = re.compile(r"[a-z]+\.(?:at|by|in|on|to|is|it|me|us)")


def _is_column(value: Any) -> bool:
    """Whether it is the name of a column, and no host: `[url, created.at]`."""
    return type(value) is str and _COLUMN.fullmatch(value) is not None


def _columns(header: Sequence[Any]) -> Columns:
    """The columns of which a header tells a kind."""
    names = ((n, name) for n, name in enumerate(header) if type(name) is str)
    return {n: (kind, name) for n, name in names if (kind := kind_named(name))}


def _below(columns: Columns, rows: Sequence[Any], starts: Sequence[int]) -> Iterator[Beside]:
    """The cells of rows of plain values in these columns."""
    last = max(columns, default=0)
    for row, start in zip(rows, starts, strict=True) if columns else ():
        if type(row) is not list or len(row) <= last or any(map(_is_nested, row)):
            continue
        leaves = list(accumulate(map(_is_leaf, row), initial=start))
        for column, (kind, name) in columns.items():
            yield from _taken(row[column], leaves[column], kind, name)


def _is_nested(value: Any) -> bool:
    return isinstance(value, dict | list)


def _is_leaf(value: Any) -> bool:
    return value is not None and not isinstance(value, bool)


def _taken(value: Any, start: int, kind: int, name: str) -> Iterator[Beside]:
    """A string, or those in a list of plain values, as values of a field of that name."""
    items = value if isinstance(value, list) else [value]
    if any(map(_is_nested, items)):
        return
    leaves = accumulate(map(_is_leaf, items), initial=start)
    for number, item in zip(leaves, items, strict=False):
        if isinstance(item, str):
            yield number, kind & ~Kind.POINTS if _is_amount(item) else kind, name


def _is_amount(text: str) -> bool:
    """Whether it is a time, a load or a version rather than an address: `1.5`, `0.75`.

    `127.1` is this machine, `10.1` one of a private network.
    """
    text = text.strip()
    if "." not in text or AMOUNT.fullmatch(text) is None:
        return False
    host = canonical_host(text)
    return host is None or is_public(host) or (host[:2] == "0." and host.strip("0.") != "")
