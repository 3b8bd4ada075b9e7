"""What somebody's code raised, without the secrets in its text."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pydantic import ValidationError

    from .redact import Redactor


class MaskedFault(Exception):
    """What somebody's code raised, with the secrets in its text masked."""

    def __init__(self, text: str, original: Exception) -> None:
        super().__init__(text)
        self.original = original

    @property
    def kind(self) -> str:
        """What it raised."""
        return type(self.original).__name__


def masked_fault(error: Exception, redactor: Redactor) -> MaskedFault | None:
    """The error without its secrets; None where its text, and those below it, hold none.

    A masked fault is itself.
    """
    if isinstance(error, MaskedFault):
        return error
    texts, below = [str(error)], error.__cause__ or error.__context__
    while below is not None and len(texts) < _MOST_BELOW:  # they are shown with a traceback
        texts.append(str(below))
        below = below.__cause__ or below.__context__
    if not redactor.secrets("\n".join(texts))[1]:
        return None
    kind = type(error).__name__
    return MaskedFault(f"{kind}: {redactor.secrets(texts[0])[0]}", error)


_MOST_BELOW = 20


def text_of(error: BaseException) -> str:
    """What an error says; nothing where it cannot say it."""
    if isinstance(error, MaskedFault):
        error = error.original
    try:
        return str(error)
    except Exception:  # noqa: BLE001 - whatever its author wrote: the error itself goes on
        return ""


def words_of(error: Exception) -> str:
    """What the system calls an error, without the path that it may name; else its kind."""
    number = error.errno if isinstance(error, OSError) else None
    return os.strerror(number) if isinstance(number, int) else type(error).__name__


def without_values(error: ValidationError) -> list[str]:
    """What is wrong, each by its place, and nothing of what was given: the library cuts that short,
    and half of a secret is recognised by nobody."""
    found = error.errors(include_url=False, include_input=False, include_context=False)
    return [": ".join(filter(None, [".".join(map(str, e["loc"])), e["msg"]])) for e in found]


@contextmanager
def as_raised() -> Iterator[None]:
    """Raise what a masked fault of the body stands for: for the program whose code it is."""
    try:
        yield
    except MaskedFault as fault:
        raise fault.original from None


class AgentError(RuntimeError):
    """A run cannot begin or go on, for a reason of the agent's own."""
