"""The blocks of a profile that are plain settings: cognitive.

What a block says and what it builds normally live in one file (`llm.py`, `prompt.py`). What is
here needs no builder.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    StringConstraints,
    model_validator,
)

Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
"""Text that is not blank; white space around it does not count."""


class Block(BaseModel):
    """A mapping of a profile: unknown keys are refused, a blank value counts as omitted."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, hide_input_in_errors=True)

    @model_validator(mode="before")
    @classmethod
    def _blank_is_omitted(cls, data: Any) -> Any:
        if isinstance(data, Mapping):
            known = {field.alias or name for name, field in cls.model_fields.items()}
            return {
                key: value for key, value in data.items() if value is not None or key not in known
            }
        return data


class CognitiveBlock(Block):
    """How long the agent works, and when it reflects."""

    max_steps_per_cycle: int = Field(default=10, ge=1)
    reflection_threshold: int = Field(default=5, ge=1)
    importance_threshold: float = Field(default=7.0, ge=1, le=10)
    planning_horizon: Text = "1 day"
