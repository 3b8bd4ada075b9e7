"""The tracer and the instruments, by the GenAI semantic conventions of OpenTelemetry.

The names are those of the conventions; what they have no name for is called `edgeward.…`.
"""

from __future__ import annotations

from typing import Any

from .operation import CHAT, OPERATION, Attributes

SCOPE = "edgeward"

_OF_A_METRIC = (
    OPERATION,
    "gen_ai.provider.name",
    "gen_ai.request.model",
    "gen_ai.response.model",
    "error.type",
)
"""Attributes of a span that its metrics have, too: none that others can make up without end."""

_SECONDS = (0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92)
_TOKENS = tuple(4**n for n in range(14))
_DECISION_SECONDS = tuple(x * 10**n for n in range(-6, 0) for x in (1, 2, 5))


class Instruments:
    """What is written to. `content`: whether spans hold what was written, masked."""

    def __init__(self, tracer_provider: Any, meter_provider: Any, *, content: bool) -> None:
        from opentelemetry import context, metrics, trace

        self.content = content
        self._trace, self._context = trace, context
        self._tracer = trace.get_tracer(SCOPE, tracer_provider=tracer_provider)
        meter = metrics.get_meter(SCOPE, meter_provider=meter_provider)
        self._decisions = meter.create_counter(
            "edgeward.decisions", unit="{decision}", description="Decisions on tool calls"
        )
        self._latency = meter.create_histogram(
            "edgeward.decision.duration",
            unit="s",
            description="Time that a decision takes",
            explicit_bucket_boundaries_advisory=_DECISION_SECONDS,
        )
        self._waiting = meter.create_up_down_counter(
            "edgeward.approvals.waiting", unit="{call}", description="Calls that wait for a person"
        )
        self._duration = meter.create_histogram(
            "gen_ai.client.operation.duration",
            unit="s",
            description="GenAI operation duration.",
            explicit_bucket_boundaries_advisory=_SECONDS,
        )
        self._tokens = meter.create_histogram(
            "gen_ai.client.token.usage",
            unit="{token}",
            description="Number of input and output tokens used.",
            explicit_bucket_boundaries_advisory=_TOKENS,
        )

    def start(self, name: str, attributes: Attributes, *, at: int | None = None) -> Any:
        """A span below the current one, which began now or at a time (ns since 1970)."""
        kinds = self._trace.SpanKind
        kind = kinds.CLIENT if attributes.get(OPERATION) == CHAT else kinds.INTERNAL
        # What an SDK would record of an exception by itself is not masked.
        return self._tracer.start_span(
            name,
            kind=kind,
            attributes=attributes,
            start_time=at,
            record_exception=False,
            set_status_on_exception=False,
        )

    def attach(self, span: Any) -> Any:
        """Make a span the current one; what `detach` takes."""
        return self._context.attach(self._trace.set_span_in_context(span))

    def detach(self, token: Any) -> None:
        """Make the one before the current one again."""
        self._context.detach(token)

    def error_status(self, text: str | None) -> Any:
        """The status of a span that failed."""
        return self._trace.Status(self._trace.StatusCode.ERROR, text)

    def count_decision(self, attributes: Attributes, seconds: float | None) -> None:
        """One decision more, and how long it took."""
        self._decisions.add(1, attributes)
        if seconds is not None:
            self._latency.record(seconds, attributes)

    def count_waiting(self, calls: int, attributes: Attributes) -> None:
        """So many calls more (or less) wait for a person."""
        self._waiting.add(calls, attributes)

    def count_duration(self, seconds: float, attributes: Attributes) -> None:
        """What an operation took."""
        self._duration.record(seconds, _of_a_metric(attributes))

    def count_tokens(self, read: int, written: int, attributes: Attributes) -> None:
        """What a model read and wrote."""
        told = _of_a_metric(attributes)
        self._tokens.record(read, {**told, "gen_ai.token.type": "input"})
        self._tokens.record(written, {**told, "gen_ai.token.type": "output"})


def _of_a_metric(attributes: Attributes) -> dict[str, Any]:
    return {name: attributes[name] for name in _OF_A_METRIC if name in attributes}
