"""Finding the example in a docstring."""

from __future__ import annotations

import re
import textwrap

_BLOCK = re.compile(r"\n\n((?:    .*\n|\n)*    .*)(?=\n\n|\n?\Z)")


def example_of(docstring: str) -> str:
    """The indented block of a docstring, set off by blank lines.

    Raises:
        AssertionError: there is none, or more than one.
    """
    blocks = _BLOCK.findall(docstring)
    assert len(blocks) == 1, f"{len(blocks)} indented blocks; there must be one example"
    return textwrap.dedent(blocks[0]) + "\n"
