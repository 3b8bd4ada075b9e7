"""OpenTelemetry: `instrument()` tells it of decisions, agents, models and tools.

    from edgeward.telemetry import instrument

    instrument()                    # the global providers; content off

`docs/operate.md` says which spans and metrics there are.
"""

from __future__ import annotations

from .guards.telemetry.current import Content, instrument, uninstrument

__all__ = ["Content", "instrument", "uninstrument"]
