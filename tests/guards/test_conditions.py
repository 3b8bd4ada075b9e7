"""Conditions on an argument: what does not clearly hold fails."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from edgeward.guards.conditions import Test, as_number, requirement
from edgeward.guards.encodings import MAX_ROUNDS
from edgeward.guards.paths import lies_under
from tests.guards.threads import Thread


def failing(condition: dict[str, Any], value: Any) -> list[str]:
    """Paths at which a condition on `a` fails for a value."""
    required = requirement("a", Test.model_validate(condition))
    return [path for path, _ in required.failures({"a": value})]


@pytest.mark.parametrize(
    ("condition", "good", "bad"),
    [
        ({"max": 1000}, [1000, 5.5, "12", -3, " 1e2 "],
         [1001, "1001", "x", True, "1_0", "٣٠٠٠", [5000]]),
        ({"min": 1, "max": 2}, [1, 2, 1.5], [0, 3, None, {}]),
        ({"in": ["a", 1, True]}, ["a", 1, True, ["a"]], ["A", "a ", "1", 0, False, "b"]),
        ({"in": [1]}, [1, 1.0], [True]),
        ({"match": "[a-z]+"}, ["abc"], ["abc1", "", "ab\n", "AB", {}, "ab\u200b"]),
        ({"match": "[a-z%0-9]+"}, ["abc"], ["a%2fb"]),
        ({"hosts": ["example.com"]}, ["https://a.example.com/x", "ann@example.com", "example.com"],
         ["https://evil.test", "", "docs/x", "https://example.com@evil.test", "ann@evil.test", 5]),
        ({"hosts": "example.com"}, ["//example.com"], ["//evil.test"]),
        ({"under": "/user"}, ["/user", "/user/a/b", "/user/./x/../y"],
         ["/users", "/user/../etc", "user/x", "/user/%2e%2e/etc", "/", "~/user", "/user/a\0b",
          "/user/．．／etc", "\\user\\..\\etc", "..", 3]),
        ({"under": ["docs", "/tmp/"]}, ["docs/a", "/tmp/x", "./docs/x"],
         ["docs2", "/tmpx", "../docs"]),
        ({"under": "."}, ["a/b", "x"], ["../x", "/etc", "C:\\x", ".."]),
        ({"match": ".*", "in": ["x"]}, ["x"], ["y"]),
    ],
)  # fmt: skip
def test_condition(condition: dict[str, Any], good: list[Any], bad: list[Any]) -> None:
    """Each condition holds for the good values and for none of the bad ones."""
    assert [v for v in good if failing(condition, v)] == []
    assert [v for v in bad if not failing(condition, v) and v is not None] == []


def test_paths_go_through_lists() -> None:
    """Every element is judged; an absent argument is not; a text in the way fails."""
    required = requirement("files.id", Test.model_validate({"in": ["1"]}))
    assert [p for p, _ in required.failures({"files": [{"id": "1"}, {"id": "2"}]})] == [
        "files[1].id"
    ]
    assert list(required.failures({})) == []
    assert list(required.failures({"files": None})) == []
    assert [p for p, _ in required.failures({"files": '[{"id": "2"}]'})] == ["files"]


def test_any_of() -> None:
    """Of a list one must hold; `any` holds always; `ask` alone fails for every value."""
    one = requirement("a", [Test.model_validate({"in": ["x"]}), Test.model_validate({"max": 3})])
    assert not list(one.failures({"a": "x"}))
    assert not list(one.failures({"a": 2}))
    assert list(one.failures({"a": "y"}))
    assert not list(requirement("a", "any").failures({"a": "y"}))
    ask = requirement("a", "ask")
    assert ask.asks
    assert list(ask.failures({"a": "y"}))
    assert ask.wish == "approved by a person"
    assert one.wish == "one of the listed values or at most 3"


@pytest.mark.parametrize(
    "condition",
    [{}, {"max": 1, "min": 2}, {"match": "("}, {"hosts": ["a b"]}, {"below": 3}, {"under": ""}],
)
def test_condition_that_cannot_be_meant(condition: dict[str, Any]) -> None:
    """An empty, impossible or misspelt condition is refused."""
    with pytest.raises(ValidationError):
        Test.model_validate(condition)


def test_numbers_and_folders() -> None:
    """What a tool would take for a number is one; a folder is compared by the text."""
    assert as_number("1e3") == 1000
    assert as_number("1e999") is None
    assert as_number(float("nan")) is None
    assert lies_under("//user/x", "/user")
    assert not lies_under("/user\0", "/user")


@pytest.mark.parametrize(
    "condition", [{"match": "[a-z&;<]*"}, {"under": "."}, {"hosts": ["example.com"]}]
)
def test_what_is_hidden_too_deep_fails(condition: dict[str, Any]) -> None:
    """A value whose decoding does not come to its end fails, though every view of it would hold."""
    value = "&" + "amp;" * 2 * MAX_ROUNDS + "lt;example.com"
    shallow = "&amp;lt;" if "hosts" not in condition else "example.com"
    assert failing(condition, shallow) == []
    assert failing(condition, value) == ["a"]


BERLIN = {"line1": "12 Mill Lane", "postcode": "10115", "city": "Berlin", "country": "DE"}


@pytest.mark.parametrize(
    ("address", "word"),
    [
        (BERLIN, "allow"),
        ([BERLIN, BERLIN], "allow"),
        ({**BERLIN, "city": ["Berlin"]}, "allow"),
        ({**BERLIN, "line2": "c/o Eve"}, "block"),
        ({**BERLIN, "country": "US"}, "block"),
        ({**BERLIN, "geo": {"place": "Paris"}}, "block"),
        ({**BERLIN, "*": "Berlin"}, "block"),
        ({**BERLIN, "care of Eve": "Berlin"}, "block"),
        ("Berlin", "block"),
    ],
)
def test_every_part_of_an_object(address: object, word: str) -> None:
    """`*` is whatever stands there under any name; what is named exactly has its own condition."""
    args = {"address.*": "stated", "address.country": {"in": ["DE", "FR"]}}
    thread = Thread({"tools": {"ship": {"args": args}}}, "Ship to 12 Mill Lane, 10115 Berlin")
    assert thread.word("ship", address=address) == word


def test_every_argument() -> None:
    """`*` alone is every argument that has no condition of its own; texts and numbers, too."""
    thread = Thread({"tools": {"find": {"args": {"*": "stated", "limit": {"max": 9}}}}}, "find Ann")
    assert thread.word("find", query="Ann", limit=5) == "allow"
    assert thread.word("find", query="Ann", limit=50) == "block"
    assert thread.word("find", query="Eve") == "block"
    assert thread.word("find", query="Ann", page=123456) == "block"
