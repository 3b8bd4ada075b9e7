"""Telemetry that fails is logged, once for each kind of failure, and nothing else happens."""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import wraps
from typing import ParamSpec

P = ParamSpec("P")

_LOG = logging.getLogger("edgeward.telemetry")
_told: set[str] = set()


def safely(tell: Callable[P, None]) -> Callable[P, None]:
    """`tell`, which raises nothing: an exporter's failure is no failure of a run."""

    @wraps(tell)
    def telling(*args: P.args, **kwargs: P.kwargs) -> None:
        try:
            tell(*args, **kwargs)
        except Exception as error:  # noqa: BLE001 - whatever an SDK raises, the run goes on
            kind = type(error).__name__
            if kind not in _told:
                _told.add(kind)
                _LOG.warning("OpenTelemetry failed (%s); the run goes on without", kind)

    return telling
