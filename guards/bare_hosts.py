"""Which of the words of one command are hosts: where its program takes them without a scheme.

What a shell makes of a line, and which programs it runs, is read in `commands.py`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Literal

from .hosts import Destination, canonical_host, is_public, looks_like_host, short
from .identifiers import TOP_LABELS
from .programs import (
    BY_WAY,
    CLIENTS,
    CONNECT,
    FIRST,
    GIT_REMOTE,
    LONG_BY_WAY,
    NO_HOST,
    OF_CURL,
    VALUES,
)

_GLOB = re.compile(r"[{}\[\]*]")
_ENCODED = re.compile("%([0-9A-Fa-f]{2})")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
_PATH_BEGINS = re.compile("[/?#]")
_REMOTE = re.compile(r"((?:[^:/]*@)?(?:\[[^\]]*\]|[^:/]+)):")
_LISTED = re.compile(r"[,:\s]+")
_MADE_UP = re.compile(r"\$(?:\{[^}]{0,64}\}|\w+|[@*#?$!])")
_IMAGE = re.compile(r"(?:--image=)?((?:[\w-]+\.)+([a-z]{2,24})(?::[0-9]+)?)(?:/|\Z)", re.IGNORECASE)
AMOUNT = re.compile(r"0|[0-9]{1,3}\.[0-9]{1,2}")
"""A count or a time where one may stand; else an address: `127.1`."""

_Takes = Literal["nothing", "value", "host"]


def image_hosts(words: Sequence[str]) -> Iterator[Destination]:
    """The hosts of images and registries, and of the engine (`docker -H evil.test:2375`)."""
    for before, word in zip(("", *words), words, strict=False):
        image = _IMAGE.match(word)
        named = image is not None and image[2].casefold() in TOP_LABELS
        if before in ("-H", "-s", "login") or (image and named and image.end() > len(image[1])):
            yield from listed_hosts(image[1] if image else word)


def argument_hosts(program: str, words: Sequence[str]) -> Iterator[Destination]:
    """The hosts among the arguments of a program that takes them bare."""
    waits: _Takes = "nothing"
    seen = 0
    for before, word in zip(("", *words), words, strict=False):
        takes, waits, rest = waits, "nothing", word
        if takes == "nothing" and word[:1] == "-":
            takes, rest = _option(program, word)
            if not rest:
                waits = takes
                continue
        if takes == "host":
            yield from listed_hosts(rest, number=_may_be_number(program, word))
        elif takes == "nothing" and word[:1] != "-" and program not in CLIENTS:
            if not seen or program not in FIRST:
                number = before[:1] == "-" and program not in VALUES
                yield from bare_hosts(rest.removeprefix("@"), number=number)
            seen += not word.isdigit()  # such a number belongs to an option before it
            if seen > 2 and program in FIRST:
                return  # what runs on the other side


def _may_be_number(program: str, word: str) -> bool:
    """Whether what an option takes may be a count or a time as well as a host."""
    known = word.partition("=")[0] in LONG_BY_WAY if word[:2] == "--" else program in BY_WAY
    return program == "ping" or (word[:1] == "-" and not known)


def _option(program: str, word: str) -> tuple[_Takes, str]:
    """What an option takes, and what of it stands in the same word."""
    name, _, rest = word.partition("=")
    own = program[:4] == "curl" if name in OF_CURL else name[:2] == "--" or program not in VALUES
    if own and NO_HOST.fullmatch(name):
        return "value", rest
    if name[:2] == "--":
        may_be = name in LONG_BY_WAY or (rest and program not in CLIENTS)
        return "host" if may_be else "nothing", rest
    values, by_way = CONNECT.get(program, ""), BY_WAY.get(program, "")
    for at, letter in enumerate(word[1:], start=2):
        if letter in values:
            return "value", word[at:]
        if letter in by_way:
            return "host", word[at:]
    rest = rest or word.partition(":")[2]
    return "host" if rest else "nothing", rest


def copied_hosts(program: str, words: Sequence[str]) -> Iterator[Destination]:
    """The hosts before a colon, and those on the way."""
    if program == "git" and not GIT_REMOTE.intersection(words):
        return
    if program == "openssl" and "s_client" not in words:
        return
    waits: _Takes = "nothing"
    for word in words:
        if waits == "host":
            yield from listed_hosts(word)
        waits, rest = "nothing", word
        if word[:1] == "-":
            waits, rest = _option(program, word)
            if waits == "host" and word[:2] != "--":
                yield from listed_hosts(rest)
                waits = "nothing" if rest else "host"
        if not _SCHEME.match(rest) and (remote := _REMOTE.match(rest)):
            yield from bare_hosts(remote[1])


def listed_hosts(text: str, *, number: bool = False) -> Iterator[Destination]:
    """The hosts of an option's value, or of a setting, which may list several."""
    parts = _LISTED.split(text)
    for part in dict.fromkeys((text, *parts)):
        yield from bare_hosts(part, number=number)


def bare_hosts(word: str, *, number: bool = False) -> Iterator[Destination]:
    """The host that a word is. `number`: it may be a count or a time, too."""
    if _SCHEME.match(word):
        return  # it is found as a link
    host = _PATH_BEGINS.split(word, maxsplit=1)[0].rpartition("@")[2]
    if "$" in host:
        rest = _MADE_UP.sub("\0", host).rpartition("\0")[2]
        if rest[:1] == "." and looks_like_host(rest[1:]):
            host = "x" + rest  # what the shell puts in front of a known domain
        else:
            yield Destination("", short(word), "the shell makes up where it leads")
            return
    host = _ENCODED.sub(lambda m: chr(int(m[1], 16)), host)
    bracket = host.find("]") + 1 if host[:1] == "[" else 0
    known = canonical_host(host[:bracket] or host)
    if known is None and not bracket:
        host = host.partition(":")[0]
        known = canonical_host(host)
    if known is None:
        if _GLOB.search(host) and "." in host:
            yield Destination("", short(word), "the shell makes up where it leads")
    elif (looks_like_host(known) or not is_public(known)) and not _is_number(host, known, number):
        yield Destination(known, short(word))


def _is_number(host: str, known: str, may_be: bool) -> bool:
    """Whether it is a port, a count or a time rather than an address; 0 is this machine's."""
    if host.isalnum() and known.startswith("0."):
        return may_be or known.strip("0.") != ""
    return may_be and AMOUNT.fullmatch(host) is not None


def device_host(host: str) -> Destination:
    """The host of a device (`/dev/tcp/HOST/PORT`), which can be nothing else."""
    known = canonical_host(host)
    if known is None:
        return Destination("", short(host), "it is no well-formed host")
    return Destination(known, short(host))
