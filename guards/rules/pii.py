"""What counts as personal data, beyond what every policy knows (version 2).

Threat: a phone number in its national spelling, or a name, is personal data that no general pattern
can tell from other text. `regions` are the countries (ISO 3166) whose national numbers count,
also where no word for a telephone stands before them.
`presidio` has Microsoft's Presidio (extra `presidio`) look as well, for the `entities` it is told;
without a `model`, a spaCy model that is installed, only its own patterns do. What it finds is the
kind `presidio`. Masking is all that this changes: no verdict depends on it.

    pii: {regions: [DE, AT, CH]}
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated

from pydantic import BaseModel, ConfigDict
from pydantic import Field as Limits

from ..pii import PersonalData
from ..presidio import Presidio
from . import Check, Context, Name, Where, silent

KEY = "pii"


class PresidioBlock(BaseModel):
    """What Presidio looks for; `score` is what a find must reach, from 0 to 1."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    entities: Annotated[list[Name], Limits(min_length=1)]
    language: Annotated[str, Limits(pattern="^[a-z]{2}$")] = "en"
    model: str = ""
    score: Annotated[float, Limits(ge=0, le=1)] = 0.5


class Block(BaseModel):
    """The regions whose numbers count, and Presidio's settings."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    regions: list[Annotated[str, Limits(pattern="^[A-Z]{2}$")]] = []
    presidio: PresidioBlock | None = None


Field = Block | None
DEFAULT: Block | None = None


def personal_data(block: Block | None) -> PersonalData:
    """What the redactor looks for.

    Raises:
        ValueError: a region has no number plan; Presidio, or its model, is not installed.
    """
    if block is None:
        return PersonalData()
    if block.regions:
        _known(block.regions)
    detectors = []
    if block.presidio is not None:
        said = block.presidio
        found = Presidio(tuple(said.entities), said.language, said.model, said.score)
        found.check()
        detectors.append(("presidio", found))
    return PersonalData(tuple(block.regions), tuple(detectors))


def _known(regions: Iterable[str]) -> None:
    from phonenumbers import SUPPORTED_REGIONS

    if wrong := [region for region in regions if region not in SUPPORTED_REGIONS]:
        raise ValueError(f"no country has the code {', '.join(wrong)} (ISO 3166: DE, GB, US)")


@dataclass(frozen=True, slots=True)
class Counts:
    """Objects to no call: the redactor does the work."""

    rule: str = KEY

    __call__ = silent


def build(value: Block | None, where: Where, context: Context) -> Check | None:
    """The check; None where nothing is added.

    Raises:
        ValueError: in a version 1 file.
    """
    if value is None:
        return None
    if context.version < 2:
        raise ValueError("`pii` needs `version: 2`")
    return Counts()
