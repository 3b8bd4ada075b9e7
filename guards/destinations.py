"""Where a value points to: everything in it that a tool could connect or send to."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache

from .fields import Kind
from .host_fields import NO_HOST, spelt_hosts, typed_hosts
from .hosts import Destination, short
from .identifiers import TOP_LABELS
from .links import ONLY_SPECIAL, links, network_paths
from .mail import mail_domains, typed_mail

MAX_SIGNS = 20_000
"""Signs of a destination (@ :/ // \\) in one text that are looked at."""

_TWO_BACKSLASHES = ("\\\\", "\\/", "/\\", "\\\t", "\\\r", "\\\n")
"""What browsers take for `//`, with a backslash in it."""
PARTED_SLASHES = ("/\t", "/\r", "/\n")
"""What browsers take for a part of `//`."""

_KEPT = 120
"""Characters up to which a value's destinations are kept."""


def destinations(text: str, kind: int = Kind.TEXT) -> Iterator[Destination]:
    """Every destination in `text`, the value of a field of that kind. May repeat itself."""
    colon = text.find(":")
    if kind & Kind.POINTS:
        yield from typed_hosts(text, kind)
        yield from spelt_hosts(text, kind)
        if colon >= 0 and kind & (Kind.URL | Kind.HOST) and text.startswith("//", colon + 1):
            colon = text.find(":", colon + 1)  # the first link is the value itself
    if len(text) > MAX_SIGNS and sum(map(text.count, ("@", ":/", "//", "\\"))) > MAX_SIGNS:
        yield Destination("", short(text), f"more than {MAX_SIGNS} links or addresses in one text")
        return
    if colon >= 0:
        yield from links(text, stand_ins=bool(kind & (Kind.POINTS | Kind.COMMAND)))
    if (
        ("\\" in text and any(map(text.__contains__, _TWO_BACKSLASHES)))
        or text.count("//") > text.count("://")
        or any(map(text.__contains__, PARTED_SLASHES))
    ):
        yield from network_paths(text, kind)
    if "@" in text or (kind & Kind.MAIL and "=?" in text):
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
LONGEST_HEAD = 40
"""Characters of a value that another one goes on with, where a sign of `_CUT` ends it."""
BASES = Kind.URL | Kind.HOST | Kind.DOMAIN
"""Fields whose value can be what another one goes on with."""
_JOINTS = frozenset("@.:")
_ENDS_SCHEME = frozenset(":/\\")
_PIECE = re.compile(r"[^ /?#]+(?:[/?#]|\Z)")
"""What goes on in the middle of a host, and is no prose."""
_HIDDEN_FILE = re.compile(r"(?:\.[\w-]+)*\.([\w-]+)(?=/|\Z)")
_HIDDEN = frozenset(
    """git gitignore gitattributes gitmodules gitkeep github gitlab env envrc npmrc npmignore nvmrc
    yarnrc editorconfig dockerignore eslintrc eslintignore prettierrc prettierignore babelrc
    pylintrc flake8 bashrc zshrc vscode circleci devcontainer husky toml ini lock log gz""".split()  # noqa: SIM905 - reads better
)
"""What names of hidden files end in, and no host does, nor may anybody register one that does."""
_ONE_WORD = re.compile(r"[@.][\w-]*")
_MOST_JOINED = 1_000_000
"""Characters of pairs of a base address and a path of a call that are put together."""
_FEWEST_OF_PAIR = 100
"""What the shortest pair costs, in characters."""
_BARE_BASE = re.compile(r"(?i:(?:[a-z][a-z0-9+.-]*:)?[/\\]{2}|)[^\s/\\?#@]+\Z")


def split_destinations(
    texts: Sequence[str], kinds: Sequence[int], strings: Sequence[int]
) -> Iterator[tuple[int, Destination]]:
    """Destinations that only appear once two values are put together, with the second's number.

    A link cut after its scheme; a base address without a path whose continuation would become
    part of the host (`https://a.example` + `@evil.test`). `strings` are the numbers of the values.
    There is none where no value is a head that is cut, lies in a field of `BASES`, or holds `://`.
    """
    paths = [n for n in strings if kinds[n] & Kind.PATH and _goes_on(texts[n])]
    joined = 0
    for position, first in enumerate(strings):
        text = texts[first].strip()
        if texts[first][-1:] in _CUT:
            before = texts[strings[position - 1]].strip() if position else ""
            if text[:1] == ":" and ONLY_SPECIAL.fullmatch(before):
                text = before + text
            if len(text) <= LONGEST_HEAD and (
                text[-1:] == "@"
                or _OPEN_SCHEME.fullmatch(text)
                or (kinds[first] & BASES and text in ("//", "\\\\"))
            ):
                yield from _behind(text, texts, strings, position + 1)
        if (kinds[first] & BASES or "://" in text) and _BARE_BASE.fullmatch(text):
            near = strings[position + 1 : position + 2] if kinds[first] & BASES else ()
            goes_on = _starts_label if text[-1] == "." else _may_go_on
            for second in dict.fromkeys((*paths, *(n for n in near if goes_on(texts[n])))):
                if second == first:
                    continue
                joined += max(len(text) + len(texts[second]), _FEWEST_OF_PAIR)
                if joined > _MOST_JOINED:
                    fault = "more addresses and paths than are joined"
                    yield first, Destination("", short(text), fault)
                    return
                whole = text + texts[second].strip()
                yield from ((second, d) for d in destinations(whole, Kind.URL))


def _behind(
    head: str, texts: Sequence[str], strings: Sequence[int], position: int
) -> Iterator[tuple[int, Destination]]:
    """Where the beginning of a link leads with what follows it: nowhere with prose or another."""
    for number in map(strings.__getitem__, range(position, len(strings))):
        tail = texts[number].strip()
        if tail and tail.strip("/\\"):
            if not is_head(tail) and (tail[0] in "/\\?#" or _PIECE.match(tail)):
                yield from ((number, d) for d in destinations(head + tail, Kind.URL))
            return
        head += tail
        if len(head) > LONGEST_HEAD:
            return


def is_head(text: str) -> bool:
    """Whether a value is only the scheme of a link, so that it leads where what follows does."""
    is_short = text[-1:] in _ENDS_SCHEME and len(text) <= LONGEST_HEAD
    return is_short and _OPEN_SCHEME.fullmatch(text) is not None


def _starts_label(text: str) -> bool:
    """Whether a text can stand behind the dot of `example.com.`."""
    return text.strip()[:1].isalnum() and _PIECE.match(text.strip()) is not None


def _may_go_on(text: str) -> bool:
    """The same of a value that is named after no path: it has to be more than a name or an ending
    (`@bob`, `.png`)."""
    if not _goes_on(text):
        return False
    tail = text.strip()
    return _ONE_WORD.fullmatch(tail) is None or tail[1:].casefold() in TOP_LABELS


def _goes_on(text: str) -> bool:
    """Whether a text, put behind a host, becomes a part of it, and of one that there can be."""
    tail = text.strip()
    if tail[:1] not in _JOINTS or tail in (".", "..") or tail[:2] == "./":
        return False
    file = _HIDDEN_FILE.match(tail)
    return file is None or not (file[1].casefold() in _HIDDEN or NO_HOST.fullmatch(file[1]))
