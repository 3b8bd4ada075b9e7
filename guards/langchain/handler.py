"""The callback handler: it decides when a tool is about to start."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from uuid import UUID

from ...later import Later
from ..caller import NOBODY, Caller
from ..decide import decide
from ..faults import text_of
from ..firewall import Firewall, PolicyViolationError
from ..following import Source
from ..limits import Spending
from ..python_values import as_call
from ..spent import CHARS_PER_TOKEN, Usage
from ..telemetry.current import executing, ran
from ..telemetry.operation import Operation
from ..verdict import ToolCall
from .session import usage_of
from .tools import said_by

if TYPE_CHECKING:
    from langchain_core import agents, outputs
else:
    agents, outputs = Later("langchain_core.agents"), Later("langchain_core.outputs")


class CallbackHooks:
    """What a callback handler does.

    A classic `AgentExecutor` does not hand its own `callbacks` on to its tools; it only announces
    each action to them. So both are decided: the announcement, and the start of the tool.
    """

    raise_error = True
    """Without it LangChain logs what a handler raises, and runs the tool."""
    run_inline = True
    """Decided before anything else happens, not beside it."""

    def __init__(
        self, policy: Source, *, caller: Caller = NOBODY, spending: Spending | None = None
    ) -> None:
        self.firewall = Firewall(policy, caller=caller, spending=spending, door="callback_handler")
        self._announced: dict[UUID | None, list[str]] = {}
        """By run: the tools of actions whose start has not been seen yet."""
        self._running: dict[UUID | None, tuple[ToolCall, Operation]] = {}

    def on_tool_start(
        self,
        serialized: dict[str, Any] | None,
        input_str: str,
        *,
        run_id: UUID | None = None,
        parent_run_id: UUID | None = None,
        inputs: dict[str, Any] | None = None,
        tool_call_id: str | None = None,
        **kwargs: Any,
    ) -> None:
        """Raise where the call may not run.

        Raises:
            PolicyViolationError: always this; LangChain swallows some others.
        """
        name = (serialized or {}).get("name") or ""
        announced = self._announced.get(parent_run_id, [])
        if name in announced:
            announced.remove(name)
            self.firewall.take_back(name)
        call = self._permit(name, input_str if inputs is None else inputs, tool_call_id or "")
        self._running[run_id] = call, executing(call, self.firewall.policy.redactor)

    def on_tool_end(self, output: Any, *, run_id: UUID | None = None, **kwargs: Any) -> None:
        """Keep what the tool gave back, for conditions that need the past."""
        running = self._running.pop(run_id, None)
        if running is not None:
            call, told = running
            said, failed = said_by(output)
            self.firewall.observe(call, said, failed=failed)
            ran(told, said, failed=failed)
            told.end()

    def on_tool_error(
        self, error: BaseException, *, run_id: UUID | None = None, **kwargs: Any
    ) -> None:
        """It gave nothing back, but what its error says; a model may be told that."""
        running = self._running.pop(run_id, None)
        if running is not None:
            call, told = running
            self.firewall.observe(call, text_of(error), failed=True)
            told.raised(error)
            told.end()

    def on_agent_action(
        self, action: agents.AgentAction, *, run_id: UUID | None = None, **kwargs: Any
    ) -> None:
        """Raise where an `AgentExecutor` announces a call that may not run.

        Raises:
            PolicyViolationError: as for a tool that starts.
        """
        self._permit(action.tool, action.tool_input, getattr(action, "tool_call_id", ""))
        self._announced.setdefault(run_id, []).append(action.tool)

    def on_chain_end(self, outputs: Any, *, run_id: UUID | None = None, **kwargs: Any) -> None:
        """Forget what the run announced."""
        self._announced.pop(run_id, None)

    def on_chain_error(
        self, error: BaseException, *, run_id: UUID | None = None, **kwargs: Any
    ) -> None:
        """Forget what the run announced."""
        self._announced.pop(run_id, None)

    def on_llm_end(self, response: outputs.LLMResult, **kwargs: Any) -> None:
        """Count the tokens that the model says it used."""
        for generations in response.generations:
            for generation in generations:
                message = getattr(generation, "message", None)
                text = Usage(written=len(generation.text) // CHARS_PER_TOKEN)
                self.firewall.add_usage(text if message is None else usage_of(message))

    def _permit(self, name: str, given: str | dict[str, Any], call_id: str) -> ToolCall:
        try:
            if isinstance(given, str):
                return self._permit_text(name, given, call_id)
            return self.firewall.permit(as_call(name, given, id=call_id), plain=False)
        except PolicyViolationError:
            raise
        except Exception as error:
            raise PolicyViolationError(f"the check failed ({type(error).__name__})") from error

    def _permit_text(self, name: str, text: str, call_id: str) -> ToolCall:
        """A text is the one argument of a tool whose parameter is not named here: it may run if it
        might under each name that the policy says something of, and under none of them."""
        firewall = self.firewall
        for argument in sorted(firewall.policy.arguments(name)):
            call = as_call(name, {argument: text}, id=call_id)
            verdict = decide(firewall.policy, call, firewall.history)
            if verdict.word != "allow":
                raise firewall.refused(call, verdict)
        return firewall.permit(as_call(name, {"__arg1": text}, id=call_id), plain=False)
