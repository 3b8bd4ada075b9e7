"""The keys of a log: how a line and a head are ended, and that no other ending is taken for it."""

from __future__ import annotations

import hashlib
import hmac
import subprocess
import sys
from pathlib import Path

import pytest

from edgeward.guards.receipts.keys import Algorithm, Hmac, signer, verifier

PLACE = f"7 {'ab' * 32}"


@pytest.mark.parametrize("place", ["", PLACE, "x" * 300])
def test_hmac_is_the_standard_one(place: str) -> None:
    """Secret and `end` are the two halves of what the standard library makes."""
    key = bytes(range(32))
    secret, end, signature = Hmac(key).ended(place)
    assert secret + end == hmac.new(key, place.encode(), hashlib.sha256).hexdigest()
    assert not signature


@pytest.mark.parametrize("algorithm", ["ed25519", "hmac"])
def test_only_what_the_key_ended_is_accepted(tmp_path: Path, algorithm: Algorithm) -> None:
    """Another place, `end`, secret or signature is none, nor is what is no text of that kind."""
    made = signer(tmp_path / "k", algorithm)
    secret, end, sig = made.ended(PLACE)
    check = verifier(tmp_path / ("k.pub" if algorithm == "ed25519" else "k"))
    assert check.accepts(PLACE, end, sig)
    assert check.accepts_head(PLACE, secret, sig)
    for place, ending, signature in (
        (f"8 {'ab' * 32}", end, sig),
        (PLACE, "0" * len(end), sig),
        (PLACE, "ä", sig),
        (PLACE, secret, sig),
        (PLACE, end, f"{sig}AA=="),
        (PLACE, end, "x"),
        (PLACE, end, "ä"),
    ):
        assert not check.accepts(place, ending, signature)
    for place, ending, signature in (
        (f"8 {'ab' * 32}", secret, sig),
        (PLACE, end, sig),
        (PLACE, "ä", sig),
        (PLACE, secret, f"{sig}AA=="),
    ):
        assert not check.accepts_head(place, ending, signature)


def test_a_signature_has_one_spelling(tmp_path: Path) -> None:
    """The bits of the last character that Base64 does not use are none that may be changed."""
    made = signer(tmp_path / "k")
    _, end, sig = made.ended(PLACE)
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
    last = letters.index(sig[-3])
    for unused in range(16):
        other = f"{sig[:-3]}{letters[last & ~15 | unused]}=="
        assert made.accepts(PLACE, end, other) == (other == sig)


def test_a_full_disk_leaves_no_half_of_a_public_key(tmp_path: Path) -> None:
    """The next start would take it for whole, and no log would be verified with it."""
    key, public = tmp_path / "k", tmp_path / "k.pub"
    signer(key)
    public.unlink()
    code = (
        "import resource, sys\n"
        "from pathlib import Path\n"
        "from edgeward.guards.receipts.keys import signer\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (50, 50))\n"
        "try: signer(Path(sys.argv[1]))\n"
        "except OSError: print('refused')\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(key)], capture_output=True, text=True, check=True
    )
    assert done.stdout == "refused\n"
    assert [file.name for file in tmp_path.iterdir()] == ["k"]
    made = signer(key)
    _, end, signature = made.ended(PLACE)
    assert verifier(public).accepts(PLACE, end, signature)
