"""Every door, surface by surface: the table that the tests run, and that the docs show.

A cell is a list of ways: each takes a case and the wire server, and says whether the call was let
through. A vendor's door adds its rows to `ROWS`; the tests and `docs/doors.md` follow.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from . import anthropic_ways as anthropic
from . import gemini_ways as gemini
from . import openai_ways as openai
from .table_cases import Case
from .table_ways import (
    Way,
    agent_way,
    anthropic_cell,
    check,
    checked_calls,
    gemini_cell,
    guarded,
    guarded_async,
    handled,
    openai_cell,
    tool_way,
    wrapped,
)


@dataclass(frozen=True)
class Row:
    """One surface of one door."""

    door: str
    surface: str
    sync: tuple[Way, ...] = ()
    asynchronous: tuple[Way, ...] = ()
    stream: tuple[Way, ...] = ()
    fits: Callable[[Case], bool] = field(default=lambda case: True)
    """Whether a case can come as far as this door."""

    @property
    def ways(self) -> tuple[Way, ...]:
        """All of them."""
        return (*self.sync, *self.asynchronous, *self.stream)


def _is_call(case: Case) -> bool:
    return case.parsed is not None


def _alone(case: Case) -> bool:
    return case.parsed is not None and not case.history


ROWS: list[Row] = [
    Row("Firewall", "`check`", (check,)),
    Row("Firewall", "`guard`", (guarded,), (guarded_async,), fits=_is_call),
    Row("check_tool_calls", "with a history", (checked_calls,)),
    Row(
        "FirewallCallbackHandler",
        "tools, `ToolNode`, agents",
        (tool_way(handled, "invoke"),),
        (tool_way(handled, "ainvoke"),),
        fits=_alone,
    ),
    Row(
        "guard_tools",
        "any call of a tool",
        (tool_way(wrapped, "invoke"),),
        (tool_way(wrapped, "ainvoke"),),
        fits=_alone,
    ),
    Row(
        "FirewallMiddleware",
        "`create_agent`",
        (agent_way("invoke"),),
        (agent_way("ainvoke"),),
        (agent_way("stream"), agent_way("astream")),
        _is_call,
    ),
    Row(
        "FirewallOpenAI",
        "`chat.completions.create`",
        openai_cell(openai.create),
        openai_cell(openai.create_async),
        openai_cell(openai.stream, openai.stream_async),
    ),
    Row(
        "FirewallOpenAI",
        "`chat.completions.parse`",
        openai_cell(openai.parse),
        openai_cell(openai.parse_async),
    ),
    Row(
        "FirewallOpenAI",
        "`chat.completions.stream`",
        stream=openai_cell(openai.helper, openai.helper_async),
    ),
    Row(
        "FirewallOpenAI",
        "`….with_raw_response`",
        openai_cell(openai.raw, openai.raw_body),
        openai_cell(openai.raw_async),
        openai_cell(openai.raw_stream),
    ),
    Row(
        "FirewallOpenAI",
        "`….with_streaming_response`",
        openai_cell(openai.streaming_response),
        openai_cell(openai.streaming_response_async),
        openai_cell(openai.streaming_response_stream),
    ),
    Row(
        "FirewallOpenAI",
        "`with_options`, `copy`",
        openai_cell(openai.copied),
        openai_cell(openai.copied_async),
    ),
]
if not openai.OLD:
    ROWS += [
        Row(
            "FirewallOpenAI",
            "`responses.create`",
            openai_cell(openai.respond),
            openai_cell(openai.respond_async),
            openai_cell(openai.respond_stream, openai.respond_stream_async),
        ),
        Row(
            "FirewallOpenAI",
            "`responses.parse`, raw",
            openai_cell(openai.respond_parse, openai.respond_raw),
        ),
        Row(
            "FirewallOpenAI",
            "`responses.stream`",
            stream=openai_cell(openai.respond_helper, openai.respond_helper_async),
        ),
    ]

ROWS += [
    Row(
        "FirewallAnthropic",
        "`messages.create`",
        anthropic_cell(anthropic.create),
        anthropic_cell(anthropic.create_async),
        anthropic_cell(anthropic.stream, anthropic.stream_async),
        _is_call,  # where it is not streamed, the provider has parsed the arguments
    ),
    Row(
        "FirewallAnthropic",
        "`messages.parse`",
        anthropic_cell(anthropic.parse),
        anthropic_cell(anthropic.parse_async),
        fits=_is_call,
    ),
    Row(
        "FirewallAnthropic",
        "`messages.stream`",
        stream=anthropic_cell(anthropic.helper, anthropic.helper_text, anthropic.helper_async),
    ),
    Row(
        "FirewallAnthropic",
        "`beta.messages.create`",
        anthropic_cell(anthropic.create_beta),
        anthropic_cell(anthropic.create_beta_async),
        anthropic_cell(anthropic.stream_async),
        _is_call,
    ),
    Row(
        "FirewallAnthropic",
        "`beta.messages.tool_runner`",
        anthropic_cell(anthropic.runner),
        anthropic_cell(anthropic.runner_async),
        fits=_is_call,
    ),
    Row(
        "FirewallAnthropic",
        "`….with_raw_response`",
        anthropic_cell(anthropic.raw, anthropic.raw_body),
        anthropic_cell(anthropic.raw_async),
        anthropic_cell(anthropic.raw_stream),
        _is_call,
    ),
    Row(
        "FirewallAnthropic",
        "`….with_streaming_response`",
        anthropic_cell(anthropic.streaming_response),
        anthropic_cell(anthropic.streaming_response_async),
        anthropic_cell(anthropic.streaming_response_stream),
        _is_call,
    ),
    Row(
        "FirewallAnthropic",
        "`with_options`, `copy`, `with_middleware`",
        anthropic_cell(anthropic.copied),
        anthropic_cell(anthropic.copied_async),
        fits=_is_call,
    ),
]

ROWS += [
    Row(
        "FirewallGoogleGenerativeAI",
        "`models.generate_content`, `…_stream`",
        gemini_cell(gemini.generate),
        gemini_cell(gemini.generate_async, gemini.aio_alone),
        gemini_cell(gemini.stream, gemini.stream_async),
        _is_call,
    ),
    Row(
        "FirewallGoogleGenerativeAI",
        "`chats.create`",
        gemini_cell(gemini.chat),
        gemini_cell(gemini.chat_async),
        gemini_cell(gemini.chat_stream, gemini.chat_stream_async),
        _is_call,
    ),
]


def as_markdown() -> str:
    """The table as the docs show it."""
    lines = ["| door | surface | sync | async | stream |", "|---|---|---|---|---|"]
    for row in ROWS:
        cells = ("yes" if ways else "" for ways in (row.sync, row.asynchronous, row.stream))
        lines.append(f"| `{row.door}` | {row.surface} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"
