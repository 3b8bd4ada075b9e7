"""Modules that are imported once something of them is asked for."""

from __future__ import annotations

from importlib import import_module
from typing import Any


class Later:
    """A module by its full name, for annotations: they find its types (`typing.get_type_hints`, a
    tool that is made of a method), and whoever reads no annotation does not import it."""

    __slots__ = ("_name",)

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        return getattr(import_module(self._name), name)
