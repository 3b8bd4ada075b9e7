"""Asking a person about one call, through LangGraph's own interrupt.

The question has the shape of LangChain's `ToolApprovalRequest`, with the verdict's record beside
it. An answer is one of LangChain's decisions (`{"type": "approve"}`), or names the call's id:
`{call_id: {"decision": "approve"}}`.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Mapping
from typing import Any, Literal

from pydantic import AliasChoices, BaseModel, ConfigDict, Field, create_model, model_validator
from typing_extensions import Self

from ..audit import record
from ..redact import Redactor
from ..telemetry.current import answered, waits
from ..verdict import Arguments, Finding, ToolCall, Verdict

_DOOR = "middleware"


class EditedAction(BaseModel):
    """LangChain's spelling of an edit."""

    model_config = ConfigDict(extra="forbid", strict=True)

    name: str
    args: dict[str, Any]


class Answer(BaseModel):
    """One person's answer to one call: approve it, reject it, or run it with other arguments."""

    model_config = ConfigDict(extra="forbid", strict=True)

    decision: Literal["approve", "edit", "reject"] = Field(
        validation_alias=AliasChoices("decision", "type")
    )
    args: dict[str, Any] | None = None
    edited_action: EditedAction | None = None
    reason: str = Field("", validation_alias=AliasChoices("reason", "message"))
    by: str = ""

    @model_validator(mode="after")
    def _edits_say_how(self) -> Self:
        given = [part for part in (self.args, self.edited_action) if part is not None]
        if len(given) != (1 if self.decision == "edit" else 0):
            raise ValueError("`args` (or `edited_action`) goes with `edit`, and only with it")
        return self

    @property
    def edited_args(self) -> Arguments:
        """The arguments of an edit."""
        return self.edited_action.args if self.edited_action else self.args or {}


def ask(call: ToolCall, verdict: Verdict, redactor: Redactor, *, thread: str) -> Answer:
    """The answer to `call`. Raises out of the node, for LangGraph to pause, until it is there.

    Raises:
        pydantic.ValidationError: the answer is not one; the call can be answered again.
    """
    from langgraph.errors import GraphInterrupt
    from langgraph.types import interrupt

    question = {
        "type": "tool_approval",
        "tool_call_id": call.id,
        "name": call.name,
        "args": redactor.value(call.arguments),
        "description": verdict.reason,
        "verdict": record(call, verdict),
    }
    try:
        answer = interrupt(question, response_schema=_answers(call))
    except GraphInterrupt:
        waits(_DOOR, thread, [call.id])
        raise
    answered(_DOOR, thread, [call.id])
    if isinstance(answer, dict):
        return answer[call.id]  # type: ignore[no-any-return]
    return answer  # type: ignore[no-any-return]


def drop_answer(config: Mapping[str, Any] | None) -> bool:
    """Whether the task of this config runs once more because a person has answered it; that answer
    is no answer to anything any more."""
    pad = ((config or {}).get("configurable") or {}).get("__pregel_scratchpad")
    return pad is not None and (pad.get_null_resume(True) is not None or bool(pad.resume))


_MOST_USED = 4_096

_used: OrderedDict[tuple[str, int], None] = OrderedDict()
_used_lock = threading.Lock()


def is_first_use(config: Mapping[str, Any] | None) -> bool:
    """Whether nobody went on by this answer before: of the task of this config, so many answers.

    A thread of a plain graph has no turns: whoever answers twice at once has two runs go on from
    the same question. This process lets one of them.
    """
    settings = (config or {}).get("configurable") or {}
    task, pad = settings.get("__pregel_task_id"), settings.get("__pregel_scratchpad")
    if task is None or pad is None:
        return True
    answer = str(task), len(pad.resume)
    with _used_lock:
        if answer in _used:
            return False
        _used[answer] = None
        while len(_used) > _MOST_USED:
            _used.popitem(last=False)
    return True


ANSWER_USED = Finding(
    "ask",
    "block",
    "the answer to the question about this call was used already; if the call is still wanted,"
    " propose it again",
)
"""Said of a call that would run once more by the same answer of a person."""


def _answers(call: ToolCall) -> Any:
    """The type of what answers this call; an edit cannot name another tool."""
    names, ids = (call.name,), (call.id,)
    action = create_model("EditedAction", __base__=EditedAction, name=(_one_of(names), ...))
    optional: Any = action | None
    answer: Any = create_model("Answer", __base__=Answer, edited_action=(optional, None))
    by_id: Any = dict[_one_of(ids), answer]  # type: ignore[misc]
    return by_id | answer


def _one_of(words: tuple[str, ...]) -> Any:
    return Literal[words]
