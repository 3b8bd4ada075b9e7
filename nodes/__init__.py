"""The node kinds, found by file name, and those that installed packages add.

An outsider's kind is an entry point of the group `edgeward.nodes` that names a module with the
same contents as the modules here: `Spec` and `step`.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module, metadata
from types import MappingProxyType, ModuleType

from ._base import NodeKind, NodeSpec

ENTRY_POINTS = "edgeward.nodes"
KINDS = ("plan", "act", "guard", "tool", "compress", "reflect", "recall")


@cache
def kinds() -> MappingProxyType[str, NodeKind]:
    """Every node kind by name: those of this room, then what entry points add.

    Raises:
        ValueError: an entry point takes a name that is in use, or is not a node kind.
    """
    found = {name: _kind(name, import_module(f"{__name__}.{name}")) for name in KINDS}
    for point in metadata.entry_points(group=ENTRY_POINTS):
        if point.name in found:
            raise ValueError(f"node kind {point.name!r} of {point.value} is taken already")
        found[point.name] = _kind(point.name, point.load())
    return MappingProxyType(found)


def _kind(name: str, module: ModuleType) -> NodeKind:
    spec, step = getattr(module, "Spec", None), getattr(module, "step", None)
    if not (isinstance(spec, type) and issubclass(spec, NodeSpec) and callable(step)):
        raise ValueError(f"{module.__name__} is no node kind: it needs a Spec and a step")
    return NodeKind(name, spec, step, module.__name__)
