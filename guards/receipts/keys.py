"""Keys of a receipt log: Ed25519, which anybody can check with the public key, or HMAC-SHA256.

A key ends a log at a place in three parts: a secret, which only the log's head holds; `end`, which
the line holds and which nobody can make the secret of; and a signature of what they do not prove.
"""

from __future__ import annotations

import base64
import hmac
import os
import secrets
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Literal, Protocol, TypeVar

from ..key_file import make_key, read_key

Key = TypeVar("Key")
Algorithm = Literal["ed25519", "hmac"]

WHAT = "receipt key"
PUBLIC_SUFFIX = ".pub"
_HMAC_HEAD = b"edgeward-hmac-sha256 "
_HMAC_BYTES = 32
_BLOCK_BYTES = 64
_SECRET_BYTES = 16


Ending = tuple[str, str, str]
"""The secret, `end` and the signature."""


class Verifier(Protocol):
    """Tells whether it was the log's key that ended a log at a place."""

    def accepts(self, place: str, end: str, signature: str) -> bool:
        """Whether this is how the key ended the line at the place."""

    def accepts_head(self, place: str, secret: str, signature: str) -> bool:
        """Whether this is how the key ended the log there."""


class Signer(Verifier, Protocol):
    """Ends a log with each of its lines."""

    def ended(self, place: str) -> Ending:
        """How a log ends at a place (ASCII)."""


class Hmac:
    """A shared secret: whoever can check a log could have written it. Several times faster.

    The place's code is cut in two, secret and `end` (128 bits each); there is nothing left to sign.
    """

    def __init__(self, key: bytes) -> None:
        # HMAC is two lines (RFC 2104), and the `hmac` module takes as long as all else of a line.
        padded = key.ljust(_BLOCK_BYTES, b"\0")
        self._inner = bytes(byte ^ 0x36 for byte in padded)
        self._outer = bytes(byte ^ 0x5C for byte in padded)

    def ended(self, place: str) -> Ending:
        """See `Signer`."""
        inner = sha256(self._inner + place.encode()).digest()
        code = sha256(self._outer + inner).hexdigest()
        return code[:32], code[32:], ""

    def accepts(self, place: str, end: str, signature: str) -> bool:
        """See `Verifier`."""
        return not signature and hmac.compare_digest(end.encode(), self.ended(place)[1].encode())

    def accepts_head(self, place: str, secret: str, signature: str) -> bool:
        """See `Verifier`."""
        return not signature and hmac.compare_digest(secret.encode(), self.ended(place)[0].encode())


class Ed25519:
    """A private key; its public half is written beside it, for whoever checks the log."""

    def __init__(self, private: bytes) -> None:
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
        from cryptography.hazmat.primitives.serialization import load_pem_private_key

        found = load_pem_private_key(private, password=None)
        if not isinstance(found, Ed25519PrivateKey):
            raise ValueError("the key is no Ed25519 key")
        self._key = found
        self._public = Ed25519Public(self.public_pem())

    def ended(self, place: str) -> Ending:
        """See `Signer`."""
        secret = os.urandom(_SECRET_BYTES).hex()
        end = _end_of(secret)
        signature = self._key.sign(f"{place} {end}".encode())
        return secret, end, base64.b64encode(signature).decode()

    def accepts(self, place: str, end: str, signature: str) -> bool:
        """See `Verifier`."""
        return self._public.accepts(place, end, signature)

    def accepts_head(self, place: str, secret: str, signature: str) -> bool:
        """See `Verifier`."""
        return self._public.accepts_head(place, secret, signature)

    def public_pem(self) -> bytes:
        """The public key, as PEM."""
        from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

        public = self._key.public_key()
        return public.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)


class Ed25519Public:
    """A public key: it can check a log, and not write one."""

    def __init__(self, pem: bytes) -> None:
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
        from cryptography.hazmat.primitives.serialization import load_pem_public_key

        found = load_pem_public_key(pem)
        if not isinstance(found, Ed25519PublicKey):
            raise ValueError("the key is no Ed25519 key")
        self._key = found

    def accepts(self, place: str, end: str, signature: str) -> bool:
        """See `Verifier`."""
        from cryptography.exceptions import InvalidSignature

        try:
            decoded = base64.b64decode(signature, validate=True)
            self._key.verify(decoded, f"{place} {end}".encode())
        except (InvalidSignature, ValueError):
            return False
        # The last character has four bits too many: sixteen would be read alike.
        return base64.b64encode(decoded).decode() == signature

    def accepts_head(self, place: str, secret: str, signature: str) -> bool:
        """See `Verifier`."""
        return self.accepts(place, _end_of(secret), signature)


def _end_of(secret: str) -> str:
    return sha256(secret.encode()).hexdigest()


def signer(path: Path, algorithm: Algorithm = "ed25519") -> Signer:
    """The key in `path`, made on first use (mode 0600), the public one beside it.

    Raises:
        ValueError: the file holds no such key, or others may read it.
    """
    made = read_key(path, what=WHAT, fresh=_fresh_hmac if algorithm == "hmac" else _fresh_ed25519)
    if made.startswith(_HMAC_HEAD) != (algorithm == "hmac"):
        raise ValueError(f"{path}: this receipt key is not for {algorithm}; name another file")
    if algorithm == "hmac":
        return Hmac(_hmac_key(path, made))
    key = _read(path, made, Ed25519)
    public = path.with_name(path.name + PUBLIC_SUFFIX)
    if not public.exists():
        make_key(public, key.public_pem, mode=0o644)
    return key


def verifier(path: Path) -> Verifier:
    """What checks a log: the public key in `path`, or the shared secret of HMAC.

    Raises:
        ValueError: the file holds neither. OSError: it cannot be read.
    """
    given = path.read_bytes()
    if given.startswith(_HMAC_HEAD):
        return Hmac(_hmac_key(path, given))
    if b"PRIVATE" in given:
        return _read(path, given, Ed25519)
    return _read(path, given, Ed25519Public)


def key_beside(log: Path) -> Path | None:
    """The key that lies beside a log, the public one first; None where there is none."""
    beside = (log.with_name(f"{log.name}.key.pub"), log.with_name(f"{log.name}.key"))
    return next((path for path in beside if path.exists()), None)


def _read(path: Path, pem: bytes, kind: Callable[[bytes], Key]) -> Key:
    try:
        return kind(pem)
    except ValueError:
        raise ValueError(f"{path}: holds no Ed25519 key in PEM form") from None


def _hmac_key(path: Path, given: bytes) -> bytes:
    try:
        key = bytes.fromhex(given.removeprefix(_HMAC_HEAD).decode().strip())
    except ValueError:
        key = b""
    if len(key) != _HMAC_BYTES:
        raise ValueError(f"{path}: holds no key of {_HMAC_BYTES} bytes")
    return key


def _fresh_hmac() -> bytes:
    return _HMAC_HEAD + secrets.token_hex(_HMAC_BYTES).encode() + b"\n"


def _fresh_ed25519() -> bytes:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

    key = Ed25519PrivateKey.generate()
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
