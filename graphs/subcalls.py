"""Hears the model calls that a tool makes, with any model of LangChain's, and adds them up."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from typing import Any
from uuid import UUID

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.messages import BaseMessage
from langchain_core.outputs import LLMResult

from ..guards.langchain.session import usage_of
from ..guards.limits import Amounts, Limits, added
from ..guards.spent import Usage
from ..nodes._sizes import text_tokens, tokens


class SubCalls(BaseCallbackHandler):
    """Listens to one run of a tool. Models may be called in several threads at once.

    Each call is told to `counted` as it ends; `close` gives the sum of those that had ended by
    then. A model that the policy has no price for is taken to cost what the dearest one does.
    """

    run_inline = True

    def __init__(self, limits: Limits, *, counted: Callable[[Amounts], None]) -> None:
        self._limits = limits
        self._counted = counted
        self._lock = threading.Lock()
        self._open: dict[UUID, tuple[str, int]] = {}
        self._sum: Amounts = {}

    def on_chat_model_start(
        self,
        serialized: dict[str, Any],
        messages: list[list[BaseMessage]],
        *,
        run_id: UUID,
        metadata: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        """Note which model is asked, and how much it reads."""
        name = str((metadata or {}).get("ls_model_name") or "")
        read = sum(tokens(message) for one in messages for message in one)
        with self._lock:
            self._open[run_id] = (name, read)

    def on_llm_start(
        self,
        serialized: dict[str, Any],
        prompts: list[str],
        *,
        run_id: UUID,
        metadata: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        """The same for a model that takes text."""
        name = str((metadata or {}).get("ls_model_name") or "")
        with self._lock:
            self._open[run_id] = (name, sum(map(text_tokens, prompts)))

    def on_llm_end(self, response: LLMResult, *, run_id: UUID, **kwargs: Any) -> None:
        """Add up what the call has used."""
        with self._lock:
            name, read = self._open.pop(run_id, ("", 0))
        total: Amounts = {}
        for generations in response.generations:
            for generation in generations:
                message = getattr(generation, "message", None)
                used = Usage() if message is None else usage_of(message)
                if not getattr(message, "usage_metadata", None) or not used.amounts(None)["tokens"]:
                    used = Usage(read, text_tokens(generation.text))
                total = added(total, replace(used, model=name).amounts(self._limits))
        with self._lock:
            self._sum = added(self._sum, total)
        self._counted(total)

    def on_llm_error(self, error: BaseException, *, run_id: UUID, **kwargs: Any) -> None:
        """A call that failed used nothing that anybody knows of."""
        with self._lock:
            self._open.pop(run_id, None)

    def close(self) -> Amounts:
        """What was used by now."""
        with self._lock:
            return self._sum
