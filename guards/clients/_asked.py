"""A request of a wrapped client as telemetry is told of it: a model that is asked."""

from __future__ import annotations

from ..redact import Redactor
from ..spent import Usage
from ..telemetry.current import operation
from ..telemetry.operation import CHAT, Operation

PROVIDERS = {"gemini": "gcp.gemini"}
"""What OpenTelemetry's conventions call a provider, where that is not the door's name."""


def asked(door: str, redactor: Redactor) -> Operation:
    """The operation of a request that goes out now."""
    return operation(CHAT, "", redactor, {"gen_ai.provider.name": PROVIDERS.get(door, door)})


def came(told: Operation, usage: Usage | None) -> None:
    """The reply is at its end, or nobody reads on; what it used, as far as it is known."""
    if usage is not None:
        told.note("gen_ai.response.model", usage.model)
        if usage.read or usage.written:
            told.counted(usage.read, usage.written)
    told.end()
