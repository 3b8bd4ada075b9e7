"""The score from which a text counts as an injection: 0.80 flags, 0.79 does not.

Threat: a phrase that also honest texts use hides results that are harmless, or one that betrays
an injection passes. What scores a text are the `injection_phrases`.

    injection_threshold: 0.80
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from pydantic import Field as Limits

from . import Check, Context, Where, silent

KEY = "injection_threshold"
Field = Annotated[float, Limits(ge=0, le=1)]
DEFAULT = 0.80


@dataclass(frozen=True, slots=True)
class Threshold:
    """Carries the number; has nothing to say of calls."""

    threshold: float
    rule: str = KEY

    __call__ = silent


def build(value: float, where: Where, context: Context) -> Check:
    """The threshold as part of the policy."""
    return Threshold(value)
