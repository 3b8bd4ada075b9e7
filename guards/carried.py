"""What a link carries: whether its host's name, or what follows that, has room for data."""

from __future__ import annotations

import html
import re
from urllib.parse import unquote_plus

from .hosts import is_address

_LONG_QUERY = 100
_LONG_PATH = 400
_UUID = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_PIECE = re.compile(r"[A-Za-z0-9+=]{20,}")
_MIXED = re.compile(r"[a-z][A-Z]|[A-Z][a-z]+[A-Z]|[0-9][A-Za-z]+[0-9]|[A-Za-z][0-9]+[A-Za-z]")
_TELLING = re.compile(r"[0-9]{12}|[\w.+-]+@[\w-]+\.\w|\[REDACTED:|(?:\w+\s+){4}")
_LONG_LABEL = 30


def shown(host: str | None) -> str:
    """A host fit to be shown: long labels, which can carry data as well, are cut."""
    if host is None:
        return "an unreadable address"
    labels = [label if len(label) <= _LONG_LABEL else "…" for label in host.split(".")]
    return f"`{'.'.join(labels)}`"


def readable(rest: str) -> str:
    """What follows the host, as whoever is sent it reads it."""
    return unquote_plus(html.unescape(rest))


def carries(host: str, rest: str) -> bool:
    """Whether a host name or what follows it in a link has room for data, or shows some."""
    if not is_address(host) and any(len(label) > _LONG_LABEL for label in host.split(".")):
        return True
    _, _, query = rest.partition("?")
    if len(query) > _LONG_QUERY or len(rest) > _LONG_PATH:
        return True
    told = readable(rest)
    if _TELLING.search(_UUID.sub("-", told)) is not None:
        return True
    pieces = _PIECE.findall(_UUID.sub("", rest))
    return any(_MIXED.search(piece) or piece.isdigit() for piece in pieces)
