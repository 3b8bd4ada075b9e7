"""What goes wrong with a server: said in one line, without what a URL or a header may hold."""

from __future__ import annotations

from pydantic import ValidationError

from ....guards.faults import without_values, words_of
from ....policies.problems import ConfigError

LONGEST = 300
_OTHER_VERSION = "Unsupported protocol version"


class McpServerError(ConfigError):
    """A server of the profile that cannot be used, and why."""


class ServerDown(Exception):
    """A server that is not there (any more). The text is the cause, without the server's name."""


def one_line(text: str) -> str:
    """What a server says, as it may stand in a message: printable, on one line, cut short."""
    line = folded(text[: 4 * LONGEST])
    return line if len(line) <= LONGEST else line[:LONGEST] + "..."


def folded(text: str) -> str:
    """The whole text, printable and on one line."""
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())


def cause_of(error: BaseException) -> str:
    """Why connecting failed, or a connection ended; nothing of it comes from the server's URL.

    What the server says is whole: keys in it are to be masked before it is cut short.
    """
    import httpx
    from mcp import McpError

    while getattr(error, "exceptions", None):  # a group: its first cause tells the most
        error = error.exceptions[0]  # type: ignore[attr-defined]
    match error:
        case ServerDown():
            return str(error)
        case McpError():
            return f"it says: {error.error.message}"
        case httpx.HTTPStatusError():
            return http_status(error.response.status_code)
        case httpx.TimeoutException() | TimeoutError():
            return "it does not answer"
        case httpx.TransportError():
            return f"it cannot be reached ({type(error).__name__})"
        case FileNotFoundError():
            return "there is no such program or folder"
        case PermissionError():
            return "it may not be run"
        case OSError():
            return f"it cannot be reached ({words_of(error)})"
        case ValidationError():
            return f"it answers what the protocol does not have: {without_values(error)[0]}"
        case RuntimeError() if str(error).startswith(_OTHER_VERSION):
            return f"it speaks another version of the protocol: {error}"
    return f"the connection broke ({type(error).__name__})"


def http_status(status: int) -> str:
    """A status that is no success, in words."""
    if 300 <= status < 400:
        return f"it answers HTTP {status}: a redirect to another server, which is not followed"
    if status in (401, 403):
        return f"it answers HTTP {status}: headers may lack a key, or hold a wrong one"
    return f"it answers HTTP {status}"
