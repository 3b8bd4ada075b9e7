"""How long a person's approval may last (version 2).

Threat: a yes that was meant for one call opens the way for others. An approval may fix some
arguments and answer for later calls with the same values, in this thread, for up to `max_s` seconds
(an hour where nothing is said); `once` has every call asked about by itself, of these tools or of
all. What is blocked stays blocked, and what is asked about for another reason is asked again.

    approvals: {max_s: 600, once: [delete_file, "pay_*"]}
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Discriminator, Tag
from pydantic import Field as Limits

from ..approvals import DEFAULT_MAX_S
from ..names import ForbiddenNames
from . import Check, Context, Name, Where, silent

KEY = "approvals"


class Lasting(BaseModel):
    """The bounds of approvals that last."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    max_s: Annotated[int, Limits(ge=1)] = DEFAULT_MAX_S
    once: list[Name] = []


def _form(value: object) -> str:
    return "bounds" if isinstance(value, dict | Lasting) else "word"


Field = Annotated[
    Annotated[Literal["once"], Tag("word")] | Annotated[Lasting, Tag("bounds")],
    Discriminator(_form),
]
DEFAULT = Lasting()


@dataclass(frozen=True, slots=True)
class Approvals:
    """Objects to no call; says how long an approval of one may last."""

    max_s: int
    once: ForbiddenNames
    rule: str = KEY

    __call__ = silent

    def approval_s(self, tool: str) -> int:
        """Seconds that an approval of this tool's call may last; 0: it is for that call alone."""
        return 0 if self.once.find(tool) is not None else self.max_s


def build(value: Lasting | str, where: Where, context: Context) -> Check | None:
    """The check; None where the key is absent.

    Raises:
        ValueError: in a version 1 file.
    """
    if KEY not in context.given:
        return None
    if context.version < 2:
        raise ValueError("`approvals` needs `version: 2`")
    if isinstance(value, str):
        return Approvals(0, ForbiddenNames([]))
    return Approvals(value.max_s, ForbiddenNames(value.once))
