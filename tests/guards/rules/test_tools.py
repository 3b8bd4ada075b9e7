"""`tools` (version 2): which tools may run, and with what arguments."""

from __future__ import annotations

from typing import Any

import pytest

from edgeward.guards.decide import decide
from edgeward.guards.ledger import History
from edgeward.guards.verdict import ToolCall
from edgeward.policies.problems import ConfigError
from edgeward.policies.schema import load_policy


def word(
    tools: dict[str, Any], name: str, arguments: dict[str, Any] | None = None, **more: Any
) -> str:
    """The verdict of a version 2 policy with these tools."""
    policy = load_policy({"version": 2, "tools": tools, **more})
    return decide(policy, ToolCall(name, arguments or {}), History()).word


TOOLS = {"get_*": "allow", "get_secret*": "block", "get_secret_santa": "allow",
         "delete_file": "ask", "del*": "block", "*": "ask"}  # fmt: skip


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("get_mail", "allow"),
        ("get_secret_key", "block"),
        ("get_secret_santa", "allow"),
        ("delete_file", "ask"),
        ("delete_all", "block"),
        ("other", "ask"),
        ("GET_SECRET_KEY", "block"),
        ("fs__get_secret_key", "block"),
        ("fs__delete_file", "ask"),
    ],
)
def test_more_exact_name_wins(name: str, expected: str) -> None:
    """Exact beats glob, longer glob beats shorter; order in the file never matters."""
    assert word(TOOLS, name) == expected
    assert word(dict(reversed(TOOLS.items())), name) == expected


def test_two_globs_of_one_length() -> None:
    """Where two globs are equally exact, the stricter counts."""
    assert word({"a*": "allow", "*b": "block"}, "ab") == "block"


@pytest.mark.parametrize("default", ["block", "ask", "allow"])
def test_default(default: str) -> None:
    """A tool that nothing names gets the default."""
    assert word({"a": "allow"}, "b", default=default) == default
    assert word({"a": "allow"}, "b") == "block"


@pytest.mark.parametrize("name", ["SEND", "send ", "mail__send", "ｓend"])
def test_what_blocks_matches_every_spelling(name: str) -> None:
    """With default: allow a blocked tool is blocked under every spelling."""
    assert word({"send": "block"}, name, default="allow") == "block"


def test_conditions_apply_to_other_spellings() -> None:
    """Another spelling does not escape the conditions of a tool either."""
    tools = {"pay": {"args": {"amount": {"max": 5}}}}
    assert word(tools, "bank__pay", {"amount": 6}, default="allow") == "block"
    assert word(tools, "bank__pay", {"amount": 5}, default="allow") == "allow"


@pytest.mark.parametrize(
    ("entry", "arguments", "expected"),
    [
        ({"args": {"amount": {"max": 1000}}}, {"amount": 1000}, "allow"),
        ({"args": {"amount": {"max": 1000}}}, {"amount": 1001}, "block"),
        ({"args": {"amount": {"max": 1000}}, "otherwise": "ask"}, {"amount": 1001}, "ask"),
        ({"args": {"to": [{"in": ["a"]}, "ask"]}}, {"to": "a"}, "allow"),
        ({"args": {"to": [{"in": ["a"]}, "ask"]}}, {"to": "b"}, "ask"),
        ({"args": {"to": "ask"}}, {"to": "b"}, "ask"),
        ({"args": {"to": "ask"}}, {}, "allow"),
        ({"args": {"to": "any"}}, {"to": "b"}, "allow"),
        ({"args": {"to": "ask", "n": {"max": 1}}}, {"to": "b", "n": 2}, "block"),
        ({}, {"x": 1}, "allow"),
    ],
)
def test_conditions(entry: dict[str, Any], arguments: dict[str, Any], expected: str) -> None:
    """A condition that fails gives `otherwise`, or a question where the list holds `ask`."""
    assert word({"pay": entry}, "pay", arguments) == expected


@pytest.mark.parametrize(
    ("entry", "arguments", "expected"),
    [
        ({"args": {"amount": {"max": 5}}}, {"amount": 1, "Amount": 9}, "block"),
        ({"args": {"amount": {"max": 5}}, "otherwise": "ask"}, {"AMOUNT": 9}, "ask"),
        ({"args": {"file_path": {"under": "a"}}}, {"filePath": "b"}, "block"),
        ({"args": {"file_path": {"under": "a"}}}, {"filePath": "a/b"}, "allow"),
        ({"args": {"file_path": {"under": "a"}}}, {"filePath": "a/b", "filepath": "a/c"}, "block"),
        ({"args": {"file_path": {"under": "a"}}}, {"file_path": "a/b", "filePath": "a/b"}, "block"),
        ({"args": {"file_path": {"under": "a"}}}, {"file-path": "a/b"}, "block"),
        ({"args": {"*": {"in": ["x"]}, "file_path": {"under": "a"}}}, {"filePath": "a/b"}, "allow"),
        ({"args": {"*": "any", "file_path": {"under": "a"}}}, {"filePath": "b"}, "block"),
        ({"args": {"order.id": {"in": ["x"]}}}, {"Order": {"id": "x"}}, "block"),
        (
            {"args": {"to": {"in": ["x"]}}, "together": ["to", "sum"]},
            {"To": "x", "sum": 1},
            "block",
        ),
        ({"args": {"address.*": {"in": ["x"]}}}, {"Address": {"street": "y"}}, "block"),
        (
            {"args": {"address.*": "any", "address.country": {"in": ["DE"]}}},
            {"address": {"street": "y", "Country": "US"}},
            "block",
        ),
        ({"args": {"lines.sum": {"max": 5}}}, {"lines": [{"sum": 1}, {"Sum": 9}]}, "block"),
        ({"args": {"body": "any"}}, {"Body": "text"}, "allow"),
        ({"args": {"amount": {"max": 5}}}, {"amount": 1, "amounts": 9}, "allow"),
        ({"at_most": {"amount": "order"}}, {"Amount": 9, "order": "A-1001"}, "block"),
    ],
)
def test_another_spelling_of_an_argument(
    entry: dict[str, Any], arguments: dict[str, Any], expected: str
) -> None:
    """What a forgiving server reads as an argument of which something is asked is that argument."""
    assert word({"pay": entry}, "pay", arguments) == expected


@pytest.mark.parametrize("name", ["id.x", "id[x", "id[0]"])
@pytest.mark.parametrize("beside", ["a", "a%41"])
def test_signs_of_a_path_in_a_name(name: str, beside: str) -> None:
    """A name with signs in it that part the steps of a path is one name, and no path."""
    entry = {"args": {"data.id": "any"}}
    given = {"data": {"id": beside, name: "see http://evil.example/"}}
    assert word({"post": entry}, "post", given) == "block"


def test_otherwise_of_the_file() -> None:
    """The file's `otherwise` counts where the tool names none."""
    tools = {"pay": {"args": {"amount": {"max": 1}}}}
    assert word(tools, "pay", {"amount": 2}, otherwise="ask") == "ask"


def test_other_keys_have_their_say() -> None:
    """The deny and allow lists count whatever `tools` says."""
    assert word({"a": "allow"}, "a", tool_denylist=["a"]) == "block"
    assert word({"a": "allow"}, "a", tool_allowlist=["b"]) == "block"


def test_finding() -> None:
    """A failed condition names the argument, its value without secrets, and what it must be."""
    tools = {"pay": {"args": {"amount": {"max": 5}, "note": {"match": "[a-z ]+"}}}}
    policy = load_policy({"version": 2, "tools": tools})
    call = ToolCall("pay", {"amount": 6, "note": "AKIAIOSFODNN7EXAMPLE"})
    found = {f.rule: f for f in decide(policy, call, History()).findings}
    amount = found["tools.pay.args.amount"]
    assert amount.reason == "argument 'amount' of tool 'pay' is not at most 5"
    assert (amount.argument, amount.value) == ("amount", "6")
    assert found["tools.pay.args.note"].value == "[REDACTED:aws_access_key]"


def test_many_names() -> None:
    """The table answers for more names than it remembers."""
    policy = load_policy({"version": 2, "tools": {"get_*": "allow"}})
    words = {decide(policy, ToolCall(f"get_{i}"), History()).word for i in range(4_200)}
    assert words == {"allow"}


@pytest.mark.parametrize(
    "data",
    [
        {"version": 1, "tools": {"a": "allow"}},
        {"version": 2, "tools": {"a": "deny"}},
        {"version": 2, "tools": {"a": {"arg": {}}}},
        {"version": 2, "tools": {"a": {"args": {"x": {"maxi": 3}}}}},
        {"version": 2, "tools": {"a": {"args": {"x": "knwon"}}}},
        {"version": 2, "tools": {"a": {"args": {"x": []}}}},
        {"version": 2, "tools": {"a": {"otherwise": "allow"}}},
        {"version": 2, "tools": ["a"]},
    ],
)
def test_shape(data: dict[str, Any]) -> None:
    """What the language does not say is refused at load."""
    with pytest.raises(ConfigError, match="tools"):
        load_policy(data)


@pytest.mark.parametrize("condition", ["clean", "stated", "known", "words"])
@pytest.mark.parametrize("part", [["x"], {}, {"a": {}}])
def test_a_link_as_the_name_of_a_part(condition: str, part: object) -> None:
    """What stands where a name should is looked at as every text is, whatever lies below it."""
    tools = {"note": {"args": {"body": condition}}}
    assert word(tools, "note", {"body": {"https://evil.example/?d=1": part}}) == "block"


@pytest.mark.parametrize("condition", ["clean", "stated", "known", "words"])
def test_a_link_far_down(condition: str) -> None:
    """Nothing is too deep to be looked at."""
    value: object = "https://evil.example/?d=1"
    for _ in range(40):
        value = {"a": value}
    assert word({"note": {"args": {"body": condition}}}, "note", {"body": value}) == "block"
