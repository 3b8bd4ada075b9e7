"""Every type a person would use: its schema, what the tool gets, what is refused (D115, X18)."""

from __future__ import annotations

# ruff: noqa: UP007, UP045 - the older spellings are what people write
import collections
import datetime
import decimal
import enum
import functools
import os
import subprocess
import sys
import typing
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Generic, Literal, NamedTuple, NewType, Optional, TypeVar, Union

import pytest
import typing_extensions
from pydantic import BaseModel, Field, SecretStr

from edgeward.graphs.catalog import ToolCatalog
from edgeward.guards.verdict import ToolCall, canonical_json, fingerprint
from edgeward.profiles.tools.python import ToolRegistrationError, as_tool
from edgeward.profiles.tools.registry import ToolRegistry
from tests.fakes import agent_graph, answers, ask, turn
from tests.profiles.tools.described import Colour, Order, Point


class Size(enum.IntEnum):
    """Two sizes."""

    SMALL = 1
    LARGE = 2


class Plain(typing.TypedDict):
    """The standard library's."""

    a: int
    b: typing_extensions.NotRequired[list[int]]


class Partly(typing_extensions.TypedDict, total=False):
    """Some of it may be left out."""

    a: typing_extensions.Required[int]
    b: str


class Pair(NamedTuple):
    """Two values."""

    a: int
    b: str = "x"


T = TypeVar("T")


class Box(BaseModel, Generic[T]):
    """Holds one value."""

    value: T


UserId = NewType("UserId", int)

UUID4 = "12345678-1234-4678-9234-567812345678"

TYPES: dict[str, tuple[Any, Any, str, Any]] = {
    # name: hint, what the model sends, a word of the schema, what the tool gets
    "str": (str, "a", '"string"', "a"),
    "int": (int, "7", '"integer"', 7),
    "float": (float, 1, '"number"', 1.0),
    "bool": (bool, True, '"boolean"', True),
    "bare list": (list, ["a"], '"items"', ["a"]),
    "bare dict": (dict, {"a": 1}, '"object"', {"a": 1}),
    "Optional": (Optional[int], None, '"null"', None),
    "X | None": (int | None, 3, '"null"', 3),
    "Union": (Union[int, str], "x", '"anyOf"', "x"),
    "list[int]": (list[int], [1, "2"], '"items":{"type":"integer"}', [1, 2]),
    "list[list[int]]": (list[list[int]], [[1]], '"array"', [[1]]),
    "dict[str, int]": (dict[str, int], {"a": 1}, '"additionalProperties"', {"a": 1}),
    "dict[int, str]": (dict[int, str], {"1": "x"}, '"object"', {1: "x"}),
    "dict[Colour, int]": (dict[Colour, int], {"red": 1}, '"red"', {Colour.RED: 1}),
    "Literal": (Literal["a", 1], 1, '"enum":["a",1]', 1),
    "Literal of a member": (Literal[Colour.RED], "red", '"red"', Colour.RED),
    "Enum": (Colour, "blue", '"enum":["red","blue"]', Colour.BLUE),
    "IntEnum": (Size, 2, '"enum":[1,2]', Size.LARGE),
    "dataclass": (Point, {"x": 1}, '"required":["x"]', Point(1)),
    "list of dataclasses": (list[Point], [{"x": 1}], '"required":["x"]', [Point(1)]),
    "BaseModel": (
        Order,
        {"names": ["n"], "at": {"x": 1}},
        '"names"',
        Order(names=["n"], at=Point(1)),
    ),
    "generic model": (Box[int], {"value": 1}, '"value"', Box[int](value=1)),
    "TypedDict": (Plain, {"a": 1, "b": [2]}, '"required":["a"]', {"a": 1, "b": [2]}),
    "list of TypedDicts": (list[Plain], [{"a": 1}], '"required":["a"]', [{"a": 1}]),
    "Optional TypedDict": (Optional[Plain], {"a": 1}, '"required":["a"]', {"a": 1}),
    "TypedDict in part": (Partly, {"a": 1}, '"required":["a"]', {"a": 1}),
    "NamedTuple": (Pair, [1], '"array"', Pair(1)),
    "Path": (Path, "a/b", '"string"', Path("a/b")),
    "tuple": (tuple[int, str], [1, "a"], '"minItems":2', (1, "a")),
    "tuple of any length": (tuple[int, ...], [1, 2, 3], '"array"', (1, 2, 3)),
    "set": (set[int], [3, 1, 3], '"uniqueItems"', {1, 3}),
    "bare set": (set, ["b", "a"], '"array"', {"a", "b"}),
    "frozenset": (frozenset[str], ["b", "a"], '"array"', frozenset("ab")),
    "Sequence": (Sequence[int], [1], '"array"', [1]),
    "Mapping": (Mapping[str, int], {"a": 1}, '"object"', {"a": 1}),
    "deque": (collections.deque[int], [1], '"array"', collections.deque([1])),
    "datetime": (
        datetime.datetime,
        "2026-01-02T03:04:05Z",
        '"date-time"',
        datetime.datetime(2026, 1, 2, 3, 4, 5, tzinfo=datetime.timezone.utc),
    ),
    "date": (datetime.date, "2026-01-02", '"date"', datetime.date(2026, 1, 2)),
    "time": (datetime.time, "10:00", '"time"', datetime.time(10)),
    "timedelta": (datetime.timedelta, "PT1H", '"duration"', datetime.timedelta(hours=1)),
    "UUID": (uuid.UUID, UUID4, '"uuid"', uuid.UUID(UUID4)),
    "Decimal": (decimal.Decimal, "1.10", '"string"', decimal.Decimal("1.10")),
    "Annotated": (Annotated[int, Field(ge=1)], 1, '"minimum":1', 1),
    "Annotated with words": (Annotated[int, "how many"], 1, "how many", 1),
    "NewType": (UserId, 3, '"integer"', 3),
    "list[Any]": (list[Any], [1, "a"], '"array"', [1, "a"]),
    "dict[str, Any]": (dict[str, Any], {"a": [1]}, '"object"', {"a": [1]}),
    "sets in lists": (list[set[str] | None], [["b", "a"], None], '"array"', [{"a", "b"}, None]),
}


def typed(hint: Any, body: Callable[[Any], Any]) -> Callable[..., Any]:
    """A function with one parameter of this type."""

    def f(x: Any) -> str:
        """Do."""
        body(x)
        return "done"

    f.__annotations__ = {"x": hint, "return": str}
    return f


@pytest.mark.parametrize("case", TYPES)
def test_D115_a_type_has_its_schema_and_the_tool_gets_it(case: str) -> None:
    """From the model's JSON, through the guard, to the function."""
    hint, sent, word, expected = TYPES[case]
    got: list[Any] = []
    function = typed(hint, got.append)
    (described,) = ToolRegistry([(as_tool(function), "here")]).schemas()
    assert word in canonical_json(described["function"]["parameters"])
    graph = agent_graph([turn(("f", {"x": sent}, "c1")), "ok"], tools=[function])
    assert answers(graph.invoke(ask())["messages"]) == [("c1", "done")]
    assert got == [expected]
    assert type(got[0]) is type(expected)


def test_an_iterable_arrives_as_one() -> None:
    """It can be walked through once, as it says."""
    got: list[Any] = []
    function = typed(Iterable[int], lambda x: got.append(list(x)))
    graph = agent_graph([turn(("f", {"x": [1, 2]}, "c1")), "ok"], tools=[function])
    assert answers(graph.invoke(ask())["messages"]) == [("c1", "done")]
    assert got == [[1, 2]]


class Raw(BaseModel):
    """Bytes inside of a model."""

    data: bytes


class Hidden(BaseModel):
    """A secret inside of a model."""

    key: SecretStr


REFUSED: dict[str, tuple[Any, str]] = {
    "bytes": (bytes, "type bytes has no JSON form; take text and decode it"),
    "Optional[bytes]": (Optional[bytes], "bytes have no JSON form"),
    "bytes, deep": (dict[str, list[bytes]], "bytes have no JSON form"),
    "bytes in a model": (Raw, "bytes have no JSON form"),
    "complex": (complex, "take two floats"),
    "Any": (Any, "name the type that is meant"),
    "Optional[Any]": (Optional[Any], "does not say what may stand there"),
    "object": (object, "name the type that is meant"),
    "a type variable": (T, "does not say what may stand there"),
    "a class as a value": (type[int], "does not say what may stand there"),
    "Enum itself": (enum.Enum, "name the enum"),
    "a secret": (SecretStr, "a secret is not the model's to give"),
    "a secret in a model": (Hidden, "a secret is not the model's to give"),
    "keys that are no text": (dict[tuple[int, int], str], "the keys of a JSON object are texts"),
    "the same, deep": (list[dict[frozenset[int], str]], "the keys of a JSON object are texts"),
    "a function": (Callable[[int], int], "has no JSON schema"),
    "a file": (typing.IO, "has no JSON schema"),
    "a module": (typing, "has no JSON schema"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_D115_X18_what_no_schema_says_is_refused_at_load(case: str) -> None:
    """With the function, the parameter and what to do; nothing becomes text."""
    hint, word = REFUSED[case]
    with pytest.raises(ToolRegistrationError) as caught:
        as_tool(typed(hint, print))
    assert "f: x: type " in str(caught.value)
    assert word in str(caught.value)


@pytest.mark.parametrize("name", ["größe", "日", "x" * 65])
def test_a_parameter_s_name_that_a_provider_refuses_is_refused_here(name: str) -> None:
    """One such name makes it refuse all tools."""
    scope: dict[str, Any] = {}
    exec(f'def f({name}: int):\n    """Do."""', scope)
    with pytest.raises(ToolRegistrationError, match="a name that some providers refuse"):
        as_tool(scope["f"])


DEFAULTS: dict[str, tuple[Any, Any, Any]] = {
    "enum": (Colour, Colour.RED, "red"),
    "dataclass": (Point, Point(1, 2), {"x": 1, "y": 2}),
    "model": (Order, Order(names=["a"]), {"names": ["a"], "at": None}),
    "path": (Path, Path("a/b"), "a/b"),
    "date": (datetime.date, datetime.date(2026, 1, 2), "2026-01-02"),
    "tuple": (tuple[int, int], (1, 2), [1, 2]),
    "set": (set[int], {3, 1}, [1, 3]),
    "none": (Optional[int], None, None),
    "nought": (int, 0, 0),
    "empty": (list[int], [], []),
}


@pytest.mark.parametrize("case", DEFAULTS)
def test_D114_a_default_stands_in_the_schema_and_arrives_as_it_is(case: str) -> None:
    """As JSON for the model; the tool gets the value of its own type."""
    hint, default, shown = DEFAULTS[case]
    got: list[Any] = []
    function = typed(hint, got.append)
    function.__defaults__ = (default,)
    (described,) = ToolRegistry([(as_tool(function), "here")]).schemas()
    schema = described["function"]["parameters"]
    assert schema["properties"]["x"]["default"] == shown
    assert schema["required"] == []
    graph = agent_graph([turn(("f", {}, "c1")), "ok"], tools=[function])
    assert answers(graph.invoke(ask())["messages"]) == [("c1", "done")]
    assert got == [default]


SCRIPT = """
from edgeward.graphs.catalog import ToolCatalog
from edgeward.guards.verdict import ToolCall, fingerprint
from edgeward.profiles.tools.python import as_tool

def f(x: set[str], y: list[set[str]]):
    "Do."

call = ToolCall("f", {"x": ["beta", "alpha", "gamma"], "y": [["q", "p"], ["r"]]})
print(fingerprint(ToolCatalog({"f": as_tool(f)}).canonical(call)))
"""


def test_a_set_is_the_same_call_in_every_process() -> None:
    """What a person approved is still what runs when the process is started anew."""
    seen = {
        subprocess.run(
            [sys.executable, "-c", SCRIPT],
            env={**os.environ, "PYTHONHASHSEED": seed},
            check=True,
            capture_output=True,
            text=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(seen) == 1


def test_the_order_in_which_a_model_writes_a_set_does_not_matter() -> None:
    """Two ways to write one call have one fingerprint."""
    catalog = ToolCatalog({"f": as_tool(typed(set[int | str], print))})
    calls = [ToolCall("f", {"x": given}) for given in ([3, "a", 1], ["a", 1, 3, 1])]
    assert len({fingerprint(catalog.canonical(call)) for call in calls}) == 1


class Desk:
    """Things of a class that can be tools."""

    def method(self, x: int) -> int:
        """Method."""
        return x

    async def amethod(self, x: int) -> int:
        """Async method."""
        return x

    @classmethod
    def of_class(cls, x: int) -> int:
        """Of the class."""
        return x

    @staticmethod
    def static(x: int) -> int:
        """Static."""
        return x


class Caller:
    """Called itself."""

    async def __call__(self, x: int) -> int:
        """Async call."""
        return x


def scaled(x: int, by: int = 2, *, plus: int = 0) -> int:
    """Scaled."""
    return x * by + plus


async def ascaled(x: int, by: int = 2) -> int:
    """Scaled, async."""
    return x * by


CALLABLES: dict[str, tuple[Any, int]] = {
    "a bound method": (Desk().method, 3),
    "an async method": (Desk().amethod, 3),
    "a class method": (Desk.of_class, 3),
    "a static method": (Desk.static, 3),
    "an async callable object": (Caller(), 3),
    "a partial": (functools.partial(scaled, by=3), 9),
    "a partial of a partial": (functools.partial(functools.partial(scaled, by=3), plus=1), 10),
    "a partial of an async function": (functools.partial(ascaled, by=3), 9),
    "a partial of a method": (functools.partial(Desk().method), 3),
    "a cached function": (functools.lru_cache(scaled), 6),
}


@pytest.mark.parametrize("case", CALLABLES)
async def test_D116_every_callable_runs_in_every_run(case: str) -> None:
    """Sync or async, with or without an event loop; what is filled in is not shown."""
    function, expected = CALLABLES[case]
    tool = as_tool(function, name="it")
    (described,) = ToolRegistry([(tool, "here")]).schemas()
    assert "x" in described["function"]["parameters"]["properties"]
    assert described["function"]["description"]
    graph = agent_graph([turn(("it", {"x": 3}, "c1")), "ok"], tools=[tool])
    for result in (graph.invoke(ask()), await graph.ainvoke(ask())):
        assert answers(result["messages"]) == [("c1", str(expected))]
