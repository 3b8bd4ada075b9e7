"""The tool that reads on in a result that is shown shortened.

It reads the thread's own messages and nothing else: text that a call brought back, as it was
screened then. It is a tool as any other, so the policy decides on each call of it; but a policy
that lists its tools need not list this one, as long as it reads what the same caller was given.
Where an entry blocks it, by name or by a glob, it is not offered, and a shortened result does not
speak of it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool, StructuredTool

from ..guards.decide import Policy, decide
from ..guards.ledger import History
from ..guards.rules.callers import KEY as CALLERS
from ..guards.verdict import ToolCall
from ..nodes._shorten import READ_REST, SMALLEST, rest_of
from ..nodes.compress import Spec
from .catalog import refuse_two
from .drive import READ_KEY
from .schema import Strategy

PAGE_TOKENS = 2_000
"""What one page takes at most; a quarter of the room where that is less."""

DESCRIBED = (
    "Read on in a tool result of this conversation that is shown shortened. `call` is the id in"
    " the note on what was left out; `start` the character to begin at; with `find`, reading begins"
    " where that text next stands. Gives one page."
)


def rest_tool(
    strategy: Strategy,
    policy: Policy,
    tools: Collection[str],
    *,
    sources: Mapping[str, str],
    overhead: int,
) -> BaseTool | None:
    """The tool, where the strategy shortens results, there are tools, and the policy lets it run.
    `sources` says in words where each tool is from.

    Raises:
        ValueError: a tool has its name, or what prompt and tools take leaves no room.
    """
    specs = {n.name: n.spec for n in strategy.nodes.values() if isinstance(n.spec, Spec)}
    rooms = [spec.fit(overhead).room for spec in _with_room(specs, strategy, overhead)]
    if not rooms or not tools:
        return None
    refuse_two(
        READ_REST,
        tools,
        sources,
        ours=f"the one by which strategy {strategy.name!r} lets a shortened result be read on",
        fix="rename yours, or take the compress nodes out",
    )
    granted = History(granted=frozenset((READ_REST,)))
    found = decide(policy, ToolCall(READ_REST, {"call": "c"}), granted).findings
    if any(f.word == "block" and f.rule != CALLERS for f in found):  # who asks, nobody knows yet
        return None
    return _built(min(PAGE_TOKENS, max(min(rooms) // 4, SMALLEST)))


def _with_room(specs: Mapping[str, Spec], strategy: Strategy, overhead: int) -> Iterable[Spec]:
    for name, spec in specs.items():
        if spec.fit(overhead).room <= 0:
            raise ValueError(
                f"strategy {strategy.name!r}, node {name!r}: the system prompt and the tools'"
                f" descriptions take about {overhead} tokens, and context_limit"
                f" ({spec.context_limit}) less reserved_buffer ({spec.reserved_buffer}) leaves"
                f" {spec.context_limit - spec.reserved_buffer}; raise context_limit (in a profile:"
                " memory.context_limit), or use fewer tools or a shorter prompt"
            )
        yield spec


def _built(page: int) -> BaseTool:
    def read_rest(call: str, config: RunnableConfig, start: int = 0, find: str = "") -> str:
        read = (config.get("configurable") or {}).get(READ_KEY)
        messages = (read("messages") if read else None) or []
        return rest_of(messages, call, start=start, find=find, most=page)

    return StructuredTool.from_function(read_rest, name=READ_REST, description=DESCRIBED)
