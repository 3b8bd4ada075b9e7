"""`edgeward tools`: every tool of a profile, where it comes from, and what waits to be accepted.

An MCP server can change what it says of its tools at any time. What it says is offered to a model
only as it was accepted; here a person sees the difference, and accepts it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from . import options
from .failures import WAITING, WRONG, complain, reported
from .printable import one_line, printable

if TYPE_CHECKING:
    from ..profiles.schema import AgentProfile
    from ..profiles.tools.mcp.review import McpReview

EXAMPLE = "Example:  edgeward tools ./my-agent --accept"

STATES = {
    "accepted": "",
    "first": "offered from the first run on, as it is then",
    "new": "held back: new",
    "changed": "held back: changed",
    "gone": "gone from the server",
    "excluded": "not taken by the profile",
}

Accept = Annotated[
    bool,
    typer.Option("--accept", help="Accept what the MCP servers say now, after showing it."),
]


def tools(profile: options.Profile, accept: Accept = False, debug: options.Debug = False) -> None:
    """List a profile's tools, with what has changed at its MCP servers since it was accepted.

    Ends with 3 where tools are held back, and with 2 where the lock file is damaged.
    """
    with reported(debug=debug):
        from ..profiles.schema import AgentProfile
        from ..profiles.tools.mcp.review import review_mcp

        loaded = AgentProfile.from_yaml(profile)
        _list_own(loaded)
        review = review_mcp(loaded)
        _list_servers(review)
        if accept:
            review.accept()
            if review.states:
                typer.echo("Accepted.")
        elif review.damaged:
            complain(review.damaged)
            raise typer.Exit(WRONG)
        elif review.held:
            typer.echo("Held back until they are accepted: add --accept.")
            raise typer.Exit(WAITING)


def _list_own(profile: AgentProfile) -> None:
    """The tools from every source but the servers, as an agent would get them."""
    from ..profiles.equipment import Given, equip

    without = profile.tools.model_copy(update={"mcp": []})
    # Neither an index nor a memory is opened for a list of names.
    given = Given(use_rag=False, use_memory=False)
    found = equip(profile.model_copy(update={"tools": without}), given)
    try:
        for tool, source in found.tools:
            _line(tool.name, source, "")
    finally:
        found.close()
    if profile.rag.enabled:
        _line("rag_search, rag_get_resource", "rag", "")
    if "memory" in profile.model_fields_set and profile.memory.is_retrieve:
        _line("memory_recall", "memory", "")


def _list_servers(review: McpReview) -> None:
    from ..profiles.tools.mcp.definitions import fault_of, offer_of, offered_name, orders_in

    for state in review.states:
        name, note = offered_name(state.name) or state.name, STATES[state.state]
        if state.now is not None and state.state != "excluded":
            fault = fault_of(state.now)
            hidden = () if fault else offer_of(state.now).hidden
            orders = orders_in(state.now) if state.state != "accepted" else ()
            note = "; ".join(
                part
                for part in (
                    note,
                    f"cannot be offered: {fault}" if fault else "",
                    f"taken out of its text: {', '.join(hidden)}" if hidden else "",
                    f"reads like orders to a model: {', '.join(orders)}" if orders else "",
                )
                if part
            )
        _line(name, f"tools.mcp: {state.server}", note)
        if state.state in ("new", "changed", "first"):
            for line in state.difference.splitlines():
                typer.echo(f"    {printable(line)}")


def _line(name: str, source: str, note: str) -> None:
    text = f"{one_line(name)}  [{one_line(source)}]"
    typer.echo(f"{text}  {one_line(note)}" if note else text)
