"""What a local model writes is held to the tools' schemas, or to that of an answer."""

from __future__ import annotations

import json
from typing import Literal

import pytest
from pydantic import BaseModel

from edgeward.profiles.local_prompt import choice_of, schema_of
from tests.wire.ways import WAYS, ask

from .conftest import ONLY, PICK

pytest.importorskip("xllamacpp", reason="the extra `local` is not installed", exc_type=ImportError)

SIT = {
    "type": "function",
    "function": {
        "name": "sit",
        "description": "Take a place.",
        "parameters": {
            "type": "object",
            "properties": {"place": {"$ref": "#/$defs/Place"}},
            "required": ["place"],
            "additionalProperties": False,
            "$defs": {
                "Place": {
                    "type": "object",
                    "properties": {
                        "row": {"enum": ["a", "b"]},
                        "on": {"type": "boolean"},
                        "next": {"$ref": "#/$defs/Way"},
                    },
                    "required": ["row", "on", "next"],
                    "additionalProperties": False,
                },
                "Way": {"enum": ["left", "right"]},
            },
        },
    },
}


@WAYS
def test_noise_held_to_a_schema_is_a_valid_call(made, way):
    """Whatever the model would have written, the arguments fit."""
    model = made(local={"examples": ONLY}).bind_tools([PICK])
    answer = ask(model, "anything", way)
    (call,) = answer.tool_calls
    assert call["name"] == "pick"
    assert isinstance(call["args"]["number"], int)
    assert call["args"]["mode"] in ("fast", "slow")
    assert answer.text == ""
    assert answer.response_metadata["finish_reason"] == "stop"


def test_definitions_of_a_schema_hold_too(made):
    """References into `$defs` are followed, and two tools' definitions do not mix."""
    model = made(local={"examples": {"sit": ["a place"]}}).bind_tools([PICK, SIT])
    (call,) = model.invoke("anything").tool_calls
    assert set(call["args"]["place"]) == {"row", "on", "next"}
    assert call["args"]["place"]["next"] in ("left", "right")


def test_each_tool_s_definitions_have_their_own_names():
    """Under one root, since a reference starts at the root."""
    other = json.loads(json.dumps(SIT))
    other["function"]["name"] = "stand"
    schema = schema_of([SIT, other])
    assert set(schema["$defs"]) == {"t0_Place", "t0_Way", "t1_Place", "t1_Way"}
    assert "#/$defs/t1_Way" in json.dumps(schema["$defs"]["t1_Place"])
    assert [one["properties"]["action"]["const"] for one in schema["anyOf"]] == [
        "sit",
        "stand",
        "answer",
    ]


def test_a_call_that_was_cut_off_is_an_invalid_one(made):
    """It is never completed by guesswork, and keeps its name and its text."""
    model = made(max_tokens=30, local={"examples": ONLY}).bind_tools([PICK])
    answer = model.invoke("anything")
    assert answer.tool_calls == []
    assert answer.invalid_tool_calls[0]["name"] in ("pick", "unknown")
    assert answer.invalid_tool_calls[0]["args"]


@pytest.mark.parametrize(
    ("text", "name", "arguments"),
    [
        ('{"action": "pick", "arguments": {"number": 1}}', "pick", '{"number": 1}'),
        ('{"action": "pick"}', "pick", "{}"),
        ('{"action": "pick", "arguments": [1]}', "pick", "[1]"),
        ('{"action": "pick", "argum', "pick", '{"action": "pick", "argum'),
        ('{"action": 3}', "unknown", '{"action": 3}'),
        ("", "unknown", "?"),
        ('{"action": "a", "action": "b"}', "a", '{"action": "a", "action": "b"}'),
    ],
)
def test_what_was_written_is_read_again(text, name, arguments):
    """A schema that was not understood lets anything through: nothing is taken on trust."""
    call = choice_of(text)
    assert call is not None
    assert (call.name, call.arguments) == (name, arguments)


def test_the_answer_is_no_call():
    """It is written in a second go, in words."""
    assert choice_of('{"action": "answer"}') is None


class Ticket(BaseModel):
    """A ticket."""

    kind: Literal["bug", "wish"]
    urgent: bool


def test_structured_output_is_held_to_its_schema(made):
    """LangChain's way to ask for an object: the model has no other choice."""
    ticket = made().with_structured_output(Ticket).invoke("It does not start.")
    assert isinstance(ticket, Ticket)
    assert ticket.kind in ("bug", "wish")


def test_a_tool_cannot_be_called_as_the_answer_is(made):
    """Its calls would be taken for no call."""
    tool = {"type": "function", "function": {"name": "answer", "description": "x"}}
    with pytest.raises(ValueError, match="'answer'"):
        made().bind_tools([tool])


def test_a_prompt_that_was_read_before_is_counted_as_cached(made):
    """The same beginning is not read twice."""
    model = made(max_tokens=4)
    first, second = model.invoke("hello"), model.invoke("hello")
    assert first.usage_metadata["input_token_details"]["cache_read"] == 0
    assert second.usage_metadata["input_token_details"]["cache_read"] > 0


def test_a_named_tool_has_to_be_used(made):
    """And no other."""
    model = made().bind_tools([PICK, SIT], tool_choice="pick")
    assert [call["name"] for call in model.invoke("anything").tool_calls] == ["pick"]
