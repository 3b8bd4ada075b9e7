"""What goes between this process and the one that reads documents: JSON, a line each way."""

from __future__ import annotations

import base64
import json
from collections.abc import Sequence
from typing import Any

from .content import NotExtracted, Resource, StructuredChunk


def packed(chunks: Sequence[StructuredChunk]) -> bytes:
    """The answer for a file that was read. What several chunks refer to goes along once."""
    places: dict[int, int] = {}
    kept: list[Resource] = []
    for chunk in chunks:
        for one in chunk.resources:
            if id(one) not in places:
                places[id(one)] = len(kept)
                kept.append(one)
    return _line(
        {
            "resources": [
                [one.kind, base64.b64encode(one.content).decode(), one.media_type, one.caption]
                for one in kept
            ],
            "chunks": [
                [one.text, one.section, one.page, [places[id(r)] for r in one.resources], one.note]
                for one in chunks
            ],
        }
    )


def refused(reason: str, *, passing: bool = False) -> bytes:
    """The answer for a file that gives no text."""
    return _line({"refused": reason, "passing": passing})


def unpacked(line: bytes) -> list[StructuredChunk]:
    """The chunks of an answer.

    Raises:
        NotExtracted: the answer is a refusal, or none that makes sense.
    """
    try:
        answer = json.loads(line)
        reason = answer.get("refused")
        if reason is None:
            return _read(answer)
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        raise NotExtracted("the process that read it gave no sensible answer") from error
    raise NotExtracted(str(reason)[:300], passing=bool(answer.get("passing")))


def _line(answer: dict[str, Any]) -> bytes:
    return json.dumps(answer).encode() + b"\n"


def _read(answer: dict[str, Any]) -> list[StructuredChunk]:
    resources = [
        Resource(str(kind), base64.b64decode(content), str(media_type), str(caption))
        for kind, content, media_type, caption in answer["resources"]
    ]
    return [
        StructuredChunk(
            str(text),
            str(section),
            page if isinstance(page, int) else None,
            tuple(resources[place] for place in places),
            str(note),
        )
        for text, section, page, places, note in answer["chunks"]
    ]
