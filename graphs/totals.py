"""What a reflection has used, added to the totals of its thread once the run is over.

No node runs by then, and a guarded graph's state cannot be set. So the thread's last checkpoint is
written once more, under its own id: the same in everything but the two totals.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver, copy_checkpoint

from ..guards.limits import Amounts, added
from .meter import USED

RUN = "run"
SPENT = "spent"


def add_to_thread(
    saver: BaseCheckpointSaver[Any], config: RunnableConfig, *, tokens: int, amounts: Amounts
) -> None:
    """Add to the totals of the thread that `config` names, where it has any.

    Whoever calls this has the thread's turn: nothing else may write to it meanwhile.
    """
    saved = saver.get_tuple(config)
    if saved is None:
        return
    checkpoint = copy_checkpoint(saved.checkpoint)
    values = checkpoint["channel_values"]
    changed = {}
    if isinstance(run := values.get(RUN), Mapping):
        changed[RUN] = {**run, SPENT: int(run.get(SPENT) or 0) + tokens}
    if isinstance(used := values.get(USED), Mapping) and any(amounts.values()):
        changed[USED] = {**used, "thread": added(used.get("thread") or {}, amounts)}
    if not changed:
        return
    versions = checkpoint["channel_versions"]
    new = {name: saver.get_next_version(versions.get(name), None) for name in changed}
    checkpoint["channel_values"] = {**values, **changed}
    checkpoint["channel_versions"] = {**versions, **new}
    namespace = (saved.config.get("configurable") or {}).get("checkpoint_ns", "")
    before = saved.parent_config or {"configurable": {**(config.get("configurable") or {})}}
    settings = {**(before.get("configurable") or {}), "checkpoint_ns": namespace}
    saver.put({"configurable": settings}, checkpoint, saved.metadata, new)
