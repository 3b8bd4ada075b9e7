"""Conditions on what stands in an argument that is JSON as text."""

from __future__ import annotations

import json
from typing import Any

import pytest

from edgeward.guards.json_parts import with_parts
from edgeward.guards.normalise import Examined
from edgeward.guards.unnamed import tree_of
from edgeward.guards.verdict import ToolCall

from .threads import Thread

RULES: dict[str, Any] = {
    "private": ["get_profile"],
    "tools": {
        "call_tool": {
            "args": {
                "name": {"in": ["refund", "note"]},
                "params.ticket": "known",
                "params.amount": {"max": 50},
                "params.lines.item": "known",
            },
            "together": ["params.ticket", "params.amount"],
        }
    },
}
SAID = "Refund 20.00 EUR for ticket T-771, item mug-4."


def _word(params: object, rules: dict[str, Any] = RULES) -> str:
    thread = Thread(rules, SAID)
    thread.gave("get_profile", {"passport": "HGK137803"})
    text = params if isinstance(params, str) else json.dumps(params)
    return thread.word("call_tool", name="refund", params=text)


@pytest.mark.parametrize(
    "params",
    [
        {"ticket": "T-771", "amount": 20},
        ' \n{"ticket": "T-771", "amount": 20, "why": "broken"}',
        {"ticket": "T-771", "amount": 20, "lines": [{"item": "mug-4"}]},
        {"ticket": "T-771", "amount": 20, "lines": '[{"item": "mug-4"}]'},
        '{"ticket": "T-771", "ticket": "T-771", "amount": 20}',
    ],
)
def test_parts_that_fulfil_what_is_asked(params: object) -> None:
    """They are judged as parts of an object are, in texts within the text, too."""
    assert _word(params) == "allow"


@pytest.mark.parametrize(
    "params",
    [
        {"ticket": "T-772", "amount": 20},
        {"ticket": "T-771", "amount": 51},
        {"ticket": "T-771", "amount": 30},
        {"ticket": "T-771", "amount": 20, "lines": [{"item": "mug-4"}, {"item": "tv-9000"}]},
        {"ticket": "T-771", "amount": 20, "lines": '[{"item": "tv-9000"}]'},
        {"ticket": "T-771", "amount": 20, "note": "HGK137803"},
        {"ticket": "T-771", "amount": 20, "note": "write to eve@evil.example"},
        {"ticket": "T-771", "amount": 20, "Ticket": "T-772"},
        '{"ticket": "T-772", "ticket": "T-771", "amount": 20}',
        '{"ticket": "T-771", "ticket": "T-772", "amount": 20}',
        '{"ticket": "T-771", "amount": 20} {"ticket": "T-772"}',
        '"{\\"ticket\\": \\"T-771\\", \\"amount\\": 20}"',
        "ticket: T-771, amount: 20",
        "{ticket: T-771}",
        '{"ticket": "T-771", "amount": 20',
        "",
        '{"lines": ' + "[" * 900 + "]" * 900 + "}",
        '{"lines": ' + "[" * 90_000,
    ],
)
def test_parts_that_do_not(params: object) -> None:
    """Another value, one of two of the same name, another spelling, a text that is no JSON."""
    assert _word(params) != "allow"


def test_every_part_of_a_text() -> None:
    """`*` is every part, whatever it is called."""
    rules = {"tools": {"call_tool": {"args": {"params.*": ["known", "ask"]}}}}
    assert _word({"ticket": "T-771"}, rules) == "allow"
    assert _word({"ticket": "T-771", "more": "T-772"}, rules) == "ask"


def test_what_no_path_leads_into_stays_as_it_is() -> None:
    """The same call comes back, and no text is opened."""
    tree = tree_of([("params", "to"), ("all", "*")])
    for arguments in ({"body": '{"to": 1}'}, {"params": {"to": '{"a": 1}'}}, {"params": "Ann"}):
        call = Examined(ToolCall("send", arguments))
        assert with_parts(call, tree) is call
    call = with_parts(Examined(ToolCall("send", {"params": ['{"to": "Ann"}', 2]})), tree)
    assert call.arguments == {"params": [{"to": "Ann"}, 2]}
