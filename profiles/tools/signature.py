"""A Python function's signature as a pydantic model: one strict field a parameter.

What a provider cannot be told, or the function could not be called with, is refused here, with
the names of the function and the parameter. Nothing falls back to text.
"""

from __future__ import annotations

import functools
import inspect
import typing
import warnings
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Annotated, Any, get_args, get_origin

import typing_extensions
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import InjectedToolArg, InjectedToolCallId
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError, create_model
from pydantic.errors import PydanticUserError
from pydantic.fields import FieldInfo

from ...policies.problems import ConfigError, Problem
from .hints import NO_SCHEMA, portable, unspoken

RESERVED = frozenset({"config", "callbacks", "run_manager", "args", "kwargs"})
"""Parameter names that LangChain fills in itself, whatever the model sends."""

REFUSED: Mapping[Any, str] = {
    bytes: "take text and decode it",
    bytearray: "take text and decode it",
    complex: "take two floats",
    object: "name the type that is meant",
    Enum: "name the enum that is meant",
    Any: "name the type that is meant",
}


class ToolError(Exception):
    """Something is wrong with a tool."""


class ToolNotFoundError(ToolError, LookupError):
    """A registry was asked for a tool that it does not have."""


class ToolRegistrationError(ToolError, ConfigError):
    """A tool that cannot be offered to a model, and why."""


def refuse(
    source: str, field: str, wrong: str, *, allowed: str = "", fix: str = ""
) -> typing.NoReturn:
    """Raise a `ToolRegistrationError` about `source` (a function or an entry)."""
    raise ToolRegistrationError(Problem(source, field, wrong, allowed, fix))


@dataclass(frozen=True, slots=True)
class Callee:
    """A callable under its name; `plain` is the function that carries hints and docstring."""

    name: str
    target: Callable[..., Any]
    plain: Callable[..., Any]
    bound: frozenset[str] = frozenset()
    """Parameters that a partial has filled in. They are the author's, and are not shown."""


def callee(target: Callable[..., Any], *, name: str | None = None) -> Callee:
    """Find the function behind a partial, a bound method or a callable object."""
    bound: set[str] = set()
    plain: Any = target
    while isinstance(plain, functools.partial):
        positional = _positional(plain.func)[: len(plain.args)]
        bound |= {*plain.keywords, *positional}
        plain = plain.func
    label = name or getattr(plain, "__name__", "") or type(plain).__name__
    if isinstance(plain, type):
        refuse(label, "", "is a class", fix="pass a function, or an instance that can be called")
    if not inspect.isroutine(plain):
        plain = type(plain).__call__
    return Callee(label, target, plain, frozenset(bound))


def _positional(function: Callable[..., Any]) -> list[str]:
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    try:
        parameters = inspect.signature(function).parameters
    except (TypeError, ValueError):
        return []
    return [name for name, parameter in parameters.items() if parameter.kind in kinds]


def arguments_model(function: Callee, descriptions: Mapping[str, str]) -> type[BaseModel]:
    """The model of the function's arguments; unknown arguments are refused by it.

    Raises:
        ToolRegistrationError: for a parameter that no schema can express.
    """
    try:
        parameters = inspect.signature(function.target).parameters
    except (TypeError, ValueError):
        refuse(function.name, "", "has no signature that can be read", fix="wrap it in a function")
    hints = _hints(function)
    fields: dict[str, Any] = {}
    for name, parameter in parameters.items():
        if name in function.bound:
            continue
        _check_kind(function.name, name, parameter)
        hint = hints.get(name, inspect.Parameter.empty)
        if hint is inspect.Parameter.empty:
            fix = f"write {name}: str, or whatever it is"
            if name in ("self", "cls"):
                fix = "pass the bound method (instance.method)"
            refuse(function.name, name, "has no type", fix=fix)
        _check_injected(function.name, name, hint)
        hint = portable(hint)
        _check_type(function.name, name, hint)
        hint = _with_default(function.name, name, hint, parameter.default)
        fields[name] = (hint, _field(parameter, hint, descriptions.get(name)))
    try:
        return _quiet_model(function.name, fields)
    except (PydanticUserError, NameError, ValueError, TypeError) as error:
        refuse(function.name, "", f"its parameters make no schema ({_first_line(error)})")


def _quiet_model(name: str, fields: dict[str, Any]) -> type[BaseModel]:
    # A parameter may be called `json` or `copy`; that it hides a method of the model is no matter.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        config = ConfigDict(extra="forbid", protected_namespaces=(), validate_default=True)
        return create_model(name, __config__=config, **fields)


def _hints(function: Callee) -> dict[str, Any]:
    plain = inspect.unwrap(function.plain)
    plain = getattr(plain, "__func__", plain)
    # Names of an enclosing function, which a string annotation may mean.
    cells = zip(
        getattr(getattr(plain, "__code__", None), "co_freevars", ()),
        getattr(plain, "__closure__", None) or (),
        strict=False,
    )
    local = {name: cell.cell_contents for name, cell in cells if _is_full(cell)}
    try:
        return typing_extensions.get_type_hints(plain, localns=local or None, include_extras=True)
    except (NameError, TypeError, SyntaxError, AttributeError) as error:
        fix = "import the name at the top of the module, outside TYPE_CHECKING"
        refuse(function.name, "", f"a type cannot be found: {_first_line(error)}", fix=fix)


def _is_full(cell: Any) -> bool:
    try:
        return cell.cell_contents is not None
    except ValueError:
        return False


def _check_kind(function: str, name: str, parameter: inspect.Parameter) -> None:
    if parameter.kind is parameter.VAR_POSITIONAL:
        fix = "take one list parameter instead"
        refuse(function, f"*{name}", "a model cannot be told what goes in here", fix=fix)
    if parameter.kind is parameter.VAR_KEYWORD:
        fix = "name the parameters, or take one dict"
        refuse(function, f"**{name}", "a model cannot be told what goes in here", fix=fix)
    if parameter.kind is parameter.POSITIONAL_ONLY:
        fix = "remove the / from the parameter list"
        refuse(function, name, "is positional-only; tools are called by keyword", fix=fix)
    if name in RESERVED or (name.startswith("model_") and hasattr(BaseModel, name)):
        refuse(function, name, "is a name that LangChain uses itself", fix="rename the parameter")
    if not name.isascii() or len(name) > 64:
        fix = "rename the parameter with letters of a-z, digits and _"
        refuse(function, name, "is a name that some providers refuse", fix=fix)
    if name.startswith("_"):
        refuse(function, name, "begins with an underscore", fix="rename the parameter")


def _check_injected(function: str, name: str, hint: Any) -> None:
    """Refuse what LangChain or LangGraph would fill in with the run's insides."""
    parts = get_args(hint) if get_origin(hint) is Annotated else (hint,)
    base = get_origin(parts[0]) or parts[0]
    for mark in parts[1:]:
        kind = mark if isinstance(mark, type) else type(mark)
        if issubclass(kind, InjectedToolArg) and not issubclass(kind, InjectedToolCallId):
            _refuse_injected(function, name, kind.__name__)
    if base is RunnableConfig:
        _refuse_injected(function, name, "RunnableConfig")
    if isinstance(base, type) and any(
        "InjectedToolArg" in parent.__name__ for parent in base.__mro__
    ):
        _refuse_injected(function, name, base.__name__)


def _refuse_injected(function: str, name: str, kind: str) -> typing.NoReturn:
    refuse(
        function,
        name,
        f"{kind} is not given to tools here: a tool works on its arguments only",
        allowed="InjectedToolCallId",
        fix="take what is needed as an argument",
    )


def _check_type(function: str, name: str, hint: Any) -> None:
    plain = get_args(hint)[0] if get_origin(hint) is Annotated else hint
    if (fix := REFUSED.get(plain) if isinstance(plain, Hashable) else None) is not None:
        refuse(function, name, f"type {_spell(plain)} has no JSON form", fix=fix)
    try:
        wrong, fix = unspoken(hint)
    except NO_SCHEMA as error:
        wrong = f"type {_spell(plain)} has no JSON schema"
        fix = "use text, numbers, booleans, lists, dicts, Literal, Enum, a dataclass or a BaseModel"
        if not isinstance(error, PydanticUserError) or "typing_extensions" in str(error):
            wrong += f" ({_first_line(error)})"
        refuse(function, name, wrong, fix=fix)
    if wrong:
        refuse(function, name, f"type {_spell(plain)}: {wrong}", fix=fix)


def _with_default(function: str, name: str, hint: Any, default: Any) -> Any:
    """`hint`, widened by None where None is the default (`when: int = None`)."""
    if default is inspect.Parameter.empty or isinstance(default, FieldInfo):
        return hint
    try:
        TypeAdapter(hint).validate_python(default)
    except ValidationError:
        if default is None:
            return hint | None
        fix = f"make the default a {_spell(hint)}, or widen the type"
        refuse(function, name, f"the default is a {type(default).__name__}", fix=fix)
    return hint


def _field(parameter: inspect.Parameter, hint: Any, description: str | None) -> Any:
    default = ... if parameter.default is parameter.empty else parameter.default
    if isinstance(default, FieldInfo):
        return default
    own = [mark for mark in get_args(hint)[1:] if get_origin(hint) is Annotated]
    written = next((mark for mark in own if isinstance(mark, str)), None)
    if any(isinstance(mark, FieldInfo) and mark.description for mark in own):
        return Field(default)
    return Field(default, description=description or written)


def _spell(kind: Any) -> str:
    plain = isinstance(kind, type) and not get_args(kind)
    return kind.__name__ if plain else str(kind).replace("typing.", "")[:60]


def _first_line(error: BaseException) -> str:
    return str(error).split("\n", 1)[0][:120]
