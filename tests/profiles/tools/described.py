"""What a provider is told of a tool, and why one is refused."""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Literal, Union

import pytest
from pydantic import BaseModel, Field

from edgeward.profiles.tools.python import ToolRegistrationError, as_tool
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


def parameters(function: Any) -> dict[str, Any]:
    """The schema of a function's arguments as it goes to a provider."""
    (described,) = ToolRegistry([(as_tool(function), "here")]).schemas()
    return described["function"]["parameters"]


def refusal(make: Callable[[], Any]) -> str:
    """The message with which a tool is refused."""
    with pytest.raises(ToolRegistrationError) as caught:
        make()
    return str(caught.value)


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


def untyped(x):
    """Say nothing of x."""


def function(x: Callable[[int], int]):
    """A function."""
