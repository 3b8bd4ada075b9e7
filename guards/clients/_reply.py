"""A request in flight, as a vendor's file makes one of it: what is sent, and what becomes of what
comes back. The wire (`_wire.py`) hands it JSON objects: a body, or the events of a stream.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from ..decide import Policy
from ._alike import Word
from ._exchange import Exchange
from .defender import Decision


class Reply:
    """A reply in which nothing is judged: it passes as it came."""

    def __init__(self, body: Mapping[str, Any]) -> None:
        self.body = body

    @property
    def policy(self) -> Policy | None:
        """The policy that judges it; None where nothing in it is judged."""
        return None

    @property
    def firewall(self) -> Decision | None:
        """The decision; None until everything was seen, in whatever way it ended."""
        return None

    def whole(self, data: dict[str, Any]) -> dict[str, Any]:
        """A body, guarded."""
        return data

    def event(self, data: dict[str, Any]) -> list[dict[str, Any]] | None:
        """What goes out in place of an event of a stream; None: the event as it came."""
        return None

    def word(self, data: dict[str, Any]) -> Word | None:
        """Whether an event that was looked at was a piece of a text and nothing else."""
        return None

    def end(self, *, finished: bool) -> list[dict[str, Any]]:
        """What is still to go out when no event follows. `finished`: the provider said so."""
        return []


class GuardedReply(Reply):
    """A reply whose calls are judged and whose texts are masked; this one comes whole."""

    def __init__(self, body: Mapping[str, Any], exchange: Exchange) -> None:
        super().__init__(body)
        self.exchange = exchange
        self._seen = False
        """Whether everything was seen."""

    @property
    def policy(self) -> Policy | None:
        return self.exchange.policy

    @property
    def firewall(self) -> Decision | None:
        return self.exchange.decision() if self._seen else None

    def event(self, data: dict[str, Any]) -> list[dict[str, Any]] | None:
        raise NotImplementedError  # no event comes here


class StreamedReply(GuardedReply):
    """The same in events."""

    unstreamed: ClassVar[type[GuardedReply]]
    """What reads the answer of a server that does not stream."""

    def __init__(self, body: Mapping[str, Any], exchange: Exchange) -> None:
        super().__init__(body, exchange)
        self.tokens: int | None = None
        """What the provider says that it used, or an estimate."""
        self.estimated = False
        self._chars = 0
        """Characters that the model wrote so far."""

    def whole(self, data: dict[str, Any]) -> dict[str, Any]:
        self._seen = True
        return self.unstreamed(self.body, self.exchange).whole(data)
