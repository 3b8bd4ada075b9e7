"""All tools of an agent under one flat set of names.

Two tools of one name are refused, however they came about; also names that differ only in case,
which a model or a policy would take for one another; and the name of a server's tool that looks
like that of a tool from elsewhere, for which a model or a person would take it.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Any

from langchain_core.tools import BaseTool

from ...arguments import refusal
from ...policies.problems import did_you_mean
from .python import as_tool
from .schemas import tool_schema
from .signature import ToolNotFoundError, refuse

_MISREAD = str.maketrans("015i", "olsl")

ToolLike = Callable[..., Any] | BaseTool


def listed(tools: object) -> Iterable[Any]:
    """The tools that an argument lists.

    Raises:
        TypeError: it is no list, but one tool, say.
    """
    if callable(tools) or isinstance(tools, BaseTool) or not isinstance(tools, Iterable):
        raise refusal("tools", tools, "a list of functions and LangChain tools")
    return tools


class ToolRegistry:
    """The tools of one agent; what is in it does not change once it is made.

    The tools go to the tool node and nowhere else. The model's side gets `schemas()`: plain data
    that holds nothing which could be called.
    """

    __slots__ = ("_schemas", "_sources", "_tools")

    def __init__(self, tools: Iterable[ToolLike | tuple[ToolLike, str]] = ()) -> None:
        """Take functions and LangChain tools, each alone or with its source: the words by which
        messages name that.

        Raises:
            ToolRegistrationError: two tools have the same name or, where one is a server's, names
                that look the same; or one has no valid schema.
        """
        found: dict[str, BaseTool] = {}
        alike: dict[str, str] = {}
        sources: dict[str, str] = {}
        folded: dict[str, str] = {}
        for given in listed(tools):
            function, source = given if isinstance(given, tuple) else (given, "the registry")
            tool = as_tool(function)
            taken = folded.setdefault(tool.name.casefold(), tool.name)
            if taken in found:
                first = "both of" if sources[taken] == source else f"{sources[taken]} and"
                wrong = f"two tools have this name: {first} {source}"
                refuse(tool.name, "", wrong, fix="rename or remove one of them")
            twin = alike.setdefault(_at_a_glance(tool.name), tool.name)
            if twin != tool.name and _are_foreign((found[twin], sources[twin]), (tool, source)):
                wrong = f"its name, from {source}, looks like {twin} from {sources[twin]}"
                refuse(tool.name, "", wrong, fix="rename one of them, or name it in exclude")
            found[tool.name], sources[tool.name] = tool, source
        self._tools = MappingProxyType(found)
        self._sources = MappingProxyType(sources)
        self._schemas = tuple(tool_schema(tool) for tool in found.values())

    @property
    def tools(self) -> Mapping[str, BaseTool]:
        """The tools by name."""
        return self._tools

    def get(self, name: str) -> BaseTool:
        """The tool of this name.

        Raises:
            ToolNotFoundError: there is none.
        """
        if name not in self._tools:
            near = did_you_mean(name, self._tools)
            raise ToolNotFoundError(f"there is no tool {name!r}; {near}".rstrip("; "))
        return self._tools[name]

    def names(self) -> list[str]:
        """The tools' names, in the order in which they were given."""
        return list(self._tools)

    @property
    def sources(self) -> Mapping[str, str]:
        """Where each tool came from, in words, by its name."""
        return self._sources

    def source(self, name: str) -> str:
        """Where the tool of this name came from.

        Raises:
            KeyError: there is none.
        """
        return self._sources[name]

    def schemas(self) -> list[dict[str, Any]]:
        """The tools' descriptions in OpenAI's form; the caller's own copies."""
        return copy.deepcopy(list(self._schemas))

    def metadata(self, name: str) -> dict[str, Any]:
        """What the tool's maker noted about it (a skill's author, an MCP server's name)."""
        return dict(self._tools[name].metadata or {})

    def __len__(self) -> int:
        return len(self._tools)

    def __iter__(self) -> Iterator[str]:
        return iter(self._tools)

    def __contains__(self, name: object) -> bool:
        return name in self._tools


def _at_a_glance(name: str) -> str:
    """A name as somebody might misread it: `sendEmai1` for `send_email`."""
    return re.sub("[_-]", "", name.casefold()).translate(_MISREAD)


def _are_foreign(one: tuple[BaseTool, str], other: tuple[BaseTool, str]) -> bool:
    """Whether two tools have different sources, one of which is a server."""
    servers = ["server" in (tool.metadata or {}) for tool, _ in (one, other)]
    return any(servers) and one[1] != other[1]
