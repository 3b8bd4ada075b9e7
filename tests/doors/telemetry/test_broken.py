"""Telemetry that is broken, missing or not wanted changes nothing."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import entry_points
from typing import Any

import pytest
from opentelemetry.sdk.trace import ReadableSpan, SpanProcessor
from opentelemetry.sdk.trace.export import SpanExporter

from edgeward import (
    Firewall,
    load_policy,
)
from edgeward.guards.redact import Redactor
from edgeward.guards.telemetry.current import operation
from edgeward.guards.telemetry.operation import EXECUTE_TOOL
from edgeward.telemetry import instrument, uninstrument
from tests.doors import talks
from tests.doors.test_receipts import TALK, WORDS
from tests.wire.server import Wire

from .conftest import Told


class Broken(SpanProcessor, SpanExporter):
    """A processor that fails wherever it can."""

    def on_start(self, span: Any, parent_context: Any = None) -> None:
        raise RuntimeError("broken")

    def on_end(self, span: ReadableSpan) -> None:
        raise RuntimeError("broken")


class NoSdk:
    """A provider that is none."""

    def get_tracer(self, *_: Any, **__: Any) -> NoSdk:
        return self

    def get_meter(self, *_: Any, **__: Any) -> NoSdk:
        return self

    def create_counter(self, *_: Any, **__: Any) -> NoSdk:
        return self

    create_histogram = create_up_down_counter = create_counter


@pytest.mark.parametrize("way", ["a processor", "a provider"])
@pytest.mark.parametrize("door", talks.PLAYERS)
def test_broken_telemetry_changes_nothing(
    told: Told, wire: Wire, door: str, way: str, caplog: pytest.LogCaptureFixture
) -> None:
    """The same tools run as without; that it is broken is logged, and nothing of the run."""
    if way == "a processor":
        told.tracers.add_span_processor(Broken())
        told.listen(content="masked")
    else:
        instrument(tracer_provider=NoSdk(), meter_provider=NoSdk(), content="masked")
    ran = talks.PLAYERS[door](load_policy(WORDS), TALK, wire)
    uninstrument()
    assert ran == talks.PLAYERS[door](load_policy(WORDS), TALK, wire)
    logged = {r.getMessage() for r in caplog.records if r.name == "edgeward.telemetry"}
    assert all(text.endswith("the run goes on without") for text in logged)


def test_half_a_character_costs_no_span(told: Told) -> None:
    """One in a name is no text that an exporter can send: it would lose a whole batch of spans."""
    told.listen(content="masked")
    half = "\ud800"
    Firewall(load_policy("allow_all")).check(f"read{half}", {"path": half}, id=half)
    with operation(EXECUTE_TOOL, half, Redactor()) as failing:
        failing.note("gen_ai.tool.call.id", half)
        failing.failed(half, lambda: half)
    assert [span.name for span in told.spans] == ["decide read?", "execute_tool ?"]
    assert half not in told.text()


def test_nothing_is_loaded_before_it_is_wanted() -> None:
    """Off, as at first, OpenTelemetry is not imported by a decision."""
    code = (
        "import sys\n"
        "from edgeward import Firewall, load_policy\n"
        "Firewall(load_policy('allow_all')).check('read')\n"
        "import edgeward.telemetry\n"
        "assert 'opentelemetry' not in sys.modules\n"
        "edgeward.telemetry.instrument()\n"
        "assert 'opentelemetry' in sys.modules and 'opentelemetry.sdk' not in sys.modules\n"
        "assert Firewall(load_policy('allow_all')).check('read').word == 'allow'"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_the_command_of_opentelemetry_finds_it(told: Told) -> None:
    """By the entry point, as it calls every instrumentor."""
    (found,) = entry_points(group="opentelemetry_instrumentor", name="edgeward")
    instrumentor = found.load()()
    instrumentor.uninstrument()
    Firewall(load_policy(WORDS)).check("read")
    assert not told.spans
    instrumentor.instrument(tracer_provider=told.tracers, meter_provider=told.meters, extra=1)
    Firewall(load_policy(WORDS)).check("read")
    assert len(told.named("decide read")) == 1


def test_an_unknown_word_for_content_is_refused() -> None:
    """With what is allowed."""
    with pytest.raises(ValueError, match="allowed: 'none', 'masked'"):
        instrument(content="all")  # type: ignore[arg-type]
