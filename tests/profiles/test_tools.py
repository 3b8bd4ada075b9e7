"""Python functions as tools: their schemas, what is refused, and how they run."""

from __future__ import annotations

import asyncio
import dataclasses
import enum
import functools
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Literal, Optional, Union

import pytest
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool, InjectedToolArg, InjectedToolCallId, StructuredTool, tool
from langgraph.prebuilt import InjectedState, InjectedStore, ToolRuntime
from pydantic import BaseModel, Field

from edgeward.profiles.tools.docstring import parse_docstring
from edgeward.profiles.tools.python import ToolRegistrationError, as_tool, load_python_tool
from edgeward.profiles.tools.registry import ToolRegistry


class Colour(enum.Enum):
    """Two colours."""

    RED = "red"
    BLUE = "blue"


@dataclasses.dataclass
class Point:
    """A place."""

    x: int
    y: int = 0


class Order(BaseModel):
    """A model with a nested dataclass."""

    names: list[str]
    at: Point | None = None


class Tree(BaseModel):
    """A type that contains itself."""

    kids: list[Tree] = []


class Custom:
    """A class that no schema knows."""


def parameters(function: Any) -> dict[str, Any]:
    """The schema of a function's arguments as it goes to a provider."""
    (described,) = ToolRegistry([(as_tool(function), "here")]).schemas()
    return described["function"]["parameters"]


def refusal(make: Callable[[], Any]) -> str:
    """The message with which a tool is refused."""
    with pytest.raises(ToolRegistrationError) as caught:
        make()
    return str(caught.value)


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


def every(schema: Any):
    """All dicts inside a schema."""
    if isinstance(schema, dict):
        yield schema
        for value in schema.values():
            yield from every(value)
    elif isinstance(schema, list):
        for value in schema:
            yield from every(value)


def wide(
    a: list[int],
    b: dict[str, int],
    c: Colour,
    d: Point,
    e: Order,
    f: Path = Path("x"),
    g: int | str = 3,
    h: set[int] | None = None,
    i: tuple[int, str] = (1, "a"),
    j: Annotated[int, Field(ge=1, le=9)] = 1,
    k: list = [],  # noqa: B006
    l: dict = {},  # noqa: B006, E741
    m: Literal["only"] = "only",
    n: Union[list[Point], None] = None,  # noqa: UP007
    o: list[Any] = [],  # noqa: B006
    json: bool = True,
    copy: float = 1.5,
):
    """Take all that people use."""
    return repr((a, b, c, d, e, f, g, h, i, j))


def test_D115_types_that_people_use_are_expressed():
    """No array without items, no open reference, no constant; names of model methods too."""
    schema = parameters(wide)
    for part in every(schema):
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


def untyped(x):
    """Say nothing of x."""


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


def function(x: Callable[[int], int]):
    """A function."""


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


def test_D113_both_forms_of_entry_load(tmp_path, monkeypatch):
    """A file beside the profile, and an importable module."""
    (tmp_path / "python_tools").mkdir()
    (tmp_path / "python_tools" / "calc.py").write_text(
        "from __future__ import annotations\n"
        "import dataclasses\n\n"
        "@dataclasses.dataclass\nclass P:\n    x: int\n\n"
        'def calc(p: P) -> int:\n    """Calculate."""\n    return p.x\n'
    )
    assert load_python_tool("python_tools/calc.py:calc", tmp_path).invoke({"p": {"x": 3}}) == 3
    (tmp_path / "some_module_of_tools.py").write_text(
        'def search(q: str) -> str:\n    """Search."""\n    return q\n'
    )
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    assert load_python_tool("some_module_of_tools:search", tmp_path).invoke({"q": "x"}) == "x"


def test_a_tool_file_leaves_nothing_behind_and_is_read_anew(tmp_path):
    """No compiled copy in the bundle, no stale one; one module for one file's functions."""
    file = tmp_path / "t.py"
    file.write_text("n = []\ndef a() -> int:\n    n.append(1)\n    return len(n)\nb = a\n")
    first = load_python_tool("t.py:a", tmp_path)
    assert first.invoke({}) == 1
    assert load_python_tool("t.py:b", tmp_path).invoke({}) == 2
    file.write_text("def a() -> int:\n    return 77\n")
    assert load_python_tool("t.py:a", tmp_path).invoke({}) == 77
    assert [entry.name for entry in tmp_path.iterdir()] == ["t.py"]


@pytest.mark.parametrize(
    ("entry", "word"),
    [
        ("t.py:clac", "did you mean calc"),
        ("tt.py:calc", "did you mean t.py"),
        ("nowhere/t.py:calc", "there is no file"),
        ("../t.py:calc", "leads out"),
        ("/etc/t.py:calc", "leads out"),
        ("no_such_module_here:f", "no module no_such_module_here"),
        ("json:dmups", "did you mean dumps"),
        ("t.py", "not an entry point"),
        ("t.py:", "not an entry point"),
        ("t.py:untyped", "untyped(x): has no type"),
        ("t.py:number", "is not a tool"),
        ("broken.py:f", "SyntaxError on line 2"),
        ("raising.py:f", "RuntimeError on line 3"),
        ("needing.py:f", "module no_such_module_here"),
    ],
)
def test_D113_bad_entries_raise_at_build(tmp_path, entry, word):
    """Each says what is missing and what is near; the error's own text may hold a secret."""
    (tmp_path / "t.py").write_text(
        "number = 3\ndef untyped(x): ...\ndef calc(x: int) -> int:\n    return x\n"
    )
    (tmp_path / "broken.py").write_text("x = 1\ndef f(:\n")
    (tmp_path / "raising.py").write_text("\n\nraise RuntimeError('sk-secret-text')\n")
    (tmp_path / "needing.py").write_text("import no_such_module_here\n")
    message = refusal(lambda: load_python_tool(entry, tmp_path))
    assert word in message
    assert "sk-secret" not in message


def test_a_tool_file_that_links_outside_is_refused(tmp_path):
    """A link is followed before it is judged."""
    inner = tmp_path / "bundle"
    inner.mkdir()
    (tmp_path / "t.py").write_text("def f() -> int:\n    return 1\n")
    (inner / "t.py").symlink_to(tmp_path / "t.py")
    assert "leads out" in refusal(lambda: load_python_tool("t.py:f", inner))


def named(name: str) -> BaseTool:
    """A tool of this name."""

    def f(x: int) -> int:
        """Do."""
        return x

    return as_tool(f, name=name)


@pytest.mark.parametrize(("one", "other"), [("search", "search"), ("search", "Search")])
def test_D094_X17_a_collision_is_refused_naming_both_sources(one, other):
    """Also where the names differ only in case."""
    message = refusal(lambda: ToolRegistry([(named(one), "t.py:search"), (named(other), "tools=")]))
    assert "t.py:search" in message
    assert "tools=" in message


def test_D093_the_registry_is_the_flat_union(tmp_path):
    """Names, sources, metadata; and nothing in it changes."""
    noted = named("b")
    noted.metadata = {"server": "files"}
    registry = ToolRegistry([(named("a"), "profile"), (noted, "mcp")])
    assert list(registry) == ["a", "b"]
    assert len(registry) == 2
    assert "a" in registry
    assert registry.source("b") == "mcp"
    assert registry.metadata("b") == {"server": "files"}
    with pytest.raises(TypeError):
        registry.tools["c"] = noted
    registry.schemas()[0]["function"]["name"] = "changed"
    assert registry.schemas()[0]["function"]["name"] == "a"


def test_a_registry_takes_functions_as_they_are():
    """Alone or with a source; what is wrong with one is said as for any tool."""

    def add(a: int, b: int = 1) -> int:
        """Add."""
        return a + b

    registry = ToolRegistry([add, (named("b"), "mine")])
    assert list(registry) == ["add", "b"]
    assert registry.tools["add"].invoke({"a": 1}) == 2
    assert (registry.source("add"), registry.source("b")) == ("the registry", "mine")
    assert "no type" in refusal(lambda: ToolRegistry([untyped]))


def test_D117_no_tools_give_no_schemas():
    """What the model is shown is then empty."""
    assert ToolRegistry().schemas() == []


def test_schemas_hold_data_only():
    """Nothing that could be called goes to the model's side."""
    import json

    json.dumps(ToolRegistry([(as_tool(wide), "x")]).schemas())


def test_a_tool_whose_arguments_are_no_object_is_refused():
    """A provider would drop it without a word, or refuse all tools."""
    choice = {"anyOf": [{"type": "object"}, {"type": "object"}], "properties": {}, "title": "t"}
    odd = StructuredTool(name="odd", description="d", args_schema=choice, func=lambda: 1)
    assert "not one object" in refusal(lambda: ToolRegistry([(odd, "x")]))
