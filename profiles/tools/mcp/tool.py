"""A server's tool as a LangChain tool: sync or async, from any loop or thread."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool, ToolException
from pydantic import PrivateAttr, ValidationError

from .definitions import Definition, Offer
from .failures import ServerDown, folded
from .results import text_of
from .servers import Servers

if TYPE_CHECKING:
    from mcp.types import CallToolResult


class McpTool(BaseTool):
    """One tool of one server. What the server answers, errors included, comes back as text."""

    handle_tool_error: Any = True
    _servers: Servers = PrivateAttr()
    _place: int = PrivateAttr()
    _label: str = PrivateAttr()
    _definition: Definition = PrivateAttr()

    @classmethod
    def of(
        cls, definition: Definition, offer: Offer, *, servers: Servers, place: int, label: str
    ) -> McpTool:
        """The tool that a server (the one at `place`, called `label`) offers."""
        tool = cls(
            name=offer.name,
            description=offer.description,
            args_schema=offer.schema,
            metadata={
                "server": label,
                "tool": definition.name,
                **({"hidden": list(offer.hidden)} if offer.hidden else {}),
            },
        )
        tool._servers, tool._place, tool._label = servers, place, label
        tool._definition = definition
        return tool

    def _to_args_and_kwargs(
        self, tool_input: str | dict[str, Any], tool_call_id: str | None
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        # As one value: an argument may be called `config`, or whatever else LangChain fills in.
        parsed = self._parse_input(tool_input, tool_call_id)
        return (parsed,), {}

    def _run(self, arguments: Any, /, config: RunnableConfig) -> str:
        with _told(self._label):
            return self._text(
                self._servers.call(
                    self._place,
                    self._definition.name,
                    arguments,
                    definition=self._definition,
                    thread=_thread(config),
                )
            )

    async def _arun(self, arguments: Any, /, config: RunnableConfig) -> str:
        with _told(self._label):
            return self._text(
                await self._servers.acall(
                    self._place,
                    self._definition.name,
                    arguments,
                    definition=self._definition,
                    thread=_thread(config),
                )
            )

    def _text(self, result: CallToolResult) -> str:
        text = text_of(result)
        if result.isError:
            raise ToolException(text or "the tool failed, and says no more")
        return text


@contextmanager
def _told(label: str) -> Iterator[None]:
    """What goes wrong in this block as a tool's error, which names the server."""
    from mcp import McpError

    try:
        yield
        return
    except ServerDown as error:
        text = str(error)
    except McpError as error:
        text = f"it refuses the call: {folded(error.error.message)}"
    except ValidationError:
        text = "it answers what is no result of a tool"
    raise ToolException(f"MCP server {label}: {text}")


def _thread(config: RunnableConfig) -> str:
    return str((config.get("configurable") or {}).get("thread_id") or "")
