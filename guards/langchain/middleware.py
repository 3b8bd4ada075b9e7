"""The middleware: it decides on each call where the tool would be run."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from ..audit import record
from ..conversation import Conversations
from ..decide import Policy, decide
from ..firewall import masked_call
from ..ledger import History
from ..python_values import as_call
from ..verdict import ToolCall, Verdict
from .approval import Answer, ask
from .messages import masked_input, masked_output, seen_result
from .session import history_of
from .tools import canonical_call

if TYPE_CHECKING:
    from langchain.agents.middleware.types import ModelRequest, ModelResponse, ToolCallRequest
    from langchain_core.messages import ToolMessage
    from langgraph.types import Command

    ToolResult = ToolMessage | Command[Any]


class MiddlewareHooks:
    """What a middleware does: it decides on each call where the tool would be run."""

    def __init__(self, policy: Policy) -> None:
        if not isinstance(policy, Policy):
            raise TypeError(f"a middleware needs a Policy, not a {type(policy).__name__}")
        super().__init__()
        self.policy = policy
        self._conversations = Conversations(policy)

    def wrap_tool_call(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], ToolResult]
    ) -> ToolResult:
        """Run the call that may run; answer the one that may not.

        Raises:
            RuntimeError: another middleware stands between this one and the tool.
        """
        _must_be_last(handler)
        decided = self._decided(request)
        if isinstance(decided, ToolCall):
            return seen_result(handler(_as_decided(request, decided)), self.policy)
        return decided

    async def awrap_tool_call(
        self,
        request: ToolCallRequest,
        handler: Callable[[ToolCallRequest], Awaitable[ToolResult]],
    ) -> ToolResult:
        """The same, for runs that are async."""
        _must_be_last(handler)
        decided = self._decided(request)
        if isinstance(decided, ToolCall):
            result = await handler(_as_decided(request, decided))
            if self.policy.results.detectors:  # they may take their time
                return await asyncio.to_thread(seen_result, result, self.policy)
            return seen_result(result, self.policy)
        return decided

    def wrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], ModelResponse[Any]]
    ) -> ModelResponse[Any]:
        """Show the model no secret, and let none out of what it writes."""
        redactor = self.policy.redactor
        return masked_output(handler(masked_input(request, redactor)), redactor)

    async def awrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]],
    ) -> ModelResponse[Any]:
        """The same, for runs that are async."""
        redactor = self.policy.redactor
        return masked_output(await handler(masked_input(request, redactor)), redactor)

    def _decided(self, request: ToolCallRequest) -> ToolCall | ToolMessage:
        """The call as it may run, or the message that answers it in its place."""
        proposed = request.tool_call
        call = as_call(proposed["name"], proposed["args"], id=proposed.get("id") or "")
        call = canonical_call(request.tool, call)
        history = history_of(request, self._conversations)
        verdict = decide(self.policy, call, history)
        if verdict.word == "ask":
            return self._asked(request, call, verdict, history)
        if verdict.word == "block":
            return self._refusal(call, verdict)
        return masked_call(call, verdict)

    def _asked(
        self, request: ToolCallRequest, call: ToolCall, verdict: Verdict, history: History
    ) -> ToolCall | ToolMessage:
        answer = ask(call, verdict, self.policy.redactor)
        if answer.decision == "approve":
            return masked_call(call, verdict)
        if answer.decision == "reject":
            why = f": {answer.reason}" if answer.reason else "."
            return _message(call, verdict, f"Not run: the user rejected this call{why}")
        return self._edited(request, call, answer, history)

    def _edited(
        self, request: ToolCallRequest, call: ToolCall, answer: Answer, history: History
    ) -> ToolCall | ToolMessage:
        edited = as_call(call.name, answer.edited_args, id=call.id)
        edited = canonical_call(request.tool, edited)
        verdict = decide(self.policy, edited, history)
        if verdict.word == "block":
            return self._refusal(edited, verdict)
        return masked_call(edited, verdict)

    def _refusal(self, call: ToolCall, verdict: Verdict) -> ToolMessage:
        fault = call.fault
        text = f"Not run: {self.policy.redactor.shown(fault)}" if fault else ""
        return _message(call, verdict, text or f"{self.policy.block_message} {verdict.reason}")


def _as_decided(request: ToolCallRequest, call: ToolCall) -> ToolCallRequest:
    """The request to run exactly what was decided."""
    return request.override(tool_call={**request.tool_call, "args": call.arguments})


def _message(call: ToolCall, verdict: Verdict, text: str) -> ToolMessage:
    """The answer to a call that does not run; its artifact is the verdict's record."""
    from langchain_core.messages import ToolMessage

    return ToolMessage(
        text,
        tool_call_id=call.id,
        name=call.name,
        status="error",
        artifact={"edgeward": record(call, verdict)},
    )


def _must_be_last(handler: Callable[..., object]) -> None:
    # What comes next is the tool node's own function, or another middleware, which could change
    # the call that was judged.
    if getattr(handler, "__module__", "") != "langgraph.prebuilt.tool_node":
        raise RuntimeError(
            "FirewallMiddleware is not the last of the agent's middleware that wraps tool calls: a"
            " later one could change a call after it was decided. Put it at the end of the list."
        )
