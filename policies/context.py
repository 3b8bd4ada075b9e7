"""How much of a conversation a model gets to read: the numbers that profiles and strategies share.

A profile's `memory` block and a `compress` node of a strategy have the same fields with the same
meaning; what they are, and what fits with what, is said once, here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, Field, model_validator
from typing_extensions import Self

from .yaml_file import Flag

CONTEXT_LIMIT = 128_000
PROTECTED = 40_000
MINIMUM = 20_000
BUFFER = 20_000


class ContextNumbers(BaseModel):
    """Tokens, as they are estimated without a tokenizer.

    A conversation is shortened once it and `reserved_buffer` together are more than
    `context_limit`. Where only `context_limit` is set, and set low, the other defaults shrink in
    proportion.
    """

    context_limit: int = Field(default=CONTEXT_LIMIT, ge=1024)
    prune_protect: int = Field(default=PROTECTED, ge=0)
    prune_minimum: int = Field(default=MINIMUM, ge=0)
    reserved_buffer: int = Field(default=BUFFER, ge=0)
    enable_summary: Flag = True

    @model_validator(mode="before")
    @classmethod
    def _shrink(cls, data: Any) -> Any:
        limit = data.get("context_limit") if isinstance(data, Mapping) else None
        if not isinstance(limit, int) or isinstance(limit, bool) or limit >= CONTEXT_LIMIT:
            return data
        fitting = {
            "prune_protect": PROTECTED * limit // CONTEXT_LIMIT,
            "prune_minimum": MINIMUM * limit // CONTEXT_LIMIT,
            "reserved_buffer": BUFFER * limit // CONTEXT_LIMIT,
        }
        return {**fitting, **{key: value for key, value in data.items() if value is not None}}

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if self.reserved_buffer >= self.context_limit:
            raise ValueError(
                f"reserved_buffer ({self.reserved_buffer}) leaves nothing of context_limit"
                f" ({self.context_limit}); make it smaller"
            )
        return self
