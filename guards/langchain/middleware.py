"""The middleware: it decides on each call where the tool would be run."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ...later import Later
from ..audit import answer_record, edit_of, record
from ..conversation import Conversations, Past
from ..decide import Policy, decide
from ..following import POLICY_CHANGED, Following, Source
from ..ledger import History
from ..limits import Spending, spending_of
from ..python_values import as_call
from ..receipts.keeping import Decision, beside, kept
from ..receipts.receipt import Place
from ..telemetry.current import executing, listening, ran
from ..telemetry.operation import NOBODY_LISTENS, Operation
from ..verdict import ToolCall, Verdict, masked_call
from ..withheld import with_withheld
from .approval import ask, drop_answer
from .chats import chat, facts_of, replied
from .counts import Asking, Counts
from .heard import Heard
from .messages import RECORD, Messages, in_its_time, seen_result
from .model import held
from .once import BEGUN, is_first_run, may_run_again
from .session import (
    JUDGED_BY,
    PROPOSED_TWICE,
    SPENT,
    Together,
    history_of,
    is_proposed_twice,
    messages_in,
    proposed_under,
    spent_after,
    thread_of,
    withheld_of,
)
from .tools import canonical_call, said_by

if TYPE_CHECKING:
    from langchain.agents.middleware import types
    from langchain_core import messages
    from langgraph import types as commands
else:
    types = Later("langchain.agents.middleware.types")
    messages, commands = Later("langchain_core.messages"), Later("langgraph.types")


_PLACE = Place("middleware")


class MiddlewareHooks:
    """What a middleware does: it decides on each call where the tool would be run."""

    def __init__(
        self,
        policy: Source,
        *,
        spending: Spending | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__()
        counted = spending_of(spending)
        self._rules = Following(policy, lambda now, before: Rules(now, counted, clock, before))

    @property
    def policy(self) -> Policy:
        """The policy that counts now."""
        return self._rules.current.policy

    def wrap_tool_call(
        self,
        request: types.ToolCallRequest,
        handler: Callable[[types.ToolCallRequest], messages.ToolMessage | commands.Command[Any]],
    ) -> messages.ToolMessage | commands.Command[Any]:
        """Run the call that may run; answer the one that may not.

        Raises:
            RuntimeError: another middleware stands between this one and the tool.
        """
        _must_be_last(handler)
        rules = self._rules.current
        decided = rules.decided(request)
        if isinstance(decided, ToolCall):
            if not is_first_run(request.runtime.config, decided.id):
                return _begun_before(decided)
            with (
                rules.counts.ran(request),
                rules.executing(request, decided) as told,
                _known_to_fail(request, decided),
            ):
                result = _told(told, handler(rules.as_decided(request, decided)))
            return seen_result(result, rules.policy)
        return decided

    async def awrap_tool_call(
        self,
        request: types.ToolCallRequest,
        handler: Callable[
            [types.ToolCallRequest], Awaitable[messages.ToolMessage | commands.Command[Any]]
        ],
    ) -> messages.ToolMessage | commands.Command[Any]:
        """The same, for runs that are async."""
        _must_be_last(handler)
        rules = self._rules.current
        decided = await beside(rules.policy, rules.decided, request)
        if isinstance(decided, ToolCall):
            if not is_first_run(request.runtime.config, decided.id):
                return _begun_before(decided)
            with (
                rules.counts.ran(request),
                rules.executing(request, decided) as told,
                _known_to_fail(request, decided),
            ):
                result = _told(told, await handler(rules.as_decided(request, decided)))
            seen: messages.ToolMessage | commands.Command[Any] = await in_its_time(
                seen_result, result, rules.policy
            )
            return seen
        return decided

    def wrap_model_call(
        self,
        request: types.ModelRequest[Any],
        handler: Callable[[types.ModelRequest[Any]], types.ModelResponse[Any]],
    ) -> types.ModelResponse[Any] | types.ExtendedModelResponse[Any]:
        """Show the model no secret, and let none out of what it writes, also while it streams. At a
        limit it is not asked, and the answer says so."""
        rules = self._rules.current
        past, began = rules.counts.past(request), rules.counts.clock()
        with rules.counts.asking(request, past) as asked:
            if asked.why_not:
                return _answered(f"{rules.policy.block_message} {asked.why_not}")
            shown = rules.shown(request)
            with rules.chat(shown) as told:
                response = _replied(told, handler(shown))
            return rules.said(request, response, past, began, asked)

    async def awrap_model_call(
        self,
        request: types.ModelRequest[Any],
        handler: Callable[[types.ModelRequest[Any]], Awaitable[types.ModelResponse[Any]]],
    ) -> types.ModelResponse[Any] | types.ExtendedModelResponse[Any]:
        """The same, for runs that are async."""
        rules = self._rules.current
        past, began = rules.counts.past(request), rules.counts.clock()
        with rules.counts.asking(request, past) as asked:
            if asked.why_not:
                return _answered(f"{rules.policy.block_message} {asked.why_not}")
            shown = rules.shown(request)
            with rules.chat(shown) as told:
                response = _replied(told, await handler(shown))
            return rules.said(request, response, past, began, asked)


class Rules:
    """What a middleware does under one policy."""

    def __init__(
        self,
        policy: Policy,
        spending: Spending,
        clock: Callable[[], float],
        before: Rules | None = None,
    ) -> None:
        known = None if before is None else before._conversations
        self.policy = policy
        self._conversations: Conversations = Conversations(policy, before=known)
        self._together = Together(self._conversations)
        self.counts = Counts(self._conversations, spending, clock)
        self._messages = Messages(policy)
        self._heard = Heard(policy.redactor)

    def shown(self, request: types.ModelRequest[Any]) -> types.ModelRequest[Any]:
        """The request as the model may see it, to a model that listeners hear no secret from."""
        shown = self._messages.inbound(request)
        return shown.override(model=held(shown.model, self.policy.redactor))

    def chat(self, shown: types.ModelRequest[Any]) -> Operation:
        """The model call, as telemetry is told of it."""
        if not listening():
            return NOBODY_LISTENS
        before = [shown.system_message] if shown.system_message else []
        asked, facts = [*before, *shown.messages], facts_of(shown.model)
        return chat(asked, self.policy.redactor, facts=facts, thread=thread_of(shown))

    def executing(self, request: types.ToolCallRequest, call: ToolCall) -> Operation:
        """The tool that runs, as telemetry is told of it."""
        return executing(call, self.policy.redactor, thread=thread_of(request))

    def as_decided(self, request: types.ToolCallRequest, call: ToolCall) -> types.ToolCallRequest:
        """The request to run exactly what was decided, by a tool of which nobody hears a secret."""
        request = request.override(tool_call={**request.tool_call, "args": call.arguments})
        return request.override(tool=self._heard(request.tool)) if request.tool else request

    def said(
        self,
        request: types.ModelRequest[Any],
        response: types.ModelResponse[Any],
        past: Past,
        began: float,
        asked: Asking,
    ) -> types.ExtendedModelResponse[Any]:
        """The response without secrets, and what the thread has used with it."""
        from langchain.agents.middleware.types import ExtendedModelResponse
        from langgraph.types import Command

        response = replace(response, result=self.counts.counted(past, response.result))
        self.counts.replied(request, past, response.result, began, asked)
        thread = messages_in(request.state)
        said = self._messages.outbound(response, past.history.ledger, thread)
        spent = spent_after(request.state, said.result, self._conversations)
        spent[JUDGED_BY] = self.policy.digest
        return ExtendedModelResponse(said, Command(update={SPENT: spent}))

    def decided(self, request: types.ToolCallRequest) -> ToolCall | messages.ToolMessage:
        """The call as it may run, or the message that answers it in its place."""
        proposed = request.tool_call
        call = as_call(proposed["name"], proposed["args"], id=proposed.get("id") or "")
        call = canonical_call(request.tool, call)
        if is_proposed_twice(request):
            call = replace(call, fault=PROPOSED_TWICE)
        past = history_of(request, self._conversations, self._together)
        with self.counts.judging(request, past) as judging:
            decided = self._judged(request, call, judging.history)
            judging.runs = isinstance(decided, ToolCall)
        return decided

    def _judged(
        self, request: types.ToolCallRequest, call: ToolCall, history: History
    ) -> ToolCall | messages.ToolMessage:
        verdict = decide(self.policy, call, history)
        verdict = with_withheld(self.policy, call, verdict, withheld_of(request))
        changed = proposed_under(request) not in ("", self.policy.digest)
        if changed and (drop_answer(request.runtime.config) or verdict.word == "ask"):
            verdict = verdict.with_finding(POLICY_CHANGED)
        if verdict.word == "ask":
            return self._asked(request, call, verdict, history)
        return self._kept(Decision(call, verdict, history))

    def _asked(
        self, request: types.ToolCallRequest, call: ToolCall, verdict: Verdict, history: History
    ) -> ToolCall | messages.ToolMessage:
        redactor, config = self.policy.redactor, request.runtime.config
        answer = ask(call, verdict, redactor, thread=history.thread, config=config)
        approval = answer_record(
            answer.decision, by=answer.by, reason=answer.reason, at=time.time(), redactor=redactor
        )
        if answer.decision == "edit":
            edited = as_call(call.name, answer.edited_args, id=call.id)
            edited = canonical_call(request.tool, edited)
            verdict = decide(self.policy, edited, history)
            approval |= edit_of(call, edited)
            return self._kept(Decision(edited, verdict, history, approval))
        ran = self._kept(Decision(call, verdict, history, approval))
        if answer.decision == "approve":
            return ran
        why = f": {answer.reason}" if answer.reason else "."
        return _message(call, verdict, f"Not run: the user rejected this call{why}")

    def _kept(self, decided: Decision) -> ToolCall | messages.ToolMessage:
        """The call as it runs once its receipt is kept, or the message that refuses it."""
        unkept = kept(self.policy, _PLACE, [decided])
        verdict = decided.verdict.with_finding(unkept)
        if verdict.word == "block":
            return self._refusal(decided.call, verdict)
        return masked_call(decided.call, verdict)

    def _refusal(self, call: ToolCall, verdict: Verdict) -> messages.ToolMessage:
        fault = call.fault
        text = f"Not run: {self.policy.redactor.shown(fault)}" if fault else ""
        return _message(call, verdict, text or f"{self.policy.block_message} {verdict.reason}")


@contextmanager
def _known_to_fail(request: types.ToolCallRequest, call: ToolCall) -> Iterator[None]:
    """What raises has come to an end, or asks a person: who retries it, retries it. So does who
    sits before the program and stops it."""
    try:
        yield
    except (Exception, KeyboardInterrupt):
        may_run_again(request.runtime.config, call.id)
        raise


def _begun_before(call: ToolCall) -> messages.ToolMessage:
    """The answer to a call that may have run; it counts as one that has."""
    from langchain_core.messages import ToolMessage

    text = BEGUN.format(name=call.name)
    return ToolMessage(text, tool_call_id=call.id, name=call.name, status="error")


def _replied(told: Operation, response: types.ModelResponse[Any]) -> types.ModelResponse[Any]:
    for message in response.result:
        if message.type == "ai":
            replied(told, message)
    return response


def _told(
    told: Operation, result: messages.ToolMessage | commands.Command[Any]
) -> messages.ToolMessage | commands.Command[Any]:
    if told.on and hasattr(result, "content"):
        said, failed = said_by(result)
        ran(told, said, failed=failed)
    return result


def _answered(text: str) -> types.ModelResponse[Any]:
    """An answer in place of the model's; it ends the run."""
    from langchain.agents.middleware.types import ModelResponse
    from langchain_core.messages import AIMessage

    return ModelResponse(result=[AIMessage(text)])


def _message(call: ToolCall, verdict: Verdict, text: str) -> messages.ToolMessage:
    """The answer to a call that does not run; its artifact is the verdict's record."""
    from langchain_core.messages import ToolMessage

    return ToolMessage(
        text,
        tool_call_id=call.id,
        name=call.name,
        status="error",
        artifact={RECORD: record(call, verdict)},
    )


def _must_be_last(handler: Callable[..., object]) -> None:
    # What comes next is the tool node's own function, or another middleware, which could change
    # the call that was judged.
    if getattr(handler, "__module__", "") != "langgraph.prebuilt.tool_node":
        raise RuntimeError(
            "FirewallMiddleware is not the last of the agent's middleware that wraps tool calls: a"
            " later one could change a call after it was decided. Put it at the end of the list."
        )
