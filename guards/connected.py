"""Where the commands of a call connect to: those in one value, and those cut up over several."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import chain

from .bare_hosts import AMOUNT
from .commands import argv_hosts, command_hosts, names_program
from .fields import Kind
from .hosts import Destination, short

_MOST_APART = 4_000_000
"""Programs times characters of the texts of a call that are put together to commands."""
_FEWEST_OF_TEXT = 400
"""What the shortest of these texts costs, in characters."""
_OF_PROGRAM = re.compile(r"(?i)\b(?:arg|param|opt)[a-z]*(?:\[[0-9]+\])*\Z")
"""Where a text holds arguments of a program."""


def connected(
    leaves: Sequence[str],
    kinds: Sequence[int],
    strings: Sequence[int],
    lists: Sequence[tuple[int, int]],
    path: Callable[[int], str],
) -> Iterator[tuple[int, Destination]]:
    """Where commands connect to, with the number of the leaf.

    `strings` are the numbers of the values that are strings, `lists` where lists of them begin and
    end; `path` says where a leaf stands.
    """
    programs: list[int] = []
    for index, kind in enumerate(kinds):
        if kind & Kind.COMMAND:
            yield from ((index, d) for d in command_hosts(leaves[index]))
            if names_program(leaves[index]):
                programs.append(index)
    cost = sum(max(len(leaves[i]), _FEWEST_OF_TEXT) for i in strings)
    if len(programs) * cost > _MOST_APART:
        first = programs[0]
        fault = "more programs and arguments than are put together"
        yield first, Destination("", short(leaves[first]), fault)
        return
    listed = {i for start, end in lists for i in range(start, end)}
    for index in programs:
        others = [i for i in strings if i != index and i not in listed]
        apart = _apart(leaves, leaves[index], others, path)
        yield from ((index, d) for d in chain(_of_lists(leaves, lists, index), apart))


def _of_lists(
    leaves: Sequence[str], lists: Sequence[tuple[int, int]], index: int
) -> Iterator[Destination]:
    """Where a program connects to with the rest of its own list, or with another list."""
    for start, end in lists:
        first = index if start <= index < end else start
        words = (leaves[i] for i in range(first, end) if i != index)
        yield from argv_hosts([leaves[index], *words])


def _apart(
    leaves: Sequence[str], program: str, others: Sequence[int], path: Callable[[int], str]
) -> Iterator[Destination]:
    """Where a program connects to with another text of the call."""
    for other in others:
        if AMOUNT.fullmatch(leaves[other]) is None:
            yield from argv_hosts([program, leaves[other]])
        if _OF_PROGRAM.search(path(other)):
            yield from command_hosts(f"{program} {leaves[other]}")
