"""Thinking that a model writes into its answer, in tags, told from the answer.

Self-hosted models write `<think>...</think>` before what they mean to say; the opening tag may be
missing (it stood in the server's prompt), and so may the closing one (the answer was cut off).
Tool calls written as text, inside the thinking or outside, stay text.
"""

from __future__ import annotations

import re

_TAG = re.compile(r"<(/?)think(?:ing)?>", re.IGNORECASE)
_PARTIAL = "</thinking>"


def split_thinking(text: str) -> tuple[str, str]:
    """`text` as `(answer, thinking)`. Without tags, all of it is the answer, unchanged."""
    if not _TAG.search(text):
        return text, ""
    answer: list[str] = []
    thought: list[str] = []
    inside, at = False, 0
    for tag in _TAG.finditer(text):
        piece = text[at : tag.start()]
        at = tag.end()
        if inside:
            thought.append(piece)
        elif tag[1]:  # a closing tag alone: all before it was thinking
            thought += [*answer, piece]
            answer = []
        else:
            answer.append(piece)
        inside = not tag[1]
    (thought if inside else answer).append(text[at:])
    return "".join(answer).strip(), "".join(thought).strip()


class ThinkingFilter:
    """The same for a stream, text coming in pieces.

    With `from_start`, the text is held back until a closing tag or its end says what it was:
    for models whose opening tag is in the prompt. Otherwise a closing tag alone comes too late
    for what was passed on before it.
    """

    def __init__(self, *, from_start: bool = False) -> None:
        self._held = ""
        self._inside = False
        self._undecided = from_start
        self._started = False

    def feed(self, text: str) -> tuple[str, str]:
        """Take a piece; returns what of the answer and of the thinking is certain now."""
        self._held += text
        answer: list[str] = []
        thought: list[str] = []
        while tag := _TAG.search(self._held):
            piece, self._held = self._held[: tag.start()], self._held[tag.end() :]
            closing = bool(tag[1])
            is_thought = self._inside or (closing and (self._undecided or not self._started))
            (thought if is_thought else answer).append(piece)
            self._inside, self._undecided = not closing, False
        if not self._undecided:
            safe = len(self._held) - _tag_begun(self._held)
            piece, self._held = self._held[:safe], self._held[safe:]
            (thought if self._inside else answer).append(piece)
        return self._answered("".join(answer)), "".join(thought)

    def close(self) -> tuple[str, str]:
        """What was held back at the end of the stream."""
        rest, self._held = self._held, ""
        return ("", rest) if self._inside else (self._answered(rest), "")

    def _answered(self, text: str) -> str:
        if not self._started:
            text = text.lstrip() if self._tagged() else text
            self._started = bool(text.strip())
        return text

    def _tagged(self) -> bool:
        return not self._undecided


def _tag_begun(text: str) -> int:
    """How many characters at the end of `text` may be the beginning of a tag."""
    at = text.rfind("<", max(0, len(text) - len(_PARTIAL) + 1))
    if at < 0:
        return 0
    tail = text[at:].lower()
    tags = ("<think>", "</think>", "<thinking>", "</thinking>")
    return len(tail) if any(tag.startswith(tail) for tag in tags) else 0
