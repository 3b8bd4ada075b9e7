"""The story of a thread in a checkpoint database: each step from what its nodes wrote.

The writes of all steps are kept, also of messages that were later summed up: so the story is what
happened, and not what the model remembers of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from langgraph.types import Interrupt, Send

from ...graphs.checkpoints import Saver
from ...graphs.state import as_message
from ...guards.ledger import Ledger
from ...nodes._marks import is_summary
from ...nodes._messages import new_in
from .story import (
    Argument,
    Call,
    Step,
    StepKind,
    Story,
    arguments_of,
    mapping_of,
    mappings_in,
    text_of,
    with_edits,
)

Write = tuple[str, str, Any]
"""Task, channel, value."""


def story_of_thread(saver: Saver, thread: str, *, limit: int) -> Story:
    """What happened in a thread.

    Raises:
        ValueError: there is no such thread.
    """
    teller = _Teller(Story(thread, limit=limit))
    kept = list(saver.list({"configurable": {"thread_id": thread}}))
    if not kept:
        raise ValueError(f"there is no thread {thread!r}")
    for checkpoint in reversed(kept):
        writes = checkpoint.pending_writes or []
        teller.step(checkpoint.checkpoint["ts"], [(t, c, v) for t, c, v in writes])
    return teller.end()


class _Teller:
    """Goes through the steps from the first, and keeps what later ones say of earlier calls."""

    def __init__(self, story: Story) -> None:
        self._story = story
        self._ledger = Ledger()
        self._calls: dict[str, Call] = {}
        self._decided: set[int] = set()
        self._plan: object = None
        self._summaries: set[str] = set()
        self._heard: set[str] = set()
        """Ids of messages, and the texts of those that had none yet."""
        story.know("thread", story.title)

    def step(self, time: str, writes: list[Write]) -> None:
        """One step of the graph: what its tasks wrote."""
        of = {channel: [v for _, c, v in writes if c == channel] for _, channel, _ in writes}
        for entries in of.get("ledger", ()):
            for entry in mappings_in(entries):
                self._ledger.grow(dict(entry))
        for plan in of.get("plan", ()):
            self._planned(time, mapping_of(plan))
        for written in of.get("messages", ()):
            messages = [
                as_message(m) for m in (written if isinstance(written, list) else [written])
            ]
            self._summed(time, messages)
            for message in new_in(messages):
                if self._is_new(message):
                    self._said(time, message)
        for question in _questions(of.get("__interrupt__", ())):
            self._asked(time, question)
        for records in of.get("verdicts", ()):
            for record in mappings_in(records):
                self._verdict(time, record)
        for sent in of.get("__pregel_tasks", ()):
            self._ran(sent)

    def end(self) -> Story:
        """The story, once all is told."""
        for call in self._calls.values():
            if call.asked and id(call) not in self._decided:
                call.word = "waits"
                self._story.words["waits"] += 1
        return self._story

    def _planned(self, time: str, plan: Mapping[str, Any]) -> None:
        steps = plan.get("steps")
        if isinstance(steps, list) and steps != self._plan:
            self._plan = steps
            text = "\n".join(f"{n}. {text_of(step)}" for n, step in enumerate(steps, start=1))
            self._story.add(Step("plan", time, text=text))

    def _summed(self, time: str, messages: Sequence[BaseMessage]) -> None:
        """A summary stands in place of what it sums up, before what is new."""
        for message in messages:
            if is_summary(message) and message.text not in self._summaries:
                self._summaries.add(message.text)
                self._story.add(Step("summary", time, text=message.text))

    def _is_new(self, message: BaseMessage) -> bool:
        """Whether nobody said it before: a graph within a graph hears again what its parent heard.

        A parent's input may have no id when it is written; it has one once it is passed on.
        """
        text = f"{message.type} {message.text}"
        if message.id is None:
            self._heard.add(text)
            return True
        new = message.id not in self._heard and text not in self._heard
        self._heard.discard(text)
        self._heard.add(message.id)
        return new

    def _said(self, time: str, message: BaseMessage) -> None:
        if isinstance(message, HumanMessage):
            self._story.add(Step("user", time, text=message.text))
        elif isinstance(message, ToolMessage):
            call = self._of(message.tool_call_id, message.name or "", time)
            call.result, call.failed = message.text, message.status == "error"
        elif isinstance(message, AIMessage) and not is_summary(message):
            calls = [
                Call(text_of(c["id"]), c["name"], arguments=arguments_of(c["args"], self._ledger))
                for c in message.tool_calls
            ]
            calls += [
                Call(text_of(c["id"]), text_of(c["name"]), reason="its arguments cannot be read")
                for c in message.invalid_tool_calls
            ]
            self._calls.update((call.id, call) for call in calls)
            kind: StepKind = "model" if calls else "answer"
            self._story.add(Step(kind, time, text=message.text, calls=tuple(calls)))

    def _asked(self, time: str, question: Mapping[str, Any]) -> None:
        call = self._of(text_of(question.get("id")), text_of(question.get("tool")), time)
        call.asked = question

    def _verdict(self, time: str, record: Mapping[str, Any]) -> None:
        call = self._of(text_of(record.get("id")), text_of(record.get("tool")), time)
        call.decided(record)
        self._decided.add(id(call))
        self._story.words[call.word] += 1
        self._story.know("answered by", call.approval.get("by"))
        facts = [(label, text_of(record.get(label))) for label in ("fingerprint", "policy")]
        call.facts = (("call", call.id), *((label, text) for label, text in facts if text))
        self._story.know("policy", record.get("policy"))

    def _ran(self, sent: object) -> None:
        """What went on to a tool: another's arguments where a person, or a mask, changed them."""
        if not isinstance(sent, Send):
            return
        call = mapping_of(mapping_of(sent.arg).get("call"))
        known = self._calls.get(text_of(call.get("id")))
        if known is not None:
            ran: list[Argument] = arguments_of(call.get("arguments"), self._ledger)
            edited = known.approval.get("decision") == "edit"
            known.arguments = with_edits(ran, known.arguments or ()) if edited else ran

    def _of(self, call_id: str, tool: str, time: str) -> Call:
        """The call with this id that was proposed last."""
        if call_id not in self._calls:
            self._calls[call_id] = Call(call_id, tool)
            self._story.add(Step("decision", time, calls=(self._calls[call_id],)))
        return self._calls[call_id]


def _questions(interrupts: Iterable[object]) -> Iterator[Mapping[str, Any]]:
    for found in interrupts:
        for one in found if isinstance(found, list | tuple) else [found]:
            if isinstance(one, Interrupt):
                yield from mappings_in(mapping_of(one.value).get("calls"))
