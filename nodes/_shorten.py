"""A tool's result that is too long is shown shortened, in its place; the whole stays with it.

The model sees the beginning and the end, and how to read what lies between. The whole lies in the
message's artifact, which no provider gets: where it can be read (`read_rest`), a page at a time.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence

from langchain_core.messages import BaseMessage, ToolMessage

from ..guards.caller import Caller
from ..guards.verdict import canonical_json
from ._sizes import TOKENS_A_MESSAGE, start_of, tokens

READ_REST = "read_rest"
"""The tool that reads on. Its output comes through the guard as any other tool's."""

FOR = "for"
"""In a result's artifact: for whom the call was made; absent where the program did not say."""

WHOLE = "whole"
"""In a shortened result's artifact: its text as it was."""

SMALLEST = 64
"""Tokens to which a result is shortened at most, the note on what is left out included."""
_NOTE_TOKENS = 40
_HEAD = 0.7
"""The share of the beginning in what is shown."""

GONE = (
    "There is no shortened result of a call {call!r} (any more). If its text is still needed, run"
    " the tool again."
)


def reads_own(message: ToolMessage | None, caller: Caller) -> bool:
    """Whether a result came back to the caller who would read on in it: a thread may serve
    several, of whom not each may call what the others may."""
    artifact = message.artifact if message is not None else None
    kept = artifact.get(FOR, "") if isinstance(artifact, dict) else ""
    return message is not None and kept == mark_of(caller)


def mark_of(caller: Caller) -> str:
    """What stands in a result's artifact for the caller whom it was given to; empty: nobody."""
    if not (caller.user or caller.tenant):
        return ""
    return hashlib.sha256(canonical_json([caller.user, caller.tenant]).encode()).hexdigest()[:16]


def shortened(message: ToolMessage, most: int, *, readable: bool) -> ToolMessage:
    """The result cut to about `most` tokens, or as it is where it takes no more.

    `readable`: whether the model has the tool that reads the rest.
    """
    text = whole_of(message)
    if tokens(message) <= most or not text:
        return message
    carried = [b for b in message.content if isinstance(b, dict) and b.get("type") != "text"]
    if isinstance(message.content, str):
        carried = []
    shown = max(most, SMALLEST) - _NOTE_TOKENS - TOKENS_A_MESSAGE
    first = _at_a_break(text, start_of(text, int(shown * _HEAD)))
    last = len(text) - start_of(text[::-1], shown - int(shown * _HEAD))
    if last <= first:
        return message
    note = _note(message.tool_call_id, first, last, len(text), readable=readable)
    cut = f"{text[:first]}\n{note}\n{text[last:]}"
    artifact = message.artifact if isinstance(message.artifact, dict) else {}
    return message.model_copy(
        update={
            "content": [{"type": "text", "text": cut}, *carried] if carried else cut,
            "artifact": {**artifact, WHOLE: text} if readable else message.artifact,
        }
    )


def whole_of(message: ToolMessage) -> str:
    """A result's text, all of it, also where it is shown shortened."""
    artifact = message.artifact
    kept = artifact.get(WHOLE) if isinstance(artifact, dict) else None
    return kept if isinstance(kept, str) else message.text


def is_shortened(message: BaseMessage) -> bool:
    """Whether this is a result of which the model sees a part, and can read the rest."""
    return (
        isinstance(message, ToolMessage)
        and isinstance(message.artifact, dict)
        and WHOLE in message.artifact
    )


def rest_of(
    messages: Iterable[BaseMessage], call: str, *, start: int = 0, find: str = "", most: int
) -> str:
    """A page of a shortened result: about `most` tokens from `start`, or from where `find` next
    stands. What cannot be read is said in words."""
    found = next(
        (m for m in messages if is_shortened(m) and getattr(m, "tool_call_id", "") == call), None
    )
    if not isinstance(found, ToolMessage):
        return GONE.format(call=call[:80])
    text = whole_of(found)
    start = min(max(start, 0), len(text))
    if find:
        at = _position(text, find, start)
        if at < 0:
            return f"Nothing like that stands in the result of {call} from {start} on."
        start = at
    end = start + start_of(text[start:], most)
    if end < len(text):
        end = start + _at_a_break(text[start:], end - start)
        way = f"go on with start={end}"
    else:
        way = "this is its end"
    return f"{text[start:end]}\n[{start} to {end} of {len(text)} characters; {way}]"


def calls_with_a_rest(messages: Sequence[BaseMessage]) -> list[str]:
    """The ids of the calls whose results are shown shortened."""
    return [str(getattr(m, "tool_call_id", "")) for m in messages if is_shortened(m)]


def _position(text: str, find: str, start: int) -> int:
    at = text.find(find, start)
    if at >= 0:
        return at
    lower = text.lower()
    # In a few scripts lower case is longer: a position there would be none in the text.
    return lower.find(find.lower(), start) if len(lower) == len(text) else -1


def _at_a_break(text: str, end: int) -> int:
    """`end`, or a little before it where a line or a word ends."""
    for sign in ("\n", " "):
        at = text.rfind(sign, end - end // 5, end)
        if at > 0:
            return at + 1
    return end


def _note(call: str, first: int, last: int, length: int, *, readable: bool) -> str:
    left = f"[... {last - first} of {length} characters are left out here"
    if not readable:
        return f"{left}; if they are needed, ask for less at once ...]"
    return f"{left}; {READ_REST}(call={call!r}, start={first}) shows them ...]"


def cut_text(text: str, most: int) -> str:
    """Beginning and end of a text, about `most` tokens, for a model that sums it up."""
    first = start_of(text, int(most * _HEAD))
    last = len(text) - start_of(text[::-1], most - int(most * _HEAD))
    return text if last <= first else f"{text[:first]} [...] {text[last:]}"
