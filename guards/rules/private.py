"""Tools whose output may leave through no other tool's free text (version 2).

Threat: what the agent read for its user (a passport number, a code, a message) is put into a mail,
a post, the subject of a payment. Codes, short values with a number in them and eleven words in a
row are recognised, in other groups and letter case too; what the user wrote is not private. The
conditions `clean` (the default for text) and `words` look for them.

    private: [get_user_information, "read_inbox*"]
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated

from pydantic import BeforeValidator

from ..ledger import History
from ..normalise import Examined
from ..outputs import private_pieces, speaks_of, tool_globs
from ..verdict import Finding, ToolCall
from . import Check, Context, Name, Where

KEY = "private"
Field = Annotated[
    list[Name], BeforeValidator(lambda value: [value] if isinstance(value, str) else value)
]
DEFAULT: list[str] = []


@dataclass(frozen=True, slots=True)
class Private:
    """Objects to no call by itself; says of outputs what in them is private."""

    tools: tuple[re.Pattern[str], ...]
    rule: str = KEY

    def __call__(self, call: Examined, history: History) -> Iterable[Finding]:
        return ()

    def pieces(self, call: ToolCall, data: object) -> list[str]:
        """What in an output may not leave."""
        return private_pieces(data) if speaks_of(self.tools, call.name) else []


def build(value: list[str], where: Where, context: Context) -> Check | None:
    """The check; None where nothing is private.

    Raises:
        ValueError: in a version 1 file.
    """
    if not value:
        return None
    if context.version < 2:
        raise ValueError("`private` needs `version: 2`")
    return Private(tool_globs(value))
