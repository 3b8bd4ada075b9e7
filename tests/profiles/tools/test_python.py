"""Python functions, methods and LangChain's tools: how they run and what describes them."""

from __future__ import annotations

import asyncio
import functools
from typing import Annotated, Any

import pytest
from langchain_core.tools import BaseTool, StructuredTool, tool
from pydantic import Field

from edgeward.profiles.tools.docstring import parse_docstring
from edgeward.profiles.tools.python import as_tool

from .described import parameters, refusal


@pytest.mark.parametrize("name", ["has space", "", "a.b", "x" * 65, "päth", "f\n"])
def test_names_that_providers_refuse_are_refused_here(name):
    """Letters, digits, underscore and hyphen, at most 64; LangChain tools too."""

    def f(x: int):
        """Do."""

    ready = StructuredTool.from_function(f, name=name or "placeholder")
    ready.name = name
    assert "not a tool name" in refusal(lambda: as_tool(ready))
    if name:
        assert "not a tool name" in refusal(lambda: as_tool(f, name=name))


class Account:
    """Something with a method, and callable itself."""

    def pay(self, amount: int) -> int:
        """Pay."""
        return amount

    def __call__(self, amount: int) -> int:
        """Call the account."""
        return -amount


def test_bound_methods_callable_objects_and_partials_are_tools():
    """`self` is no parameter; what a partial has filled in is not shown to the model."""

    def send(text: str, token: str) -> str:
        """Send."""
        return f"{text} with {token}"

    assert as_tool(Account().pay).invoke({"amount": 3}) == 3
    assert as_tool(Account()).name == "Account"
    assert as_tool(Account()).invoke({"amount": 3}) == -3
    partial = functools.partial(send, token="sk-secret-of-the-author")
    assert list(parameters(partial)["properties"]) == ["text"]
    assert "sk-secret" not in str(parameters(partial))
    assert as_tool(partial).invoke({"text": "hi"}) == "hi with sk-secret-of-the-author"
    assert list(parameters(functools.partial(send, "hi"))["properties"]) == ["token"]
    assert "bound method" in refusal(lambda: as_tool(Account.pay))


def test_D116_async_functions_run_in_every_way():
    """Awaited, called without a loop, called inside one, and behind a decorator."""

    async def double(x: int) -> int:
        """Double."""
        await asyncio.sleep(0)
        return 2 * x

    def logged(function):
        @functools.wraps(function)
        def wrapper(*args, **kwargs):
            return function(*args, **kwargs)

        return wrapper

    async def inside(made: BaseTool) -> Any:
        return made.invoke({"x": 2}), await made.ainvoke({"x": 3})

    for function in (double, logged(double)):
        made = as_tool(function)
        assert made.name == "double"
        assert made.invoke({"x": 1}) == 2
        assert asyncio.run(inside(made)) == (4, 6)


def test_a_langchain_tool_passes_through():
    """It keeps its own schema and description."""

    @tool
    def ready(x: int) -> int:
        """Be ready."""
        return x

    assert as_tool(ready) is ready
    assert parameters(ready)["properties"]["x"] == {"type": "integer"}


@pytest.mark.parametrize(
    "text",
    [
        "Do it.\n\nArgs:\n    a: First\n        and more.\n    b (int): Second.\n\nReturns:\n    x",
        "Do it.\n\nParameters\n----------\na : int\n    First\n    and more.\nb\n    Second.\n"
        "\nReturns\n-------\nx",
        "Do it.\n\n:param a: First\n    and more.\n:param int b: Second.\n:type b: int"
        "\n:returns: x",
    ],
)
def test_docstrings_describe_parameters(text):
    """Google's, NumPy's and Sphinx's form."""
    description, about = parse_docstring(text, ["a", "b"])
    assert description.startswith("Do it.")
    assert "First" not in description
    assert about == {"a": "First and more.", "b": "Second."}


def test_docstrings_of_no_form_stay_whole():
    """Colons and headings in prose are prose."""
    text = "Look: this is text.\n\nNote: Args are good.\n\n    indented: yes\n\na: b"
    assert parse_docstring(text, ["a"])[0] == text
    assert parse_docstring(None, []) == ("", {})


def test_D114_descriptions_come_from_docstring_or_annotation():
    """Both forms end in the schema."""

    def f(a: int, b: Annotated[int, "Second."], c: Annotated[int, Field(description="Third.")]):
        """Do.

        Args:
            a: First.
        """

    properties = parameters(f)["properties"]
    described = [properties[name]["description"] for name in "abc"]
    assert described == ["First.", "Second.", "Third."]
