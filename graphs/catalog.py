"""The tools as guard and model see them: names, descriptions, argument schemas. No code.

The guard judges what will run: arguments as the tool's own schema reads them, defaults filled in,
`"7"` made 7. What the schema does not know is refused rather than dropped.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from langchain_core.tools import BaseTool

from ..guards.call_schemas import arguments_fault, canonical_arguments
from ..guards.langchain.tools import call_schema
from ..guards.verdict import ToolCall
from ..nodes._index import FIND_TOOLS
from ..nodes._sizes import text_tokens
from ..profiles.tools.schemas import tool_schema
from .index import ToolIndex


def refuse_two(
    name: str, tools: Iterable[str], sources: Mapping[str, str], *, ours: str, fix: str
) -> None:
    """Refuse a tool that is named like one that a graph adds, or so but for its case.

    Raises:
        ValueError: with the sources of both.
    """
    theirs = next((tool for tool in tools if tool.casefold() == name.casefold()), None)
    if theirs is not None:
        source = sources.get(theirs, "one of yours")
        raise ValueError(f"two tools are named {theirs!r}: {source}, and {ours}; {fix}")


class ToolCatalog:
    """Every tool by name, with the schema that its calls are read through."""

    def __init__(
        self,
        tools: Mapping[str, BaseTool],
        *,
        unshown: str = "",
        index_above: int | None = None,
        sources: Mapping[str, str] | None = None,
    ) -> None:
        """`unshown` is a tool that the model is told of only where there is use for it. Of more
        tools than `index_above` it is shown a list. `sources` says in words where each is from.

        Raises:
            ValueError: a tool has the name by which tools of the list are looked up.
        """
        self._schemas = {name: call_schema(tool) for name, tool in tools.items()}
        self.all_descriptions: list[dict[str, Any]] = [tool_schema(t) for t in tools.values()]
        self.descriptions: list[dict[str, Any]] = [
            told for name, told in zip(tools, self.all_descriptions, strict=True) if name != unshown
        ]
        self.index: ToolIndex | None = None
        if index_above is not None and len(self.descriptions) > index_above:
            refuse_two(
                FIND_TOOLS,
                tools,
                sources or {},
                ours="the one by which the model finds tools in a list",
                fix="rename yours, or raise tools.index_above",
            )
            self.index = ToolIndex(self.descriptions)

    @property
    def names(self) -> list[str]:
        """The tools of which the model is told."""
        return [str(told["function"]["name"]) for told in self.descriptions]

    @property
    def shown(self) -> list[dict[str, Any]]:
        """What the model is always shown."""
        return self.descriptions if self.index is None else [self.index.description]

    @property
    def unshown(self) -> list[dict[str, Any]]:
        """What it is shown at times."""
        shown = {told["function"]["name"] for told in self.shown}
        return [t for t in self.all_descriptions if t["function"]["name"] not in shown]

    @property
    def overhead(self) -> int:
        """Tokens that the tools take in each request."""
        if self.index is not None:
            return self.index.tokens
        return sum(text_tokens(str(told)) for told in self.descriptions)

    def __len__(self) -> int:
        return len(self._schemas)

    def canonical(self, call: ToolCall) -> ToolCall:
        """The call with its arguments as they will run; `fault` says why there are none."""
        if call.fault is not None:
            return call
        if call.name not in self._schemas:
            return replace(call, fault=self._unknown(call.name))
        try:
            arguments = canonical_arguments(self._schemas[call.name], call.arguments)
        except (TypeError, ValueError, RecursionError) as error:
            return replace(call, fault=arguments_fault(error))
        return replace(call, arguments=arguments)

    def _unknown(self, name: str) -> str:
        near = difflib.get_close_matches(name, self._schemas, n=3, cutoff=0.5)
        known = near or sorted(self._schemas)[:10]
        hint = ("did you mean " if near else "there are ") + ", ".join(known)
        return f"there is no tool named {name[:80]!r}; {hint if known else 'there are none'}"
