"""Content in blocks with its texts changed, wherever in a block they stand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..content import OF_FORM, is_file
from .reply import CALLS


def shown_throughout(content: Any, show: Callable[[str], str]) -> Any:
    """The content with each text in it through `show`, wherever in a block it stands."""
    if isinstance(content, str):
        return show(content)
    if isinstance(content, list):
        return [shown_throughout(item, show) for item in content]
    if not isinstance(content, dict) or content.get("type") in CALLS:
        return content
    return {
        name: item if name in OF_FORM or is_file(name, item) else shown_throughout(item, show)
        for name, item in content.items()
    }
