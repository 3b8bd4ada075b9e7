"""One candidate of a reply: what of its parts goes on, and when.

Text goes through a holdback, which keeps back what could still become part of a secret; a call
comes whole, or is put together, and is judged before it goes on. What stays keeps its order, and a
signature its part.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from ...conversation import Proposed
from ...streamed import Streamed
from .._cut_off import CUT_OFF
from .._exchange import Exchange, Judged
from .partial import PartialCall
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

MAX_DEPTH = 100
_TWOFOLD = "a part that is several things at once"
_UNREADABLE = "its arguments came in pieces that do not fit together"
_PIECE = {"partialArgs", "willContinue"}
_SPELLED = ("uri", "domain", "title")
"""Fields of what the provider says about its sources that are no text of the model's."""

Part = dict[str, Any]


class Candidate:
    """One candidate of a reply: parts in, the parts that go out."""

    def __init__(self, exchange: Exchange, number: int, turn: int) -> None:
        self.number = number
        self.done = False
        """Whether the provider has said why it ended."""
        self.chars = 0
        """Characters that the model wrote."""
        self._exchange, self._turn = exchange, turn
        self._kind = ""  # of the text that flows at the moment
        self._text: Streamed | None = None
        self._waiting: list[Part] = []  # calls that have a say in each other, and what follows them
        self._partial: PartialCall | None = None
        self._behind: list[Part] = []  # what came after a call that is on its way
        self._calls = 0
        self._stripped = False
        self._said = False  # whether something was sent on that a reader sees, or a call
        self._signature: Any = None  # of a call that was taken out: the next call needs one
        self._refused: set[str] = set()  # calls that ran at the provider: their results go, too
        self._last = ""  # the last call that ran there

    def parts(self, parts: list[Part], *, finished: bool) -> tuple[list[Part], bool]:
        """The parts that go out now, and whether they are those that came."""
        queue = list(self._single(self._whole(parts, finished=finished)))
        out: list[Part] = []
        waits = not self._exchange.one_by_one and not finished and not self.done
        if waits and self._waiting:
            self._waiting += queue
            return out, out == parts
        queue, self._waiting = [*self._waiting, *queue], []
        if waits:
            at = next((n for n, part in enumerate(queue) if _calls_in(part)), len(queue))
            queue, self._waiting = queue[:at], queue[at:]
        judged = iter(self._judged(queue))
        for part in queue:
            self._part(part, judged, out)
        if finished:
            self._close(out)
            self.done = True
            if self._stripped and not self._said:
                out.append({"text": self._exchange.policy.block_message})
                self._said = True
        return out, out == parts

    def _whole(self, parts: list[Part], *, finished: bool) -> Iterator[Part]:
        """The parts; a call that comes in pieces is one part, as soon as it is whole."""
        for part in parts:
            call = camel(part.get("functionCall")) if "functionCall" in part else None
            if self._partial is None and not (call and _PIECE & set(call)):
                yield part
            elif call is None:
                self._behind.append(part)  # comes after the call that is on its way
            else:
                if self._partial is not None and call.get("name"):
                    yield from self._unfinished()
                yield from self._piece(part, call)
        if finished:
            yield from self._unfinished()

    def _piece(self, part: Part, call: dict[str, Any]) -> Iterator[Part]:
        self._partial = self._partial or PartialCall()
        if self._partial.add(call, {k: v for k, v in part.items() if k != "functionCall"}):
            return
        made, self._partial = self._partial, None
        if made.unreadable:
            self._refuse(made.call, _UNREADABLE)
        else:
            yield {**made.beside, "functionCall": made.call}
        behind, self._behind = self._behind, []
        yield from behind

    def _unfinished(self) -> Iterator[Part]:
        """Refuse a call that no piece follows; what waited behind it goes on."""
        partial, self._partial = self._partial, None
        if partial is not None:
            self._refuse(partial.call, CUT_OFF)
        behind, self._behind = self._behind, []
        yield from behind

    def _single(self, parts: Iterator[Part]) -> Iterator[Part]:
        """The parts that are one thing each; of one that is several nothing goes on."""
        for part in parts:
            kinds = kinds_of(part)
            if len(kinds) < 2:
                yield part
                continue
            self._stripped = True
            calls = [self._proposed(kind, part[kind]) for kind in _calls_in(part)]
            self._exchange.refuse(calls, _TWOFOLD)

    def cut_off(self) -> None:
        """Refuse the calls that nobody has seen to their end, or to the end of their turn."""
        waiting, self._waiting = [*self._waiting, *self._unfinished()], []
        for part in waiting:
            for kind in _calls_in(part):
                self._exchange.refuse([self._proposed(kind, part[kind])], CUT_OFF)

    def _refuse(self, call: Any, why: str) -> None:
        self._stripped = True
        self._exchange.refuse([self._proposed("functionCall", call)], why)

    def _proposed(self, kind: str, value: Any) -> Proposed:
        made = proposed(kind, value, call_name(self._turn, self._calls))
        self._calls += 1
        return made

    def _judged(self, parts: list[Part]) -> list[Judged]:
        calls = [self._proposed(kind, p[kind]) for p in parts for kind in _calls_in(p)]
        return self._exchange.judge(calls, choice=self.number) if calls else []

    def _part(self, part: Part, judged: Iterator[Judged], out: list[Part]) -> None:
        kinds = kinds_of(part)
        if kinds == ["text"] and isinstance(part["text"], str):
            self._say(part, out)
            return
        self._close(out)
        if not kinds:
            out.append(part)
        elif is_call(kinds[0]):
            self._call(part, kinds[0], next(judged), out)
        else:
            self._other(part, kinds[0], out)

    def _say(self, part: Part, out: list[Part]) -> None:
        """A text: what of it may go out now."""
        thought, signed = part.get("thought") is True, part.get("thoughtSignature")
        self.chars += len(part["text"])
        kind = "thought" if thought else "text"
        if self._kind != kind:
            self._close(out)
        if thought and signed:
            self._close(out)
            out.append(part)  # signed: only the provider may change it
            return
        if self._text is None:
            self._kind, self._text = kind, self._exchange.holdback()
        passed = self._text.feed(part["text"])
        if signed:
            passed += self._text.close()
            self._kind, self._text = "", None
        if passed or signed or passed == part["text"]:
            out.append(part if passed == part["text"] else {**part, "text": passed})
        self._said = self._said or (not thought and bool(passed.strip()))

    def _close(self, out: list[Part]) -> None:
        """The end of the text that flows: what was held back of it."""
        kind, held = self._kind, self._text
        self._kind, self._text = "", None
        tail = held.close() if held is not None else ""
        if not tail:
            return
        flags = {"thought": True} if kind == "thought" else {}
        self._said = self._said or (kind == "text" and bool(tail.strip()))
        last = out[-1] if out else {}
        if kinds_of(last) == ["text"] and bool(last.get("thought")) == bool(flags):
            out[-1] = {**last, "text": last["text"] + tail}
        else:
            out.append({"text": tail, **flags})

    def _call(self, part: Part, kind: str, judged: Judged, out: list[Part]) -> None:
        ran = kind != "functionCall"
        if ran:
            self._last = judged.proposed.id
        if not judged.keep:
            self._stripped = True
            if ran:
                self._refused.add(judged.proposed.id)
            else:
                self._signature = self._signature or part.get("thoughtSignature")
            return
        if judged.arguments is not None:
            part = {**part, kind: with_arguments(kind, part[kind], json.loads(judged.arguments))}
        if self._signature and not ran and not part.get("thoughtSignature"):
            part = {**part, "thoughtSignature": self._signature}
        if not ran:
            self._signature = None
        self._said = True
        out.append(part)

    def _other(self, part: Part, kind: str, out: list[Part]) -> None:
        """Data, and what a tool of the provider's gave back."""
        if kind in PLAIN:
            self._said = True
            out.append(part)
            return
        if kind in GIVEN_BACK:
            own = camel(part[kind]).get("id")
            if (own if isinstance(own, str) and own else self._last) in self._refused:
                return
            # As in a request: in a tool's data a field called `title` is the tool's own.
            masked = self._exchange.masked_data({kind: part[kind]})[kind]
        else:
            masked = masked_leaves(self._exchange, part[kind])
        self._said = True
        out.append(part if masked == part[kind] else {**part, kind: masked})


def _calls_in(part: Mapping[str, Any]) -> list[str]:
    """The kinds of calls that a part is: none, or one."""
    return [kind for kind in kinds_of(part) if is_call(kind)]


def masked_leaves(exchange: Exchange, value: Any, depth: int = 0) -> Any:
    """A value with every text in it masked, ids, names and addresses apart.

    Raises:
        ValueError: it is nested too deeply.
    """
    if isinstance(value, str):
        return exchange.masked(value)
    if depth > MAX_DEPTH:
        raise ValueError("the reply is nested too deeply to be checked")
    if isinstance(value, Mapping):
        return {
            key: item
            if key in ("id", "name") or str(key).lower().endswith(_SPELLED)
            else masked_leaves(exchange, item, depth + 1)
            for key, item in value.items()
        }
    if isinstance(value, list):
        return [masked_leaves(exchange, item, depth + 1) for item in value]
    return value
