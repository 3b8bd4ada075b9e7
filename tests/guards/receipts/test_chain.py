"""A log of receipts: whatever is done to it without the key is seen, and the first record named."""

from __future__ import annotations

import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from edgeward.guards.receipts.chain import Checked, Tail, bodies, lines_of, parsed, verify
from edgeward.guards.receipts.keys import Algorithm, signer, verifier
from edgeward.guards.receipts.log import ReceiptLog
from edgeward.guards.receipts.stores import head_path, read_log

COUNT = 6


@pytest.fixture(params=["ed25519", "hmac"])
def algorithm(request: pytest.FixtureRequest) -> Algorithm:
    """Both ways of signing."""
    found: Algorithm = request.param
    return found


@pytest.fixture
def log(tmp_path: Path, algorithm: Algorithm) -> Path:
    """A log of a few records."""
    path = tmp_path / "log.jsonl"
    written = ReceiptLog(path, algorithm=algorithm)
    for number in range(COUNT):
        written.write(
            [{"tool": "send", "at": number, "share": 1.0, "text": '\u00e4 \u2028 "sig":"'}]
        )
    written.close()
    return path


def checked(path: Path) -> Checked:
    """What a check of the log says, by the public key where there is one."""
    public = path.with_name(f"{path.name}.key.pub")
    key = public if public.exists() else path.with_name(f"{path.name}.key")
    lines, head = read_log(path)
    return verify(lines, verifier(key), head=head)


def test_a_log_as_it_was_written(log: Path) -> None:
    """Every record is whole and in place; its content can be read (F050)."""
    assert checked(log) == Checked(COUNT)
    assert [body["at"] for body in bodies(read_log(log)[0])] == list(range(COUNT))


@pytest.mark.parametrize(
    ("change", "first", "word"),
    [
        (lambda ls: [*ls[:2], ls[2].replace(b'"at":2', b'"at":7'), *ls[3:]], 2, "changed"),
        (lambda ls: [ls[0].replace(b'"n":0', b'"n":1'), *ls[1:]], 0, "changed"),
        (lambda ls: [*ls[:4], ls[4].replace(b":1.0,", b":1,"), *ls[5:]], 4, "changed"),
        (lambda ls: [*ls[:4], ls[4].replace(b'{"body"', b'{ "body"'), *ls[5:]], 4, "changed"),
        (lambda ls: [*ls[:3], *ls[4:]], 3, "dropped"),
        (lambda ls: ls[1:], 0, "dropped"),
        (lambda ls: [*ls[:2], ls[3], ls[2], *ls[4:]], 2, "moved"),
        (lambda ls: [*ls[:3], ls[1], *ls[3:]], 3, "inserted"),
        (lambda ls: [*ls[:3], ls[2], *ls[3:]], 3, "inserted"),
        (lambda ls: ls[:-1], COUNT - 1, "truncated"),
        (lambda ls: [], 0, "truncated"),
        (lambda ls: [*ls[:2], b"{}\n", *ls[2:]], 2, "no record"),
        (lambda ls: [*ls[:2], b"\n", *ls[2:]], 2, "no record"),
        (lambda ls: [*ls[:2], b"\xff\xfe\n", *ls[2:]], 2, "no record"),
        (lambda ls: [*ls, b"[" * 100_000 + b',"sig":"x"}\n'], COUNT, "no record"),
        (lambda ls: [*ls[:-1], ls[-1][:-9]], COUNT - 1, "truncated"),
        (lambda ls: [*ls[:1], ls[1].replace(b'"}\n', b'","sig":""}\n'), *ls[2:]], 1, "changed"),
        (lambda ls: [*ls[:1], ls[1].replace(b'"}\n', b'\xff"}\n'), *ls[2:]], 1, "no record"),
    ],
)
def test_C65_X20_what_was_done_to_it(
    log: Path, change: Callable[[list[bytes]], list[bytes]], first: int, word: str
) -> None:
    """The first record that is not as it was written, and what is wrong there."""
    log.write_bytes(b"".join(change(log.read_bytes().splitlines(keepends=True))))
    found = checked(log)
    assert found.records == first
    assert word in found.fault


def test_a_record_of_somebody_elses(log: Path, tmp_path: Path, algorithm: Algorithm) -> None:
    """A record that another key signed, with the right number and predecessor."""
    lines = log.read_bytes().splitlines(keepends=True)
    before = parsed(lines[2][:-1])
    somebody = signer(tmp_path / "k2", algorithm)
    (forged,), *_ = lines_of([b'{"tool":"x"}'], Tail(3, before.digest), somebody)
    log.write_bytes(b"".join([*lines[:3], forged, *lines[4:]]))
    assert checked(log) == Checked(3, "changed or inserted: it is not signed with this key")


def test_a_whole_log_of_the_same_key(log: Path, tmp_path: Path, algorithm: Algorithm) -> None:
    """As many records, each signed with the right key, and yet not these."""
    second = ReceiptLog(tmp_path / "b.jsonl", key=f"{log}.key", algorithm=algorithm)
    second.write([{"tool": "other", "at": n} for n in range(COUNT)])
    log.write_bytes((tmp_path / "b.jsonl").read_bytes())
    assert "another log" in checked(log).fault


@pytest.mark.parametrize("head", [b"", b"6 x y", b"\xff", b"999 " + b"0" * 64 + b" AAAA"])
def test_a_head_that_is_none(log: Path, head: bytes) -> None:
    """Without it nobody knows whether records are missing at the end."""
    head_path(log).write_bytes(head)
    assert "head is missing" in checked(log).fault


def test_of_an_earlier_line_nobody_makes_a_head(log: Path) -> None:
    """A line is signed as the end that it was; the secret that says so is gone with its head."""
    lines, late = log.read_bytes().splitlines(keepends=True), head_path(log).read_bytes()
    last = parsed(lines[2][:-1])
    log.write_bytes(b"".join(lines[:3]))
    place, secret, sig = f"3 {last.digest}".encode(), late.split()[2], last.signature.encode()
    for head in (
        b"%b %b %b" % (place, last.end.encode(), sig),
        b"%b %b %b" % (place, secret, sig),
        b"%b %b %b" % (place, secret, late.split()[-1]),
        b"%b %b" % (place, sig),
        late.replace(b"%d " % COUNT, b"3 ", 1),
    ):
        head_path(log).write_bytes(head)
        assert checked(log) == Checked(3, "the head is missing, or not signed with this key")
    head_path(log).write_bytes(late)
    assert checked(log) == Checked(3, "truncated: the head knows of 3 more")


def test_a_head_holds_the_secret_of_its_line(log: Path) -> None:
    """Once the log goes on it is nowhere; a copy that was made in time still proves its line."""
    before = head_path(log).read_bytes()
    ReceiptLog(log, algorithm="hmac" if b"hmac" in _key(log) else "ed25519").write([{"at": 7}])
    lines, head = read_log(log)
    assert before.split()[2] not in head + log.read_bytes()
    public = log.with_name(f"{log.name}.key.pub")
    key = verifier(public if public.exists() else log.with_name(f"{log.name}.key"))
    assert verify(lines, key, head=before) == Checked(COUNT + 1)
    shorter = list(read_log(log)[0])[: COUNT - 1]
    assert verify(shorter, key, head=before).fault == "truncated: the head knows of 1 more"


def test_an_unfinished_line(log: Path) -> None:
    """A writer that was killed leaves a log that is whole up to its last record, and can go on."""
    whole = log.read_bytes()
    log.write_bytes(whole + b'{"body":{"tool":"se')
    found = checked(log)
    assert (found.records, found.fault) == (COUNT, "")
    assert "its writer was stopped" in found.note
    again = ReceiptLog(log, algorithm="hmac" if b"hmac" in _key(log) else "ed25519")
    again.write([{"tool": "send", "at": COUNT}])
    assert checked(log) == Checked(COUNT + 1)
    assert log.read_bytes().startswith(whole)


def _key(log: Path) -> bytes:
    return log.with_name(f"{log.name}.key").read_bytes()


def test_X20_the_key_is_its_owners(log: Path) -> None:
    """Mode 0600; one that others may read is refused, and so is one for something else."""
    key = log.with_name(f"{log.name}.key")
    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    key.chmod(0o644)
    with pytest.raises(ValueError, match="others may read this receipt key; run `chmod 600`"):
        ReceiptLog(log)
    key.chmod(0o600)
    wrong: Algorithm = "ed25519" if b"hmac" in key.read_bytes() else "hmac"
    with pytest.raises(ValueError, match="this receipt key is not for"):
        ReceiptLog(log, algorithm=wrong)
    key.write_bytes(b"nothing")
    with pytest.raises(ValueError, match=r"key"):
        ReceiptLog(log)
