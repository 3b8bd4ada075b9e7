"""What OpenTelemetry is told: spans, measurements and what stands in them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from edgeward.telemetry import instrument, uninstrument
from tests.wire.server import Wire


class Told:
    """What OpenTelemetry was told."""

    def __init__(self) -> None:
        self.exporter = InMemorySpanExporter()
        self.tracers = TracerProvider()
        self.tracers.add_span_processor(SimpleSpanProcessor(self.exporter))
        self.reader = InMemoryMetricReader()
        self.meters = MeterProvider(metric_readers=[self.reader])

    def listen(self, **options: Any) -> None:
        """Have it told of what happens from here on."""
        instrument(tracer_provider=self.tracers, meter_provider=self.meters, **options)

    @property
    def spans(self) -> list[ReadableSpan]:
        """The spans that have ended, in that order."""
        return list(self.exporter.get_finished_spans())

    def named(self, start: str) -> list[ReadableSpan]:
        """Those whose name begins so."""
        return [span for span in self.spans if span.name.startswith(start)]

    def points(self, metric: str) -> list[Any]:
        """The data points of one metric."""
        data = self.reader.get_metrics_data()
        scopes = [s for r in data.resource_metrics for s in r.scope_metrics] if data else []
        found = [m for s in scopes for m in s.metrics if m.name == metric]
        return [point for m in found for point in m.data.data_points]

    def text(self) -> str:
        """All that was told, as text, as it is and as JSON writes it."""
        data = self.reader.get_metrics_data()
        metrics = data.to_json() if data else ""
        shown = [span.to_json() for span in self.spans]
        events = [(e.name, dict(e.attributes or {})) for span in self.spans for e in span.events]
        values = [(s.name, dict(s.attributes or {}), s.status.description) for s in self.spans]
        return "\n".join([metrics, *shown, *map(plain, events), *map(plain, values)])


def plain(value: Any) -> str:
    """A value's texts as they are."""
    if isinstance(value, dict):
        return "\n".join(plain(item) for pair in value.items() for item in pair)
    if isinstance(value, list | tuple):
        return "\n".join(map(plain, value))
    return str(value)


@pytest.fixture
def told() -> Iterator[Told]:
    """Spans and metrics kept in memory; at the end nobody listens any more."""
    made = Told()
    made.listen()
    yield made
    uninstrument()


@pytest.fixture
def wire() -> Iterator[Wire]:
    """A provider on this machine."""
    with Wire() as running:
        yield running


def about(span: ReadableSpan) -> dict[str, Any]:
    """A span's attributes."""
    return dict(span.attributes or {})
