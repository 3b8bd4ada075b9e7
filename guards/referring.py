"""Ids by which a call refers to a record: an order's number out of the customer's private profile.

A policy that trusts the field of a private source in which they stand says that they may be used.
Nobody learns from them what they stand for. An address, a telephone number, an account or a day is
none, whatever trusts it; nor is anything out of a source that is trusted as a whole.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from .dates import day_of
from .identifiers import identifiers
from .ledger import Ledger
from .naming import field_words
from .normalise import Examined
from .verdict import ToolCall

_IDS = frozenset({"id", "ids", "uuid", "uuids"})
_MOST = 100
_CODE = re.compile(r"(?=\D{0,63}\d)\S{1,64}")


def without_references(call: Examined, ledger: Ledger) -> Examined:
    """The call without the values of arguments (`order_id`, `item_ids`) that are known ids and
    nothing else. The names stay: they can say something, too.

    After a gap in what was seen nothing is left out.
    """
    if ledger.gap:
        return call
    ids = [
        name
        for name, value in call.arguments.items()
        if _refers(name) and _all_known(value, ledger)
    ]
    if not ids:
        return call
    rest = {**call.arguments, **dict.fromkeys(ids)}
    return Examined(ToolCall(call.name, rest, id=call.call.id), call.patterns)


def _refers(name: str) -> bool:
    words = field_words(name)
    return bool(words) and words[-1] in _IDS


def _all_known(value: object, ledger: Ledger) -> bool:
    values = list(_each(value))
    return 0 < len(values) <= _MOST and all(
        isinstance(item, str | int) and _is_id(str(item), ledger) for item in values
    )


def _is_id(value: str, ledger: Ledger) -> bool:
    return _is_code(value) and ledger.known(value) and ledger.picked(value)


def _is_code(value: str) -> bool:
    """Whether it is one word with a number in it that says nothing by itself."""
    if _CODE.fullmatch(value) is None or day_of(value) is not None:
        return False
    return value.isdecimal() or not any(True for _ in identifiers(value))


def _each(value: object) -> Iterator[object]:
    yield from value if isinstance(value, list) else (value,)
