"""Personal data that the model works with and never sees (version 2).

Threat: addresses and account numbers go to the model's provider, and a model that obeys what it
reads passes them on. Each value becomes a placeholder (`<EMAIL_K7Q2MX3F>`, the same one over the
whole thread) before it is stored or sent; the real one is put back in the arguments of the tools
that `reveal` names, by argument path, `*` for all of them. A call is judged on the real values.

    placeholders:
      kinds: [email, card, iban, phone]
      reveal: {send_email: [to, cc], "pay_*": "*"}
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict
from pydantic import Field as Limits

from ..names import glob_pattern
from . import Check, Context, Name, OneOrMore, Where, silent

KEY = "placeholders"

Kind = Literal["email", "card", "iban", "ssn", "phone", "ip", "presidio", "all"]
Paths = Annotated[
    list[Name],
    Limits(min_length=1),
    OneOrMore,
]


class Hiding(BaseModel):
    """What is hidden from the model, and which tools get to see it."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    kinds: Annotated[list[Kind], Limits(min_length=1)]
    reveal: dict[Name, Paths] = {}


Field = Hiding | None
DEFAULT: Hiding | None = None


@dataclass(frozen=True, slots=True)
class Placeholders:
    """Objects to no call; says what is hidden, and where it is put back."""

    kinds: tuple[str, ...]
    rows: tuple[tuple[re.Pattern[str], tuple[str, ...]], ...]
    rule: str = KEY

    __call__ = silent

    def paths(self, tool: str) -> tuple[str, ...]:
        """Where in this tool's arguments the values are put back."""
        found = [paths for glob, paths in self.rows if glob.fullmatch(tool)]
        return tuple(dict.fromkeys(path for paths in found for path in paths))


def build(value: Hiding | None, where: Where, context: Context) -> Check | None:
    """The check; None where nothing is hidden.

    Raises:
        ValueError: in a version 1 file, or for a kind that is not set up.
    """
    if value is None:
        return None
    if context.version < 2:
        raise ValueError("`placeholders` needs `version: 2`")
    context.redactor.check(value.kinds)
    rows = tuple((glob_pattern(tool), tuple(paths)) for tool, paths in value.reveal.items())
    return Placeholders(tuple(value.kinds), rows)
