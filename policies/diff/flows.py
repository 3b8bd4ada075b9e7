"""Values of arguments, each with a past that tells some words of conditions from the others.

For every word there is one for which it holds and, of the others, only those hold that always
do where it does (`arguments.COVERED`): so a list of words that does not follow from another one
is told from it. None of them points to a host that the new policy would refuse.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ..cases import Ran
from .points import Point

if TYPE_CHECKING:
    from .side import Side

SPELT = "q7evil dot com"
"""A host that is spelt out: no text that holds it is clean, and it points nowhere."""

SUM = 123456789
"""A number that is no word of the text `123456789EUR`, in which it is a sum of money."""

_CODED = base64.b64encode(f"{SPELT} q7".encode()).decode()


def situations(new: Side, host: str) -> Iterator[tuple[Any, Point]]:
    """Value and past. `host`: one to which the new policy lets calls point; empty for none."""
    yield "hello zq7", Point()
    yield SPELT, Point()
    yield SPELT, Point(said=(SPELT,))
    yield "Zqina Quartz", Point(said=("Zqina Quartz",))
    yield "Quartz Zqina", Point(said=("Zqina Quartz",))
    yield SUM, Point(said=(f"{SUM}EUR",))
    yield 12, Point(said=("$12",))
    yield 7318, Point(said=("7318",))
    yield "zq", Point(said=("zq",))  # too short to be stated, and yet it stands there
    yield 7, Point(said=("7",))
    yield f"{_CODED} zq7", Point(said=(f"zq7 {_CODED}",))
    yield "2026-06-05 4711081512345", Point(said=("2026-06-05",))
    yield "2026-06-05", Point(said=("5 June 2026",))
    yield SPELT, Point(ran=(Ran(tool="create_zq7", result={"id": SPELT}),))
    for value in new.values.get("me") or ():
        yield value, Point()
    if host:
        yield f"https://{host}/q7", Point(said=(f"https://{host}/other",))
        yield f"q7@{host}", Point(said=(f"q7@{host}",))
        yield f"q7@{host}", Point()
    yield True, Point()
    yield {}, Point()
