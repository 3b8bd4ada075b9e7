"""What comes back from tools is screened before the model sees it.

Threat: a page, a mail or a file tells the agent what to do, hides text in characters that nobody
sees, or has the answer carry data away in the address of an image. What is done here helps the
model and the reader; no decision on a call depends on it.

    results:
      injection: {flag: 0.5, block: 0.8}
      redact: [secrets, email, card]
      hosts: [corp.example]
      hidden: remove
      boundary: true
"""

from __future__ import annotations

import inspect
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, model_validator
from pydantic import Field as Limits
from typing_extensions import Self

from ..detectors import Detector, installed
from ..hosts import HostList
from ..redact import Kind
from ..results import Settings
from . import Check, Context, Name, Where, silent

KEY = "results"

Score = Annotated[float, Limits(ge=0, le=1)]


def _is_host(entry: str) -> str:
    HostList([entry])
    return entry


class Injection(BaseModel):
    """The two scores: from `flag` a text is shown with a warning, from `block` it is withheld."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    flag: Score = 0.5
    block: Score | Literal["never"] | None = None
    """Without it the policy's `injection_threshold` counts."""

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if isinstance(self.block, float) and self.block < self.flag:
            raise ValueError(f"flag ({self.flag}) is above block ({self.block}); swap them")
        return self


class ResultsBlock(BaseModel):
    """What a policy says of results."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    injection: Injection = Injection()
    redact: list[Kind] = ["secrets"]
    """Kinds to mask; secrets always are."""
    hosts: list[Annotated[str, AfterValidator(_is_host)]] = []
    """Hosts that images and links may point to, besides those of `egress_allowlist`."""
    hidden: Literal["remove", "show"] = "remove"
    boundary: bool = True
    """Whether results stand between marks that cannot be forged when a model reads them."""
    detectors: list[Name] = []


Field = ResultsBlock
DEFAULT = ResultsBlock()


@dataclass(frozen=True, slots=True)
class Results:
    """Carries the settings; has nothing to say of calls."""

    settings: Settings
    rule: str = KEY

    __call__ = silent


def build(value: ResultsBlock, where: Where, context: Context) -> Check | None:
    """The settings as part of the policy; None for a version 1 file, which has none."""
    if context.version < 2:
        if KEY in context.given:
            raise ValueError("is a key of version 2, and the file says or means version 1")
        return Results(Settings(detectors=_detectors((), context))) if context.detectors else None
    block = value.injection.block
    return Results(
        Settings(
            flag=value.injection.flag,
            block=2.0 if block == "never" else block,
            structure=True,
            redact=frozenset({"secrets", *value.redact}),
            hidden=value.hidden,
            links=True,
            hosts=_hosts(value, context),
            boundary=value.boundary,
            detectors=_detectors(value.detectors, context),
        )
    )


def _hosts(value: ResultsBlock, context: Context) -> HostList | None:
    """The listed hosts; None where nothing lists any."""
    egress: list[Any] = context.values.get("egress_allowlist") or []
    given, shadow = "egress_allowlist" in context.given, context.shadow
    if shadow.holds("egress_allowlist") and not shadow.whole:
        egress, given = [], False
    if not given and not value.hosts:
        return None
    return HostList([*egress, *value.hosts])


def _detectors(names: Iterable[str], context: Context) -> tuple[Detector, ...]:
    """The detectors that the program gave, and those that the file names."""
    given = context.detectors
    found = dict(given)
    for name in names:
        if name not in found:
            known = installed()
            if name not in known:
                there = ", ".join(sorted({*known, *given})) or "none"
                raise ValueError(
                    f"detectors: no detector {name!r} is installed; there are: {there}"
                )
            found[name] = known[name]
    for name, detect in found.items():
        if not callable(detect) or inspect.iscoroutinefunction(detect):
            raise ValueError(
                f"detectors: {name!r} is a {type(detect).__name__} that gives no number when it is"
                " called; write a plain function from a text to a number from 0 to 1"
            )
    return tuple(Detector(name, detect) for name, detect in found.items())
