"""A tool of which no listener hears a secret: callbacks, event streams, tracing.

LangChain hands what a tool gives back, or raises, to whoever listens before anybody could mask it.
So the masking stands below, in `_run` and `_arun` of a copy.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Any

from ..faults import MaskedFault, masked_fault
from ..redact import Redactor
from .messages import is_content

if TYPE_CHECKING:
    from langchain_core.tools import BaseTool


def _unnoted(result: str) -> None:
    """Nobody wants to know."""


def heard(
    tool: BaseTool,
    redactor: Callable[[], Redactor],
    *,
    note: Callable[[str], None] = _unnoted,
    show: Callable[[Any, Redactor], Any] | None = None,
) -> BaseTool:
    """The tool once more: what it gives back comes masked, and so does the text of what it raises.

    `redactor` gives what masks now. `note` is given a text that it gave back, as it was; `show`
    masks (`shown`).
    """
    from langchain_core.tools import BaseTool

    kind: Any = type(tool)
    show = show or shown

    def given(result: Any) -> Any:
        if isinstance(result, str):
            note(result)
        return show(result, redactor())

    @wraps(kind._run)
    def _run(self: Any, *args: Any, **kwargs: Any) -> Any:
        fault = None
        try:
            result = kind._run(self, *args, **kwargs)
        except Exception as error:
            fault = _told(error, redactor())
            if fault is None:
                raise
        if fault is not None:
            raise fault  # outside of the handler: it must not carry the original along
        return given(result)

    @wraps(kind._arun)
    async def _arun(self: Any, *args: Any, **kwargs: Any) -> Any:
        fault = None
        try:
            result = await kind._arun(self, *args, **kwargs)
        except Exception as error:
            fault = _told(error, redactor())
            if fault is None:
                raise
        if fault is not None:
            raise fault
        return given(result)

    body: dict[str, Any] = {"__module__": kind.__module__, "__doc__": kind.__doc__, "_run": _run}
    if kind._arun is not BaseTool._arun:
        body["_arun"] = _arun
    copy = tool.model_copy()
    object.__setattr__(copy, "__class__", type(kind)(kind.__name__, (kind,), body))
    return copy


class Heard:
    """`heard` copies of tools, each made once."""

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor
        self._made: dict[int, tuple[BaseTool, BaseTool]] = {}

    def __call__(self, tool: BaseTool) -> BaseTool:
        """The copy of this tool."""
        found = self._made.get(id(tool))
        if found is None or found[0] is not tool:
            if len(self._made) >= _MOST_COPIES:
                self._made.clear()
            found = self._made[id(tool)] = tool, heard(tool, lambda: self._redactor)
        return found[1]


_MOST_COPIES = 256


def _told(error: Exception, redactor: Redactor) -> Exception | None:
    from langchain_core.tools import ToolException
    from langgraph.errors import GraphBubbleUp

    if isinstance(error, GraphBubbleUp | MaskedFault):
        return None
    fault = masked_fault(error, redactor)
    if fault is None or not isinstance(error, ToolException):
        return fault
    return ToolException(redactor.secrets(str(error))[0])  # which the tool may answer itself


def shown_text(value: Any, redactor: Redactor) -> Any:
    """`shown` for a program that wants its other values as they are."""
    from langchain_core.messages import BaseMessage

    model_s = isinstance(value, str | BaseMessage) or is_content(value)
    return shown(value, redactor) if model_s else value


TOO_DEEP = "[withheld: this value is nested too deeply to be read]"


def shown(value: Any, redactor: Redactor) -> Any:
    """A value as listeners may see it; one that is no text and no plain data becomes its masked
    text where that holds a secret, and one that is nested too deeply `TOO_DEEP`."""
    from langchain_core.messages import BaseMessage
    from langgraph.types import Command

    if isinstance(value, str):
        return redactor.secrets(value)[0]
    if type(value) is tuple:
        return tuple(shown(item, redactor) for item in value)
    try:
        if type(value) in (dict, list) and _is_plain(value):
            return redactor.value(value)
    except RecursionError:
        return TOO_DEEP
    if type(value) is dict:
        return {key: shown(item, redactor) for key, item in value.items()}
    if type(value) is list:
        return [shown(item, redactor) for item in value]
    if isinstance(value, BaseMessage):
        changes = {"content": shown(value.content, redactor)}
        if getattr(value, "artifact", None) is not None:
            changes["artifact"] = shown(value.artifact, redactor)  # type: ignore[attr-defined]
        return value.model_copy(update=changes)
    if isinstance(value, Command):
        return dataclasses.replace(value, update=shown(value.update, redactor))
    text, labels = redactor.secrets(str(value))
    return text if labels else value


def _is_plain(value: Any) -> bool:
    """Whether it is JSON, whose names can betray a secret."""
    if isinstance(value, dict):
        return all(isinstance(k, str) and _is_plain(v) for k, v in value.items())
    if isinstance(value, list):
        return all(map(_is_plain, value))
    return value is None or isinstance(value, str | int | float)
