"""A reply of Gemini's in flight, whole or in pieces: every candidate's parts, guarded.

The API streams whole replies that add up. So there is one way for both: a piece in, a piece out;
a whole reply is a stream of one piece. Text goes through a holdback, which keeps back what could
still become part of a secret; a call comes whole, or is put together, and is judged before it goes
on. What stays keeps its order, and a signature its part.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from ...conversation import Proposed
from .._exchange import Exchange, Judged
from .parts import (
    GIVEN_BACK,
    PLAIN,
    call_name,
    camel,
    is_call,
    kinds_of,
    proposed,
    with_arguments,
)
from .partial import PartialCall

CONTINUATION = "CONTINUATION"
"""Why a piece ends that the SDK has gone on with in another request."""

CUT_OFF = "the stream ended before the call was whole"
_TWOFOLD = "a part that is several things at once"
_UNREADABLE = "its arguments came in pieces that do not fit together"
_PIECE = {"partialArgs", "willContinue"}
_BY_THE_WAY = {"content", "index", "safetyRatings", "tokenCount", "avgLogprobs"}
_UNSPECIFIED = ("FINISH_REASON_UNSPECIFIED", 0, "", None)

_SPELLED = ("uri", "domain", "title")
"""Fields of what the provider says about its sources that are no text of the model's."""

Part = dict[str, Any]


@dataclass
class _Candidate:
    """What is known of one candidate so far."""

    number: int
    kind: str = ""
    """The kind of text that flows at the moment."""
    text: Any = None
    """Its holdback."""
    waiting: list[Part] = field(default_factory=list)
    """Parts that wait for the end: calls that have a say in each other, and what follows them."""
    partial: PartialCall | None = None
    behind: list[Part] = field(default_factory=list)
    """Parts that came after a call that is on its way."""
    calls: int = 0
    """Calls that were seen."""
    stripped: bool = False
    said: bool = False
    """Whether something was sent on that a reader sees, or a call."""
    signature: Any = None
    """The signature of a call that was taken out; the next call of the turn needs one."""
    refused: set[str] = field(default_factory=set)
    """Ids of calls that were taken out and ran at the provider: their results go, too."""
    last: str = ""
    """The id of the last call that runs at the provider."""
    done: bool = False


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
        self._candidates: dict[int, _Candidate] = {}
        self._spent = 0
        self._tokens = 0
        self._chars = 0

    @property
    def tokens(self) -> int:
        """What the provider says that it used."""
        return self._spent + self._tokens

    @property
    def written(self) -> int:
        """Characters that the model wrote."""
        return self._chars

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
        if not isinstance(listed, list) or not listed:
            return data
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
                out, _ = self._parts(one, [], finished=True)
            self._cut_off(one)
            if out:
                rest.append({"index": one.number, "content": {"parts": out, "role": "model"}})
        self.ended = True
        return {"candidates": rest} if rest else None

    def _candidate(
        self, given: dict[str, Any], place: int, *, whole: bool
    ) -> dict[str, Any] | None:
        number = given.get("index")
        number = number if isinstance(number, int) else place
        one = self._candidates.setdefault(number, _Candidate(number))
        content, reason = camel(given.get("content")), given.get("finishReason")
        resumes = self._resumes and bool(given.get("continuationToken"))
        resumes = resumes and reason in (CONTINUATION, *_UNSPECIFIED)
        self.goes_on = self.goes_on or resumes
        finished = not resumes and (whole or reason not in _UNSPECIFIED)
        listed = content.get("parts")
        listed = [] if listed is None else listed if isinstance(listed, list) else [listed]
        parts, same = self._parts(one, [camel(part) for part in listed], finished=finished)
        made = self._beside(given, same=same)
        if not parts and listed:
            if not finished and not set(given) - _BY_THE_WAY:
                return None
            parts = [{"text": ""}]  # as the API ends a stream itself: a content has parts
        if parts:
            made["content"] = {"role": "model", **content, "parts": parts}
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
                made[name] = self._masked(made[name])
        return made

    def _parts(
        self, one: _Candidate, parts: list[Part], *, finished: bool
    ) -> tuple[list[Part], bool]:
        """The parts that go out now, and whether they are those that came."""
        waited, one.waiting = one.waiting, []
        queue = [*waited, *self._single(one, self._whole(one, parts, finished=finished))]
        out: list[Part] = []
        if not self.exchange.one_by_one and not finished and not one.done:
            at = next((n for n, part in enumerate(queue) if _calls_in(part)), len(queue))
            queue, one.waiting = queue[:at], queue[at:]
        judged = iter(self._judged(one, queue))
        for part in queue:
            self._part(one, part, judged, out)
        if finished:
            self._close(one, out)
            one.done = True
            if one.stripped and not one.said:
                out.append({"text": self.exchange.policy.block_message})
                one.said = True
        return out, out == parts

    def _whole(self, one: _Candidate, parts: list[Part], *, finished: bool) -> Iterator[Part]:
        """The parts; a call that comes in pieces is one part, as soon as it is whole."""
        for part in parts:
            call = camel(part.get("functionCall")) if "functionCall" in part else None
            if one.partial is None and not (call and _PIECE & set(call)):
                yield part
            elif call is None:
                one.behind.append(part)  # comes after the call that is on its way
            else:
                if one.partial is not None and call.get("name"):
                    yield from self._unfinished(one)
                yield from self._piece(one, part, call)
        if finished:
            yield from self._unfinished(one)

    def _piece(self, one: _Candidate, part: Part, call: dict[str, Any]) -> Iterator[Part]:
        one.partial = one.partial or PartialCall()
        if one.partial.add(call, {k: v for k, v in part.items() if k != "functionCall"}):
            return
        made, one.partial = one.partial, None
        if made.unreadable:
            self._refuse(one, made.call, _UNREADABLE)
        else:
            yield {**made.beside, "functionCall": made.call}
        behind, one.behind = one.behind, []
        yield from behind

    def _unfinished(self, one: _Candidate) -> Iterator[Part]:
        """Refuse a call that no piece follows; what waited behind it goes on."""
        partial, one.partial = one.partial, None
        if partial is not None:
            self._refuse(one, partial.call, CUT_OFF)
        behind, one.behind = one.behind, []
        yield from behind

    def _single(self, one: _Candidate, parts: Iterator[Part]) -> Iterator[Part]:
        """The parts that are one thing each; of one that is several nothing goes on."""
        for part in parts:
            kinds = kinds_of(part)
            if len(kinds) < 2:
                yield part
                continue
            one.stripped = True
            calls = [self._proposed(one, kind, part[kind]) for kind in _calls_in(part)]
            self.exchange.refuse(calls, _TWOFOLD)

    def _cut_off(self, one: _Candidate) -> None:
        """Refuse the calls that nobody has seen to their end, or to the end of their turn."""
        waiting, one.waiting = [*one.waiting, *self._unfinished(one)], []
        for part in waiting:
            for kind in _calls_in(part):
                self.exchange.refuse([self._proposed(one, kind, part[kind])], CUT_OFF)

    def _refuse(self, one: _Candidate, call: Any, why: str) -> None:
        one.stripped = True
        self.exchange.refuse([self._proposed(one, "functionCall", call)], why)

    def _proposed(self, one: _Candidate, kind: str, value: Any) -> Proposed:
        made = proposed(kind, value, call_name(self._turn, one.calls))
        one.calls += 1
        return made

    def _judged(self, one: _Candidate, parts: list[Part]) -> list[Judged]:
        calls = [self._proposed(one, kind, p[kind]) for p in parts for kind in _calls_in(p)]
        return self.exchange.judge(calls, choice=one.number) if calls else []

    def _part(
        self, one: _Candidate, part: Part, judged: Iterator[Judged], out: list[Part]
    ) -> None:
        kinds = kinds_of(part)
        if kinds == ["text"] and isinstance(part["text"], str):
            self._say(one, part, out)
            return
        self._close(one, out)
        if not kinds:
            out.append(part)
        elif is_call(kinds[0]):
            self._call(one, part, kinds[0], next(judged), out)
        else:
            self._other(one, part, kinds[0], out)

    def _say(self, one: _Candidate, part: Part, out: list[Part]) -> None:
        """A text: what of it may go out now."""
        thought, signed = part.get("thought") is True, part.get("thoughtSignature")
        self._chars += len(part["text"])
        kind = "thought" if thought else "text"
        if one.kind != kind:
            self._close(one, out)
        if thought and signed:
            self._close(one, out)
            out.append(part)  # signed: only the provider may change it
            return
        if one.text is None:
            one.kind, one.text = kind, self.exchange.holdback()
        passed = one.text.feed(part["text"])
        if signed:
            passed += one.text.close()
            one.kind, one.text = "", None
        if passed or signed or passed == part["text"]:
            out.append(part if passed == part["text"] else {**part, "text": passed})
        one.said = one.said or (not thought and bool(passed.strip()))

    def _close(self, one: _Candidate, out: list[Part]) -> None:
        """The end of the text that flows: what was held back of it."""
        kind, held = one.kind, one.text
        one.kind, one.text = "", None
        tail = held.close() if held is not None else ""
        if not tail:
            return
        flags = {"thought": True} if kind == "thought" else {}
        one.said = one.said or (kind == "text" and bool(tail.strip()))
        last = out[-1] if out else {}
        if kinds_of(last) == ["text"] and bool(last.get("thought")) == bool(flags):
            out[-1] = {**last, "text": last["text"] + tail}
        else:
            out.append({"text": tail, **flags})

    def _call(
        self, one: _Candidate, part: Part, kind: str, judged: Judged, out: list[Part]
    ) -> None:
        ran = kind != "functionCall"
        if ran:
            one.last = judged.proposed.id
        if not judged.keep:
            one.stripped = True
            if ran:
                one.refused.add(judged.proposed.id)
            else:
                one.signature = one.signature or part.get("thoughtSignature")
            return
        if judged.arguments is not None:
            part = {**part, kind: with_arguments(kind, part[kind], json.loads(judged.arguments))}
        if one.signature and not ran and not part.get("thoughtSignature"):
            part = {**part, "thoughtSignature": one.signature}
        if not ran:
            one.signature = None
        one.said = True
        out.append(part)

    def _other(self, one: _Candidate, part: Part, kind: str, out: list[Part]) -> None:
        """Data, and what a tool of the provider's gave back."""
        if kind in PLAIN:
            one.said = True
            out.append(part)
            return
        if kind in GIVEN_BACK:
            own = camel(part[kind]).get("id")
            if (own if isinstance(own, str) and own else one.last) in one.refused:
                return
        one.said = True
        masked = self._masked(part[kind])
        out.append(part if masked == part[kind] else {**part, kind: masked})

    def _masked(self, value: Any, depth: int = 0) -> Any:
        """A value with every text in it masked, ids and addresses apart."""
        if isinstance(value, str):
            return self.exchange.masked(value)
        if depth > 100:
            raise ValueError("the reply is nested too deeply to be checked")
        if isinstance(value, Mapping):
            return {
                key: item
                if key in ("id", "name") or str(key).lower().endswith(_SPELLED)
                else self._masked(item, depth + 1)
                for key, item in value.items()
            }
        if isinstance(value, list):
            return [self._masked(item, depth + 1) for item in value]
        return value


def _calls_in(part: Mapping[str, Any]) -> list[str]:
    """The kinds of calls that a part is: none, or one."""
    return [kind for kind in kinds_of(part) if is_call(kind)]
