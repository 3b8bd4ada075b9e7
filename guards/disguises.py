"""Other forms in which a text can carry a value that is known: backwards, base64, hexadecimal.

Only for comparing with values that were seen: what comes out here is looked up and never judged by
itself, so that short pieces can be decoded, too. Linear in the text.
"""

from __future__ import annotations

import binascii
import re
from collections.abc import Iterator

from .folding import folded

MAX_CHARS = 20_000
"""Characters of a text that are looked at."""

_SHORTEST_RUN = 6
_LONGEST_RUN = 4_000
_DIGITS = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
_URL_SAFE = {ord("-"): ord("+"), ord("_"): ord("/")}
_RUNS = bytes(n if n in _DIGITS else _URL_SAFE.get(n, 32) for n in range(256))
"""What is no digit of base64 becomes a blank, the two URL-safe ones the usual ones."""
_HEX = re.compile(rb"(?:0x)?((?:[0-9a-fA-F]{2}){5,2000})")


def undisguised(text: str, *, least: int = 1) -> list[str]:
    """What runs of the text say in base64 or hexadecimal, of each that says `least` bytes."""
    found: list[str] = []
    for run in _parts(coded_runs(text[:MAX_CHARS].encode("ascii", "replace"), least=least)):
        for raw in _decoded(run):
            said = raw.decode("utf-8", "replace")
            if said.isprintable() or "\n" in said:
                found.append(said)
    return found


def coded_runs(raw: bytes, *, least: int = 1) -> list[bytes]:
    """The runs of digits of base64 or hexadecimal that can say `least` bytes."""
    size = max(_SHORTEST_RUN, -(-least * 4 // 3))
    runs = raw.translate(_RUNS).split()
    if not runs or max(map(len, runs)) < size:  # told faster than they are picked out
        return []
    return [run for run in runs if len(run) >= size]


def roughly_said(runs: list[bytes]) -> str:
    """At least all words of ASCII that the runs say, one below the other, in lower case.

    To be searched once for all of them: nearly always no word of it is one that matters.
    """
    text = b"\n".join(raw for run in _parts(runs) for raw in _decoded(run))
    if text.isascii():
        return text.decode()
    return folded(text.decode("utf-8", "replace")).casefold().encode("ascii", "replace").decode()


def _parts(runs: list[bytes]) -> Iterator[bytes]:
    for run in dict.fromkeys(runs):
        for start in range(0, len(run), _LONGEST_RUN):
            yield run[start : start + _LONGEST_RUN]


def _decoded(run: bytes) -> Iterator[bytes]:
    if len(run) % 4 != 1:
        yield binascii.a2b_base64(run + b"=" * (-len(run) % 4))
    match = _HEX.fullmatch(run)
    if match is not None:
        yield bytes.fromhex(match[1].decode())
