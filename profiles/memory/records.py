"""One record of a memory, whose it is, and what of it a model gets to see.

A record says where it came from. What a tool gave, and what a model wrote after it had read a
tool's output, is `untrusted` for good, whichever thread it is recalled in.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal
from urllib.parse import quote

from ...guards.caller import caller_of

MemoryType = Literal["outcome", "failure", "reflection", "trajectory", "procedural"]
Trust = Literal["user", "model", "untrusted"]

MAX_CHARS = 8_000
"""Characters of a text that are kept."""
SHOWN_CHARS = 1_000
"""Characters of a record that a recall shows."""
MAX_SOURCES = 5
DEFAULT_IMPORTANCE = 5.0


@dataclass(frozen=True, slots=True)
class Scope:
    """Whose memory it is. Empty parts are values like any other: nobody's memory is not a wildcard.

    It is said by the program that starts a run (`RunContext`), never by the model.
    """

    agent: str
    user: str = ""
    tenant: str = ""
    run: str = ""

    def __post_init__(self) -> None:
        """Refuse a memory that is nobody's.

        Raises:
            ValueError: there is no agent, or a part is no text.
        """
        parts = (self.agent, self.user, self.tenant, self.run)
        if not all(isinstance(part, str) for part in parts) or not self.agent:
            raise ValueError("a memory is looked into for one agent, user, tenant and run: texts")

    @classmethod
    def of(cls, agent: str, context: object) -> Scope:
        """The scope of a run with this context (`RunContext`, or anything with its fields)."""
        caller = caller_of(context)
        run = getattr(context, "run", "")
        return cls(agent, caller.user, caller.tenant, run if isinstance(run, str) else "")

    @property
    def ids(self) -> dict[str, str]:
        """The three ids as mem0 takes them: never empty, without white space, none like another."""
        return {
            "user_id": f"{quote(self.tenant, safe='')}/{quote(self.user, safe='')}",
            "agent_id": quote(self.agent, safe=""),
            "run_id": f"/{quote(self.run, safe='')}",
        }

    @property
    def key(self) -> str:
        """All of it as one text."""
        return "\n".join(self.ids.values())


@dataclass(frozen=True, slots=True)
class Note:
    """A text to be kept. `sources` are the tools whose outputs it may rest on."""

    text: str
    memory_type: MemoryType
    role: str = "assistant"
    trust: Trust = "untrusted"
    sources: tuple[str, ...] = ()
    importance: float = DEFAULT_IMPORTANCE
    thread: str = ""
    drawn_from: tuple[str, ...] = ()
    """Ids of the records that a reflection was drawn from."""

    @property
    def metadata(self) -> dict[str, Any]:
        """What is kept beside the text."""
        return {
            "memory_type": self.memory_type,
            "role": self.role,
            "trust": self.trust,
            "sources": list(self.sources),
            "importance": self.importance,
            "thread": self.thread,
            "drawn_from": list(self.drawn_from),
        }

    @classmethod
    def restored(cls, data: Mapping[str, Any]) -> Note:
        """A note from what `dataclasses.asdict` made of it."""
        whole: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in data.items()}
        return cls(**whole)

    @property
    def digest(self) -> str:
        """What two notes share that say the same."""
        said = f"{self.memory_type}\n{self.role}\n{self.text}"
        return hashlib.sha256(said.encode("utf-8", "replace")).hexdigest()


@dataclass(frozen=True, slots=True)
class Record:
    """A note as it lies in the store."""

    id: str
    note: Note
    created_at: str = ""
    score: float = 0.0
    extra: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, item: Mapping[str, Any]) -> Record:
        """A record from what mem0 gives back; whatever it does not say counts as untrusted."""
        meta: Mapping[str, Any] = item.get("metadata") or {}
        trust = meta.get("trust")
        note = Note(
            text=str(item.get("memory") or ""),
            memory_type=meta.get("memory_type") or "procedural",
            role=str(item.get("role") or meta.get("role") or "assistant"),
            trust=trust if trust in ("user", "model") else "untrusted",
            sources=tuple(map(str, meta.get("sources") or ())),
            importance=float(meta.get("importance") or DEFAULT_IMPORTANCE),
            thread=str(meta.get("thread") or ""),
            drawn_from=tuple(map(str, meta.get("drawn_from") or ())),
        )
        created, score = str(item.get("created_at") or ""), float(item.get("score") or 0.0)
        return cls(str(item["id"]), note, created, score)

    @property
    def line(self) -> str:
        """The record as one line for a model: its type, where it comes from, what it says.

        One line whatever the text holds, and the origin first: a text cannot pass for another
        record, nor for a better origin than its own.
        """
        note = self.note
        text = " ".join(note.text.split())
        if len(text) > SHOWN_CHARS:
            text = f"{text[:SHOWN_CHARS]}…"
        origin = f"({told(note.sources)}) " if note.trust == "untrusted" else ""
        said = f"{note.role}: " if note.memory_type == "trajectory" else ""
        return f"- [{note.memory_type}] {origin}{said}{text}"


def told(sources: Sequence[str]) -> str:
    """Where something untrusted comes from, in words."""
    if not sources:
        return "untrusted"
    named = ", ".join(sources[:MAX_SOURCES])
    more = len(sources) - MAX_SOURCES
    return f"untrusted, from {named}" + (f" and {more} more" if more > 0 else "")


def lines_of(records: Sequence[Record]) -> str:
    """What a recall answers."""
    if not records:
        return "No memories match."
    return "\n".join(record.line for record in records)
