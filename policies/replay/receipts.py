"""The threads of a log of receipts. Each receipt names the one before it in its thread.

The log is read twice: once to see which receipt follows which, and once thread by thread, so that
only one thread is in memory. Where a thread went on twice from one place (a step that was run
again, a thread that was taken back), each branch is a thread with what it has in common with the
first gone through again.
"""

from __future__ import annotations

import json
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any

from ...guards.caller import Caller
from ...guards.verdict import ToolCall
from .recorded import (
    HIDDEN,
    Known,
    Lost,
    Recorded,
    Said,
    Step,
    Steps,
    Turn,
    old_of,
    returned,
    secrets_in,
)

Body = Mapping[str, Any]
Opened = AbstractContextManager[Callable[[int], bytes]]

NO_ARGUMENTS = "its receipt does not hold the arguments (the policy says no `receipts: history`)"
NO_HISTORY = "its receipt does not hold what went before (the policy says no `receipts: history`)"
NO_VERDICT = "it is no receipt of a verdict"
TOO_LONG = "what it was decided on is too long to be kept"
UNKEPT = "its thread began before `receipts: history`"
CUT_OFF = "the receipts before it are not in this log"
BRANCHED = "the threads of this log went on twice so often that not all can be gone through again"

MOST_AGAIN = 20
"""How often a log's lines are gone through again at most, all branches taken together: what is
beyond would make a log of many branches cost the square of its length."""

_FIRST, _UNKNOWN = -1, -2


class ReceiptLines:
    """The lines of a log by their numbers, and which of them follow on which."""

    def __init__(self, lines: Iterable[bytes], opened: Callable[[], Opened]) -> None:
        """`lines` are all of them, with their ends; `opened` gives one by its number from 0.

        Raises:
            ValueError: one is no line of a log.
        """
        self._opened = opened
        self._before = array("q")
        self._beside = bytearray()
        numbers: dict[str, int] = {}
        for number, text in enumerate(lines):
            if not text.endswith(b"\n"):
                break  # its writer was stopped
            body = self._body(text, number)
            past = _past(body)
            after = str(past.get("after") or "")
            self._before.append(numbers.get(after, _UNKNOWN) if after else _FIRST)
            self._beside.append(past.get("beside") is True)
            numbers[str(body.get("receipt"))] = number

    def __len__(self) -> int:
        return len(self._before)

    def threads(self) -> Iterator[Steps]:
        """Every thread, step by step."""
        with self._opened() as line:
            for path, known in self._paths():
                yield self._steps(path, known, line)

    def _paths(self) -> Iterator[tuple[list[int], int]]:
        """Numbers of lines that follow one another, from the first of a thread (or from as far back
        as may be gone through again) to its last, and how many of them stood in an earlier path."""
        left = MOST_AGAIN * len(self)
        later: dict[int, list[int]] = {}
        starts = []
        for number, before in enumerate(self._before):
            if before >= 0:
                later.setdefault(before, []).append(number)
            else:
                starts.append(number)
        starts.reverse()
        while starts:
            path = [starts.pop()]
            while (before := self._before[path[-1]]) >= 0 and left:
                path.append(before)
                left -= 1
            path.reverse()
            known = len(path) - 1
            while following := later.get(path[-1]):
                starts += following[:0:-1]
                path.append(following[0])
            yield path, known

    def _steps(
        self, path: Sequence[int], known: int, line: Callable[[int], bytes]
    ) -> Iterator[Step]:
        if (before := self._before[path[0]]) != _FIRST:
            yield Lost(CUT_OFF if before == _UNKNOWN else BRANCHED)
        turn: list[Recorded] = []
        again = False
        for place, number in enumerate(path):
            if turn and not self._beside[number]:
                yield Turn(tuple(turn), again)
                turn = []
            body = self._body(line(number), number)
            try:
                entries = [_step(entry) for entry in _past(body).get("entries") or ()]
                recorded = _recorded(body, f"record {number}")
            except (KeyError, TypeError, ValueError, AttributeError, OverflowError):
                raise ValueError(f"record {number}: is no receipt of this program") from None
            yield from entries
            again = place < known
            turn.append(recorded)
        yield Turn(tuple(turn), again)

    @staticmethod
    def _body(line: bytes, number: int) -> Body:
        try:
            body = json.loads(line)["body"]
        except (ValueError, KeyError, TypeError, RecursionError):
            body = None
        if not isinstance(body, dict):
            raise ValueError(f"record {number}: is no line of a log of receipts")
        return body


def _past(body: Body) -> Body:
    past = body.get("past")
    return past if isinstance(past, Mapping) else {}


def _step(entry: Body) -> Step:
    """An entry of a past as the step that it tells of."""
    if entry.get("unkept"):
        return Lost(UNKEPT)
    if entry.get("long"):
        return Lost(TOO_LONG)
    if "said" in entry:
        return Said(str(entry["said"]))
    return returned(str(entry["tool"]), str(entry["call"]), entry)


def _recorded(body: Body, place: str) -> Recorded:
    past, arguments = _past(body), body.get("arguments")
    old = old_of(body)
    if old is None or "tool" not in body:
        return Recorded(str(body.get("receipt") or place), place, ToolCall(""), why_not=NO_VERDICT)
    call = ToolCall(
        str(body.get("tool") or ""),
        dict(arguments or {}),
        id=str(body.get("id") or ""),
        fault=None if past.get("fault") is None else str(past["fault"]),
    )
    roles = tuple(map(str, past.get("roles") or ()))
    return Recorded(
        name=str(body["receipt"]),
        place=place,
        call=call,
        old=old,
        known=_known(past),
        caller=Caller(str(body.get("user") or ""), str(body.get("tenant") or ""), roles),
        thread=str(body.get("thread") or ""),
        time=str(body.get("time") or ""),
        strategy=str(body.get("strategy") or ""),
        secrets=secrets_in(call, old),
        masked=bool(past.get("masked")),
        why_not=_why_not(body, past),
    )


def _why_not(body: Body, past: Body) -> str:
    if "arguments" not in body:
        return NO_ARGUMENTS
    if "past" not in body:
        return NO_HISTORY
    return HIDDEN if past.get("hidden") else TOO_LONG if past.get("long") else ""


def _known(past: Body) -> Known:
    used = past.get("used")
    order = past.get("order")
    return Known(
        calls=dict(past.get("calls") or {}),
        tokens=int(past.get("tokens") or 0),
        used=None if used is None else _amounts(used),
        sent=tuple(past.get("sent") or ()),
        gap=str(past.get("gap") or ""),
        granted=frozenset(map(str, past.get("granted") or ())),
        order=None if order is None else (str(order["key"]), tuple(map(int, order["states"]))),
    )


def _amounts(used: Mapping[str, Mapping[str, float | None]]) -> dict[str, dict[str, float]]:
    """What was used; what nobody could count is beyond every limit."""
    return {
        scope: {name: float("inf") if amount is None else amount for name, amount in own.items()}
        for scope, own in used.items()
    }
