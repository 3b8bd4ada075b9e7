"""What one step of a thread knows of its placeholders; without any, all passes as it is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from .ledger import Entry, Ledger
from .vault import Held, Hidden, Vault
from .verdict import Arguments, ToolCall

SEALED = "sealed"
"""The key under which what may not be read travels, encrypted."""

HELD = "edgeward_held"
"""In what a message has beside its content: what its placeholders stand for, encrypted. A graph
within another goes on from the messages alone."""

_QUOTING = ("reason", "rules", "approval", "shadow")
"""Fields of a record that quote a call or a person."""


@dataclass(frozen=True, slots=True)
class Veil:
    """The vault as far as a step may use it: for this thread, and for what the thread holds.

    Inside of a step the values are real; what it writes has to be hidden again.
    """

    vault: Vault | None = None
    thread: str = ""
    held: Held = field(default_factory=dict)

    def admitted(self, text: str) -> Hidden:
        """A text from outside as it may be stored, and what has to be held for it."""
        return self.vault.admitted(text, self.thread) if self.vault else (text, {})

    def edge(self, text: str, at: int) -> int:
        """Where the text can be cut, at `at` or a little before."""
        return self.vault.edge(text, at) if self.vault else at

    def text(self, text: str) -> str:
        """A text of our own that may quote a real value."""
        return self.vault.hide(text, self.thread)[0] if self.vault else text

    def value(self, value: Any) -> Any:
        """A JSON value of our own that may quote real values."""
        return self.vault.hidden(value, self.thread) if self.vault else value

    def record(self, record: dict[str, Any]) -> dict[str, Any]:
        """A verdict's record as it may be stored."""
        if self.vault is None:
            return record
        return {k: self.value(v) if k in _QUOTING else v for k, v in record.items()}

    def call(self, call: ToolCall) -> ToolCall:
        """The call as it may be shown and stored."""
        return replace(call, arguments=self.value(call.arguments)) if self.vault else call

    def hides(self, call: ToolCall) -> bool:
        """Whether the call holds what may not be stored."""
        return self.vault is not None and self.call(call).arguments != call.arguments

    def revealed(self, call: ToolCall) -> ToolCall:
        """The call as it is judged and runs: real values where the policy puts them back."""
        return self.vault.revealed(call, self.held, self.thread) if self.vault else call

    def ledger(self, ledger: Ledger) -> Ledger:
        """The ledger in which real values are looked up."""
        return self.vault.ledger(ledger, self.held, self.thread) if self.vault else ledger

    def entry(self, entry: Entry | None, whole: str) -> Entry | None:
        """An entry made of the real text `whole`, as it may be stored."""
        return self.vault.entry(entry, whole, self.thread) if self.vault else entry

    def packed(self, call: ToolCall) -> dict[str, Any]:
        """An approved call as it travels to the tool node, through a checkpoint."""
        shown = self.call(call)
        sent = {"call": {"id": shown.id, "name": shown.name, "arguments": shown.arguments}}
        if self.vault is None or shown.arguments == call.arguments:
            return sent
        use = _use(call)
        return {**sent, SEALED: self.vault.sealed(call.arguments, self.thread, use)}

    def unpacked(self, call: ToolCall, sealed: object) -> ToolCall:
        """The real call behind one that was packed; a ticket says whether it is the right one."""
        if self.vault is None or sealed is None:
            return call
        arguments = self.vault.unsealed(sealed, self.thread, _use(call))
        return replace(call, arguments=arguments) if isinstance(arguments, dict) else call

    def answered(self, args: Arguments) -> Arguments:
        """A person's arguments for a call, which came sealed through the thread."""
        if self.vault is None or set(args) != {SEALED}:
            return args
        found = self.vault.unsealed(args[SEALED], self.thread, ANSWER)
        return found if isinstance(found, dict) else args


BARE = Veil()
"""Where nothing is hidden."""

ANSWER = "answer"
"""What a person's arguments are sealed for."""


def _use(call: ToolCall) -> str:
    return f"call {call.id} {call.name}"


def held_in(state: Mapping[str, Any]) -> Held:
    """What a thread holds, out of its state."""
    held = state.get("vault")
    return held if isinstance(held, Mapping) else {}
