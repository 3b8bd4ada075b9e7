"""Tickets: the proof that exactly this call was decided.

Edges in a graph enforce nothing by themselves: whoever can jump in it or write its state can reach
a tool node with a call of his own. So the guard signs what it let through, and the one place that
holds the tools' code checks the signature last (I2). The key never enters the state.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from functools import partial
from pathlib import Path

from .boundary import CODE_CHARS
from .key_file import read_key
from .verdict import ToolCall, canonical_json

KEY_BYTES = 32


class TicketKey:
    """The secret that tickets are made with: in memory only, or shared through a file.

    A key file lets a run that was killed go on in another process. The key is never copied:
    a pickled or deep-copied holder gets a fresh key, whose tickets the old one does not honour.
    """

    __slots__ = ("_key",)

    def __init__(self, key: bytes | None = None) -> None:
        if key is not None and len(key) != KEY_BYTES:
            raise ValueError(f"a ticket key has {KEY_BYTES} bytes, this one has {len(key)}")
        self._key = key or secrets.token_bytes(KEY_BYTES)

    def __repr__(self) -> str:
        return "TicketKey(…)"

    def __reduce__(self) -> tuple[type[TicketKey], tuple[()]]:
        return TicketKey, ()

    @classmethod
    def from_file(cls, path: Path) -> TicketKey:
        """The key in `path`, made on first use, readable by its owner only.

        Raises:
            ValueError: the file holds no key, or others may read it.
        """
        key = read_key(path, what="ticket key", fresh=partial(secrets.token_bytes, KEY_BYTES))
        if len(key) != KEY_BYTES:
            wrong = f"a ticket key has {KEY_BYTES} bytes, this file {len(key)}"
            raise ValueError(f"{path}: {wrong}; remove it, and a new one is made")
        return cls(key)

    def derived(self, purpose: str, size: int) -> bytes:
        """Another key of `size` bytes (64 at most), the same for the same purpose."""
        data = purpose.encode()
        return hashlib.blake2b(data, key=self._key, digest_size=size, person=b"derived").digest()

    def sign(self, call: ToolCall, *, thread: str, policy: str) -> str:
        """The ticket (hex) for this call, in this thread, under the policy with this digest."""
        text = canonical_json([call.id, call.name, call.arguments, thread, policy])
        data = text.encode("utf-8", "surrogatepass")
        return hashlib.blake2b(data, key=self._key, digest_size=KEY_BYTES).hexdigest()

    def seal(self, data: object, *, use: str) -> str:
        """The seal (hex) of JSON data. What is sealed for one use is no seal for another.

        Raises:
            ValueError: `use` is longer than 16 bytes. TypeError, ValueError: no JSON data.
        """
        text = canonical_json(data).encode("utf-8", "surrogatepass")
        person = use.encode()
        sealed = hashlib.blake2b(text, key=self._key, digest_size=KEY_BYTES, person=person)
        return sealed.hexdigest()

    @staticmethod
    def is_seal(given: object, expected: str) -> bool:
        """Whether `given` is the seal that `seal` returned, in time that tells nothing of it."""
        if not isinstance(given, str):
            return False
        return hmac.compare_digest(expected.encode(), given.encode("utf-8", "replace"))

    def boundary(self, thread: str) -> str:
        """The code (hex) in the marks around tool outputs of this thread: keyed, and no ticket."""
        return self.seal(thread, use="boundary")[:CODE_CHARS]

    def honours(self, ticket: object, call: ToolCall, *, thread: str, policy: str) -> bool:
        """Whether `ticket` is ours for exactly this call; False for anything else at all."""
        if not isinstance(ticket, str) or call.fault is not None:
            return False
        try:
            expected = self.sign(call, thread=thread, policy=policy)
        except (TypeError, ValueError, RecursionError):
            return False
        return hmac.compare_digest(expected.encode(), ticket.encode("utf-8", "replace"))
