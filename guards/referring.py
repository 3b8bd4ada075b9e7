"""Ids by which a call refers to a record: an order's number out of the customer's private profile.

A policy that trusts the field of a private source in which they stand says that they may be used.
Nobody learns from them what they stand for.
"""

from __future__ import annotations

from collections.abc import Iterator

from .ledger import Ledger
from .naming import field_words
from .normalise import Examined
from .verdict import ToolCall

_IDS = frozenset({"id", "ids", "uuid", "uuids"})
_MOST = 100


def without_references(call: Examined, ledger: Ledger) -> Examined:
    """The call without the arguments (`order_id`, `item_ids`) that hold known ids and nothing else.

    After a gap in what was seen nothing is left out.
    """
    if ledger.gap:
        return call
    rest = {
        name: value
        for name, value in call.arguments.items()
        if not (_refers(name) and _all_known(value, ledger))
    }
    if len(rest) == len(call.arguments):
        return call
    return Examined(ToolCall(call.name, rest, id=call.call.id), call.patterns)


def _refers(name: str) -> bool:
    words = field_words(name)
    return bool(words) and words[-1] in _IDS


def _all_known(value: object, ledger: Ledger) -> bool:
    values = list(_each(value))
    return 0 < len(values) <= _MOST and all(
        isinstance(item, str | int) and ledger.known(str(item)) for item in values
    )


def _each(value: object) -> Iterator[object]:
    yield from value if isinstance(value, list) else (value,)
