"""One MCP server as the profile names it.

    tools:
      mcp:
        - command: uvx
          args: [mcp-server-time]
        - transport: streamable_http
          url: https://mcp.example.com/mcp
          headers: {Authorization: "Bearer ${MCP_TOKEN}"}
          expand_env: true

Nothing here starts or loads anything.
"""

from __future__ import annotations

import re
from pathlib import PurePath
from typing import Annotated, Literal
from urllib.parse import urlsplit

from pydantic import Field, StringConstraints, model_validator

from ....policies.problems import speak
from ....policies.yaml_file import Flag
from ...blocks import Block, Text

ServerName = Annotated[str, StringConstraints(pattern=r"\A[A-Za-z0-9_@][A-Za-z0-9_.@/ -]{0,63}\z")]

REFERENCE = re.compile(r"\$\{([^{}]*)\}")
"""`${NAME}`: a variable of the environment, where `expand_env` says so."""

_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
_HEADER = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+\Z")
_SCHEMES = {"sse": ("http", "https"), "streamable_http": ("http", "https")}
_LONGEST_LABEL = 64


class McpServer(Block):
    """One external tool server. `env`, `headers` and `url` may hold secrets and are never shown."""

    transport: Literal["stdio", "sse", "websocket", "streamable_http"] = "stdio"
    name: ServerName | None = None
    """What messages and the lock file call it; by default, made of the command or the host."""
    command: Text | None = None
    args: list[str] = Field(default=[], repr=False)
    env: dict[str, str] = Field(default={}, repr=False)
    """A blank value is taken from the environment; nothing else of that reaches the server."""
    cwd: Text | None = None
    """The folder it runs in, relative to the profile's, which is the default."""
    url: Text | None = Field(default=None, repr=False)
    headers: dict[str, str] = Field(default={}, repr=False)
    expand_env: Flag = False
    """Whether `${NAME}` in values of `headers` and `env` is filled from the environment."""
    timeout: float = Field(default=30.0, gt=0)
    """Seconds until it must have connected and said what its tools are."""
    sse_read_timeout: float = Field(default=300.0, gt=0)
    """Seconds that it may take for an answer, whatever the transport."""
    include: list[Text] | None = None
    exclude: list[Text] | None = None
    session: Literal["agent", "thread"] = "agent"
    """Who shares a session: all of the agent's threads, or the runs of one thread."""

    @model_validator(mode="after")
    def _one_way_in(self) -> McpServer:
        if (self.command is None) == (self.url is None):
            raise ValueError("set exactly one of command (a local program) and url (a server)")
        if self.transport == "stdio" and self.url is not None:
            raise ValueError(
                "url does not go with transport stdio; set transport: sse, websocket or"
                " streamable_http"
            )
        if self.transport != "stdio" and self.command is not None:
            raise ValueError(f"command does not go with transport {self.transport}; set url")
        if self.include is not None and self.exclude is not None:
            raise ValueError("set include or exclude, not both")
        return self

    @model_validator(mode="after")
    def _nothing_in_vain(self) -> McpServer:
        strangers = ("headers",) if self.url is None else ("args", "env", "cwd")
        for key in strangers:
            if key in self.model_fields_set and getattr(self, key):
                raise ValueError(f"{key} has no meaning for transport {self.transport}; remove it")
        if self.url is not None:
            _check_url(self.url, self.transport)
        return self

    @model_validator(mode="after")
    def _values_are_meant(self) -> McpServer:
        for name, value in self.headers.items():
            if not _HEADER.match(name) or not value.isprintable():
                raise ValueError(f"the header {speak(name)} is none that HTTP can carry")
            self._check_references(f"headers.{speak(name)}", value)
        for name, value in self.env.items():
            if not name or "=" in name or "\0" in name + value:
                raise ValueError(f"{speak(name)} is no name of a variable, or its value no text")
            self._check_references(f"env.{speak(name)}", value)
        return self

    def _check_references(self, where: str, value: str) -> None:
        for inner in REFERENCE.findall(value):
            if not self.expand_env:
                hint = "set expand_env: true to have it filled from the environment"
                if where.startswith("env."):
                    hint = f"write a blank value to take it from the environment, or {hint}"
                raise ValueError(f"{where} holds a ${{...}} that would be sent as it is; {hint}")
            if not _VARIABLE.match(inner):
                raise ValueError(f"{where} holds a ${{...}} that names no variable")

    @property
    def label(self) -> str:
        """What messages and the lock file call the server. Without secrets, on one line."""
        return self.name or speak(_label(self))[:_LONGEST_LABEL]


def _check_url(url: str, transport: str) -> None:
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:
        host, port, parts = None, None, urlsplit("")
    schemes = _SCHEMES.get(transport, ("ws", "wss"))
    if not host or port == 0 or parts.scheme not in schemes:
        raise ValueError(f"url is no {' or '.join(schemes)} address of a server")


def _label(server: McpServer) -> str:
    if server.url is not None:  # a path may hold a key
        return urlsplit(server.url).netloc.rpartition("@")[2]
    assert server.command is not None
    words = [PurePath(server.command).name]
    given = next((word for word in server.args if word.strip() and word[0] != "-"), "")
    if given:
        words.append(PurePath(given).name if given[0] in "./~\\" else given)
    return " ".join(words)
