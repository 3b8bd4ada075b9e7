"""Other forms in which a text can carry a value that is known: backwards, base64, hexadecimal.

Only for comparing with values that were seen: what comes out here is looked up and never judged by
itself, so that short pieces can be decoded, too. Linear in the text.
"""

from __future__ import annotations

import binascii
import re

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
    size = max(_SHORTEST_RUN, -(-least * 4 // 3))
    raw = text[:MAX_CHARS].encode("ascii", "replace").translate(_RUNS)
    runs = [run for run in raw.split() if len(run) >= size]
    found: list[str] = []
    for run in dict.fromkeys(runs):
        for start in range(0, len(run), _LONGEST_RUN):
            _decode(run[start : start + _LONGEST_RUN], found)
    return found


def _decode(run: bytes, found: list[str]) -> None:
    if len(run) % 4 != 1:
        _read(binascii.a2b_base64(run + b"=" * (-len(run) % 4)), found)
    match = _HEX.fullmatch(run)
    if match is not None:
        _read(bytes.fromhex(match[1].decode()), found)


def _read(raw: bytes, found: list[str]) -> None:
    text = raw.decode("utf-8", "replace")
    if text.isprintable() or "\n" in text:
        found.append(text)
