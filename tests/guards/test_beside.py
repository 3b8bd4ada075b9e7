"""A value beside which the name of its field stands is the value of a field of that name."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from edgeward.guards.beside import _below
from edgeward.guards.fields import Kind
from edgeward.guards.normalise import Examined
from edgeward.guards.verdict import ToolCall
from tests.steps import steps_of


def kinds(arguments: dict[str, Any]) -> dict[str, int]:
    """The kind of every leaf that points somewhere, is a command or a secret, by its text."""
    seen = Examined(ToolCall("call", arguments))
    told = Kind.POINTS | Kind.COMMAND | Kind.SECRET
    return {t: k & told for t, k in zip(seen.leaves, seen.kinds, strict=True) if k & told}


@pytest.mark.parametrize(
    "arguments",
    [
        {"name": "host", "value": "x"},
        {"value": "x", "name": "host"},
        {"a": [None, True, {"field": "Host", "id": 7, "new_value": "x"}]},
        {"name": "host", "values": ["x", "x"]},
        {"name": "host", "values": [None, 1, True, "x", 2.5]},
        {"rows": [["n", "b"], ["Host:", "x"]]},
        {"rows": [["host", "n"], ["x", None], ["x", 1.5], ["x", {}]]},
        {"columns": ["n", "host"], "data": [[True, "x"], ["m", "x", "more"]]},
        {"header": [["n", "host"]], "names": ["n", "host"], "data": [[None, "x"]]},
    ],
)
def test_named(arguments: dict[str, Any]) -> None:
    """Pairs in any order, rows below a header, a table in two lists."""
    assert kinds(arguments)["x"] == Kind.URL


@pytest.mark.parametrize(
    "arguments",
    [
        {"name": "Ann", "value": "x"},
        {"name": "host", "description": "x"},
        {"name": "host", "value": 5},
        {"name": "host", "value": [["x", 1]]},
        {"rows": [["a", "x"], ["b", "x"]]},
        {"rows": [["host"], [["x", "y", "z"]]]},
        {"columns": ["host"], "data": ["x"]},
        {"list": ["url", "created.at"]},
    ],
)
def test_not_named(arguments: dict[str, Any]) -> None:
    """Other names, what is said about a field, and names of columns."""
    assert not kinds(arguments)


@pytest.mark.parametrize("text", ["1.5", " 2.25", "0.75", "1.08", "99.95"])
def test_small_decimals(text: str) -> None:
    """A load, a time or a version beside `server` is no address; in a field of that name it is."""
    pairs: dict[str, Any] = {"name": "server", "values": [text, "x"]}
    table: dict[str, Any] = {"rows": [["host", "n"], [text, "m"], ["x", "m"]]}
    for arguments in (pairs, {"rows": [["server", text], ["host", "x"]]}, table):
        assert kinds(arguments)["x"] & Kind.URL
        assert not any("." in d.host for _, d in Examined(ToolCall("c", arguments)).destinations())
    assert kinds({"server": text}) == {text: Kind.HOST}


@pytest.mark.parametrize(
    "text",
    ["127.1", "10.5", "0.0", "0", "012.1", "1.5:80", "0x7f.1", "127.0.1", "2130706433", "1.5/x"],
)
def test_other_addresses_in_short(text: str) -> None:
    """This machine, private networks, and what is no such decimal are addresses there, too."""
    for arguments in ({"name": "server", "value": text}, {"rows": [["n", "x"], ["host", text]]}):
        assert list(Examined(ToolCall("call", arguments)).destinations())


def test_a_decimal_may_be_a_secret() -> None:
    """Beside the name of one."""
    assert "pin_password=1.5" in Examined(ToolCall("c", {"k": "pin_password", "v": "1.5"})).joined


def test_commands_and_secrets() -> None:
    """A command and a secret are ones in a pair, too; a plain list is less sure."""
    assert kinds({"name": "command", "value": "x"}) == {"x": Kind.COMMAND}
    assert kinds({"list": ["url", "x", "--host", "y"]}) == {"x": Kind.LABELLED, "y": Kind.LABELLED}
    seen = Examined(ToolCall("call", {"type": "a", "name": "db_password", "value": "x"}))
    assert "db_password=x" in seen.joined


@pytest.mark.parametrize(
    "made",
    [
        lambda n: {f"{i}_name": "url" for i in range(n)} | {f"{i}_value": "x" for i in range(n)},
        lambda n: {f"h{i}": ["url", "a"] for i in range(n)} | {"rows": [["x", "y"]] * n},
        lambda n: {"rows": [["url", "x"]] * n},
        lambda n: {"url": ["https://"] * n},
    ],
)
def test_grows_with_its_input(made: Any) -> None:
    """Twice the names and values take about twice the steps."""

    def steps(size: int) -> int:
        call = ToolCall("call", made(size))
        return steps_of(lambda: list(Examined(call).destinations()))

    steps(1_600)  # what is made once for all calls is made
    assert steps(1_600) < 3 * steps(800)


def test_the_columns_are_gone_through_once() -> None:
    """And not for each of thousands of rows that are shorter than their header."""

    class Columns(dict[int, tuple[int, str]]):
        """Counts how often it is gone through."""

        times = 0

        def __iter__(self) -> Iterator[int]:
            self.times += 1
            return super().__iter__()

    columns = Columns(dict.fromkeys(range(9), (Kind.URL, "url")))
    assert not list(_below(columns, [[]] * 900, [0] * 900))
    assert columns.times <= 2
