"""A policy file is followed: what is good counts from the next call on, what is bad never does."""

from __future__ import annotations

import logging
import os
import pickle
import tempfile
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import cycle
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from edgeward import ConfigError, Firewall, PolicyFile, load_policy
from edgeward.guards.decide import decide
from edgeward.guards.ledger import History
from edgeward.guards.verdict import ToolCall
from edgeward.policies import policy_file
from edgeward.policies.policy_file import SETTLED_S


def allowing(*tools: str) -> str:
    """A policy that lets these tools run and no other."""
    return "version: 2\ntools:\n" + "".join(f"  {tool}: allow\n" for tool in tools)


BAD = {
    "empty": b"",
    "half": b"version: 2\ntools: {read:",
    "no policy": b"- a list",
    "a key that is none": b"version: 2\ntool: {read: allow}\n",
    "a pattern that is none": b'version: 2\narg_rules: [{name: x, reason: y, regex: "("}]\n',
    "no text": b"\xff\xfe\x00",
    "too big": b"#" * 1_000_001,
}


class Clock:
    """A clock that goes when it is told to."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A policy file, under which `read` may run."""
    made = tmp_path / "clerk.yaml"
    made.write_text(allowing("read"), encoding="utf-8")
    return made


def runs(followed: PolicyFile) -> set[str]:
    """Which of a few tools may run now."""
    policy = followed.current
    return {t for t in ("read", "send") if decide(policy, ToolCall(t), History()).word == "allow"}


def replaced(path: Path, text: str) -> None:
    """Put another file in the place of one, at once."""
    new = path.with_suffix(".new")
    new.write_text(text, encoding="utf-8")
    os.replace(new, path)


def written(path: Path, text: str) -> None:
    """Write to the file itself: it is cut to nothing first."""
    path.write_text(text, encoding="utf-8")


def unseen(path: Path, text: str) -> None:
    """Write a text of the same length, within one tick of the file system's clock."""
    before = path.stat()
    written(path, text)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


@pytest.mark.parametrize("edit", [replaced, written, unseen])
def test_a_changed_file_counts(path: Path, edit: Callable[[Path, str], None]) -> None:
    """However it is written, from the next look on."""
    followed = PolicyFile(path)
    assert runs(followed) == {"read"}
    edit(path, allowing("send"))
    assert runs(followed) == {"send"}
    edit(path, allowing("read"))
    assert (runs(followed), followed.problem) == ({"read"}, "")


def test_the_same_file_is_the_same_policy(path: Path) -> None:
    """Nothing is read or made anew while nothing changes; a comment is no other policy."""
    clock = Clock()
    followed = PolicyFile(path, clock=clock)
    policy = followed.current
    clock.now = SETTLED_S
    assert followed.current is policy
    assert followed.current is policy
    replaced(path, allowing("read") + "# more\n")
    assert followed.current is not policy
    assert followed.current.digest == policy.digest


def test_a_file_that_has_settled_is_not_read(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only looked at, until it looks otherwise."""
    clock = Clock()
    followed = PolicyFile(path, clock=clock)
    clock.now = SETTLED_S
    policy = followed.current
    reads: list[object] = []
    monkeypatch.setattr(PolicyFile, "_read", lambda self: reads.append(self))
    assert [followed.current for _ in range(100)] == [policy] * 100
    assert reads == []


@pytest.mark.parametrize("content", BAD.values(), ids=BAD)
def test_what_is_bad_never_counts(
    path: Path, content: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    """The last good policy stays, and it is said: once in the log, and on the object."""
    followed = PolicyFile(path)
    digest = followed.current.digest
    path.write_bytes(content)
    with caplog.at_level(logging.WARNING, logger="edgeward.policies"):
        assert [runs(followed) for _ in range(3)] == [{"read"}] * 3
    assert followed.current.digest == digest
    assert "the last good policy counts" in followed.problem
    assert [record.getMessage() for record in caplog.records] == [followed.problem]
    written(path, allowing("send"))
    assert (runs(followed), followed.problem) == ({"send"}, "")


def gone(path: Path) -> None:
    """The file is removed."""
    path.unlink()


def folder(path: Path) -> None:
    """A folder stands in its place."""
    path.unlink()
    path.mkdir()


def loop(path: Path) -> None:
    """A link to itself, which nobody can open."""
    path.unlink()
    path.symlink_to(path)


def pipe(path: Path) -> None:
    """What would never end to read."""
    path.unlink()
    os.mkfifo(path)


@pytest.mark.parametrize("lost", [gone, folder, loop, pipe])
def test_a_file_that_cannot_be_read(path: Path, lost: Callable[[Path], None]) -> None:
    """The last good policy stays until there is a file again."""
    followed = PolicyFile(path)
    lost(path)
    assert runs(followed) == {"read"}
    assert "the last good policy counts" in followed.problem
    if path.is_dir() and not path.is_symlink():
        path.rmdir()
    else:
        path.unlink(missing_ok=True)
    written(path, allowing("send"))
    assert (runs(followed), followed.problem) == ({"send"}, "")


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="root may read anything")
def test_a_lost_permission(path: Path) -> None:
    """Counts as a file that cannot be read, and as one again when it is back."""
    followed = PolicyFile(path)
    path.chmod(0)
    assert runs(followed) == {"read"}
    assert "Permission denied" in followed.problem
    path.chmod(0o600)
    assert (runs(followed), followed.problem) == ({"read"}, "")


def test_a_link_that_is_set_elsewhere(tmp_path: Path) -> None:
    """Is followed, as where a folder of settings is swapped as a whole."""
    for name, tool in (("a", "read"), ("b", "send")):
        (tmp_path / name).mkdir()
        written(tmp_path / name / "clerk.yaml", allowing(tool))
    now = tmp_path / "now"
    now.symlink_to(tmp_path / "a")
    followed = PolicyFile(now / "clerk.yaml")
    assert runs(followed) == {"read"}
    (tmp_path / "next").symlink_to(tmp_path / "b")
    os.replace(tmp_path / "next", now)
    assert runs(followed) == {"send"}


def test_half_a_file_that_reads_like_a_policy(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An editor at work is not cut short: what changes while it is read is read again."""
    followed = PolicyFile(path)
    whole = allowing("send") + "tool_denylist: [send]\n"
    written(path, allowing("send"))
    pieces = iter([allowing("send") + "# x\n", whole])
    monkeypatch.setattr(policy_file.time, "sleep", lambda s: written(path, next(pieces, whole)))
    assert runs(followed) == set()
    assert followed.current.digest == load_policy(path).digest


def test_a_file_that_never_rests(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keeps no call waiting for good: the last good policy counts meanwhile."""
    followed = PolicyFile(path)
    texts = cycle([allowing("send"), allowing("read", "send")])
    written(path, next(texts))
    with monkeypatch.context() as patched:
        patched.setattr(policy_file.time, "sleep", lambda s: written(path, next(texts)))
        assert runs(followed) == {"read"}
    assert runs(followed) == {"send"}


def test_a_first_file_must_be_good(tmp_path: Path) -> None:
    """There is no last good one yet."""
    with pytest.raises(ConfigError, match="there is no such file"):
        PolicyFile(tmp_path / "none.yaml")
    path = tmp_path / "bad.yaml"
    path.write_bytes(BAD["half"])
    with pytest.raises(ConfigError, match=r"bad\.yaml"):
        PolicyFile(path)


def test_what_is_said_holds_no_secret(path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """A key in the wrong place of the file, or one that only the policy's own pattern knows."""
    key, own = "sk-" + "a1" * 12, "corp-7f3a9b1c"
    pattern = 'secret_patterns: [{name: corp, regex: "corp-[0-9a-f]{8}"}]\n'
    written(path, allowing("read") + pattern)
    followed = PolicyFile(path)
    written(path, f"version: 2\n{key}: 1\n{own}: 2\ndefault: {key}\n")
    with caplog.at_level(logging.WARNING, logger="edgeward.policies"):
        said = followed.problem
    for text in (said, caplog.text):
        assert "clerk.yaml" in text
        assert key not in text
        assert own not in text


def test_the_path_stays_the_same_file(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where the program goes to another folder, and in another process."""
    monkeypatch.chdir(path.parent)
    followed = PolicyFile("clerk.yaml")
    other = path.parent / "other"
    other.mkdir()
    monkeypatch.chdir(other)
    written(path, allowing("send"))
    assert runs(followed) == {"send"}
    monkeypatch.chdir(path.parent)
    assert runs(pickle.loads(pickle.dumps(followed))) == {"send"}


def test_what_is_loaded_stays(path: Path) -> None:
    """`load_policy` gives what counts now, and does not follow it."""
    followed = PolicyFile(path)
    loaded = load_policy(followed)
    written(path, allowing("send"))
    assert loaded.digest != followed.current.digest
    assert decide(loaded, ToolCall("read"), History()).word == "allow"


CONTENTS = [
    allowing("read"),
    allowing("send"),
    allowing("read", "send"),
    "version: 2\ntools: [",
    "",
]
GOOD = {0: {"read"}, 1: {"send"}, 2: {"read", "send"}}
STEPS = st.lists(
    st.tuples(st.sampled_from([*range(len(CONTENTS)), -1]), st.sampled_from([replaced, written])),
    max_size=6,
)


@settings(max_examples=25, deadline=None)
@given(STEPS)
def test_each_call_is_judged_by_the_last_good_file(
    steps: Sequence[tuple[int, Callable[[Path, str], None]]],
) -> None:
    """Any row of edits, good, bad and removals, with calls between them."""
    with tempfile.TemporaryDirectory() as here:
        path = Path(here) / "p.yaml"
        written(path, CONTENTS[0])
        followed, expected = PolicyFile(path), GOOD[0]
        firewall = Firewall(followed)
        for content, edit in steps:
            if content < 0:
                path.unlink(missing_ok=True)
            else:
                edit(path, CONTENTS[content])
                expected = GOOD.get(content, expected)
            words = {tool: firewall.check(tool).word for tool in ("read", "send")}
            assert {tool for tool, word in words.items() if word == "allow"} == expected
            assert bool(followed.problem) == (content not in GOOD)


def test_threads_that_decide_while_it_changes(path: Path) -> None:
    """Each verdict is that of one policy, whole, and never of one older than the file."""
    texts = [f"version: 2\ntools: {{t{n}: allow}}\nblock_message: policy {n}\n" for n in range(4)]
    replaced(path, texts[0])
    followed = PolicyFile(path)
    digests: dict[str, int] = {}
    for n, text in enumerate(texts):
        replaced(path, text)
        digests[followed.current.digest] = n
    firewall, done = Firewall(followed), threading.Event()
    placed = [3]

    def decided() -> list[tuple[int, int, str, str]]:
        found = []
        while not done.is_set():
            oldest = len(placed) - 1
            verdicts = {f"t{n}": firewall.check(f"t{n}") for n in range(4)}
            for tool, verdict in verdicts.items():
                found.append((oldest, digests[verdict.policy], tool, verdict.word))
        return found

    with ThreadPoolExecutor(4) as pool:
        running = [pool.submit(decided) for _ in range(4)]
        for n in (0, 1, 2, 3, 1, 0):
            replaced(path, texts[n])
            placed.append(n)
            assert digests[firewall.check("t0").policy] == n
        done.set()
        found = [one for future in running for one in future.result()]
    assert found
    for oldest, policy, tool, word in found:
        assert policy in placed[oldest:]
        assert word == ("allow" if tool == f"t{policy}" else "block")
