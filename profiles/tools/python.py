"""Python functions as tools: named in the profile, or passed in.

    tools:
      python:
        - python_tools/calc.py:calculator      # a file below the profile's folder
        - my_package.search:web_search         # an importable module

The signature becomes the schema, the docstring the description, and what it says of a parameter
that parameter's description. What a schema cannot express is refused when the tool is made.
"""

from __future__ import annotations

import asyncio
import contextvars
import difflib
import functools
import hashlib
import importlib
import importlib.util
import inspect
import re
import sys
import threading
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

from langchain_core.tools import BaseTool, StructuredTool

from ...policies.problems import Problem
from .docstring import parse_docstring
from .signature import ToolRegistrationError, arguments_model, callee, refuse

__all__ = ["NAME", "ToolRegistrationError", "as_tool", "load_python_tool"]

NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}\Z")
"""Tool names that every provider takes."""

_loading = threading.RLock()


def as_tool(function: Callable[..., Any] | BaseTool, *, name: str | None = None) -> BaseTool:
    """A function (plain or async, a partial, a bound method, a callable object) as a tool.

    A LangChain tool passes through; only its name is checked.

    Raises:
        ToolRegistrationError: naming the function, the parameter and what to do.
    """
    if isinstance(function, BaseTool):
        _check_name(function.name)
        return function
    if not callable(function):
        refuse("tools", "", f"a {type(function).__name__} is not a tool", allowed="a function")
    found = callee(function, name=name)
    _check_name(found.name)
    unwrapped = inspect.unwrap(found.plain)
    if inspect.isgeneratorfunction(unwrapped) or inspect.isasyncgenfunction(unwrapped):
        refuse(found.name, "", "is a generator", fix="return the whole result, as a list")
    names = [*inspect.signature(found.plain).parameters] if inspect.isroutine(found.plain) else []
    description, about = parse_docstring(_docstring(function, found.plain), names)
    model = arguments_model(found, about)
    model.__doc__ = description
    is_async = inspect.iscoroutinefunction(unwrapped)
    tool = StructuredTool(
        name=found.name,
        description=description,
        args_schema=model,
        func=_in_loop(found.target) if is_async else found.target,
        coroutine=_awaiting(found.target) if is_async else None,
    )
    with warnings.catch_warnings():  # as in `signature`: a parameter called `json`, say
        warnings.simplefilter("ignore")
        _ = tool.tool_call_schema  # kept by the tool from now on
    return tool


def _docstring(function: Callable[..., Any], plain: Callable[..., Any]) -> str | None:
    if isinstance(function, functools.partial) or inspect.isroutine(function):
        return inspect.getdoc(plain)
    return plain.__doc__ or type(function).__doc__


def _check_name(name: str) -> None:
    if not NAME.match(name):
        shown = "".join(letter if letter.isprintable() else "?" for letter in name[:64])
        fix = "give the function a name of its own"
        allowed = "1 to 64 of a-z A-Z 0-9 _ -"
        refuse(repr(shown), "", "is not a tool name that providers take", allowed=allowed, fix=fix)


def _awaiting(target: Callable[..., Any]) -> Callable[..., Any]:
    """`target` as a coroutine function, also where a decorator's plain wrapper hides that."""

    @functools.wraps(target, assigned=())
    async def awaited(**arguments: Any) -> Any:
        result = target(**arguments)
        return await result if inspect.isawaitable(result) else result

    return awaited


def _in_loop(target: Callable[..., Any]) -> Callable[..., Any]:
    """An async `target` for a caller that is not: run in a loop of its own."""

    @functools.wraps(target, assigned=())
    def run(**arguments: Any) -> Any:
        work = _awaiting(target)(**arguments)
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            return asyncio.run(work)
        context = contextvars.copy_context()
        with ThreadPoolExecutor(1) as thread:
            return thread.submit(context.run, asyncio.run, work).result()

    return run


def load_python_tool(entry: str, base_dir: str | Path) -> BaseTool:
    """The tool that a profile's entry names: `folder/file.py:function` or `package.mod:function`.

    A file must lie below `base_dir`, the profile's folder. It is read anew when it has changed,
    once for all of its functions otherwise, and leaves no compiled copy behind.

    Raises:
        ToolRegistrationError: the file, module or function is missing, cannot be loaded, or is
            none that a model can be offered.
    """
    source, colon, name = entry.strip().rpartition(":")
    if not colon or not source or not name:
        forms = "folder/file.py:function or package.module:function"
        refuse(repr(entry[:80]), "", "is not an entry point", allowed=forms)
    is_file = source.endswith(".py") or "/" in source or "\\" in source
    module = _file(entry, source, Path(base_dir)) if is_file else _module(entry, source)
    function: Any = module
    for part in name.split("."):
        if not hasattr(function, part):
            refuse(
                entry, "", f"there is no {part} in {source}", fix=_near(part, _callables(module))
            )
        function = getattr(function, part)
    try:
        tool = as_tool(function)
        return tool.model_copy(update={"metadata": {**(tool.metadata or {}), "python": entry}})
    except ToolRegistrationError as error:
        problem = error.problems[0]
        field = f"{problem.where}({problem.field})" if problem.field else problem.where
        refuse(entry, field, problem.wrong, allowed=problem.allowed, fix=problem.fix)


def _module(entry: str, name: str) -> ModuleType:
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        fix = "install it, or name a file as folder/file.py:function"
        wrong = f"there is no module {error.name or name}"
        raise ToolRegistrationError(Problem(entry, "", wrong, fix=fix)) from error
    except Exception as error:
        raise _broken(entry, error) from error


def _file(entry: str, source: str, base_dir: Path) -> ModuleType:
    base = base_dir.resolve()
    file = (base / source).resolve()
    if not file.is_relative_to(base):
        refuse(entry, "", "leads out of the profile's folder", fix="move the file below it")
    if not file.is_file():
        near = _near(file.name, [other.name for other in file.parent.glob("*.py")])
        fix = near or "paths are relative to the profile's folder"
        refuse(entry, "", f"there is no file {source}", fix=fix)
    digest = hashlib.sha256(str(file).encode()).hexdigest()[:16]
    name = f"edgeward_tools_{file.stem}_{digest}"
    with _loading:
        text = file.read_bytes()
        loaded = sys.modules.get(name)
        if loaded is not None and getattr(loaded, "__edgeward_text__", None) == text:
            return loaded
        spec = importlib.util.spec_from_file_location(name, file, loader=_Fresh(name, str(file)))
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        module.__dict__["__edgeward_text__"] = text
        sys.modules[name] = module  # dataclasses and pydantic look their module up there
        try:
            spec.loader.exec_module(module)
        except Exception as error:
            sys.modules.pop(name, None)
            raise _broken(entry, error) from error
    return module


class _Fresh(SourceFileLoader):
    """Compiles from the source each time: no `__pycache__` in the profile, and no stale one."""

    def get_code(self, fullname: str) -> CodeType:
        code: CodeType = self.source_to_code(self.get_data(self.path), self.path)
        return code


def _broken(entry: str, error: Exception) -> ToolRegistrationError:
    trace, line = error.__traceback__, 0
    while trace is not None:
        line, trace = trace.tb_lineno, trace.tb_next
    if isinstance(error, SyntaxError):
        line = error.lineno or 0
    wrong = f"cannot be loaded: {type(error).__name__} on line {line}"
    if isinstance(error, ImportError) and error.name:
        wrong += f" (module {error.name})"
    return ToolRegistrationError(Problem(entry, "", wrong, fix="run the file on its own to see it"))


def _callables(module: ModuleType) -> list[str]:
    return [name for name, value in vars(module).items() if callable(value) and name[0] != "_"]


def _near(word: str, known: list[str]) -> str:
    near = difflib.get_close_matches(word, known, n=1)
    if near:
        return f"did you mean {near[0]}?"
    return f"there are: {', '.join(sorted(known)[:20])}" if known else ""
