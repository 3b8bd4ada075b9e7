"""Arguments that are JSON as text, as tools take them that pass a call on to others:
`call_tool(name, params='{"to": "Ann"}')`. A condition on `params.to` is one on what stands there.
"""

from __future__ import annotations

from operator import is_not
from typing import Any

from .arguments import MAX_DEPTH
from .conditions import EVERY
from .json_leaves import as_json
from .normalise import Examined
from .unnamed import Tree
from .verdict import ToolCall

_OPENING = ("{", "[")


def with_parts(call: Examined, tree: Tree) -> Examined:
    """The call with its JSON texts opened where paths lead into them: `params: '{"to": "Ann"}'`.

    A key that is written twice has all its values, whichever a tool may take.
    """
    others = tree.get(EVERY)
    opened: dict[str, Any] = {}
    for name, value in call.arguments.items():
        below = tree.get(name, others)
        if below and (inner := _with_parts(value, below, MAX_DEPTH)) is not value:
            opened[name] = inner
    if not opened:
        return call
    arguments = {**call.arguments, **opened}
    return Examined(ToolCall(call.name, arguments, id=call.call.id), call.patterns)


def _with_parts(value: Any, tree: Tree | None, depth: int) -> Any:
    """The same object where nothing in it is to be opened."""
    if not tree or not depth:
        return value
    if type(value) is str:
        inner = as_json(value) if value.lstrip()[:1] in _OPENING else None
        return _with_parts(inner, tree, depth - 1) if type(inner) in (dict, list) else value
    if type(value) is dict:
        others = tree.get(EVERY)
        new = {k: _with_parts(v, tree.get(k, others), depth - 1) for k, v in value.items()}
        return new if any(new[key] is not item for key, item in value.items()) else value
    if type(value) is list:
        listed = [_with_parts(item, tree, depth - 1) for item in value]
        return listed if any(map(is_not, listed, value)) else value
    return value
