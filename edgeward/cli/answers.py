"""Answers from the command line, for calls that wait where nobody sits at a terminal."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from .approvals import user
from .failures import lines_of
from .session import Answers, Asked, Questions


class Given:
    """Answers from the command line first; what they leave open goes to `rest`."""

    def __init__(self, answers: Answers, *, rest: Asked) -> None:
        self._answers = dict(answers)
        self._rest = rest

    def __call__(self, questions: Questions) -> Answers | None:
        """The answers to all of the questions, or None.

        Raises:
            ValueError: some are answered and some are not; they go back all at once.
        """
        found = {q["id"]: self._answers.pop(q["id"]) for q in questions if q["id"] in self._answers}
        still_open = [q for q in questions if q["id"] not in found]
        more = self._rest(still_open) if still_open else {}
        if more is None and found:
            ids = ", ".join(str(q["id"]) for q in still_open)
            raise ValueError(f"--answers: no answer for {ids}; all that wait are answered at once")
        return None if more is None else {**found, **more}

    @property
    def unused(self) -> list[str]:
        """The ids of the answers that no call has waited for."""
        return list(self._answers)


def read_answers(source: str) -> Answers:
    """Answers from a JSON text or a JSON file: `{"call id": "approve"}`, or the long form.

    The long form of one is `{"decision": "approve" | "edit" | "reject", "args", "reason",
    "scope"}`.

    Raises:
        ValueError: it is neither, or not of that form.
    """
    from ..guards.normalise import parse_arguments

    text = source if source.lstrip().startswith("{") else _file_text(source)
    data, fault = parse_arguments(text)
    if not data:
        raise ValueError(f"--answers: {fault or 'there is no answer in it'}")
    return {call_id: _answer(call_id, value) for call_id, value in data.items()}


def _answer(call_id: str, value: Any) -> dict[str, Any]:
    """One answer in its long form, checked before it can reach the thread."""
    from pydantic import ValidationError

    from ..nodes._approvals import Answer

    answer = {"decision": value} if isinstance(value, str) else value
    try:
        Answer.model_validate(answer)
    except ValidationError as error:
        raise ValueError(f"--answers: {call_id}: {'; '.join(lines_of(error))}") from None
    return {"by": user(), **answer}


def _file_text(source: str) -> str:
    path = Path(source)
    if not path.is_file():
        raise ValueError(f"--answers: {source[:80]!r} is neither JSON nor a file")
    return path.read_text(encoding="utf-8-sig")
