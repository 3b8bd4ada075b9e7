"""How threads are read back from where they are kept: by a strict list of types, of which none may
grow, as it is made or gone through, far beyond what is written of it.

Whoever wrote a file may have put anything where the value of a field stands. LangGraph's list of
safe types has some of which a few bytes make more than a machine can hold.
"""

from __future__ import annotations

import re
from functools import partial
from itertools import takewhile
from math import prod
from typing import Any

from langgraph.checkpoint.serde import jsonplus
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

_msgpack = jsonplus.ormsgpack  # type: ignore[attr-defined]
"""The very library by which it is read afterwards."""
_KEYS = _msgpack.OPT_NON_STR_KEYS
_LISTS = b"\x93\x94"
"""How lists of three and of four begin, as which LangGraph writes what an object is made from."""

_LONG_NUMBER = "a decimal number in it is too long, or is none"
_LARGE_NETWORK = "a network in it has too many addresses, or is none"
_BOUNDED = {
    ("decimal", "Decimal"): (
        re.compile(r"[+-]?[0-9.]{1,99}(E[+-]?[0-9]{1,4})?|-?Infinity|-?s?NaN", re.ASCII),
        _LONG_NUMBER,
    ),
    ("ipaddress", "IPv4Network"): (
        re.compile(r"[0-9.]{7,15}/(1[6-9]|2[0-9]|3[0-2])", re.ASCII),
        _LARGE_NETWORK,
    ),
    ("ipaddress", "IPv6Network"): (
        re.compile(r"[0-9a-f:.]{2,45}/1(1[2-9]|2[0-8])", re.ASCII),
        _LARGE_NETWORK,
    ),
}
"""By module and name of a class: what an object of it is made from, as LangGraph writes it, and
what is said of anything else. Where a message's field makes an integer of a number, or a list of a
network, it takes for ever: `1e999999999`, `::/0`."""
_MOST_ROWS = 1_000
"""Of an array without values; one with values has no more rows than bytes."""
_SUSPECT = re.compile(rb"Decimal|Network|\x06")
"""What stands in whatever has one of these in it: a name, or the code of an array."""


class _Bounded(JsonPlusSerializer):
    """Refuses what would take for ever, or all memory, before it is made."""

    def loads_typed(self, data: tuple[str, bytes]) -> Any:
        """The value.

        Raises:
            ValueError: there is something in it that a few bytes make too large.
        """
        kind, written = data
        if kind == "msgpack" and _SUSPECT.search(written):
            wrong: list[str] = []
            _looked_into(wrong, None, written)
            if wrong:
                raise ValueError(wrong[0])
        return super().loads_typed(data)

    def _reviver(self, value: dict[str, Any]) -> Any:
        # LangGraph wrote its own types and Python's so long ago, and never messages.
        return value if value.get("lc") == 2 else super()._reviver(value)


def strict_serializer() -> JsonPlusSerializer:
    """Reads back LangGraph's and LangChain's own types and nothing else."""
    return _Bounded(allowed_msgpack_modules=None)


def _looked_into(wrong: list[str], code: int | None, written: bytes) -> Any:
    """What is written, with of each object what it is made from: nothing is made of it.

    What must not be made is noted in `wrong`.
    """
    hook = partial(_looked_into, wrong)
    found = _msgpack.unpackb(written, ext_hook=hook, option=_KEYS)
    if code is None or code == jsonplus.EXT_DELTA_SNAPSHOT:
        return found
    if code == jsonplus.EXT_NUMPY_ARRAY:
        if not _is_small(found):
            wrong.append("an array in it has more rows than values")
        return None
    try:
        made, given = (found[0], found[1]), found[2]
    except (LookupError, TypeError):
        made, given = None, found
    for name, (allowed, said) in _BOUNDED.items():
        if made == name and not (isinstance(given, str) and allowed.fullmatch(given)):
            wrong.append(said)
    if written[0] not in _LISTS:  # but an object, say, whose fields are read like those of a list
        wrong.append("what an object in it is made from is written in another way")
    return tuple(given) if isinstance(given, list) else given


def _is_small(array: Any) -> bool:
    """Whether an array is written as LangGraph writes one, with no more rows than it has values."""
    try:
        _, shape, _, values = array
        if isinstance(values, str):  # of which nothing is made
            return True
        most = max(len(values), _MOST_ROWS)
        return (
            all(type(n) is int and n >= 0 for n in shape) and prod(takewhile(bool, shape)) <= most
        )
    except (TypeError, ValueError):
        return False
