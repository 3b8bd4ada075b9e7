"""Items of OpenAI's Responses API: which are calls, what they call, what they gave back.

A tool that OpenAI itself defines is a call of the name that the API gives the tool: `web_search`,
`shell`, `apply_patch`, `computer` … Its arguments are the item's own fields. An item of a kind that
is not known here counts as a call of that kind, so that nothing passes because it is new.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from ...content import read_by_model
from ...conversation import ModelTurn, Proposed, ToolResult, Turn, UserText
from .chat import name_of, text_of

NAMED = ("function_call", "mcp_call", "mcp_approval_request")
"""Items with a tool's name and arguments as JSON text."""

NO_CALLS = frozenset(
    """message reasoning compaction compaction_trigger item_reference mcp_list_tools
    mcp_approval_response tool_search_output additional_tools program_output""".split()  # noqa: SIM905
)

_NO_ARGUMENTS = frozenset(
    """id type status call_id container_id results outputs output result error caller created_by
    environment pending_safety_checks acknowledged_safety_checks fingerprint execution async
    svg_usage agent""".split()  # noqa: SIM905 - one word a field reads better
)
_GIVEN_BACK = ("output", "outputs", "results")


def is_call(item: Mapping[str, Any]) -> bool:
    """Whether an item is a call, to the best of what is known."""
    kind = item.get("type")
    if kind is None and "role" in item:
        return False
    return not (isinstance(kind, str) and (kind in NO_CALLS or kind.endswith("_output")))


def proposed(item: Mapping[str, Any]) -> Proposed:
    """The call that an item is."""
    kind = item.get("type")
    call_id = str(item.get("call_id") or item.get("id") or "")
    if kind in NAMED:
        return Proposed(name_of(item.get("name")), item.get("arguments") or "", call_id)
    if kind == "custom_tool_call":
        return Proposed(name_of(item.get("name")), {"input": item.get("input") or ""}, call_id)
    if not isinstance(kind, str):
        return Proposed("", id=call_id)
    return Proposed(kind.removesuffix("_call"), _fields(item), call_id)


def _fields(item: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of a tool of OpenAI's own; those of its `action` among them."""
    found = {key: value for key, value in item.items() if key not in _NO_ARGUMENTS}
    action = found.get("action")
    if isinstance(action, Mapping):
        del found["action"]
        found.update(action)
    return found


def with_arguments(item: dict[str, Any], arguments: str) -> dict[str, Any]:
    """The call with other arguments in place of its own."""
    if item.get("type") in NAMED:
        return {**item, "arguments": arguments}
    given: dict[str, Any] = json.loads(arguments)
    made = {**item, **{key: value for key, value in given.items() if key in item}}
    action = item.get("action")
    if isinstance(action, Mapping):
        made["action"] = {key: given.get(key, value) for key, value in action.items()}
    return made


def turns_of(given: Any) -> Iterator[Turn]:
    """The conversation that `input` carries. What the system says is nobody's word."""
    if isinstance(given, str):
        yield UserText(given)
        return
    for item in given if isinstance(given, list | tuple) else ():
        if isinstance(item, Mapping):
            yield from turns_of_item(item)


def turns_of_item(item: Mapping[str, Any]) -> Iterator[Turn]:
    """What one item comes to. A request for approval is no call yet."""
    kind = item.get("type")
    if item.get("role") == "user":
        yield UserText(text_of(item.get("content")))
    elif isinstance(kind, str) and kind.endswith("_output"):
        yield _result(item)
    elif kind != "mcp_approval_request" and is_call(item):
        yield ModelTurn((proposed(item),))
        if any(item.get(name) for name in _GIVEN_BACK):
            yield _result(item)


def _result(item: Mapping[str, Any]) -> ToolResult:
    given = next((item[name] for name in _GIVEN_BACK if item.get(name)), "")
    call_id = str(item.get("call_id") or item.get("id") or "")
    return ToolResult(call_id, read_by_model(given), failed=bool(item.get("error")))
