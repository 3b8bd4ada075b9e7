"""C77: results of every shape become text that a model can use."""

from __future__ import annotations

import json
from typing import Any

import pytest
from mcp.types import CallToolResult

from edgeward.guards.redact import Redactor
from edgeward.profiles.tools.mcp.results import MAX_CHARS, text_of

from .conftest import Opened
from .serving import Program

TEXT = {"type": "text", "text": "Two rows."}
IMAGE = {"type": "image", "data": "iVBORw0KGgo=", "mimeType": "image/png"}
AUDIO = {"type": "audio", "data": "UklGRg==", "mimeType": "audio/wav"}
LINK = {
    "type": "resource_link",
    "uri": "file:///a.txt",
    "name": "a",
    "mimeType": "text/plain",
    "description": "The\nfile",
}
NOTE = {"type": "resource", "resource": {"uri": "file:///a.txt", "text": "hello"}}
BLOB = {"type": "resource", "resource": {"uri": "file:///a.bin", "blob": "AAAA"}}


@pytest.mark.parametrize(
    ("content", "data", "text"),
    [
        ([], {"rows": 2}, '{"rows": 2}'),
        ([TEXT], None, "Two rows."),
        ([TEXT], {"rows": 2}, 'Two rows.\n{"rows": 2}'),
        ([{"type": "text", "text": '{"rows": 2}'}], {"rows": 2}, '{"rows": 2}'),
        ([{"type": "text", "text": "4"}], {"result": 4}, "4"),
        (
            [{"type": "text", "text": "4"}, {"type": "text", "text": "5"}],
            {"result": [4, 5]},
            "4\n5",
        ),
        ([{"type": "text", "text": "a"}], {"result": ["a"]}, "a"),
        ([TEXT, TEXT], None, "Two rows.\nTwo rows."),
        ([IMAGE, TEXT], None, "(image of type image/png, 9 bytes, not shown)\nTwo rows."),
        ([AUDIO], None, "(audio of type audio/wav, 6 bytes, not shown)"),
        ([LINK], None, "(resource file:///a.txt: a, text/plain, The file)"),
        ([NOTE], None, "(resource file:///a.txt)\nhello"),
        ([BLOB], None, "(resource file:///a.bin: unknown type, 3 bytes, not shown)"),
        ([], None, ""),
        (
            [],
            {"a": "ü\ud83d\ude00".encode("utf-16", "surrogatepass").decode("utf-16")},
            '{"a": "ü😀"}',
        ),
    ],
)
def test_C77_each_shape_has_a_text(content: list[Any], data: Any, text: str) -> None:
    """Data as JSON where the text does not say it; what is no text as a line that names it."""
    result = CallToolResult.model_validate({"content": content, "structuredContent": data})
    assert text_of(result) == text


def test_a_text_of_megabytes_is_cut() -> None:
    """With the number of characters that are missing."""
    text = {"type": "text", "text": "x" * (MAX_CHARS + 7)}
    result = CallToolResult.model_validate({"content": [text]})
    assert text_of(result).endswith("x\n(7 more characters are cut off)")


@pytest.mark.parametrize("field", ["uri", "description", "name", "mimeType", "title"])
def test_what_a_resource_is_called_is_whole_where_keys_are_masked(field: str) -> None:
    """Cut short before that, a key would be half a key, which nothing masks."""
    key = "sk-proj-" + "A1b2C3d4" * 4
    said = f"https://files.example/{'a' * 250}?key={key}"
    link = {"type": "resource_link", "uri": "file:///a", "name": "a", field: said}
    text = text_of(CallToolResult.model_validate({"content": [link]}))
    assert key in text
    assert "A1b2" not in Redactor().secrets(text)[0]


@pytest.mark.parametrize(
    ("result", "said"),
    [
        (
            {"content": [], "structuredContent": {"code": "QUOTA", "wait_s": 12}, "isError": True},
            '{"code": "QUOTA", "wait_s": 12}',
        ),
        (
            {"content": [TEXT], "structuredContent": {"code": "QUOTA"}, "isError": True},
            'Two rows.\n{"code": "QUOTA"}',
        ),
        ({"content": [], "isError": True}, "the tool failed, and says no more"),
        ({"error": {"code": -32602, "message": "no\nsuch tool"}}, "refuses the call: no such tool"),
        ({"content": "x"}, "it answers what is no result of a tool"),
        ({"content": [{"type": "hologram"}]}, "it answers what is no result of a tool"),
    ],
)
def test_C77_an_error_is_a_message_and_no_exception(
    program: Program, opened: Opened, result: dict[str, Any], said: str
) -> None:
    """With text and data; the session goes on, sync and async."""
    program.scripts("get", "inc", results={"get": result})
    tools = opened(program.entry())
    call = {"type": "tool_call", "id": "c", "name": "get", "args": {}}
    message = tools["get"].invoke(call)
    assert message.status == "error"
    assert message.content.endswith(said)
    assert tools["inc"].invoke({}) == "1"


def test_arguments_reach_the_server_whatever_they_are_called(
    program: Program, opened: Opened
) -> None:
    """Also under names that LangChain fills in itself."""
    program.scripts("echo")
    names = ("config", "callbacks", "run_manager", "runtime", "self", "args", "kwargs", "name")
    given = {name: {"x": [1, None, "ü"]} for name in names}
    assert json.loads(opened(program.entry())["echo"].invoke(given)) == given


@pytest.mark.parametrize("how", ["big", "flood"])
def test_a_message_without_end_ends_the_connection(
    program: Program, opened: Opened, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    """Not the memory; the next call starts anew."""
    from edgeward.profiles.tools.mcp import stdio

    monkeypatch.setattr(stdio, "MAX_MESSAGE_BYTES", 100_000)
    program.scripts(how, "inc")
    tools = opened(program.entry())
    assert "a message of more than 100,000 bytes" in tools[how].invoke({"size": 300_000})
    assert tools["inc"].invoke({}) == "1"


def test_a_server_that_asks_the_client_for_anything_is_refused(
    program: Program, opened: Opened
) -> None:
    """No sampling, no elicitation, no roots; and none of it was offered."""
    program.scripts("ask")
    assert json.loads(opened(program.entry())["ask"].invoke({})) == ["error"] * 3


@pytest.mark.parametrize("message", [{"result": None}, {"result": []}, {"error": "no"}])
def test_C32_an_answer_that_is_no_message_fails_the_call_at_once(
    program: Program, opened: Opened, message: dict[str, Any]
) -> None:
    """The call that it answers, and no other: the connection is as good as before."""
    program.scripts("inc", "get", results={"inc": {"message": message}})
    tools = opened(program.entry())
    said = tools["inc"].invoke({"name": "inc", "args": {}, "id": "c", "type": "tool_call"})
    assert (said.status, "no message of the protocol" in said.text) == ("error", True)
    assert json.loads(tools["get"].invoke({}))["count"] == 0
