"""A message in flight, not streamed; and a request whose reply holds neither calls nor text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .._cut_off import chars_in
from .._exchange import Exchange
from .._reply import GuardedReply, Reply
from .blocks import Blocks, tokens_of, usage_of


class MessageReply(GuardedReply):
    """A message in flight."""

    def __init__(self, body: Mapping[str, Any], exchange: Exchange) -> None:
        super().__init__(body, exchange)
        self._blocks = Blocks(body, exchange)

    def whole(self, data: dict[str, Any]) -> dict[str, Any]:
        """The message, guarded, with the decision as `firewall`."""
        given = data.get("content")
        total = tokens_of(data.get("usage"))
        if total is None:
            self.exchange.estimate(chars_in(given))
        self.exchange.add_tokens(total, usage=usage_of(data.get("usage"), data.get("model")))
        content = self._blocks.passed(_listed(given))
        message = self._blocks.block_message
        data["content"] = content if message is None else [*content, message]
        data["stop_reason"] = self._blocks.stop_reason(data.get("stop_reason"))
        self._blocks.remember(data.get("id"))
        self._seen = True
        data["firewall"] = self.firewall
        return data


class SentOnly(Reply):
    """A request that is masked, and whose reply holds neither calls nor text."""


def _listed(content: Any) -> list[Any]:
    """A message's content as blocks. What is neither a list nor a text counts as a call."""
    if isinstance(content, str):
        return [{"type": "text", "text": content}] if content else []
    if isinstance(content, list):
        return content
    return [] if content is None else [content]
