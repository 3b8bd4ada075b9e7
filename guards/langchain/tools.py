"""Guarded tools: the same tools, each of which decides before it runs."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from ..call_schemas import arguments_fault, canonical_arguments
from ..content import read_by_model
from ..faults import as_raised
from ..firewall import Firewall
from ..python_values import as_call
from ..receipts.keeping import beside
from ..verdict import ToolCall
from .heard import heard, shown_text
from .messages import in_its_time, is_content, seen_output

if TYPE_CHECKING:
    from langchain_core.tools import BaseTool


def guarded_copy(tool: BaseTool, firewall: Firewall) -> BaseTool:
    """The tool once more, of a subclass that decides in `run` and `arun`; `tool` stays as it is.

    Every public way to run a tool goes through these two.
    """
    tool = heard(tool, lambda: firewall.policy.redactor, show=shown_text)
    kind: Any = type(tool)

    def run(self: BaseTool, tool_input: Any, *args: Any, **kwargs: Any) -> Any:
        call, permitted = _permitted(self, tool_input, kwargs.get("tool_call_id"), firewall)
        with firewall.reporting(call, read=said_by) as report, as_raised():
            result = report(kind.run(self, permitted, *args, **kwargs))
        return seen_output(result, firewall.policy)

    async def arun(self: BaseTool, tool_input: Any, *args: Any, **kwargs: Any) -> Any:
        given = self, tool_input, kwargs.get("tool_call_id"), firewall
        call, permitted = await beside(firewall.policy, _permitted, *given)
        with firewall.reporting(call, read=said_by) as report, as_raised():
            result = report(await kind.arun(self, permitted, *args, **kwargs))
        return await in_its_time(seen_output, result, firewall.policy)

    body = {"run": run, "arun": arun, "__module__": kind.__module__, "__doc__": kind.__doc__}
    guarded = type(kind)(kind.__name__, (kind,), body)
    copy = tool.model_copy()
    object.__setattr__(copy, "__class__", guarded)
    return copy


def said_by(result: Any) -> tuple[Any, bool]:
    """What a tool's result says, and whether it says that the tool failed.

    Content in blocks says what a model reads of it; any other list, rows of a table say, is a value
    like others.
    """
    from langchain_core.messages import BaseMessage

    failed, content = False, result
    if isinstance(result, BaseMessage):
        failed, content = getattr(result, "status", "") == "error", result.content
    if not isinstance(content, list) or not all(isinstance(b, str | dict) for b in content):
        return content, failed
    if content is not result or is_content(content) or all(isinstance(b, str) for b in content):
        return read_by_model(content), failed
    return content, failed


def _permitted(
    tool: BaseTool, tool_input: Any, call_id: str | None, firewall: Firewall
) -> tuple[ToolCall, Any]:
    """The call, and the tool's input, as they may run.

    Raises:
        PolicyViolationError: it may not.
    """
    named = {_only_argument(tool): tool_input} if isinstance(tool_input, str) else tool_input
    chosen = tool._filter_injected_args(named)
    call = canonical_call(tool, as_call(tool.name, chosen, id=call_id or ""))
    call = firewall.permit(call)
    if isinstance(tool_input, str) and call.arguments == named:
        return call, tool_input
    return call, {**{k: v for k, v in named.items() if k not in chosen}, **call.arguments}


def canonical_call(tool: BaseTool | None, call: ToolCall) -> ToolCall:
    """The call with its arguments as the tool would read them; `fault` says why there are none.

    A tool without a schema, or with a plain JSON Schema, reads nothing: it runs what it gets.
    """
    schema = call_schema(tool) if tool is not None and tool.args_schema is not None else None
    if call.fault is not None or schema is None:
        return call
    try:
        return replace(call, arguments=canonical_arguments(schema, call.arguments))
    except (TypeError, ValueError, RecursionError) as error:
        return replace(call, fault=arguments_fault(error))


def call_schema(tool: BaseTool) -> type[BaseModel] | None:
    """The pydantic model that reads what a model passes to a tool; None for a plain JSON Schema.

    `tool_call_schema` leaves out what is injected, and with it every validator: where nothing is
    injected, the tool's own schema is what will read the arguments, and so what must be judged by.
    """
    own, shown = tool.args_schema, tool.tool_call_schema
    if not isinstance(shown, type) or not issubclass(shown, BaseModel):
        return None
    if isinstance(own, type) and issubclass(own, BaseModel):
        return own if own.model_fields.keys() == shown.model_fields.keys() else shown
    return shown


def _only_argument(tool: BaseTool) -> str:
    """The name under which a tool takes a text."""
    return next(iter(tool.args), "__arg1")
