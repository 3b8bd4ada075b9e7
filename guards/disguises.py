"""Other forms in which a text can carry a value that is known: backwards, base64, hexadecimal.

Only for comparing with values that were seen: what comes out here is looked up and never judged by
itself, so that short pieces can be decoded, too. Linear in the text.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator

from .spoken import plain_digits

MAX_CHARS = 20_000
"""Characters of a text that are looked at."""

_RUN = re.compile(r"[A-Za-z0-9+/_-]{6,4000}={0,2}")
_HEX = re.compile(r"(?:0x|\\x)?((?:[0-9a-fA-F]{2}){5,2000})")
_URL_SAFE = str.maketrans("-_", "+/")


def undisguised(text: str) -> Iterator[str]:
    """What the text says backwards, in plain digits, and in base64 or hexadecimal."""
    text = text[:MAX_CHARS]
    yield text[::-1]
    if not text.isascii():
        yield plain_digits(text)
    for match in _RUN.finditer(text):
        run = match[0]
        yield from _read(_base64(run))
        if _HEX.fullmatch(run):
            yield from _read(bytes.fromhex(run.removeprefix("0x")))


def _base64(run: str) -> bytes:
    core = run.rstrip("=").translate(_URL_SAFE)
    try:
        return base64.b64decode(core + "=" * (-len(core) % 4))
    except (ValueError, binascii.Error):
        return b""


def _read(raw: bytes) -> Iterator[str]:
    text = raw.decode("utf-8", "replace")
    if text.isprintable() or "\n" in text:
        yield text
