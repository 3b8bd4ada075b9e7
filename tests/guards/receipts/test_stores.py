"""Where receipts are kept: files and databases that several write to, and anything with `write`."""

from __future__ import annotations

import json
import os
import pickle
import resource
import sqlite3
import stat
import subprocess
import sys
import threading
import time
from contextlib import closing
from pathlib import Path

import pytest

from edgeward.guards.receipts.chain import Checked, LogChanged, bodies, parsed, sealed, verify
from edgeward.guards.receipts.keys import verifier
from edgeward.guards.receipts.log import ReceiptLog
from edgeward.guards.receipts.stores import head_path, read_log

SUFFIXES = ["jsonl", "sqlite"]
WRITER = """
import sys
from edgeward.guards.receipts.log import ReceiptLog
log, count = ReceiptLog(sys.argv[1], algorithm="hmac"), int(sys.argv[2])
print("ready", flush=True)
for number in range(count):
    log.write([{"by": sys.argv[3], "at": number}, {"by": sys.argv[3], "at": -number}])
"""


def checked(path: Path) -> Checked:
    """What a check of a log with a shared key says."""
    lines, head = read_log(path)
    return verify(lines, verifier(path.with_name(f"{path.name}.key")), head=head)


def writer(path: Path, count: int, name: str) -> subprocess.Popen[str]:
    """Another process that writes to the log."""
    return subprocess.Popen(
        [sys.executable, "-c", WRITER, str(path), str(count), name],
        stdout=subprocess.PIPE,
        text=True,
    )


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_several_processes_and_threads(tmp_path: Path, suffix: str) -> None:
    """Each record is there once, whole and in its writer's order; together stays together."""
    path = tmp_path / f"log.{suffix}"
    log = ReceiptLog(path, algorithm="hmac")
    others = [writer(path, 40, name) for name in "ab"]

    def write() -> None:
        for number in range(20):
            log.write([{"by": "t", "at": number}])

    threads = [threading.Thread(target=write) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for other in others:
        other.communicate()
        assert other.returncode == 0
    assert checked(path) == Checked(2 * 80 + 60)
    found = [(body["by"], body["at"]) for body in bodies(read_log(path)[0])]
    for name in "ab":
        own = [at for by, at in found if by == name]
        assert own == [sign * number for number in range(40) for sign in (1, -1)]
    for name in "ab":
        first = found.index((name, 7))
        assert found[first + 1] == (name, -7)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_killed_at_any_moment(tmp_path: Path, suffix: str) -> None:
    """The log is whole up to its last record, and the next writer goes on from there."""
    path = tmp_path / f"log.{suffix}"
    ReceiptLog(path, algorithm="hmac").write([{"at": "first"}])
    for moment in range(4):
        other = writer(path, 1_000_000, "k")
        assert other.stdout is not None
        other.stdout.readline()
        time.sleep(0.01 * moment)
        other.kill()
        other.communicate()
        assert not checked(path).fault
        count = checked(path).records
        ReceiptLog(path, algorithm="hmac").write([{"at": "again"}])
        assert checked(path) == Checked(count + 1)


def test_a_full_disk_leaves_the_log_whole(tmp_path: Path) -> None:
    """What could not be written whole is taken away again, and the writer is told."""
    code = (
        "import resource, sys, signal\n"
        "from edgeward.guards.receipts.log import ReceiptLog\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "log = ReceiptLog(sys.argv[1], algorithm='hmac')\n"
        "log.write([{'at': 0}])\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (2_000, 2_000))\n"
        "try:\n"
        "    for n in range(100): log.write([{'at': n, 'text': 'x' * 300}])\n"
        "except OSError: print('refused')\n"
    )
    path = tmp_path / "log.jsonl"
    done = subprocess.run(
        [sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=True
    )
    assert done.stdout == "refused\n"
    found = checked(path)
    assert not found.fault
    assert found.records > 1
    assert not found.note
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[0] != 2_000


def test_anything_with_one_method(tmp_path: Path) -> None:
    """It is given the lines of a log; a key has to be named, for there is no file beside it."""

    class Lines(list[str]):
        """Keeps what it is given."""

        def write(self, text: str) -> None:
            """Keep one line."""
            self.append(text)

    with pytest.raises(ValueError, match="needs `key`"):
        ReceiptLog(Lines())
    lines = Lines()
    log = ReceiptLog(lines, key=tmp_path / "k", algorithm="hmac")
    log.write([{"at": 0}])
    log.write([{"at": 1}, {"at": 2}])
    raw = [line.encode() for line in lines]
    assert verify(raw, verifier(tmp_path / "k"), head=None) == Checked(3)
    assert [json.loads(line)["body"]["at"] for line in lines] == [0, 1, 2]


def test_a_log_can_be_closed_pickled_and_gone_on_with(tmp_path: Path) -> None:
    """As a graph is, whose policy it belongs to; the key is not in the pickle."""
    path = tmp_path / "log.jsonl"
    log = ReceiptLog(path, algorithm="hmac")
    log.write([{"at": 0}])
    log.close()
    log.close()
    log.write([{"at": 1}])
    data = pickle.dumps(log)
    secret = path.with_name("log.jsonl.key").read_bytes().split()[1]
    assert secret not in data
    pickle.loads(data).write([{"at": 2}])
    log.write([{"at": 3}])
    assert checked(path) == Checked(4)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_log_stays_where_it_is(
    tmp_path: Path, suffix: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A daemon leaves its folder, and opens the log again after a fork."""
    monkeypatch.chdir(tmp_path)
    log = ReceiptLog(f"log.{suffix}", algorithm="hmac")
    log.write([{"at": 0}])
    log.close()
    monkeypatch.chdir("/")
    log.write([{"at": 1}])
    log.close()
    assert checked(tmp_path / f"log.{suffix}") == Checked(2)


def cut(path: Path, count: int) -> None:
    """Leave the first records of a log, as somebody does who may write its file."""
    if path.suffix == ".jsonl":
        path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:count]))
        return
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("DELETE FROM receipts WHERE n >= ?", (count,))
        connection.commit()


def behead(path: Path) -> None:
    """Take the head away."""
    if path.suffix == ".jsonl":
        head_path(path).unlink()
        return
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("DELETE FROM head")
        connection.commit()


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("running", [True, False])
@pytest.mark.parametrize("count", [0, 2])
def test_a_log_that_was_cut_short_is_not_gone_on_with(
    tmp_path: Path, suffix: str, running: bool, count: int
) -> None:
    """A new head would hide it: by a new writer or one that is at it, nothing more is written."""
    path = tmp_path / f"log.{suffix}"
    log = ReceiptLog(path, algorithm="hmac")
    log.write([{"at": number} for number in range(5)])
    cut(path, count)
    with pytest.raises(LogChanged, match="cut short or replaced"):
        (log if running else ReceiptLog(path, algorithm="hmac")).write([{"at": "later"}])
    found = checked(path)
    assert (found.records, found.fault) == (count, f"truncated: the head knows of {5 - count} more")


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_log_without_its_head_is_not_gone_on_with(tmp_path: Path, suffix: str) -> None:
    """A log has one from its first record on."""
    path = tmp_path / f"log.{suffix}"
    ReceiptLog(path, algorithm="hmac").write([{"at": 0}, {"at": 1}])
    behead(path)
    cut(path, 1)
    with pytest.raises(LogChanged, match="head is missing"):
        ReceiptLog(path, algorithm="hmac").write([{"at": "later"}])


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("running", [True, False])
def test_a_log_that_ends_with_somebody_elses_record_is_not_gone_on_with(
    tmp_path: Path, suffix: str, running: bool
) -> None:
    """The next head would vouch for it: who trusts the head alone would take it for a receipt."""
    path = tmp_path / f"log.{suffix}"
    log = ReceiptLog(path, algorithm="hmac")
    log.write([{"at": 0}, {"at": 1}])
    last = parsed(list(read_log(path)[0])[-1][:-1])
    forged = f'{{"body":{{"at":2}},"n":2,"prev":"{last.digest}","end":"{last.end}"}}'.encode()
    if suffix == "jsonl":
        path.write_bytes(path.read_bytes() + forged + b"\n")
    else:
        with closing(sqlite3.connect(path)) as connection:
            connection.execute("INSERT INTO receipts VALUES (2, ?)", (forged,))
            connection.commit()
    with pytest.raises(LogChanged, match="inserted"):
        (log if running else ReceiptLog(path, algorithm="hmac")).write([{"at": "later"}])
    lines, head = read_log(path)
    assert not sealed(lines, verifier(path.with_name(f"{path.name}.key")), head=head)
    assert checked(path) == Checked(2, "changed or inserted: it is not signed with this key")


def test_a_record_whose_head_could_not_be_written_is_none(tmp_path: Path) -> None:
    """Who was told that it was not kept finds it in no log."""
    path = tmp_path / "log.jsonl"
    log = ReceiptLog(path, algorithm="hmac")
    log.write([{"at": 0}])
    file, head = log._store._files  # type: ignore[attr-defined]
    readable = os.open(head_path(path), os.O_RDONLY)
    os.dup2(readable, head)  # a head that takes no more writes
    os.close(readable)
    with pytest.raises(OSError, match="Bad file descriptor"):
        log.write([{"at": 1}])
    log.close()
    assert checked(path) == Checked(1)
    log.write([{"at": 2}])
    assert checked(path) == Checked(2)
    assert file != head


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_processes_that_were_forked_write_one_log(tmp_path: Path, suffix: str) -> None:
    """They share their parent's open files, and still wait for each other."""
    code = (
        "import os, sys\n"
        "from edgeward import Firewall, ReceiptLog, load_policy\n"
        "log = ReceiptLog(sys.argv[1], algorithm='hmac')\n"
        "firewall = Firewall(load_policy('allow_all', receipts=log))\n"
        "firewall.check('parent')\n"
        "children = [os.fork() for _ in range(2)]\n"
        "for n in range(50): firewall.check('call')\n"
        "try:\n"
        "    while True: os.wait()\n"
        "except ChildProcessError: os._exit(0)\n"
    )
    path = tmp_path / f"log.{suffix}"
    subprocess.run([sys.executable, "-c", code, str(path)], check=True)
    assert checked(path) == Checked(1 + 4 * 50)
    found = list(bodies(read_log(path)[0]))
    assert len({body["receipt"] for body in found}) == len(found)
    assert len({body["session"] for body in found}) == 4


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_what_a_forked_process_writes_stays(tmp_path: Path, suffix: str) -> None:
    """Also when its parent, which had the log open when it forked, closes it meanwhile: SQLite
    forgets that a file is locked where two processes share a connection."""
    code = (
        "import os, sys\n"
        "from edgeward.guards.receipts.log import ReceiptLog\n"
        "log = ReceiptLog(sys.argv[1], algorithm='hmac')\n"
        "log.write([{'by': 'parent'}])\n"
        "child = os.fork()\n"
        "for _ in range(200):\n"
        "    log.write([{'by': 'parent' if child else 'child'}])\n"
        "    if child: log.close()\n"
        "if child: os.waitpid(child, 0)\n"
        "os._exit(0)\n"
    )
    path = tmp_path / f"log.{suffix}"
    subprocess.run([sys.executable, "-c", code, str(path)], check=True)
    assert checked(path) == Checked(401)
    by = [body["by"] for body in bodies(read_log(path)[0])]
    assert by.count("child") == 200


def test_a_fork_waits_for_a_thread_that_writes(tmp_path: Path) -> None:
    """A child has no such thread, and would wait for its lock for ever."""
    code = (
        "import os, sys, threading\n"
        "from edgeward.guards.receipts.log import ReceiptLog\n"
        "log = ReceiptLog(sys.argv[1], algorithm='hmac')\n"
        "done = threading.Event()\n"
        "def write():\n"
        "    while not done.wait(0.001):\n"  # a moment in which another gets the log
        "        log.write([{'by': 'thread', 'text': 'x' * 10_000}] * 20)\n"
        "thread = threading.Thread(target=write)\n"
        "thread.start()\n"
        "for _ in range(30):\n"
        "    child = os.fork()\n"
        "    if not child:\n"
        "        log.write([{'by': 'child'}])\n"
        "        os._exit(0)\n"
        "    os.waitpid(child, 0)\n"
        "done.set()\n"
        "thread.join()\n"
    )
    path = tmp_path / "log.jsonl"
    subprocess.run([sys.executable, "-W", "ignore", "-c", code, str(path)], check=True, timeout=60)
    assert not checked(path).fault
    assert sum(body["by"] == "child" for body in bodies(read_log(path)[0])) == 30


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_log_is_its_owners(tmp_path: Path, suffix: str) -> None:
    """It may hold arguments."""
    path = tmp_path / f"log.{suffix}"
    log = ReceiptLog(path, algorithm="hmac")
    log.write([{"at": 0}])
    modes = {file.name: stat.S_IMODE(file.stat().st_mode) for file in tmp_path.iterdir()}
    assert set(modes.values()) == {0o600}
    log.close()


def test_nothing_to_write_writes_nothing(tmp_path: Path) -> None:
    """No file appears before there is a receipt."""
    ReceiptLog(tmp_path / "log.jsonl").write([])
    assert not (tmp_path / "log.jsonl").exists()


def test_many_records_are_gone_on_from_their_end(tmp_path: Path) -> None:
    """A new writer reads the end of a log, not all of it, however long its last record is."""
    path = tmp_path / "log.jsonl"
    ReceiptLog(path, algorithm="hmac").write([{"at": n, "text": "y" * 100} for n in range(500)])
    ReceiptLog(path, algorithm="hmac").write([{"text": "z" * 200_000}])
    ReceiptLog(path, algorithm="hmac").write([{"at": "end"}])
    assert checked(path) == Checked(502)
    assert os.path.getsize(path) > 200_000


def test_a_database_in_which_other_things_stand(tmp_path: Path) -> None:
    """A number, a text or nothing in place of a line is no record; no number is a length."""
    path = tmp_path / "log.sqlite"
    with closing(sqlite3.connect(path)) as base, base:
        base.execute("CREATE TABLE receipts (n INTEGER PRIMARY KEY, line)")
        base.execute("CREATE TABLE head (id INTEGER PRIMARY KEY, head)")
        base.executemany("INSERT INTO receipts VALUES (?, ?)", [(0, 10**15), (1, "x"), (2, None)])
        base.execute("INSERT INTO head VALUES (0, ?)", (10**15,))
    lines, head = read_log(path)
    assert list(lines) == [b"1000000000000000\n", b"x\n", b"\n"]
    assert head == b"1000000000000000"


def test_a_view_is_no_log(tmp_path: Path) -> None:
    """What a database computes has no end."""
    path = tmp_path / "log.sqlite"
    endless = "WITH RECURSIVE c(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM c) SELECT n, '' AS line"
    with closing(sqlite3.connect(path)) as base, base:
        base.execute(f"CREATE VIEW receipts AS {endless} FROM c")
        base.execute("CREATE TABLE head (id INTEGER PRIMARY KEY, head BLOB)")
    with pytest.raises(ValueError, match=r"log\.sqlite: is a database without receipts"):
        read_log(path)
