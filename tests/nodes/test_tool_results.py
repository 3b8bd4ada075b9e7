"""Whatever a tool gives back becomes one text, the same whoever listens (C73, C86)."""

from __future__ import annotations

import dataclasses
import datetime
import decimal
import enum
import uuid
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.messages import ToolMessage
from langchain_core.tools import StructuredTool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command, Send
from pydantic import BaseModel

from edgeward.graphs.text import MAX_CHARS, MAX_VALUES, MORE, as_text
from tests.fakes import agent_graph, answers, ask, fails, on, turn


@dataclasses.dataclass
class Point:
    x: int
    y: int


class Model(BaseModel):
    name: str


class Scalar:
    """Looks like a number of numpy's."""

    dtype = "float64"

    def item(self) -> float:
        return 1.5


class Array:
    """Looks like an array of numpy's."""

    dtype = "int64"
    size = 4

    def item(self) -> int:
        raise ValueError("can only convert an array of size 1")

    def tolist(self) -> list[list[int]]:
        return [[1, 2], [3, 4]]


class Tensor(Array):
    """Looks like one of torch's."""

    def size(self) -> tuple[int, int]:  # type: ignore[override]
        return 2, 2


async def agen() -> AsyncIterator[int]:
    """Gives one by one."""
    for number in range(2):
        yield number


class Colour(enum.Enum):
    RED = "red"


class Hostile:
    """Has a text that cannot be made."""

    __str__ = fails(RuntimeError("no text"))
    __repr__ = fails(RuntimeError("no text"))


def loop() -> list[Any]:
    """A list that holds itself."""
    value: list[Any] = []
    value.append(value)
    return value


VALUES: dict[str, tuple[Callable[[], Any], str]] = {
    "nothing": (lambda: None, "(no output)"),
    "empty text": (lambda: "", "(no output)"),
    "blank text": (lambda: " \n", "(no output)"),
    "text": (lambda: "héllo", "héllo"),
    "a number": (lambda: 7, "7"),
    "a truth": (lambda: True, "true"),
    "an empty list": (list, "[]"),
    "data": (lambda: {"b": [1, 2.5, None], "a": "é"}, '{"a":"é","b":[1,2.5,null]}'),
    "not a number": (lambda: float("nan"), "nan"),
    "a tuple": (lambda: (1, "a"), '[1,"a"]'),
    "a set": (lambda: {3}, "[3]"),
    "a dataclass": (lambda: Point(1, 2), '{"x":1,"y":2}'),
    "a model": (lambda: Model(name="n"), '{"name":"n"}'),
    "bytes of text": (lambda: b"abc", "abc"),
    "bytes": (lambda: b"\xff\xfe", "(2 bytes that are not text)"),
    "bytes in data": (lambda: {"a": b"\xff"}, '{"a":"(1 bytes that are not text)"}'),
    "an exception": (lambda: ValueError("bad"), "ValueError: bad"),
    "an object": (object, "(a value of type object, which has no text form)"),
    "an object in data": (lambda: [object()], "(a value of type list, which has no text form)"),
    "a numpy-like number": (Scalar, "1.5"),
    "an array like numpy's": (Array, "[[1,2],[3,4]]"),
    "an array like torch's": (Tensor, "[[1,2],[3,4]]"),
    "an async generator": (agen, "[0,1]"),
    "a number without end": (
        lambda: {"n": 10**5000},
        '{"n":"(a number that is too long to write)"}',
    ),
    "a generator": (lambda: (n for n in range(3)), "[0,1,2]"),
    "a date": (lambda: datetime.date(2026, 1, 2), "2026-01-02"),
    "a uuid": (lambda: uuid.UUID(int=0), "00000000-0000-0000-0000-000000000000"),
    "a decimal": (lambda: decimal.Decimal("1.50"), "1.50"),
    "an enum": (lambda: Colour.RED, "red"),
    "a list in itself": (loop, "(a value of type list, which has no text form)"),
    "an object without a text": (Hostile, "{name} failed: RuntimeError: no text"),
    "a lone surrogate": (lambda: "a\ud800b", "a?b"),
    "a tool message": (lambda: ToolMessage("said", tool_call_id="other"), "said"),
}


@pytest.mark.parametrize("case", VALUES)
async def test_result_as_text(case: str) -> None:
    """A result of any type becomes a text that can be stored, sync or async, listened to or not."""
    make, expected = VALUES[case]

    def give() -> Any:
        """Gives it."""
        return make()

    async def agive() -> Any:
        """Gives it."""
        return make()

    calls = turn(("give", {}, "c1"), ("agive", {}, "c2"))
    tools = [give, agive]
    graph = agent_graph([calls, "done"], tools=tools, checkpointer=InMemorySaver())
    heard = graph.with_config(callbacks=[BaseCallbackHandler()])
    results = [
        graph.invoke(ask(), on("a")),
        await graph.ainvoke(ask(), on("b")),
        heard.invoke(ask(), on("c")),
        await heard.ainvoke(ask(), on("d")),
    ]
    for result in results:
        assert dict(answers(result["messages"])) == {
            "c1": expected.replace("{name}", "give"),
            "c2": expected.replace("{name}", "agive"),
        }


@pytest.mark.parametrize(
    "value", [Command(goto="tool"), Command(update={"messages": []}), Send("tool", {})], ids=repr
)
async def test_commands_are_text(value: Any) -> None:
    """A Command or a Send that a tool gives back steers nothing."""

    def give() -> Any:
        """Gives it."""
        return value

    plain = agent_graph([turn(("give", {}, "c1")), "done"], tools=[give])
    heard = plain.with_config(callbacks=[BaseCallbackHandler()])
    for result in (plain.invoke(ask()), heard.invoke(ask()), await heard.ainvoke(ask())):
        assert result["messages"][-1].text == "done"
        assert len(answers(result["messages"])) == 1


def test_endless_generator() -> None:
    """A generator that does not end is cut."""

    def give() -> Any:
        """Gives it."""
        return iter(int, 1)

    result = agent_graph([turn(("give", {}, "c1")), "done"], tools=[give]).invoke(ask())
    text = answers(result["messages"])[0][1]
    assert text.startswith("[0,0,")
    assert text.endswith(f'"{MORE}"]')


def test_huge_text_is_cut() -> None:
    """A text beyond the limit is cut, and says how much is missing."""

    def give() -> str:
        """Gives it."""
        return "x" * 5_000_000

    result = agent_graph([turn(("give", {}, "c1")), "done"], tools=[give]).invoke(ask())
    text = answers(result["messages"])[0][1]
    assert len(text) < 110_000
    assert text.endswith("[cut here: 4900000 more characters]")


@pytest.mark.parametrize(
    ("value", "end"),
    [
        ("x" * (MAX_CHARS + 10), "[left out here: 10 more characters]"),
        (b"x" * (5 * MAX_CHARS), "more characters]"),
        (b"\xff" * (5 * MAX_CHARS), f"({5 * MAX_CHARS} bytes that are not text)"),
        ([0] * (MAX_VALUES + 1), f',"{MORE}"]'),
        (dict.fromkeys(range(MAX_VALUES + 1), 0), '"99999":0}'),
        ([[0] * 1_000] * (MAX_VALUES // 1_000), f'"{MORE}"]]'),
        ([[0] * 1_000] * MAX_VALUES, f',"{MORE}"]'),
        (iter(range(1_000)), ",999]"),
        (iter(range(1_001)), f',999,"{MORE}"]'),
    ],
    ids=["text", "bytes", "no text", "list", "mapping", "nested", "deeper", "iterator", "longer"],
)
def test_megabytes_are_bounded_before_they_are_looked_at(value: object, end: str) -> None:
    """A value of any size costs about the same, and says that there was more."""
    text = as_text(value)
    assert text.endswith(end)
    assert len(text) <= MAX_CHARS + 100


def test_secret_across_the_cut(strategy_file: Callable[[str], Any]) -> None:
    """A secret that the cut would part is masked whole."""
    strategy = strategy_file(
        "strategy: s\nstart: act\n"
        "nodes: {act: act, guard: guard, tool: {kind: tool, max_chars: 1000}}\n"
        "edges: {act.call: guard, act.answer: end, act.limit: end, guard.allow: tool,"
        " guard.block: act, tool.done: act}\n"
    )

    def give() -> str:
        """Gives it."""
        return "y " * 495 + "sk-proj-TESTTESTTESTTESTTEST"

    result = agent_graph(
        [turn(("give", {}, "c1")), "done"], tools=[give], strategy=strategy
    ).invoke(ask())
    assert "sk-proj" not in answers(result["messages"])[0][1]


def test_error_of_a_langchain_tool() -> None:
    """A tool with an error handler of its own answers with that handler's text."""
    from langchain_core.tools import ToolException

    tool = StructuredTool.from_function(
        fails(ToolException("no luck")),
        name="give",
        description="Gives.",
        infer_schema=False,
        args_schema={"type": "object", "properties": {}},
        handle_tool_error=lambda error: f"handled: {error}",
    )
    result = agent_graph([turn(("give", {}, "c1")), "done"], tools=[tool]).invoke(ask())
    assert answers(result["messages"]) == [("c1", "handled: no luck")]
