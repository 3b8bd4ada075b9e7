"""What a run comes to: the answer, the trace, the tokens, and why it stopped."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from langchain_core.messages import ToolMessage

from ..guards.audit import Record
from ..guards.verdict import ToolCall
from .events import Event

StopReason = Literal[
    "answered",
    "max_steps",
    "max_revisions",
    "incomplete",
    "waiting",
    "token_limit",
    "cost_limit",
    "call_limit",
    "time_limit",
    "loop",
    "length",
    "filtered",
    "empty",
]
StepKind = Literal["plan", "tool_call", "tool_result", "answer"]


@dataclass(frozen=True, slots=True)
class TokenUsage:
    """Tokens of one model call, or of a run: all calls summed, cached ones included.

    `estimated_tokens` are those of the total that no provider counted.
    """

    input_tokens: int = 0
    output_tokens: int = 0
    total_tokens: int = 0
    cached_tokens: int = 0
    estimated_tokens: int = 0

    @property
    def prompt_tokens(self) -> int:
        """`input_tokens`, by DefenseAgent's name."""
        return self.input_tokens

    @property
    def completion_tokens(self) -> int:
        """`output_tokens`, by DefenseAgent's name."""
        return self.output_tokens

    @property
    def cache_read_tokens(self) -> int:
        """`cached_tokens`, by DefenseAgent's name."""
        return self.cached_tokens

    @classmethod
    def of(cls, usage: Mapping[str, Any] | None) -> TokenUsage | None:
        """From LangChain's `usage_metadata`; None where the provider gave none."""
        if not usage:
            return None
        details = usage.get("input_token_details") or {}
        return cls(
            input_tokens=int(usage.get("input_tokens") or 0),
            output_tokens=int(usage.get("output_tokens") or 0),
            total_tokens=int(usage.get("total_tokens") or 0),
            cached_tokens=int(details.get("cache_read") or usage.get("cached_tokens") or 0),
            estimated_tokens=int(usage.get("estimated_tokens") or 0),
        )


@dataclass(frozen=True, slots=True)
class AgentStep:
    """One step of a run's trace.

    `plan`: `content` is the plan as a numbered list. `tool_call`: what the model said and the
    calls it proposed. `tool_result`: one tool message for each of those calls, in their order,
    refusals included. `answer`: the model's text.
    """

    index: int
    kind: StepKind
    content: str = ""
    tool_calls: list[ToolCall] = field(default_factory=list)
    tool_results: list[ToolMessage] = field(default_factory=list)
    usage: TokenUsage | None = None


@dataclass(frozen=True, slots=True)
class AgentResult:
    """A finished run, or one that waits for a person.

    `verdicts` are the guard's records, `waiting` the calls to be answered (`agent.resume`),
    `thread` the id to go on with.
    """

    task: str
    final_answer: str
    steps: list[AgentStep]
    usage: TokenUsage
    stopped_reason: StopReason = "answered"
    verdicts: list[Record] = field(default_factory=list)
    waiting: list[Mapping[str, Any]] = field(default_factory=list)
    thread: str = ""


class Trace:
    """Folds a run's events into its steps and its result."""

    def __init__(self, task: str, thread: str) -> None:
        self._task = task
        self._thread = thread
        self._run: Mapping[str, Any] = {}
        self._planned: list[str] = []
        self._results: list[ToolMessage] = []
        self._order: list[str] = []
        self._decided: list[str] = []
        self._after: dict[str, int] = {}
        self.steps: list[AgentStep] = []
        self.verdicts: list[Record] = []
        self.waiting: list[Mapping[str, Any]] = []

    def saw(self, update: Mapping[str, Any]) -> None:
        """Note the run's counters in one item of the graph's stream."""
        for written in update.values():
            if isinstance(written, Mapping) and written.get("run"):
                self._run = written["run"]

    def add(self, event: Event) -> list[AgentStep]:
        """Take one event; gives the steps that are complete now."""
        new: list[AgentStep] = []
        match event.kind:
            case "verdict":
                self.verdicts.append(event.record)
                self._decided.append(str(event.record.get("id", "")))
            case "waiting":
                self.waiting += event.questions
            case "result":
                assert event.message is not None
                self._results.append(event.message)
                # A resumed run did not see the calls: its results are whole when it goes on.
                if self._order and len(self._results) >= len(self._order):
                    new = self.flush()
            case "plan":
                steps = [str(s) for s in event.plan.get("steps", [])]
                if steps != self._planned:
                    self._planned = steps
                    text = "\n".join(f"{n}. {s}" for n, s in enumerate(steps, start=1))
                    new = [*self.flush(), self._step("plan", text)]
            case "calls":
                new = self.flush()
                self._order = [call.id for call in event.calls]
                new.append(self._step("tool_call", event.text, event))
            case "answer":
                new = [*self.flush(), self._step("answer", event.text, event)]
        return new

    def also_used(self, tokens: Mapping[str, Any]) -> None:
        """Count tokens that were used after the run, for it."""
        for name, count in tokens.items():
            self._after[name] = self._after.get(name, 0) + int(count or 0)

    def flush(self) -> list[AgentStep]:
        """The step of the tool results that came so far, if any."""
        if not self._results:
            return []
        # Calls run side by side; a resumed run did not see them proposed, but decided.
        order = self._order or self._decided
        place = {call_id: number for number, call_id in enumerate(order)}
        results = sorted(self._results, key=lambda m: place.get(m.tool_call_id, len(place)))
        self._results, self._order, self._decided = [], [], []
        step = AgentStep(len(self.steps), "tool_result", tool_results=results)
        self.steps.append(step)
        return [step]

    def result(self) -> AgentResult:
        """The run's result, as far as it got."""
        self.flush()
        said = [s for s in self.steps if s.content.strip()]
        answers = [s for s in said if s.kind == "answer"]
        # An answer that was sent back is worth more than what was said beside a call after it.
        said = answers or [s for s in said if s.kind == "tool_call"]
        stopped: StopReason = "waiting" if self.waiting else self._run.get("stopped") or "answered"
        return AgentResult(
            task=self._task,
            final_answer=said[-1].content if said else "",
            steps=self.steps,
            usage=self._usage(),
            stopped_reason=stopped,
            verdicts=self.verdicts,
            waiting=self.waiting,
            thread=self._thread,
        )

    def _usage(self) -> TokenUsage:
        tokens: Mapping[str, Any] = self._run.get("tokens") or {}
        names = {*tokens, *self._after}
        whole = {n: int(tokens.get(n) or 0) + self._after.get(n, 0) for n in names}
        return TokenUsage.of(whole) or TokenUsage()

    def _step(self, kind: StepKind, text: str, event: Event | None = None) -> AgentStep:
        usage = TokenUsage.of(event.usage) if event else None
        calls = list(event.calls) if event else []
        step = AgentStep(len(self.steps), kind, text, calls, usage=usage)
        self.steps.append(step)
        return step
