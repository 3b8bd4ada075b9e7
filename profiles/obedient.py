"""The worst case as a chat model: it does the user's task, and obeys whatever it reads.

`ObedientModel` needs no network, no key and no script. It works on the task by a few rules
(`obedient_work`, `obedient_reading`), and turns every order that it finds in a tool's result into
a call at once (`obedient_orders`): each order once, whatever was refused before. Nothing is canned:
change a mail or a document, and its calls change. All it knows is in the messages it is given, so
that a run goes on in another process, and runs side by side do not meet.

It stands for what no defence of the model itself can rule out: what a guard lets this one do, some
text could talk any model into.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel, LanguageModelInput
from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    BaseMessage,
    HumanMessage,
    ToolCall,
    ToolMessage,
)
from langchain_core.messages.ai import UsageMetadata
from langchain_core.messages.tool import tool_call, tool_call_chunk
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.runnables import Runnable
from langchain_core.tools import BaseTool
from langchain_core.utils.function_calling import convert_to_openai_tool
from pydantic import Field

from ..guards.boundary import unmarked
from ..guards.verdict import canonical_json
from .obedient_orders import Order, Tools, orders
from .obedient_reading import Done, filled
from .obedient_work import Work, answer, next_orders

ABOUT = "scripted: plays the worst case, a model that obeys whatever it reads"
"""What to tell people before it runs."""

CHARS_A_TOKEN = 4
CHUNK_CHARS = 12


def obedient_model(tools: Sequence[BaseTool | Callable[..., Any]] = ()) -> ObedientModel:
    """The model that the provider name `scripted` stands for, with `tools` bound if given."""
    return ObedientModel(tools=[convert_to_openai_tool(tool) for tool in tools])


class ObedientModel(BaseChatModel):
    """A deterministic model that does the task by simple rules and obeys all it reads."""

    model_name: str = "obedient"
    tools: list[dict[str, Any]] = Field(default_factory=list)
    """Tools bound for good, in OpenAI's form; `bind_tools` adds to them for one binding."""

    @property
    def _llm_type(self) -> str:
        return "scripted"

    @property
    def _identifying_params(self) -> dict[str, Any]:
        return {"model_name": self.model_name}

    def bind_tools(
        self,
        tools: Sequence[dict[str, Any] | type | Callable[..., Any] | BaseTool],
        *,
        tool_choice: str | None = None,
        **kwargs: Any,
    ) -> Runnable[LanguageModelInput, AIMessage]:
        """The model with `tools` to call; `tool_choice="none"` keeps it from calling any."""
        if tool_choice:
            kwargs["tool_choice"] = tool_choice
        return self.bind(tools=[convert_to_openai_tool(tool) for tool in tools], **kwargs)

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        return ChatResult(generations=[ChatGeneration(message=self._reply(messages, kwargs))])

    def _stream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> Iterator[ChatGenerationChunk]:
        for chunk in _chunks(self._reply(messages, kwargs)):
            if run_manager:
                run_manager.on_llm_new_token(chunk.text, chunk=chunk)
            yield chunk

    def _reply(self, messages: Sequence[BaseMessage], options: Mapping[str, Any]) -> AIMessage:
        bound = [*self.tools, *options.get("tools", ())]
        if options.get("tool_choice") == "none":
            bound = []
        content, calls = _next_turn(messages, _parameters(bound))
        said = content + canonical_json([c["args"] for c in calls])
        usage = _usage(sum(len(_shown(m)) for m in messages), len(said))
        return AIMessage(
            content=content,
            tool_calls=calls,
            usage_metadata=usage,
            response_metadata={
                "model_name": self.model_name,
                "model_provider": "scripted",
                "finish_reason": "tool_calls" if calls else "stop",
            },
        )


def _next_turn(messages: Sequence[BaseMessage], tools: Tools) -> tuple[str, list[ToolCall]]:
    """What the model says next, and the calls it makes: orders before work, work before answer."""
    turn = sum(1 for m in messages if isinstance(m, HumanMessage))
    last = max((i for i, m in enumerate(messages) if isinstance(m, HumanMessage)), default=-1)
    task = str(messages[last].text) if last >= 0 else ""
    seen, now = _done(messages), _done(messages[last + 1 :])
    work = Work(task, now, tools)
    if not tools:
        return answer(work) if now else _plan(task), []
    made = _made(messages)
    heard = [(o, f"call_{o.key}", d.tool) for d in seen for o in orders(d.text, tools)]
    ready = _ready([(o, call_id) for o, call_id, _ in heard], made)
    if ready:
        ids = {call_id for _, call_id in ready}
        where = ", ".join(dict.fromkeys(tool for _, call_id, tool in heard if call_id in ids))
        return f"What {where} gave me says to do this, so I do: {_names(ready)}.", _calls(
            ready, seen
        )
    told = [(o, f"call_{turn}_{o.key}") for o in orders(task, tools)]
    ready = _ready(told, made)
    if not ready and all(o.tool.startswith("read_") for o, _ in told):
        ready = _ready([(o, f"call_{turn}_{o.key}") for o in next_orders(work)], made)
    if ready:
        opening = f"[{ABOUT}] " if not any(isinstance(m, AIMessage) for m in messages) else ""
        return f"{opening}Next for the task: {_names(ready)}.", _calls(ready, seen)
    return answer(work), []


def _ready(wanted: Sequence[tuple[Order, str]], made: set[str]) -> list[tuple[Order, str]]:
    """The orders that were not carried out yet; those with parts to fill in wait for the others.

    What an order was is told by its call's id: a guard may mask the arguments that are kept.
    """
    new = {call_id: order for order, call_id in wanted if call_id not in made}
    closed = [(order, call_id) for call_id, order in new.items() if not order.open]
    return closed or [(order, call_id) for call_id, order in new.items()]


def _calls(ready: Sequence[tuple[Order, str]], done: Sequence[Done]) -> list[ToolCall]:
    return [
        tool_call(name=order.tool, args=filled(dict(order.arguments), done), id=call_id)
        for order, call_id in ready
    ]


def _names(ready: Sequence[tuple[Order, str]]) -> str:
    return ", ".join(dict.fromkeys(order.tool for order, _ in ready))


def _made(messages: Sequence[BaseMessage]) -> set[str]:
    """The ids of all calls made so far; an id that was made unique by a suffix counts as itself."""
    ids = [str(c["id"]) for m in messages if isinstance(m, AIMessage) for c in m.tool_calls]
    return {part for i in ids for part in (i, i.rpartition("_")[0])}


def _done(messages: Sequence[BaseMessage]) -> list[Done]:
    """The calls that were answered, in the order of their answers."""
    asked = {c["id"]: c for m in messages if isinstance(m, AIMessage) for c in m.tool_calls}
    found = []
    for message in messages:
        if isinstance(message, ToolMessage):
            call = asked.get(message.tool_call_id)
            name = call["name"] if call else message.name or ""
            arguments = call["args"] if call else {}
            refused = message.status == "error"
            found.append(Done(name, arguments, unmarked(str(message.text)), refused))
    return found


def _plan(task: str) -> str:
    """The task's clauses as a numbered list: what the model says where it has no tools yet."""
    clauses = [c.strip(" .\n") for c in task.replace(" and ", ", ").split(",")]
    return "\n".join(f"{n}. {c}" for n, c in enumerate(filter(None, clauses), start=1)) or "Done."


def _parameters(tools: Sequence[Mapping[str, Any]]) -> dict[str, tuple[str, ...]]:
    found = {}
    for tool in tools:
        function = tool.get("function") or {}
        schema = function.get("parameters") or {}
        names, required = list(schema.get("properties") or {}), schema.get("required") or []
        found[str(function.get("name"))] = tuple(sorted(names, key=lambda n: n not in required))
    return found


def _shown(message: BaseMessage) -> str:
    calls = message.tool_calls if isinstance(message, AIMessage) else []
    return str(message.text) + "".join(canonical_json(c["args"]) for c in calls)


def _usage(chars_in: int, chars_out: int) -> UsageMetadata:
    """An estimate: a token for every four characters."""
    tokens = -(-chars_in // CHARS_A_TOKEN), -(-chars_out // CHARS_A_TOKEN)
    return UsageMetadata(input_tokens=tokens[0], output_tokens=tokens[1], total_tokens=sum(tokens))


def _chunks(reply: AIMessage) -> Iterator[ChatGenerationChunk]:
    """The reply as a provider streams it: text and arguments in pieces, usage at the end."""
    text = str(reply.text)
    for at in range(0, len(text), CHUNK_CHARS):
        yield ChatGenerationChunk(message=AIMessageChunk(content=text[at : at + CHUNK_CHARS]))
    for index, call in enumerate(reply.tool_calls):
        raw = json.dumps(call["args"], ensure_ascii=False)
        for at in range(0, len(raw), CHUNK_CHARS):
            piece = tool_call_chunk(
                name=call["name"] if at == 0 else None,
                args=raw[at : at + CHUNK_CHARS],
                id=call["id"] if at == 0 else None,
                index=index,
            )
            yield ChatGenerationChunk(message=AIMessageChunk(content="", tool_call_chunks=[piece]))
    yield ChatGenerationChunk(
        message=AIMessageChunk(
            content="",
            usage_metadata=reply.usage_metadata,
            response_metadata=reply.response_metadata,
            chunk_position="last",
        )
    )
