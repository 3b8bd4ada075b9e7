"""One receipt: a verdict, whose call it was, by which door, under which policy."""

from __future__ import annotations

import itertools
import os
import secrets
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timezone
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from ..audit import Record
from ..ledger import History
from ..verdict import Arguments
from .past import Past

if TYPE_CHECKING:
    from ..decide import Policy

_numbers = itertools.count()
_SAFE = frozenset({"fingerprint", "policy", "strategy", "word"})
"""Fields in which only this program writes."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where calls are decided: what is the same for all receipts of one door."""

    door: str
    agent: str = ""
    strategy: str = ""
    """Digest of the strategy; empty where there is none."""


@lru_cache(maxsize=1)
def _session(process: int) -> str:
    """This process, in every receipt that it writes: one that was forked is another."""
    return secrets.token_hex(16)


def _now() -> str:
    """The time in UTC, to the microsecond, as ISO 8601."""
    micros = time.time_ns() // 1_000
    return f"{_second(micros // 1_000_000)}.{micros % 1_000_000:06}+00:00"


@lru_cache(maxsize=1)
def _second(seconds: int) -> str:
    return datetime.fromtimestamp(seconds, timezone.utc).strftime("%Y-%m-%dT%H:%M:%S")


def receipt(
    record: Record,
    history: History,
    place: Place,
    policy: Policy,
    *,
    arguments: Arguments | None = None,
    past: Past | None = None,
) -> dict[str, Any]:
    """A verdict's record as a receipt: no secret in it, fields that say nothing left out.

    `policy` is the one that decided; where it counts although its file says something else, the
    receipt says why (`policy_problem`). `arguments` stand in it where they are given, masked; their
    fingerprint always does. `past` is masked already.
    """
    caller, thread, agent = history.caller, history.thread, place.agent
    body: dict[str, Any] = {}
    for key, value in record.items():
        if value:
            body[key] = value
    # Names and ids are the model's to choose, an approval's words a person's.
    texts = [
        f"{record['id']}\n{record['tool']}\n{record['reason']}\n"
        f"{thread}\n{agent}\n{caller.user}\n{caller.tenant}",
    ]
    for said in record["rules"]:
        texts += said.values()
    if "shadow" in body:
        texts += _texts(body["shadow"])
    if "approval" in body:
        texts += _texts(body["approval"])
    if thread:
        body["thread"] = thread
    if agent:
        body["agent"] = agent
    if caller.user:
        body["user"] = caller.user
    if caller.tenant:
        body["tenant"] = caller.tenant
    if place.strategy:
        body["strategy"] = place.strategy
    if policy.problem:
        body["policy_problem"] = policy.problem
        texts.append(policy.problem)
    if arguments is not None:
        body["arguments"] = arguments
    if arguments is not None or policy.redactor.finds("\n".join(texts)):
        body = policy.redactor.value(body) | {key: body[key] for key in _SAFE & body.keys()}
    session = _session(os.getpid())
    body["receipt"] = f"{session}-{next(_numbers)}"
    body["time"] = _now()
    body["session"] = session
    body["door"] = place.door
    if past is not None:
        body["past"] = past
    return body


def _texts(fields: Mapping[str, Any]) -> list[str]:
    """The texts of a receipt's field in which others may have written."""
    found: list[str] = []
    for key, value in fields.items():
        if isinstance(value, str):
            if key not in _SAFE:
                found.append(value)
        elif isinstance(value, dict):
            found += _texts(value)
        elif isinstance(value, list | tuple):  # what rules say, or names of arguments
            for inner in value:
                found += inner.values() if isinstance(inner, dict) else [inner]
    return found
