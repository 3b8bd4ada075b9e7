"""Passages as text for the model: each in marks of its own, labelled with where it is from.

    <passage 3f9c0d1e27ab source="notes.md" section="Budget">
    [score=0.84] The text of the passage.
    </passage 3f9c0d1e27ab>

The code in the marks is made of the text that they enclose and occurs nowhere in it, so that no
text can end its own passage. What a person would not see is taken out. None of this is a defence:
what a document says is untrusted whatever it looks like, and the guard judges by that.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ...guards.hidden import cleaned

NOTHING_FOUND = "No passage matches."
_LABEL_CHARS = 200
_TEXT_KEYS = ("text", "content", "page_content", "chunk", "body")


@dataclass(frozen=True, slots=True)
class Passage:
    """One hit of any back end. `score` None: it gave none."""

    text: str
    score: float | None = None
    source: str = ""
    section: str = ""
    page: int | None = None
    resources: tuple[str, ...] = ()


def passage(found: object) -> Passage:
    """What a back end returned for one hit: a mapping, an object of LangChain's or LlamaIndex's, a
    pair of text and score, or plain text.

    Raises:
        ValueError: no text can be found in it.
    """
    if isinstance(found, str):
        return Passage(found)
    if isinstance(found, tuple) and len(found) == 2:
        first, second = passage(found[0]), _number(found[1])
        return Passage(first.text, second, first.source, first.section, first.page, first.resources)
    node = getattr(found, "node", found)
    look = _Look(found, node)
    text = look.first(*_TEXT_KEYS)
    if not isinstance(text, str):
        raise ValueError(
            f"a {type(found).__name__} without text; a back end's search returns a list of"
            ' {"text": ..., "score": ...}'
        )
    about = look.first("metadata")
    more = _Look(found, node, about if isinstance(about, Mapping) else {})
    page = more.first("page")
    resources = more.first("resources")
    return Passage(
        text,
        _number(look.first("score")),
        str(more.first("source", "file_name", "title", "id") or ""),
        str(more.first("section") or ""),
        page if isinstance(page, int) else None,
        tuple(map(str, resources)) if isinstance(resources, list | tuple) else (),
    )


class _Look:
    """The first of several things that has a key or an attribute."""

    def __init__(self, *things: object) -> None:
        self.things = things

    def first(self, *names: str) -> Any:
        for name in names:
            for thing in self.things:
                if isinstance(thing, Mapping):
                    value = thing.get(name)
                else:
                    value = getattr(thing, name, None)
                if value is not None and not callable(value):
                    return value
        return None


def _number(value: object) -> float | None:
    try:
        number = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return None
    return number if math.isfinite(number) else None


def shown(passages: Sequence[Passage]) -> str:
    """The passages, one below the other."""
    texts = [cleaned(one.text)[0] for one in passages]
    code = _code([*texts, *(one.source + one.section for one in passages)])
    blocks = []
    for one, text in zip(passages, texts, strict=True):
        labels = {
            "source": one.source,
            "section": one.section,
            "page": "" if one.page is None else str(one.page),
            "resources": " ".join(one.resources),
        }
        score = "" if one.score is None else f"[score={one.score:.2f}] "
        blocks.append(_marked("passage", code, labels, f"{score}{text.strip()}"))
    return "\n\n".join(blocks) if blocks else NOTHING_FOUND


def shown_resource(resource_id: str, text: str) -> str:
    """A resource, in marks."""
    text = cleaned(text)[0]
    return _marked("resource", _code([text]), {"id": resource_id}, text)


def _marked(name: str, code: str, labels: Mapping[str, str], text: str) -> str:
    said = "".join(f' {key}="{_label(value)}"' for key, value in labels.items() if value)
    return f"<{name} {code}{said}>\n{text}\n</{name} {code}>"


def _label(text: str) -> str:
    """A label's text on one line, without what could end it."""
    plain = " ".join(cleaned(text)[0].replace('"', "'").split())
    return "".join(c if c.isprintable() and c not in "<>" else "?" for c in plain)[:_LABEL_CHARS]


def _code(texts: Sequence[str]) -> str:
    """A code that is in none of the texts; the same texts have the same."""
    whole = "\0".join(texts)
    for number in range(1_000_000):
        digest = hashlib.sha256(f"{number}\0{whole}".encode("utf-8", "replace")).hexdigest()[:12]
        if digest not in whole:
            return digest
    raise AssertionError("no text holds a million codes")  # each is 12 letters of it
