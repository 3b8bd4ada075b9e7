"""The story of a receipt log: each record a decision, by whichever door it was made."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from ...guards.ledger import USER, Ledger
from ...guards.receipts.chain import parsed, verify
from ...guards.receipts.keys import verifier
from ...guards.receipts.stores import read_log
from ...guards.verdict import Origin
from .story import (
    Argument,
    Call,
    Seal,
    Step,
    Story,
    arguments_of,
    mapping_of,
    mappings_in,
    text_of,
)

FACTS = ("agent", "user", "tenant", "door", "policy", "strategy")
OF_A_CALL = (
    *("receipt", "fingerprint", "policy", "policy_problem", "strategy"),
    *("agent", "door", "user", "tenant"),
)


def story_of_log(path: Path, *, thread: str | None, key: Path | None, limit: int) -> Story:
    """The records of a log, or those of one thread.

    `key`: what checks the log; None: it is not checked, which the story says.

    Raises:
        ValueError: there is no record, or none of that thread.
        OSError, sqlite3.Error: it cannot be read.
    """
    story = Story(path.name if thread is None else thread, limit=limit)
    story.know("log", path.name)
    past: dict[str, _Past] = {}
    for number, line in enumerate(read_log(path)[0]):
        body = _body(line)
        if body is None:
            story.add(Step("note", text=f"Record {number} cannot be read: it is not whole."))
            continue
        name = text_of(body.get("thread"))
        if thread is None or name == thread:
            if name not in past:
                past[name] = _Past()
            _tell(story, body, past[name], number)
    if story.told and not past and thread is None:
        raise ValueError(f"{path}: no line of it is a record; allowed: a log of receipts")
    if thread is not None and not past:
        raise ValueError(f"{path}: no record is of the thread {thread!r}")
    if thread is None:
        for name in past:
            story.know("thread", name)
    story.seal = _seal(path, key)
    return story


class _Past:
    """What is known of a thread where its next record stands."""

    def __init__(self) -> None:
        self.ledger = Ledger()
        self.told = False
        """Whether records tell what the thread has seen."""
        self.calls: dict[str, Call] = {}


def _body(line: bytes) -> dict[str, Any] | None:
    try:
        return parsed(line.rstrip(b"\n")).body
    except ValueError:
        return None


def _tell(story: Story, body: Mapping[str, Any], past: _Past, number: int) -> None:
    time, thread = text_of(body.get("time")), text_of(body.get("thread"))
    for label in FACTS:
        story.know(label, body.get(label))
    past.told = past.told or "past" in body
    for step in _before(mapping_of(body.get("past")), past, time, thread):
        story.add(step)
    call = Call(text_of(body.get("id")), text_of(body.get("tool")))
    call.decided(body)
    story.words[call.word] += 1
    story.know("answered by", call.approval.get("by"))
    if "arguments" in body:
        known = past.ledger if past.told else None
        call.arguments = [_told(a, call) for a in arguments_of(body["arguments"], known)]
    facts = [("record", str(number)), ("call", call.id)]
    facts += [(name.replace("_", " "), text_of(body.get(name))) for name in OF_A_CALL]
    call.facts = tuple((label, text) for label, text in facts if text)
    if past.told:  # else no record says what came back
        past.calls[call.id] = call
    story.add(Step("decision", time, f"Record {number}", calls=(call,), thread=thread))


def _told(argument: Argument, call: Call) -> Argument:
    """An argument with what the record says of it: that it was edited, or where a rule saw it."""
    edited = call.approval.get("edited")
    if isinstance(edited, list) and re.split(r"[.\[]", argument.path, maxsplit=1)[0] in edited:
        return replace(argument, edited=True)
    if argument.seen is not None:
        return argument
    spoke = [rule for rule in call.rules if rule.get("argument") == argument.path]
    seen = [(text_of(rule.get("value")), Origin(text_of(rule.get("origin")))) for rule in spoke]
    return replace(argument, seen=tuple(pair for pair in seen if pair[1].source) or None)


def _before(told: Mapping[str, Any], past: _Past, time: str, thread: str) -> Iterable[Step]:
    """What came between the record before and this one, where records tell of it."""
    for entry in mappings_in(told.get("entries")):
        said, result = text_of(entry.get("said")), text_of(entry.get("text"))
        source = USER if said else f"tool {text_of(entry.get('tool'))}"
        call_id = text_of(entry.get("call"))
        seen = past.ledger.observed(said or result, source=source, call_id=call_id)
        if seen is not None:
            past.ledger.grow(seen)
        if said:
            yield Step("user", time, text=said, thread=thread)
        elif call_id in past.calls:
            call = past.calls.pop(call_id)
            call.result, call.failed = result, bool(entry.get("failed"))
        elif result:
            yield Step("result", time, text=result, thread=thread)


def _seal(path: Path, key: Path | None) -> Seal:
    if key is None:
        return Seal(None, "Not checked: there is no key beside the log.")
    lines, head = read_log(path)
    found = verify(lines, verifier(key), head=head)
    if found.fault:
        return Seal(False, f"Record {found.records}: {found.fault}.")
    note = f" {found.note}." if found.note else ""
    return Seal(True, f"All {found.records} records of the log are as they were written.{note}")
