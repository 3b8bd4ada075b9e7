"""A receipt as a line of a log writes it: JSON in ASCII, its fields in their order."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import orjson

_exact = json.JSONEncoder(check_circular=False, separators=(",", ":"), allow_nan=False).encode
_QUICK = (
    orjson.OPT_PASSTHROUGH_DATACLASS
    | orjson.OPT_PASSTHROUGH_DATETIME
    | orjson.OPT_PASSTHROUGH_SUBCLASS
)


def spelled(receipt: Mapping[str, Any]) -> bytes:
    """The receipt as JSON.

    Raises:
        TypeError, ValueError: it holds what JSON cannot.
    """
    try:
        quick = orjson.dumps(receipt, option=_QUICK)
    except TypeError:  # what it does not know, JSON may: a long number, half a character
        return _exact(receipt).encode()
    # Beyond ASCII it leaves characters as they are, some of which are commands to a terminal; of
    # what is no number it makes null.
    if quick.isascii() and 0x7F not in quick and quick.find(b"null") < 0:  # `in` takes longer
        return quick
    return _exact(receipt).encode()
