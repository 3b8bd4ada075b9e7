"""A reply of Gemini's in flight, whole or in pieces: every candidate, guarded.

The API streams whole replies that add up. So there is one way for both: a piece in, a piece out;
a whole reply is a stream of one piece.
"""

from __future__ import annotations

from typing import Any

from .._exchange import Exchange
from .candidate import Candidate, Part, masked_leaves
from .parts import camel

CONTINUATION = "CONTINUATION"
"""Why a piece ends that the SDK goes on with in another request."""

_BY_THE_WAY = {"content", "index", "safetyRatings", "tokenCount", "avgLogprobs"}
_UNSPECIFIED = ("FINISH_REASON_UNSPECIFIED", 0, "", None)


class GeminiReply:
    """The reply to one request, or to several where the SDK goes on by itself.

    `turn`: the place that the reply has among the contents. `resumes`: whether a reply that says
    that it goes on is followed by another.
    """

    def __init__(self, exchange: Exchange, turn: int, *, resumes: bool = True) -> None:
        self.exchange = exchange
        self.ended = False
        self.goes_on = False
        """Whether the next request goes on with this reply."""
        self._turn = turn
        self._resumes = resumes
        self._candidates: dict[int, Candidate] = {}
        self._spent = 0
        self._tokens = 0

    @property
    def tokens(self) -> int:
        """What the provider says that it used."""
        return self._spent + self._tokens

    @property
    def written(self) -> int:
        """Characters that the model wrote."""
        return sum(one.chars for one in self._candidates.values())

    def resumed(self) -> None:
        """Another request goes on with this reply."""
        self._spent, self._tokens = self.tokens, 0
        self.goes_on = False

    def event(self, given: dict[str, Any], *, whole: bool = False) -> dict[str, Any] | None:
        """The piece that goes out in place of one; None where nothing of it does.

        `whole`: no other piece follows, whether it says why it ends or not.
        """
        data = camel(given)
        usage = camel(data.get("usageMetadata"))
        total = usage.get("totalTokenCount")
        if isinstance(total, int):
            self._tokens = max(self._tokens, total)
        listed = data.get("candidates")
        if not listed:
            return data
        if not isinstance(listed, list):
            return {**data, "candidates": []}  # nothing that could not be looked into
        made = [self._candidate(camel(one), n, whole=whole) for n, one in enumerate(listed)]
        kept = [one for one in made if one is not None]
        if not kept and not data.get("promptFeedback"):
            return None
        return {**data, "candidates": kept}

    def end(self, *, finished: bool) -> dict[str, Any] | None:
        """What is left when no piece follows; `finished`: the provider has sent everything.

        What is not whole by now goes nowhere.
        """
        rest = []
        for one in self._candidates.values():
            out: list[Part] = []
            if finished and not one.done:
                out, _ = one.parts([], finished=True)
            one.cut_off()
            if out:
                rest.append({"index": one.number, "content": {"parts": out, "role": "model"}})
        self.ended = True
        return {"candidates": rest} if rest else None

    def _candidate(
        self, given: dict[str, Any], place: int, *, whole: bool
    ) -> dict[str, Any] | None:
        number = given.get("index")
        number = number if isinstance(number, int) else place
        one = self._of(number)
        content, reason = camel(given.get("content")), given.get("finishReason")
        resumes = self._resumes and bool(given.get("continuationToken"))
        resumes = resumes and reason in (CONTINUATION, *_UNSPECIFIED)
        self.goes_on = self.goes_on or resumes
        finished = not resumes and (whole or reason not in _UNSPECIFIED)
        listed = content.get("parts")
        listed = [] if listed is None else listed if isinstance(listed, list) else [listed]
        parts, same = one.parts([camel(part) for part in listed], finished=finished)
        made = self._beside(given, same=same)
        if not parts and listed:
            if not finished and not set(given) - _BY_THE_WAY:
                return None
            parts = [{"text": ""}]  # as the API ends a stream itself: a content has parts
        if parts:
            made["content"] = {"role": "model", **content, "parts": parts}
        return made

    def _of(self, number: int) -> Candidate:
        made = self._candidates.get(number)
        if made is None:
            made = self._candidates[number] = Candidate(self.exchange, number, self._turn)
        return made

    def _beside(self, given: dict[str, Any], *, same: bool) -> dict[str, Any]:
        """What stands beside the parts: why it ended, sources, how likely each token was."""
        made = dict(given)
        if not same:
            made.pop("logprobsResult", None)  # it spells the text out, token by token
        if isinstance(made.get("finishMessage"), str):
            made["finishMessage"] = self.exchange.masked(made["finishMessage"])
        for name in ("groundingMetadata", "citationMetadata", "urlContextMetadata"):
            if made.get(name):
                made[name] = masked_leaves(self.exchange, made[name])
        return made
