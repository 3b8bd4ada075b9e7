"""Whether anybody listens to a run. LangChain's callback machinery costs more than a guarded step;
nodes and tools run it when there is a handler, and are called directly when there is none."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from langchain_core.runnables import RunnableConfig


def listened_to(config: RunnableConfig) -> bool:
    """Whether any callback handler (tracing, events) listens to this run."""
    callbacks = config.get("callbacks")
    return bool(callbacks if isinstance(callbacks, list) else getattr(callbacks, "handlers", None))
