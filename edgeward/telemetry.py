"""OpenTelemetry: `instrument()` tells it of decisions, agents, models and tools.

    from edgeward.telemetry import instrument

    instrument()                    # the global providers; content off

`docs/operate.md` says which spans and metrics there are.
"""

from __future__ import annotations

from typing import Any

from .guards.telemetry.current import Content, instrument, uninstrument

__all__ = ["Content", "Instrumentor", "instrument", "uninstrument"]


class Instrumentor:
    """What the command `opentelemetry-instrument` finds and calls: it switches telemetry on."""

    def instrument(
        self, *, tracer_provider: Any = None, meter_provider: Any = None, **_: Any
    ) -> None:
        """`instrument()`, without content."""
        instrument(tracer_provider=tracer_provider, meter_provider=meter_provider)

    def uninstrument(self, **_: Any) -> None:
        """`uninstrument()`."""
        uninstrument()
