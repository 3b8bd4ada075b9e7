"""The tool runner: the only object that holds the tools' code, and the last to check a ticket.

Whatever a tool does, the caller gets a text: its result, or what went wrong, in one line.
"""

from __future__ import annotations

import asyncio
import functools
import inspect
import sys
from collections.abc import Awaitable, Callable, Mapping
from contextvars import ContextVar
from copy import copy
from typing import Any, TypeVar

from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool, StructuredTool
from langgraph.errors import GraphBubbleUp
from pydantic import BaseModel

from ..guards.faults import MaskedFault
from ..guards.langchain.callbacks import listened_to
from ..guards.langchain.heard import heard
from ..guards.langchain.once import BEGUN, is_first_run, may_run_again
from ..guards.langchain.tools import call_schema
from ..guards.redact import Redactor
from ..guards.ticket import TicketKey
from ..guards.verdict import ToolCall
from ..nodes._base import RunTool, ToolOutcome
from . import workers
from .straight import is_untouched
from .text import as_text, first_items, first_line

T = TypeVar("T")

NO_TICKET = (
    "Not run: this call holds no valid ticket; the policy may have changed since it was decided."
    " If it is still wanted, propose it again."
)


class ToolRunner:
    """Runs calls that hold a ticket for exactly that call, thread and policy."""

    def __init__(
        self,
        tools: Mapping[str, BaseTool],
        tickets: TicketKey,
        *,
        policy: str = "",
        redactor: Callable[[], Redactor] = Redactor,
        timeout_s: Mapping[str, float] | None = None,
    ) -> None:
        """`policy`: the digest of the policy whose tickets are honoured. `redactor` gives what
        masks what listeners hear of a tool; `timeout_s`: seconds that a tool may take, for those
        with a limit of their own."""
        self._timeout_s = timeout_s or {}
        self._tools = {name: _Bound(tool, redactor) for name, tool in tools.items()}
        self._tickets = tickets
        self._policy = policy

    def under(self, policy: str) -> ToolRunner:
        """The same tools, under the policy with this digest: other tickets are not honoured."""
        made = copy(self)
        made._policy = policy
        return made

    def keeps_to_itself(self, name: str) -> bool:
        """Whether a tool is a plain function which, when it ran, used nothing of LangGraph's."""
        tool = self._tools.get(name)
        return tool is not None and tool.keeps_to_itself

    def run(self, effect: RunTool, thread: str, config: RunnableConfig) -> ToolOutcome:
        """Run one call, in a thread of its own so that a hanging tool costs its time limit only."""
        tool = self._admitted(effect, thread)
        if tool is None:
            return ToolOutcome(NO_TICKET, failed=True, error="no_ticket")
        if not is_first_run(config, effect.call.id):
            text = BEGUN.format(name=effect.call.name)
            return ToolOutcome(text, failed=True, error="begun_before")
        limit_s = self._timeout_s.get(effect.call.name, effect.timeout_s)
        try:
            return workers.run(tool.call, effect.call, config, timeout_s=limit_s)
        except BaseException as error:  # noqa: BLE001 - what ends a run is raised again below
            if isinstance(getattr(error, "original", error), GraphBubbleUp | KeyboardInterrupt):
                may_run_again(config, effect.call.id)
            return _failure(error, effect.call.name, limit_s)
        finally:
            tool.ran(config)

    async def arun(self, effect: RunTool, thread: str, config: RunnableConfig) -> ToolOutcome:
        """The same on an event loop; a tool without a coroutine runs in a thread."""
        tool = self._admitted(effect, thread)
        if tool is None:
            return ToolOutcome(NO_TICKET, failed=True, error="no_ticket")
        if not is_first_run(config, effect.call.id):
            text = BEGUN.format(name=effect.call.name)
            return ToolOutcome(text, failed=True, error="begun_before")
        limit_s = self._timeout_s.get(effect.call.name, effect.timeout_s)
        try:
            if tool.is_async:
                work = tool.acall(effect.call, config)
            else:
                work = workers.arun(tool.call, effect.call, config)
            return await within(limit_s, work)
        except BaseException as error:  # noqa: BLE001 - what ends a run is raised again below
            if isinstance(getattr(error, "original", error), GraphBubbleUp | KeyboardInterrupt):
                may_run_again(config, effect.call.id)
            return _failure(error, effect.call.name, limit_s)
        finally:
            tool.ran(config)

    def _admitted(self, effect: RunTool, thread: str) -> _Bound | None:
        """The tool, if the ticket is good for this very call (I2)."""
        ok = self._tickets.honours(effect.ticket, effect.call, thread=thread, policy=self._policy)
        return self._tools.get(effect.call.name) if ok else None


if sys.version_info >= (3, 11):

    async def within(limit_s: float, work: Awaitable[T]) -> T:
        """Await `work` for at most `limit_s` seconds. Raises OutOfTime."""
        try:
            async with asyncio.timeout(limit_s) as limit:
                return await work
        except TimeoutError as error:
            if limit.expired():
                raise workers.OutOfTime from error
            raise

else:

    async def within(limit_s: float, work: Awaitable[T]) -> T:
        """Await `work` for at most `limit_s` seconds. Raises OutOfTime."""
        task, expired = asyncio.current_task(), False

        def expire() -> None:
            nonlocal expired
            expired = True
            if task is not None:
                task.cancel()

        limit = asyncio.get_running_loop().call_later(limit_s, expire)
        try:
            return await work  # not in a task of its own, out of which SystemExit ends the loop
        except asyncio.CancelledError as error:
            if expired:
                raise workers.OutOfTime from error
            raise
        finally:
            limit.cancel()


class Exited(RuntimeError):
    """A tool tried to end the program."""


EXITS: tuple[type[BaseException], ...] = (SystemExit,)
if sys.version_info >= (3, 11):
    # A person's Ctrl-C cancels the task there; before, it is raised inside of whatever runs.
    EXITS = (SystemExit, KeyboardInterrupt)


class _Bound:
    """One tool, ready to run on canonical arguments."""

    def __init__(self, tool: BaseTool, redactor: Callable[[], Redactor]) -> None:
        if isinstance(tool, StructuredTool) and tool.response_format == "content":
            tool = _giving_text(tool)
        self._tool = tool
        self._heard = heard(tool, redactor, note=_note)
        self._schema = call_schema(tool)
        self.is_async = not isinstance(tool, StructuredTool) or tool.coroutine is not None
        self._in_loop = isinstance(tool, StructuredTool) and _is_coroutine(tool)
        self._plain = type(tool) is StructuredTool and _is_plain(tool)
        self._stirred: bool | None = None
        """Whether it was seen to use LangGraph; None: it was not seen yet."""

    @property
    def keeps_to_itself(self) -> bool:
        return self._plain and self._stirred is False

    def ran(self, config: RunnableConfig) -> None:
        """Note whether it used LangGraph, in the graph step of this configuration."""
        if not self._stirred and self._plain:
            self._stirred = not is_untouched(config)

    def call(self, call: ToolCall, config: RunnableConfig) -> ToolOutcome:
        tool = self._tool
        try:
            if self._in_loop:
                return workers.run_coroutine(self.acall(call, config))
            if self._plain and not listened_to(config):
                return ToolOutcome(tool.func(**self._arguments(call)))  # type: ignore[attr-defined]
            given: list[str] = []
            _given.set(given)  # in a context of its own: nobody else sees it
            return _from_message(self._heard.invoke(_as_langchain(call), config), given)
        except KeyboardInterrupt as error:  # in a worker's thread that is nobody's Ctrl-C
            raise Exited from error

    async def acall(self, call: ToolCall, config: RunnableConfig) -> ToolOutcome:
        tool = self._tool
        if self._plain and not listened_to(config):
            return ToolOutcome(await tool.coroutine(**self._arguments(call)))  # type: ignore[attr-defined]
        given: list[str] = []
        token = _given.set(given)
        try:
            return _from_message(await self._heard.ainvoke(_as_langchain(call), config), given)
        finally:
            _given.reset(token)

    def _arguments(self, call: ToolCall) -> dict[str, Any]:
        """Python values for the canonical arguments: what the guard saw, read once more."""
        if self._schema is None:
            return call.arguments
        read = self._schema.model_validate(call.arguments)
        fields = self._schema.model_fields
        given = {name for name, f in fields.items() if (f.alias or name) in call.arguments}
        return {name: getattr(read, name) for name in given}


def _giving_text(tool: StructuredTool) -> StructuredTool:
    """The tool, giving text: of other values LangChain makes a text of its own, and does so only
    where it runs the tool, so that a result would depend on who listens."""
    function, coroutine = tool.func, tool.coroutine
    changes: dict[str, Any] = {}
    if function is not None:

        @functools.wraps(function)
        def texted(*args: Any, **arguments: Any) -> str:
            value = function(*args, **arguments)
            if inspect.isasyncgen(value):
                value = first_items(value)
            return as_text(asyncio.run(value) if inspect.iscoroutine(value) else value)

        changes["func"] = texted
    if coroutine is not None:

        @functools.wraps(coroutine)
        async def atexted(*args: Any, **arguments: Any) -> str:
            try:
                value = await coroutine(*args, **arguments)
                return as_text(await first_items(value) if inspect.isasyncgen(value) else value)
            except EXITS as error:  # in a task of its own it would end the loop
                raise Exited from error

        changes["coroutine"] = atexted
    return tool.model_copy(update=changes)


def _is_coroutine(tool: StructuredTool) -> bool:
    """Whether the tool is a coroutine, at most with a function that runs it: then it can be
    cancelled, also where a run has no event loop."""
    if tool.func is None or tool.coroutine is None:
        return tool.func is None
    return inspect.unwrap(tool.func) is inspect.unwrap(tool.coroutine)


def _is_plain(tool: StructuredTool) -> bool:
    """Whether calling the function is all that LangChain's own machinery would do.

    That machinery (callbacks, tracing, error handlers, injected arguments) costs more than a
    guarded step; it runs whenever somebody listens or the tool asks for any of it.
    """
    if tool.response_format != "content" or tool.handle_tool_error or tool.handle_validation_error:
        return False
    if tool.callbacks or tool.args_schema is None or isinstance(tool.args_schema, dict):
        return False
    shown = call_schema(tool)
    if shown is None or not issubclass(tool.args_schema, BaseModel):
        return False
    if set(shown.model_fields) != set(tool.args_schema.model_fields):
        return False
    function = tool.func or tool.coroutine
    assert function is not None
    parameters = inspect.signature(function).parameters
    return set(parameters) == set(shown.model_fields)


def _as_langchain(call: ToolCall) -> dict[str, Any]:
    return {"name": call.name, "args": call.arguments, "id": call.id, "type": "tool_call"}


_given: ContextVar[list[str] | None] = ContextVar("_given", default=None)
"""What the tool gave back in which this code runs, as it was: listeners hear it masked, and what
comes of a call must not depend on whether there are any."""


def _note(text: str) -> None:
    given = _given.get()
    if given is not None:
        given.append(text)


def _from_message(message: Any, given: list[str]) -> ToolOutcome:
    if given:
        return ToolOutcome(given[-1])
    failed = getattr(message, "status", "success") == "error"
    text = getattr(message, "text", None)
    return ToolOutcome(as_text(text if isinstance(text, str) else message), failed=failed)


def _run_is_cancelled() -> bool:
    """Whether somebody cancels this run; if not, the tool cancelled something of its own."""
    try:
        task = asyncio.current_task()
    except RuntimeError:  # no event loop: nobody can
        return False
    cancelling = getattr(task, "cancelling", None)  # Python 3.11
    return cancelling is None or cancelling() > 0


_TIMEOUTS = (TimeoutError, asyncio.TimeoutError)


def _failure(error: BaseException, name: str, limit_s: float) -> ToolOutcome:
    if isinstance(error, MaskedFault):
        error = error.original
    match error:
        case GraphBubbleUp() | KeyboardInterrupt():
            raise error  # a tool that asks a person; the user's own Ctrl-C
        case asyncio.CancelledError() if _run_is_cancelled():
            raise error
        case workers.OutOfTime():
            text = f"{name} did not finish within {limit_s:g} s"
        case SystemExit() | Exited():
            text = f"{name} tried to end the program"
        case _:
            text = f"{name} failed: {type(error).__name__}: {first_line(error)}"
    kind = "timeout" if isinstance(error, _TIMEOUTS) else type(error).__name__
    return ToolOutcome(text, failed=True, error=kind)
