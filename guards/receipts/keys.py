"""Keys of a receipt log: Ed25519, which anybody can check with the public key, or HMAC-SHA256."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Callable
from pathlib import Path
from typing import Literal, Protocol, TypeVar

from ..key_file import read_key

Key = TypeVar("Key")
Algorithm = Literal["ed25519", "hmac"]

WHAT = "receipt key"
PUBLIC_SUFFIX = ".pub"
_HMAC_HEAD = b"edgeward-hmac-sha256 "
_HMAC_BYTES = 32


class Verifier(Protocol):
    """Tells whether a signature is the log's."""

    def accepts(self, signature: bytes, data: bytes) -> bool:
        """Whether `signature` was made for `data`."""


class Signer(Verifier, Protocol):
    """Signs the lines of a log."""

    @property
    def algorithm(self) -> Algorithm:
        """How it signs."""

    def sign(self, data: bytes) -> bytes:
        """The signature of `data`."""


class Hmac:
    """A shared secret: whoever can check a log could have written it. Ten times faster."""

    algorithm: Algorithm = "hmac"

    def __init__(self, key: bytes) -> None:
        self._keyed = hmac.new(key, digestmod=hashlib.sha256)

    def sign(self, data: bytes) -> bytes:
        """The HMAC-SHA256 of `data`."""
        made = self._keyed.copy()
        made.update(data)
        return made.digest()

    def accepts(self, signature: bytes, data: bytes) -> bool:
        """Whether `signature` is that of `data`."""
        return hmac.compare_digest(signature, self.sign(data))


class Ed25519:
    """A private key; its public half is written beside it, for whoever checks the log."""

    algorithm: Algorithm = "ed25519"

    def __init__(self, private: bytes) -> None:
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
        from cryptography.hazmat.primitives.serialization import load_pem_private_key

        found = load_pem_private_key(private, password=None)
        if not isinstance(found, Ed25519PrivateKey):
            raise ValueError("the key is no Ed25519 key")
        self._key = found
        self._public = Ed25519Public(self.public_pem())

    def sign(self, data: bytes) -> bytes:
        """The signature of `data`, 64 bytes."""
        return self._key.sign(data)

    def accepts(self, signature: bytes, data: bytes) -> bool:
        """Whether `signature` is that of `data`."""
        return self._public.accepts(signature, data)

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

    def accepts(self, signature: bytes, data: bytes) -> bool:
        """Whether `signature` is that of `data`."""
        from cryptography.exceptions import InvalidSignature

        try:
            self._key.verify(signature, data)
        except InvalidSignature:
            return False
        return True


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
        public.write_bytes(key.public_pem())
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
