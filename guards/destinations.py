"""Where a value points to: everything in it that a tool could connect or send to."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache

from .fields import Kind
from .host_fields import typed_hosts
from .hosts import Destination, short
from .links import links, network_paths
from .mail import mail_domains, typed_mail

MAX_SIGNS = 20_000
"""Signs of a destination (@ :/ // \\) in one text that are looked at."""

_KEPT = 120
"""Characters up to which a value's destinations are kept."""


def destinations(text: str, kind: int = Kind.TEXT) -> Iterator[Destination]:
    """Every destination in `text`, the value of a field of that kind. May repeat itself."""
    colon = text.find(":")
    if kind & Kind.POINTS:
        yield from typed_hosts(text, kind)
        if colon >= 0 and kind & (Kind.URL | Kind.HOST):
            colon = text.find(":", colon + 1)  # the first link is the value itself
    if len(text) > MAX_SIGNS and sum(map(text.count, ("@", ":/", "//", "\\"))) > MAX_SIGNS:
        yield Destination("", short(text), f"more than {MAX_SIGNS} links or addresses in one text")
        return
    if colon >= 0:
        yield from links(text)
    if "\\" in text or text.count("//") > text.count("://"):
        yield from network_paths(text, kind)
    if "@" in text:
        yield from mailed(text, kind)


def destinations_of(text: str, kind: int) -> Iterable[Destination]:
    """The same; those of short values, which come up again and again, are kept."""
    return _destinations(text, kind) if len(text) <= _KEPT else destinations(text, kind)


@lru_cache(maxsize=1_024)
def _destinations(text: str, kind: int) -> tuple[Destination, ...]:
    return tuple(destinations(text, kind))


def mailed(text: str, kind: int) -> Iterator[Destination]:
    """The domains of the mail addresses in a text that has an @."""
    return typed_mail(text) if kind & Kind.MAIL else mail_domains(text)


_OPEN_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:?[/\\]{0,2}\Z")
_CUT = frozenset(":/\\@ \t\n")
_LONGEST_HEAD = 40
_BASES = Kind.URL | Kind.HOST
_JOINTS = frozenset("@.:")
_BARE_BASE = re.compile(r"(?i:(?:[a-z][a-z0-9+.-]*:)?[/\\]{2}|)[^\s/\\?#@]+\Z")


def split_destinations(
    texts: Sequence[str], kinds: Sequence[int], strings: Sequence[int]
) -> Iterable[tuple[int, Destination]]:
    """Destinations that only appear once two values are put together, with the second's number.

    A link cut after its scheme; a base address without a path whose continuation would become
    part of the host (`https://a.example` + `@evil.test`). `strings` are the numbers of the values.
    """
    for number in strings:
        text = texts[number]
        if kinds[number] & _BASES or (text[-1:] in _CUT and len(text.strip()) <= _LONGEST_HEAD):
            return _split_destinations(texts, kinds, strings)
    return ()


def _split_destinations(
    texts: Sequence[str], kinds: Sequence[int], strings: Sequence[int]
) -> Iterator[tuple[int, Destination]]:
    for position, first in enumerate(strings):
        text = texts[first]
        if text[-1:] in _CUT:
            head = text.strip()
            if len(head) <= _LONGEST_HEAD and (head[-1:] == "@" or _OPEN_SCHEME.fullmatch(head)):
                for second in strings[position + 1 : position + 2]:
                    whole = head + texts[second].strip()
                    yield from ((second, d) for d in destinations(whole, Kind.URL))
        elif kinds[first] & _BASES and _BARE_BASE.fullmatch(text.strip()):
            yield from _continued(texts, kinds, strings, position)


def _continued(
    texts: Sequence[str], kinds: Sequence[int], strings: Sequence[int], position: int
) -> Iterator[tuple[int, Destination]]:
    base = texts[strings[position]].strip()
    for place, second in enumerate(strings):
        if place != position and (kinds[second] & Kind.PATH or place == position + 1):
            tail = texts[second].strip()
            if tail[:1] in _JOINTS and tail not in (".", "..") and tail[:2] != "./":
                yield from ((second, d) for d in destinations(base + tail, Kind.URL))
