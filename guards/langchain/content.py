"""What a tool gave back in blocks with its texts changed, wherever in a block they stand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..content import OF_FORM, is_file
from ..redact import Redactor

_LONG_NAME = 20
"""Characters of a name that has room for an order."""


def shown_throughout(content: Any, show: Callable[[str], str], redactor: Redactor) -> Any:
    """The content with each text in it through `show`, wherever in a block it stands; the long name
    of a field is one as well.

    What says how a block is read, and other names, are no texts, and hold no secret either. Neither
    does a value whose field's name alone betrays it. Files stay as they are.
    """
    if isinstance(content, str):
        return show(content)
    if isinstance(content, list):
        return [shown_throughout(item, show, redactor) for item in content]
    if not isinstance(content, dict):
        return content
    shown = {}
    for name, item in content.items():
        if is_file(name, item):
            shown[name] = item
        elif name in OF_FORM:
            shown |= redactor.value({name: item})
        elif isinstance(item, str):
            shown |= redactor.value({_named(name, show): show(item)})
        else:
            shown[redactor.value(_named(name, show))] = shown_throughout(item, show, redactor)
    return shown


def _named(name: Any, show: Callable[[str], str]) -> Any:
    return show(name) if isinstance(name, str) and len(name) >= _LONG_NAME else name
