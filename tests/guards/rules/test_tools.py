"""`tools`: which tools may run, and with what arguments."""

from __future__ import annotations

from pathlib import Path

import pytest

from edgeward.guards.decide import decide
from edgeward.guards.ledger import History
from edgeward.guards.verdict import ToolCall
from edgeward.policies.schema import load_policy
from edgeward.policies.yaml_file import ConfigValidationError

from .deciding import verdict, word


def tools(**entries: object) -> dict[str, object]:
    """The rules of a file that has nothing but these entries."""
    return {"tools": entries}


def of(condition: object, value: object) -> str:
    """The word for a call whose one argument `x` stands under a condition."""
    return word(tools(pay={"args": {"x": condition}}), "pay", {"x": value})


@pytest.mark.parametrize("said", ["allow", "ask", "block"])
def test_a_tool_gets_the_word_of_its_entry(said: str) -> None:
    """What stands behind its name is what happens."""
    assert word(tools(pay=said), "pay") == said


@pytest.mark.parametrize("default", ["allow", "ask", "block"])
def test_an_unnamed_tool_gets_the_default(default: str) -> None:
    """`default` is for tools that nothing names."""
    assert word({"default": default, **tools(pay="allow")}, "other") == default


def test_without_a_default_an_unnamed_tool_is_blocked() -> None:
    """Who names tools means those."""
    assert word(tools(pay="allow"), "other") == "block"


@pytest.mark.parametrize(
    ("tool", "expected"), [("get_x", "allow"), ("get_secret_x", "ask"), ("get_secret_key", "block")]
)
def test_the_more_exact_name_wins(tool: str, expected: str) -> None:
    """An exact name over a glob, a longer glob over a shorter, in whatever order."""
    entries = {"get_*": "allow", "get_secret_*": "ask", "get_secret_key": "block"}
    assert word({"tools": entries}, tool) == expected
    assert word({"tools": dict(reversed(entries.items()))}, tool) == expected


def test_of_two_globs_of_one_length_the_stricter_wins() -> None:
    """Neither is more exact."""
    assert word({"tools": {"get_*": "allow", "*_url": "block"}}, "get_url") == "block"


@pytest.mark.parametrize(("tool", "expected"), [("PAY", "block"), ("bank__pay", "block")])
def test_what_blocks_matches_every_spelling(tool: str, expected: str) -> None:
    """A tool under a name that is nearly a blocked one is not let through by a glob."""
    assert word({"tools": {"pay": "block", "*": "allow"}}, tool) == expected


def test_what_allows_matches_its_own_spelling() -> None:
    """Another spelling may be another tool."""
    assert word(tools(pay="allow"), "PAY") == "block"


@pytest.mark.parametrize(
    ("condition", "value", "expected"),
    [
        *(({"max": 10}, 10, "allow"), ({"max": 10}, 10.5, "block"), ({"max": 10}, "9", "allow")),
        *(({"max": 10}, "nine", "block"), ({"max": 10}, True, "block"), ({"min": 0}, -1, "block")),
        *(({"in": ["a", 1]}, "a", "allow"), ({"in": ["a", 1]}, True, "block")),
        *(({"match": "[a-z]+"}, "abc", "allow"), ({"match": "[a-z]+"}, "abc!", "block")),
        *(({"hosts": "corp.example"}, "https://corp.example/x", "allow"),),
        *(({"hosts": "corp.example"}, "https://evil.example/", "block"),),
        *(({"hosts": "corp.example"}, "no host at all", "block"),),
        *(({"under": "reports"}, "reports/q3.txt", "allow"),),
        *(({"under": "reports"}, "reports/../keys", "block"), ("any", "whatever", "allow")),
        *(([{"max": 1}, {"in": [5]}], 5, "allow"), ([{"max": 1}, "ask"], 5, "ask")),
        *(
            ("ask", 5, "ask"),
            ({"min": 1, "max": 3}, 2, "allow"),
            ({"min": 1, "max": 3}, 4, "block"),
        ),
    ],
)
def test_a_condition_says_what_an_argument_must_be(
    condition: object, value: object, expected: str
) -> None:
    """Each kind of condition holds and fails; a list is any of them."""
    assert of(condition, value) == expected


@pytest.mark.parametrize(("otherwise", "expected"), [("ask", "ask"), ("block", "block")])
def test_otherwise_says_what_happens_where_a_condition_fails(otherwise: str, expected: str) -> None:
    """The entry's own word beats the file's."""
    entry = {"args": {"x": {"max": 1}}, "otherwise": otherwise}
    rules: dict[str, object] = {"otherwise": "ask" if expected == "block" else "block"}
    assert word({**rules, **tools(pay=entry)}, "pay", {"x": 2}) == expected
    file_wide = {"otherwise": otherwise, **tools(pay={"args": {"x": {"max": 1}}})}
    assert word(file_wide, "pay", {"x": 2}) == expected


def test_every_value_at_a_path_must_hold() -> None:
    """Through lists and objects: one that fails is enough."""
    rules = tools(mail={"args": {"cc.address": {"match": ".*@corp\\.example"}}})
    good, bad = {"address": "a@corp.example"}, {"address": "a@evil.example"}
    assert word(rules, "mail", {"cc": [good]}) == "allow"
    (finding,) = verdict(rules, "mail", {"cc": [good, bad]}).deciding
    assert (finding.argument, finding.value) == ("cc[1].address", "a@evil.example")
    assert word(rules, "mail", {"cc": "a@evil.example"}) == "block"


def test_a_failed_condition_names_its_line(tmp_path: Path) -> None:
    """The line of the condition, the argument, and what it should have been."""
    path = tmp_path / "policy.yaml"
    path.write_text(
        "version: 2\ntools:\n  pay:\n    args:\n      amount: {max: 500}\n", encoding="utf-8"
    )
    (finding,) = decide(load_policy(path), ToolCall("pay", {"amount": 900}), History()).deciding
    assert finding.where == f"{path}:5"
    assert finding.rule == "tools.pay.args.amount"
    assert finding.reason == "argument 'amount' of tool 'pay' is not at most 500"


@pytest.mark.parametrize(
    "entry",
    [
        *(
            "alow",
            "",
            {"args": {"x": {}}},
            {"args": {"x": []}},
            {"args": {"x": {"max": 1, "min": 2}}},
        ),
        *({"arguments": {}}, {"args": {"x": {"match": "("}}}, {"otherwise": "allow"}),
    ],
)
def test_what_means_nothing_is_refused_at_load(entry: object) -> None:
    """A misspelt word, an empty or impossible condition, a pattern that does not compile."""
    with pytest.raises(ConfigValidationError, match="tools"):
        word(tools(pay=entry), "pay")


def test_a_version_one_file_has_no_tools() -> None:
    """It would be read by other programs, which know nothing of them."""
    with pytest.raises(ConfigValidationError, match="version: 2"):
        word(tools(pay="allow"), "pay", version=1)
