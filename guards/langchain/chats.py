"""A chat model of LangChain's, its request and its reply, as telemetry tells of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from ..redact import Redactor
from ..telemetry.current import operation
from ..telemetry.operation import CHAT, Attributes, Operation
from .session import usage_of

if TYPE_CHECKING:
    from langchain_core.messages import BaseMessage

    Reply = TypeVar("Reply", bound=BaseMessage)

PROVIDERS = {
    "amazon_bedrock": "aws.bedrock",
    "azure": "azure.ai.openai",
    "google_genai": "gcp.gemini",
    "google_vertexai": "gcp.vertex_ai",
    "mistral": "mistral_ai",
    "mistralai": "mistral_ai",
    "xai": "x_ai",
}
"""LangChain's names of providers, where OpenTelemetry's conventions have others."""


def facts_of(model: Any) -> Attributes:
    """What is known of a model before it is asked."""
    model = getattr(model, "bound", model)
    try:
        params = model._get_ls_params()
    except Exception:  # noqa: BLE001 - it fails to say what it is; no reason to fail
        params = {}
    provider = str(params.get("ls_provider") or "unknown")
    facts = {"gen_ai.provider.name": PROVIDERS.get(provider, provider)}
    if name := params.get("ls_model_name"):
        facts["gen_ai.request.model"] = str(name)
    return facts


def chat(
    messages: Sequence[Any], redactor: Redactor, *, facts: Attributes, thread: str = ""
) -> Operation:
    """The operation of asking a model, of which these facts are known (`facts_of`)."""
    told = operation(CHAT, str(facts.get("gen_ai.request.model", "")), redactor, facts)
    if told.on:
        told.note("gen_ai.conversation.id", thread)
        told.content("gen_ai.input.messages", lambda: [_message(m) for m in messages])
    return told


def replied(told: Operation, reply: Reply) -> Reply:
    """The reply, told of."""
    if told.on:
        said: Any = reply
        usage, metadata = usage_of(said), said.response_metadata
        told.note("gen_ai.response.model", usage.model)
        told.note("gen_ai.response.id", str(said.id or ""))
        reason = metadata.get("finish_reason") or metadata.get("stop_reason")
        if reason:
            told.note("gen_ai.response.finish_reasons", [str(reason)])
        if said.usage_metadata:
            told.counted(usage.read, usage.written)
        told.content("gen_ai.output.messages", lambda: [_message(said)])
    return reply


_ROLES = {"human": "user", "ai": "assistant"}


def _message(message: Any) -> dict[str, Any]:
    """A message in the form of the conventions: a role, and parts."""
    kind, text = message.type, str(message.text)
    if kind == "tool":
        part = {"type": "tool_call_response", "id": message.tool_call_id, "response": text}
        return {"role": "tool", "parts": [part]}
    parts: list[dict[str, Any]] = [{"type": "text", "content": text}] if text else []
    for call in getattr(message, "tool_calls", None) or ():
        told = {"id": call["id"], "name": call["name"], "arguments": call["args"]}
        parts.append({"type": "tool_call", **told})
    return {"role": _ROLES.get(kind, kind), "parts": parts}
