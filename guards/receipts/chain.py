"""The lines of a receipt log: numbered, each with the digest of the one before, each signed.

    {"body":{…},"n":17,"prev":"9f2c…","end":"5b1d…","sig":"…"}

The digest of a line is the SHA-256 of all of it before `end`; signed is that digest, with the
number of lines so far and `end`. So nothing in a line can be changed, and no line moved, taken out
or put in, without the key.

That some are missing at the end shows only in the head, which is kept outside the log. `end` is the
SHA-256 of a secret that stands in the head as long as its line is the last, and nowhere afterwards.
So one signature does for both, and nobody can make a head of an earlier line.

With HMAC there is no `sig`: `end` and the secret are the two halves of the code of what would be
signed, the line's number and digest.

Who can put back an earlier head together with an earlier log goes unseen; keep a copy of the head
elsewhere where that matters.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, NamedTuple

from .keys import Signer, Verifier

_END, _SIG, _CLOSE = b',"end":"', b'","sig":"', b'"}'
_START = "0" * 64


class Tail(NamedTuple):
    """Where a log ends: how many lines it has, and the digest (hex) of the last."""

    lines: int = 0
    digest: str = _START


def lines_of(
    bodies: Iterable[bytes], tail: tuple[int, str], signer: Signer
) -> tuple[list[bytes], tuple[int, str], bytes]:
    """The next lines of a log, one at least, with line ends; where it ends then, and its head.

    `bodies` are JSON objects; a tail is a `Tail`, or as good as one.
    """
    lines: list[bytes] = []
    number, digest = tail
    for body in bodies:
        text = b"".join((b'{"body":', body, f',"n":{number},"prev":"{digest}"'.encode()))
        number, digest = number + 1, sha256(text).hexdigest()
        place = f"{number} {digest}"
        secret, end, sig = signer.ended(place)
        signed = f'","sig":"{sig}' if sig else ""
        lines.append(b"".join((text, f',"end":"{end}{signed}"}}\n'.encode())))
    return lines, (number, digest), f"{place} {secret} {sig}".encode()


def first_head(signer: Signer) -> bytes:
    """The head of a log without lines."""
    place = f"0 {_START}"
    secret, _, sig = signer.ended(place)
    return f"{place} {secret} {sig}".encode()


class LogChanged(ValueError):
    """A log is not as its head says: to go on with it would sign what somebody made of it."""


def go_on_from(last: Line | None, head: bytes, verifier: Verifier) -> Tail:
    """Where a log goes on whose last line this is; None: it has none.

    A writer that was stopped leaves a head that knows of fewer lines, never of more. The next head
    vouches for what it goes on from: a line that the head does not know has to be signed.

    Raises:
        LogChanged: the head is missing, or knows of other lines; or the line was put there.
    """
    kept, tail = read_head(head, verifier), Tail() if last is None else last.tail
    if kept is None:
        if last is not None or head.strip(b" \n\0"):
            raise LogChanged("the log's head is missing, or not signed with this key")
    elif kept.lines > tail.lines or (kept.lines == tail.lines and kept.digest != tail.digest):
        raise LogChanged("the log was cut short or replaced: `edgeward audit verify` says where")
    elif last is not None and kept.lines < tail.lines and not last.is_signed(verifier):
        raise LogChanged("the log's last record was inserted: it is not signed with this key")
    return tail


def read_head(head: bytes, verifier: Verifier) -> Tail | None:
    """Where the log ends by its head; None if it is none, or not signed with the log's key."""
    try:
        lines, digest, secret, *signature = head.decode("ascii").split()
    except ValueError:
        return None
    if not verifier.accepts_head(f"{lines} {digest}", secret, " ".join(signature)):
        return None
    return Tail(int(lines), digest)


@dataclass(frozen=True, slots=True)
class Line:
    """One line, taken apart; its signature is not looked at."""

    number: int
    before: str
    body: dict[str, Any]
    digest: str
    end: str
    signature: str
    """Empty with HMAC."""

    @property
    def tail(self) -> Tail:
        """Where a log ends whose last line this is."""
        return Tail(self.number + 1, self.digest)

    def is_signed(self, verifier: Verifier) -> bool:
        """Whether it is signed with the log's key."""
        place = f"{self.number + 1} {self.digest}"
        return verifier.accepts(place, self.end, self.signature)


def parsed(line: bytes) -> Line:
    """A line of a log, taken apart.

    Raises:
        ValueError: it is none.
    """
    text, _, rest = line.rpartition(_END)
    end, mark, sig = rest.removesuffix(_CLOSE).partition(_SIG)
    try:
        found = json.loads(text + b"}")
        number, before, body = found["n"], found["prev"], found["body"]
        signed = end.decode("ascii"), sig.decode("ascii")
    except (ValueError, KeyError, TypeError, RecursionError):
        raise ValueError("no record") from None
    if not (type(number) is int and isinstance(before, str) and isinstance(body, dict)):
        raise ValueError("no record")
    if not rest.endswith(_CLOSE) or (mark and not sig):
        raise ValueError("no record")
    return Line(number, before, body, sha256(text).hexdigest(), *signed)


@dataclass(frozen=True, slots=True)
class Checked:
    """What came of checking a log."""

    records: int
    """Records that are whole and in place, from the first."""
    fault: str = ""
    """What is wrong with the record after them; empty where nothing is."""
    note: str = ""
    """What is no fault: the last line of a process that was stopped while it wrote."""


def verify(lines: Iterable[bytes], verifier: Verifier, *, head: bytes | None) -> Checked:
    """Whether a log is as it was written; else the first record that is not.

    `lines` with their line ends; `head` None: not known, so that nothing is said of the end.
    """
    kept = None if head is None else read_head(head, verifier)
    tail, note = Tail(), ""
    for line in lines:
        if not line.endswith(b"\n"):
            note = f"the last line is cut off ({len(line)} bytes): its writer was stopped"
            break
        fault = _fault(line[:-1], tail, verifier)
        if fault:
            return Checked(tail.lines, fault)
        tail = parsed(line[:-1]).tail
        if kept is not None and kept.lines == tail.lines and kept.digest != tail.digest:
            return Checked(tail.lines - 1, "replaced: the head is of another log")
    if head is not None and kept is None:
        return Checked(tail.lines, "the head is missing, or not signed with this key")
    if kept is not None and kept.lines > tail.lines:
        missing = kept.lines - tail.lines
        return Checked(tail.lines, f"truncated: the head knows of {missing} more", note)
    return Checked(tail.lines, note=note)


def sealed(lines: Iterable[bytes], verifier: Verifier, *, head: bytes) -> bool:
    """Whether the signed head vouches for the whole log: far quicker than `verify`.

    Each line holds the digest of the one before, so the head's digest is that of all; only lines
    that it does not know yet are looked at one by one. Where this says no, `verify` says why.
    """
    kept, tail = read_head(head, verifier), Tail()
    if kept is None:
        return False
    for text in lines:
        if not text.endswith(b"\n"):
            break
        try:
            line = parsed(text[:-1])
        except ValueError:
            return False
        if (line.number, line.before) != tail:
            return False
        if line.number >= kept.lines and not line.is_signed(verifier):
            return False
        tail = line.tail
        if tail.lines == kept.lines and tail.digest != kept.digest:
            return False
    return tail.lines >= kept.lines


def bodies(lines: Iterable[bytes]) -> Iterator[dict[str, Any]]:
    """What the whole lines of a log say; nothing is checked.

    Raises:
        ValueError: a line is none, and which.
    """
    for number, line in enumerate(lines):
        if line.endswith(b"\n"):
            try:
                body = parsed(line[:-1]).body
            except ValueError as error:
                raise ValueError(f"record {number}: is {error}") from None
            yield body


def _fault(line: bytes, tail: Tail, verifier: Verifier) -> str:
    try:
        found = parsed(line)
    except ValueError:
        return "changed: this is no record"
    if not found.is_signed(verifier):
        return "changed or inserted: it is not signed with this key"
    if found.number > tail.lines:
        return f"dropped or moved: record {found.number} stands in its place"
    if found.number < tail.lines:
        return f"inserted: record {found.number} stands here again"
    if found.before != tail.digest:
        return "inserted: it does not follow the record before it"
    return ""
