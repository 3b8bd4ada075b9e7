"""What a client and its copies keep for one policy."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ..conversation import Conversations
from ..decide import Policy
from ..limits import Spending
from ..rules.limits import limits_of
from ..rules.sequence import order_of
from ._request import Inbound, RequestMask
from ._tally import Counter

_LOG = logging.getLogger("edgeward.guards")


class Rules:
    """What a client keeps for one policy: what is known of conversations, the mask."""

    def __init__(
        self,
        policy: Policy,
        spending: Spending,
        clock: Callable[[], float],
        before: Rules | None = None,
    ) -> None:
        known = None if before is None else before.conversations
        self.policy = policy
        self.order = order_of(policy)
        self.conversations: Conversations = Conversations(policy, before=known)
        self.counter = Counter(limits_of(policy), spending, clock, self.conversations)
        self._mask = RequestMask(policy)

    def inbound(self, value: Any) -> Inbound:
        """Content that goes to the model, masked; the caller's own objects stay as they are.

        Raises:
            ValueError: it is nested too deeply to be walked.
        """
        made = self._mask(value)
        if made.left:
            _LOG.warning(
                "a secret (%s) stands in a part of the request that cannot be changed; it was sent",
                ", ".join(made.left),
            )
        return made

    def sent(self, body: Mapping[str, Any], fields: Iterable[str]) -> dict[str, Any]:
        """A request's body with these fields masked."""
        masked = {name: self.inbound(body[name]).value for name in fields if name in body}
        return {**body, **masked}
