"""`edgeward tools`: every tool of a profile, where it comes from, and what waits to be accepted.

An MCP server can change what it says of its tools at any time. What it says is offered to a model
only as it was accepted; here a person sees the difference, and accepts it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
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


def tools(
    profile: options.Profile,
    accept: Accept = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object a tool.")] = False,
    debug: options.Debug = False,
) -> None:
    """List a profile's tools, with what has changed at its MCP servers since it was accepted.

    Ends with 3 where tools are held back, and with 2 where the lock file is damaged.
    """
    with reported(debug=debug):
        from ..profiles.schema import AgentProfile
        from ..profiles.tools.mcp.review import review_mcp

        loaded = AgentProfile.from_yaml(profile)
        listed = [*_own(loaded)]
        review = review_mcp(loaded)
        listed += _of_servers(review)
        for one in listed:
            _show(one, as_json=as_json)
        if accept:
            review.accept()
            if review.states and not as_json:
                typer.echo("Accepted.")
        elif review.damaged:
            complain(review.damaged)
            raise typer.Exit(WRONG)
        elif review.held:
            if not as_json:
                typer.echo("Held back until they are accepted: add --accept.")
            raise typer.Exit(WAITING)


@dataclass(frozen=True, slots=True)
class Listed:
    """One tool as it is listed; `difference`: what changed since it was accepted."""

    name: str
    source: str
    note: str = ""
    state: str = ""
    difference: str = ""


def _own(profile: AgentProfile) -> Iterator[Listed]:
    """The tools from every source but the servers, as an agent would get them."""
    from ..profiles.equipment import Given, equip

    without = profile.tools.model_copy(update={"mcp": []})
    # Neither an index nor a memory is opened for a list of names.
    given = Given(use_rag=False, use_memory=False)
    found = equip(profile.model_copy(update={"tools": without}), given)
    try:
        for tool, source in found.tools:
            yield Listed(tool.name, source)
    finally:
        found.close()
    if profile.rag.enabled:
        yield from (Listed(name, "rag") for name in ("rag_search", "rag_get_resource"))
    if "memory" in profile.model_fields_set and profile.memory.is_retrieve:
        yield Listed("memory_recall", "memory")


def _of_servers(review: McpReview) -> Iterator[Listed]:
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
        differs = state.state in ("new", "changed", "first")
        difference = state.difference if differs else ""
        yield Listed(name, f"tools.mcp: {state.server}", note, state.state, difference)


def _show(tool: Listed, *, as_json: bool) -> None:
    if as_json:
        told = {name: text for name, text in asdict(tool).items() if text}
        typer.echo(json.dumps(told, ensure_ascii=True))
        return
    text = f"{one_line(tool.name)}  [{one_line(tool.source)}]"
    typer.echo(f"{text}  {one_line(tool.note)}" if tool.note else text)
    for line in tool.difference.splitlines():
        typer.echo(f"    {printable(line)}")
