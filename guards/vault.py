"""Placeholders: personal data that a model works with and never sees.

A value becomes `<EMAIL_K7Q2MX3F>` before anything is stored or sent to a model. The name is a keyed
hash of the value in its plainest spelling and of the thread: the same value has the same name over
a whole thread, also for tools that run side by side, and nobody can guess the name of another. What
a name stands for travels in the thread's state, encrypted and bound to thread and name (AES-SIV
under a key that is in no state): it is there after a restart, and forgotten with the thread.

A text from outside that holds such a name already has it rewritten with other brackets: only what
was hidden here can be put back.
"""

from __future__ import annotations

import base64
import contextlib
import hashlib
import ipaddress
import json
import re
from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol, runtime_checkable

from .ledger import USER, Entry, Ledger
from .masks import Span, replaced, runs_of
from .patterns import searchable
from .pii import PERSONAL, PersonalData
from .ticket import TicketKey
from .tokens import words
from .verdict import ToolCall, canonical_json

Held = Mapping[str, str]
"""Placeholder -> the encrypted value (base64)."""

Hidden = tuple[str, dict[str, str]]
"""A text with placeholders, and what they stand for, encrypted."""

PLACEHOLDER = re.compile(r"<([A-Z][A-Z0-9_]{0,30}_[A-Z2-7]{8})>")
LABELS = {"credit_card": "CARD", "ipv4": "IP", "ipv6": "IP"}
"""How a mask's label reads in a placeholder, where not simply in capitals."""

_NOTHING: Held = {}

_NEAR = 400
"""Characters around a cut that are looked at for a value."""

_THREADS = 64
"""Threads whose ledgers are kept as they read with the values put back."""

_LINK = re.compile(r"(?i)//|\\\\|\]\(|\]:|\b(?:https?|ftp|wss?|data):|\b(?:src|href)\s*=")
_PARAGRAPH = re.compile(r"(\n\s*\n)")


@runtime_checkable
class Hides(Protocol):
    """What a policy says of placeholders."""

    @property
    def kinds(self) -> Sequence[str]:
        """The kinds of personal data that are hidden."""

    def paths(self, tool: str) -> Sequence[str]:
        """Where in this tool's arguments the values are put back; `*` is everywhere."""


class Vault:
    """Hides values, and puts them back, for the threads of one ticket key."""

    __slots__ = ("_aead", "_found", "_hides", "_kinds", "_ledgers", "_name_key")

    def __init__(self, key: TicketKey, found: PersonalData, hides: Hides) -> None:
        from cryptography.hazmat.primitives.ciphers.aead import AESSIV  # slow to load

        self._aead = AESSIV(key.derived("vault", 64))
        self._name_key = key.derived("placeholders", 32)
        self._found = found
        self._hides = hides
        every = (*PERSONAL, "presidio") if "all" in hides.kinds else hides.kinds
        self._kinds = frozenset(every)
        self._ledgers: OrderedDict[str, tuple[list[Entry], Ledger]] = OrderedDict()

    def admitted(self, text: str, thread: str, own: Held = _NOTHING) -> Hidden:
        """A text from outside, hidden; what in it looks like a placeholder, and is none of the
        thread's `own`, is one no more."""

        def kept(found: re.Match[str]) -> str:
            return found[0] if found[0] in own else f"[{found[1]}]"

        return self.hide(PLACEHOLDER.sub(kept, text), thread)

    def own(self, brought: object, thread: str) -> dict[str, str]:
        """Of what a message brings along as held, what was held in this thread."""
        if not isinstance(brought, Mapping):
            return {}
        known = [(n, v) for n, v in brought.items() if isinstance(n, str) and isinstance(v, str)]
        return {n: v for n, v in known if self._decrypted(v, thread, n) is not None}

    def hide(self, text: str, thread: str) -> Hidden:
        """The text with placeholders, and what has to be held for them to be put back."""
        held: dict[str, str] = {}

        def name(value: str, label: str) -> str:
            called = self._name(label, value, thread)
            held.setdefault(called, self._encrypted(value, thread, called))
            return called

        return replaced(text, self._runs(text), name), held

    def hidden(self, value: Any, thread: str) -> Any:
        """A JSON value, such as a record, with placeholders for what is held already."""
        return mapped(value, lambda text: self.hide(text, thread)[0])

    def reveal(self, text: str, held: Held, thread: str) -> str:
        """The text with the values that are held put back; other names stay as they are."""

        def value(found: re.Match[str]) -> str:
            kept = held.get(found[0])
            known = self._decrypted(kept, thread, found[0]) if kept is not None else None
            return found[0] if known is None else known

        return PLACEHOLDER.sub(value, text) if "<" in text else text

    def revealed(self, call: ToolCall, held: Held, thread: str) -> ToolCall:
        """The call with the values put back where the policy says that they are."""
        whole: Any = call.arguments
        for path in self._hides.paths(call.name):
            steps = [] if path == "*" else path.split(".")
            whole = _changed(whole, steps, lambda text: self.reveal(text, held, thread))
        return call if whole is call.arguments else replace(call, arguments=whole)

    def answer(self, text: str, held: Held, thread: str) -> str:
        """A model's answer as its user may read it, values put back but for where they could leave.

        Whoever shows an answer may load the images and links in it: in a paragraph with anything
        like a link the placeholders stay.
        """
        parts = _PARAGRAPH.split(text)
        return "".join(p if _LINK.search(p) else self.reveal(p, held, thread) for p in parts)

    def sealed(self, value: Any, thread: str, use: str) -> str:
        """A JSON value that may be stored: encrypted, for this thread and use only."""
        return self._encrypted(canonical_json(value), thread, use)

    def unsealed(self, text: object, thread: str, use: str) -> Any:
        """The value that was sealed; None for anything else."""
        plain = self._decrypted(text, thread, use) if isinstance(text, str) else None
        return None if plain is None else json.loads(plain)

    def entry(self, entry: Entry | None, whole: str, thread: str) -> Entry | None:
        """A ledger entry made from the text `whole`, as it may be stored.

        Of its private pieces those that hold a part of a value are left out; the value is one.
        """
        if entry is None:
            return None
        found = [
            (self._name(label, whole[a:b], thread), whole[a:b]) for a, b, label in self._runs(whole)
        ]
        parts = {word for _, value in found for word in words(value)}
        private = [
            p for p in entry.get("private", ()) if " " not in p or parts.isdisjoint(p.split())
        ]

        def hidden(text: str) -> str:
            return self.admitted(text, thread)[0]

        kept = {k: v if k in _FACTS else mapped(v, hidden) for k, v in entry.items()}
        if private := [*map(hidden, private), *dict(found)] if "private" in entry else []:
            kept["private"] = list(dict.fromkeys(private))
        return kept

    def ledger(self, ledger: Ledger, held: Held, thread: str) -> Ledger:
        """The ledger as it reads with the values put back: what a decision looks values up in.

        Kept from one decision to the next, in memory only; a step costs what it added.
        """
        seen, real = self._ledgers.pop(thread, ([], Ledger()))
        if len(seen) > len(ledger) or seen != ledger[: len(seen)]:
            seen, real = [], Ledger()
        new = ledger[len(seen) :]
        real = real.appended(self._revealed(entry, held, thread) for entry in new)
        self._ledgers[thread] = ([*seen, *new], real)
        while len(self._ledgers) > _THREADS:
            self._ledgers.popitem(last=False)
        return real

    def _revealed(self, entry: Entry, held: Held, thread: str) -> Entry:
        if entry["source"] == USER and "text" in entry:
            text = self.reveal(entry["text"], held, thread)
            return Ledger().observed(text, source=USER, call_id=entry["call"]) or entry
        shown: Entry = mapped(entry, lambda text: self.reveal(text, held, thread))
        return {**shown, "values": [str(v).casefold() for v in shown.get("values") or []]}

    def edge(self, text: str, at: int) -> int:
        """Where the text can be cut, at `at` or a little before, without cutting a value in two."""
        first = max(at - _NEAR, 0)
        for start, end, _ in self._runs(text[first : at + _NEAR]):
            if start < at - first < end:
                return first + start
        return at

    def _runs(self, text: str) -> list[Span]:
        """Where the values stand; a placeholder holds none, whatever a detector takes it for."""
        found = self._found.spans(searchable(text), self._kinds)
        names = [name.span() for name in PLACEHOLDER.finditer(text)] if "<" in text else []
        ends = [end for _, end in names]
        return runs_of(
            (start, stop, label)
            for start, stop, label in found
            if (at := bisect_right(ends, start)) == len(names) or names[at][0] >= stop
        )

    def _name(self, label: str, value: str, thread: str) -> str:
        word = LABELS.get(label) or re.sub("[^A-Z0-9]+", "_", label.upper()).strip("_")[:30]
        plain = plainest(label, value, self._found.regions)
        data = "\0".join((thread, word, plain)).encode("utf-8", "surrogatepass")
        digest = hashlib.blake2b(data, key=self._name_key, digest_size=5).digest()
        return f"<{word}_{base64.b32encode(digest).decode()}>"

    def _encrypted(self, value: str, thread: str, use: str) -> str:
        data = value.encode("utf-8", "surrogatepass")
        bound = [thread.encode("utf-8", "surrogatepass"), use.encode()]
        return base64.b64encode(self._aead.encrypt(data, bound)).decode()

    def _decrypted(self, kept: str, thread: str, use: str) -> str | None:
        from cryptography.exceptions import InvalidTag

        bound = [thread.encode("utf-8", "surrogatepass"), use.encode()]
        try:
            plain = self._aead.decrypt(base64.b64decode(kept, validate=True), bound)
        except (InvalidTag, ValueError, TypeError):
            return None
        return plain.decode("utf-8", "surrogatepass")


_FACTS = frozenset({"source", "call"})


def plainest(label: str, value: str, regions: Sequence[str] = ()) -> str:
    """The one spelling under which all spellings of a value are the same."""
    if label == "phone":
        return _phone(value, regions)
    if label in ("credit_card", "iban", "ssn"):
        return "".join(filter(str.isalnum, value)).upper()
    if label in ("ipv4", "ipv6"):
        with contextlib.suppress(ValueError):
            return str(ipaddress.ip_address(value))
    return " ".join(value.casefold().split())


def _phone(value: str, regions: Sequence[str]) -> str:
    import phonenumbers

    for region in (*regions, "US"):
        with contextlib.suppress(phonenumbers.NumberParseException):
            number = phonenumbers.parse(value, region)
            if phonenumbers.is_valid_number(number):
                return str(phonenumbers.format_number(number, phonenumbers.PhoneNumberFormat.E164))
    return "".join(filter(str.isdigit, value))


def mapped(value: Any, change: Callable[[str], str]) -> Any:
    """A JSON value with every string, keys too, changed."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, Mapping):
        return {change(k): mapped(v, change) for k, v in value.items()}
    if isinstance(value, list):
        return [mapped(item, change) for item in value]
    return value


def _changed(value: Any, path: Sequence[str], change: Callable[[str], str]) -> Any:
    """The value with the strings at the path, through lists, and below it changed."""
    if isinstance(value, list):
        return [_changed(item, path, change) for item in value]
    if isinstance(value, dict) and path:
        if path[0] not in value:
            return value
        return {**value, path[0]: _changed(value[path[0]], path[1:], change)}
    if isinstance(value, dict):
        return {key: _changed(item, (), change) for key, item in value.items()}
    return change(value) if isinstance(value, str) and not path else value
