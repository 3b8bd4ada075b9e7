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
from ._request import RequestMask
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
        self.inbound = RequestMask(policy)
        """Masks the content of a request, or data of a reply; the objects given stay."""

    def sent(self, body: Mapping[str, Any], fields: Iterable[str]) -> dict[str, Any]:
        """A request's body with these fields masked.

        Raises:
            ValueError: it is nested too deeply to be walked.
        """
        masked = {name: self.inbound(body[name]) for name in fields if name in body}
        left = dict.fromkeys(label for made in masked.values() for label in made.left)
        if left:
            _LOG.warning(
                "a secret (%s) stands in a part of the request that cannot be changed; it was sent",
                ", ".join(left),
            )
        return {**body, **{name: made.value for name, made in masked.items()}}
