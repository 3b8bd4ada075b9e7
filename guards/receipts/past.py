"""What a receipt says of the past of its call, so that the call can be decided again (`history`).

Of the thread's ledger a receipt holds what came since the receipt before it, and names that one: so
its cost does not grow with the thread, and whoever follows the receipts back has the whole. A
result stands there as the ledger read it, with the call that it answers: another policy may believe
other parts of it. Secrets are masked, and what is too long to be kept is said to be missing.

    "past": {"after": "9f…-16", "calls": {"read_mail": 1}, "tokens": 120,
             "entries": [{"tool": "read_mail", "text": "…"}]}
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..caller import Caller
from ..ledger import USER, Entry, History, Ledger
from ..redact import Redactor
from ..vault import PLACEHOLDER
from ..veil import Veil
from ..verdict import Arguments, ToolCall, canonical_json

if TYPE_CHECKING:
    from ..rules.sequence import Order

RAN = "ran"
"""The key of a ledger's entry under which the whole result stands, with the call's arguments."""

SHOWN_ONLY = "shown"
"""Marks an entry made of a message alone, such as a refusal: no policy believes anything in it."""

TOLD = "told"
"""Of a thread's counters: how many entries of the ledger stand in receipts, and the last receipt
that says so."""

MAX_TEXT = 100_000
"""Characters of one result, or of one message of the user's, that are kept."""

MAX_NEW = 1_000_000
"""Characters of all that one receipt tells of."""

MAX_PIECES, MAX_PIECE, MAX_TOOLS = 100, 300, 1_000

Past = dict[str, Any]

UNKEPT = {"unkept": True}
"""Stands for what was seen before a thread's history was kept."""


def result_kept(
    call: ToolCall,
    text: str,
    redactor: Redactor,
    caller: Caller,
    *,
    failed: bool,
    withheld: bool,
) -> dict[str, Any]:
    """What an entry keeps of the result that it was made of, for `receipts: history`."""
    arguments = redactor.value(call.arguments)
    if len(text) > MAX_TEXT or _size(arguments) > MAX_TEXT:
        return {"long": True}
    kept = {
        "arguments": arguments,
        "text": text,
        "failed": failed,
        "withheld": withheld,
        "user": caller.user,
        "tenant": caller.tenant,
    }
    return {name: value for name, value in kept.items() if value or name == "text"}


def past_of(
    call: ToolCall,
    history: History,
    new: list[dict[str, Any]],
    *,
    redactor: Redactor,
    veil: Veil,
    order: Order | None,
) -> Past:
    """The past on which a call was decided, as its receipt tells it.

    `new` are the entries that no receipt of the thread has told of (`new_in`).
    """
    shown = veil.call(call).arguments
    masked = redactor.value(shown)
    pieces = history.sent
    told: dict[str, Any] = {
        "calls": dict(list(history.calls.items())[:MAX_TOOLS]),
        "sent": [piece[:MAX_PIECE] for piece in pieces[-MAX_PIECES:]],
        "roles": list(history.caller.roles),
        "granted": sorted(history.granted),
        "gap": history.ledger.gap,
        "fault": call.fault or "",
    }
    told = redactor.value(veil.value(told))
    told |= {
        "entries": new,
        "tokens": history.tokens_used,
        "used": _finite(history.used),
        "hidden": veil.vault is not None and _hides(shown),
        "masked": masked != shown,
        "long": _size(masked) > MAX_TEXT
        or len(pieces) > MAX_PIECES
        or any(len(piece) > MAX_PIECE for piece in pieces),
    }
    if order is not None and history.order is not None:
        told["order"] = {"key": order.automata.key, "states": list(history.order)}
    return {key: value for key, value in told.items() if value not in ("", 0, False, [], {}, None)}


def new_in(ledger: Ledger, start: int, redactor: Redactor) -> list[dict[str, Any]]:
    """The ledger's entries from `start` on, secrets masked; what is too long is said to be missing.

    Of what is masked already the text stays as it is, so that replay reads what the ledger read.
    """
    found, room = list[dict[str, Any]](), MAX_NEW
    for entry in ledger[start:]:
        if entry.get(SHOWN_ONLY):
            continue
        told = redactor.value(_told(entry))
        room -= _size(told)
        found.append(told if room >= 0 else {"long": True})
    return found


def _told(entry: Entry) -> dict[str, Any]:
    if entry.get("source") == USER:
        text = str(entry.get("text") or "")
        return {"said": text} if len(text) <= MAX_TEXT else {"long": True}
    ran = entry.get(RAN)
    if not isinstance(ran, Mapping):
        return UNKEPT
    tool = str(entry.get("source")).removeprefix("tool ")
    return {"tool": tool, "call": str(entry.get("call") or ""), **ran}


def _finite(used: Mapping[str, Mapping[str, float]] | None) -> dict[str, dict[str, Any]] | None:
    """What was used, as JSON can hold it: None where nobody could count it."""
    if used is None:
        return None
    return {
        scope: {name: amount if math.isfinite(amount) else None for name, amount in amounts.items()}
        for scope, amounts in used.items()
    }


def _hides(arguments: Arguments) -> bool:
    """Whether a placeholder stands in the arguments: what it stands for cannot be judged again."""
    return PLACEHOLDER.search(canonical_json(arguments)) is not None


def _size(value: Any) -> int:
    """Characters of a JSON value as it is written; of what is none, more than are kept."""
    try:
        return len(value) if isinstance(value, str) else len(canonical_json(value))
    except (TypeError, ValueError, RecursionError):
        return MAX_TEXT + 1
