"""A ledger that is read once somebody asks for it: most decisions do not.

history = History().reading(read, calls={"pay": 1})     # `read()` gives the ledger
history.ledger                                          # now it is read, once
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Protocol

from typing_extensions import Self

if TYPE_CHECKING:
    from .caller import Caller
    from .ledger import Ledger


class Late(Protocol):
    """Gives a ledger."""

    @property
    def judge(self) -> str:
        """The digest of the policy that may believe all in it (`Ledger.judged_by`)."""

    def __call__(self) -> Ledger:
        """The ledger: the same one each time."""


class LateLedger:
    """What a frozen dataclass needs whose field `ledger` may be read later.

    `dataclasses.replace` reads it; `but` does not.
    """

    __slots__ = ("late",)

    late: Late | None
    """What gives the ledger; None where it was there from the beginning."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "late", None)

    def reading(self, late: Late, **values: Any) -> Self:
        """The same with a ledger that is read when it is first asked for, and these values."""
        kind: Any = type(self)
        new = self._copy(_unread(kind), values)
        object.__setattr__(new, "late", late)
        return new

    def but(self, **values: Any) -> Self:
        """The same with other values in these fields; the ledger is not read for it."""
        late, given = self.late, "ledger" in values
        kind: Any = type(self)
        new = self._copy(kind if late is None or given else _unread(kind), values)
        object.__setattr__(new, "late", None if given else late)
        if late is None and not given:
            object.__setattr__(new, "ledger", self.ledger)
        return new

    def _copy(self, kind: Any, values: Mapping[str, Any]) -> Self:
        """Another one, its ledger left out: `dataclasses.replace` takes three times as long."""
        new: Self = object.__new__(kind)
        for get, put in _beside_ledger(kind):
            put(new, get(self))
        for name, value in values.items():
            object.__setattr__(new, name, value)
        return new

    def judged_by(self, policy: str) -> Self:
        """With the ledger as this policy (by its digest) may believe it, for who is asking."""
        if self.late is not None and self.late.judge == policy:
            return self
        held: Ledger = self.ledger
        ledger = held.judged_by(policy, self.caller)
        return self if ledger is held else self.but(ledger=ledger)

    if TYPE_CHECKING:
        ledger: Ledger
        caller: Caller


class _Unread:
    """What is more to one whose ledger was not read yet.

    A class of its own: whose class has a `__getattr__` is slow to read in all its fields.
    """

    __slots__ = ()

    def __getattr__(self, name: str) -> Any:
        """The ledger, once: all other fields are there."""
        this: Any = self
        kind = type(this)
        if name != "ledger" or this.late is None:
            raise AttributeError(name)
        ledger = this.late()
        object.__setattr__(this, "ledger", ledger)
        if issubclass(kind, _Unread):  # or another thread was quicker
            object.__setattr__(this, "__class__", kind.__bases__[1])
        return ledger


@lru_cache
def _unread(kind: Any) -> Any:
    """The class of those whose ledger was not read yet, and that are of this one otherwise."""
    if issubclass(kind, _Unread):
        return kind
    return type(kind.__name__, (_Unread, kind), {"__slots__": ()})


@lru_cache
def _beside_ledger(kind: Any) -> tuple[tuple[Callable[..., Any], Callable[..., None]], ...]:
    """How each other field is read and set."""
    slots = [getattr(kind, field.name) for field in fields(kind) if field.name != "ledger"]
    return tuple((slot.__get__, slot.__set__) for slot in slots)
