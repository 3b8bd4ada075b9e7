"""A server of the Model Context Protocol with one tool: the weekday of a date."""

from datetime import date

from mcp.server.fastmcp import FastMCP

server = FastMCP("clock")


@server.tool()
def weekday(day: str) -> str:
    """The weekday of a date, given as YYYY-MM-DD."""
    return f"{date.fromisoformat(day):%A}"


if __name__ == "__main__":
    server.run()
