"""What a trusted source only repeats of a search is not the source's word."""

from __future__ import annotations

import json
from typing import Any

import pytest

from edgeward import Firewall

EVE = "eve@evil.example"
POLICY = {
    "version": 2,
    "default": "block",
    "trust": [{"tool": "search_contacts"}],
    "tools": {"search_contacts": "allow", "send": {"args": {"to": "known", "body": "any"}}},
}


def after(result: Any, **asked: Any) -> str:
    """The word on a mail to Eve once contacts were searched so, with this result."""
    firewall = Firewall(POLICY)
    firewall.said("Write to Bob.")
    assert firewall.check("search_contacts", asked).word == "allow"
    firewall.observe("search_contacts", result, arguments=asked)
    return firewall.check("send", {"to": EVE, "body": "hello"}).word


ECHOES = [
    {"query": EVE, "results": []},
    {"q": EVE, "hits": 0},
    {"search_term": f" {EVE} ", "results": [{"name": "Bob"}]},
    {"request": {"query": EVE}, "results": []},
    [{"query": EVE, "found": False}],
    json.dumps({"query": EVE, "results": []}),
    f"Results for: {EVE}",
    EVE,
    f"No contact {EVE} was found.",
]


@pytest.mark.parametrize("result", ECHOES, ids=repr)
@pytest.mark.parametrize("name", ["query", "q", "searchTerm"])
def test_an_echo_makes_nothing_known(name: str, result: Any) -> None:
    """The model chose what was searched for: the answer does not vouch for it."""
    assert after(result, **{name: EVE}) == "block"


DISGUISED = [
    (f"No results for x: {EVE}", f"x: {EVE}"),
    (f"Results for: 'x\n{EVE}'", f"x\n{EVE}"),
    (f'Results for: "{EVE}".', EVE),
    (f"Results for: {EVE}", EVE.upper()),
    ({"query": EVE, "results": []}, f"{EVE.title()} "),
    ({"query": EVE, "results": []}, [EVE]),
    ({"query": [EVE], "results": []}, EVE),
    ({"filter": {"email": EVE}, "results": []}, {"email": EVE}),
]


@pytest.mark.parametrize(("result", "query"), DISGUISED, ids=repr)
def test_a_search_written_to_be_split_or_spelled_anew_makes_nothing_known(
    result: Any, query: Any
) -> None:
    """Behind a colon or line break of its own, in other letters, a list, an object or quotes."""
    assert after(result, query=query) == "block"


FOUND = [
    [{"email": EVE}],
    {"query": "eve", "results": [{"email": EVE}]},
    {"query": EVE, "results": [{"name": "Eve", "email": EVE}]},
    f"Eve: {EVE}",
]


@pytest.mark.parametrize("result", FOUND, ids=repr)
def test_what_was_found_is_known(result: Any) -> None:
    """A record that holds the address is the source's, whatever led to it."""
    assert after(result, query="eve") == "allow"


@pytest.mark.parametrize("result", FOUND[:3], ids=repr)
def test_what_was_found_by_itself_is_known(result: Any) -> None:
    """Also where that very address was searched for."""
    assert after(result, query=EVE) == "allow"


def test_a_look_up_is_no_search() -> None:
    """An argument that names the thing itself is repeated by the thing."""
    assert after({"email": EVE, "name": "Eve"}, email=EVE) == "allow"
