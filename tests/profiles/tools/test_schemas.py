"""The schemas of Python functions as tools, and what cannot be expressed."""

from __future__ import annotations

import functools
import math
from pathlib import Path
from typing import Annotated, Any, Literal, Optional

import pytest
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import InjectedToolArg, InjectedToolCallId
from langgraph.prebuilt import InjectedState, InjectedStore, ToolRuntime
from pydantic import BaseModel

from edgeward.profiles.tools.python import as_tool
from edgeward.profiles.tools.registry import ToolRegistry
from tests.nested import mappings_in

from .described import function, parameters, refusal, untyped, wide


class Tree(BaseModel):
    """A type that contains itself."""

    kids: list[Tree] = []


class Custom:
    """A class that no schema knows."""


def test_D114_the_documented_example_reproduces():
    """Types, default, required and description, as in the reference's README."""

    def calculator(expression: str, precision: int = 4) -> str:
        """Evaluate a Python arithmetic expression and return the result.

        Supports +, -, *, /, **, parentheses, and the math module.
        """
        return f"{expression}{precision}"

    (described,) = ToolRegistry([(as_tool(calculator), "x")]).schemas()
    function = described["function"]
    assert function["name"] == "calculator"
    assert function["description"].startswith("Evaluate a Python arithmetic expression")
    schema = function["parameters"]
    assert schema["properties"]["expression"] == {"type": "string"}
    assert schema["properties"]["precision"] == {"type": "integer", "default": 4}
    assert schema["required"] == ["expression"]
    assert schema["additionalProperties"] is False


def test_C82_lists_optional_values_and_choices():
    """A list has items, an optional value may be null, choices are kept."""

    def f(tags: list, mode: Literal["a", "b"] = "a", when: Optional[int] = None):  # noqa: UP045
        """Do."""

    schema = parameters(f)
    assert schema["properties"]["tags"] == {"type": "array", "items": {"type": "string"}}
    assert schema["properties"]["mode"]["enum"] == ["a", "b"]
    kinds = [kind["type"] for kind in schema["properties"]["when"]["anyOf"]]
    assert kinds == ["integer", "null"]
    assert schema["required"] == ["tags"]


def test_C82_no_parameters_give_an_empty_object():
    """With `properties` and a `required` list."""

    def g():
        """Do."""
        return 3

    assert parameters(g) == {
        "type": "object",
        "properties": {},
        "required": [],
        "additionalProperties": False,
    }
    assert as_tool(g).invoke({}) == 3


def test_C82_star_arguments_are_refused_and_named():
    """Function and parameter stand in the message."""

    def h(*args: int, **kw: int):
        """Do."""

    message = refusal(lambda: as_tool(h))
    assert "h: *args" in message

    def k(**kw: int):
        """Do."""

    assert "k: **kw" in refusal(lambda: as_tool(k))


@pytest.mark.parametrize("most", [math.inf, -math.inf, math.nan])
def test_C82_a_number_that_json_has_no_word_for_is_refused(most):
    """With it a request could not be sent, nor a call be judged that leaves the argument out."""

    def buy(item: str, most: float = most):
        """Buy."""

    message = refusal(lambda: ToolRegistry([buy]))
    assert message.startswith("buy: most: infinity and NaN cannot be told to a model; make the")


def test_D115_types_that_people_use_are_expressed():
    """No array without items, no open reference, no constant; names of model methods too."""
    schema = parameters(wide)
    for part in mappings_in(schema):
        if part.get("type") == "array":
            assert part["items"], part
        if part.get("type") == "object" and "properties" in part:
            assert isinstance(part["required"], list)
        assert not {"$ref", "$defs", "const", "prefixItems"} & part.keys()
    properties = schema["properties"]
    assert properties["c"]["enum"] == ["red", "blue"]
    assert properties["d"]["properties"]["x"] == {"type": "integer"}
    assert properties["f"] == {"type": "string", "default": "x"}
    assert properties["j"]["minimum"] == 1
    assert properties["m"]["enum"] == ["only"]
    assert schema["required"] == ["a", "b", "c", "d", "e"]


def test_D115_the_function_gets_the_types_it_declared():
    """Enum members, dataclasses, models and paths arrive as such."""
    made = as_tool(wide).invoke(
        {"a": [1], "b": {"x": 1}, "c": "blue", "d": {"x": 1}, "e": {"names": ["n"]}, "f": "p/q"}
    )
    assert "<Colour.BLUE: 'blue'>" in made
    assert "Point(x=1, y=0)" in made
    assert repr(Path("p/q")) in made


def test_arguments_are_validated_and_unknown_ones_refused():
    """A wrong type or an extra argument does not reach the function."""

    def add(a: int, b: int) -> int:
        """Add."""
        return a + b

    made = as_tool(add)
    assert made.invoke({"a": "1", "b": "2"}) == 3
    for bad in ({"a": "x", "b": 1}, {"a": 1}, {"a": 1, "b": 2, "c": 3}):
        with pytest.raises(ValueError, match="validation error"):
            made.invoke(bad)


def test_none_as_a_default_widens_the_type():
    """`when: dict = None` is what people write."""

    def f(when: dict = None):  # noqa: RUF013
        """Do."""
        return when

    assert as_tool(f).invoke({}) is None
    assert as_tool(f).invoke({"when": {"a": 1}}) == {"a": 1}


def custom(x: Custom):
    """Take a class."""


def in_list(x: list[Custom]):
    """Take a list of them."""


def positional(x: int, /):
    """Positional."""


def raw(x: bytes):
    """Bytes."""


def imaginary(x: complex):
    """Complex."""


def anything(x: Any):
    """Any."""


def unknown(x: Nowhere):  # noqa: F821
    """A name that nobody knows."""


def wrong_default(x: int = "a"):
    """A default of another type."""


def reserved(config: str):
    """A name that LangChain fills in."""


def of_the_model(model_fields_set: str = ""):
    """A name that a model has for itself: the function would get the model's value."""


def underscored(_x: int):
    """A private name."""


def configured(c: RunnableConfig):
    """The run's configuration."""


def injected(s: Annotated[dict, InjectedToolArg]):
    """Something from outside."""


def generator(x: int):
    """Yield."""
    yield x


async def async_generator(x: int):
    """Yield, async."""
    yield x


@pytest.mark.parametrize(
    ("function", "word"),
    [
        (untyped, "x: has no type"),
        (custom, "x: type Custom"),
        (in_list, "x: type list"),
        (positional, "positional-only"),
        (raw, "type bytes"),
        (imaginary, "type complex"),
        (anything, "type Any"),
        (function, "x: type"),
        (unknown, "Nowhere"),
        (wrong_default, "the default is a str"),
        (reserved, "LangChain uses"),
        (of_the_model, "LangChain uses"),
        (underscored, "underscore"),
        (configured, "RunnableConfig"),
        (injected, "InjectedToolArg"),
        (generator, "generator"),
        (async_generator, "generator"),
        (lambda x: x, "lambda"),
        (Custom, "is a class"),
        (len, "obj"),
        (3, "is not a tool"),
    ],
)
def test_D115_X18_what_cannot_be_expressed_is_refused_at_load(function, word):
    """Nothing becomes text by default; the message names the function and the parameter."""
    message = refusal(lambda: as_tool(function))
    assert word in message
    name = getattr(function, "__name__", "")
    assert name.strip("<>") in message


def test_a_type_that_contains_itself_is_refused():
    """LangChain would cut it short without a word."""

    def plant(t: Tree):
        """Plant."""

    assert "contains itself" in refusal(lambda: ToolRegistry([(as_tool(plant), "x")]))


def test_langgraph_insides_are_not_given_to_tools():
    """State, store and runtime are the run's, not the tool's; a call's id is allowed."""

    def state(s: Annotated[dict, InjectedState]):
        """State."""

    def store(s: Annotated[Any, InjectedStore()]):
        """Store."""

    def runtime(r: ToolRuntime):
        """Runtime."""

    def call_id(x: int, id_: Annotated[str, InjectedToolCallId]) -> str:
        """Call id."""
        return f"{x} {id_}"

    for one in (state, store, runtime):
        assert "not given to tools" in refusal(functools.partial(as_tool, one))
    made = as_tool(call_id)
    assert list(parameters(call_id)["properties"]) == ["x"]
    asked = {"name": "call_id", "args": {"x": 1}, "id": "c7", "type": "tool_call"}
    assert made.invoke(asked).content == "1 c7"
