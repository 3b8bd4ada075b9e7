"""Asking a person about one call, through LangGraph's own interrupt.

The question has the shape of LangChain's `ToolApprovalRequest`, with the verdict's record beside
it. An answer is one of LangChain's decisions (`{"type": "approve"}`), or names the call's id:
`{call_id: {"decision": "approve"}}`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

from pydantic import AliasChoices, BaseModel, ConfigDict, Field, create_model, model_validator
from typing_extensions import Self

from ..audit import record
from ..redact import Redactor
from ..telemetry.current import answered, waits
from ..verdict import Arguments, ToolCall, Verdict

if TYPE_CHECKING:
    from langchain_core.runnables import RunnableConfig

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


def ask(
    call: ToolCall,
    verdict: Verdict,
    redactor: Redactor,
    *,
    thread: str,
    config: RunnableConfig,
) -> Answer:
    """The answer to `call`. Raises out of the node, for LangGraph to pause, until it is there.

    `config` is the node's.

    Raises:
        pydantic.ValidationError: the answer is not one; the call can be answered again.
    """
    from langchain_core.runnables.config import set_config_context
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
        with set_config_context(config) as context:  # which Python 3.10 does not hand to tasks
            answer = context.run(interrupt, question, response_schema=_answers(call))
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
