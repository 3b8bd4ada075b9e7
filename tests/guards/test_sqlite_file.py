"""SQLite files that several processes begin at once: threads, receipts, memories."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import closing
from pathlib import Path
from threading import Barrier
from typing import Any

import pytest

from edgeward.graphs.checkpoints import SqliteThreads
from edgeward.guards.receipts.log import ReceiptLog
from edgeward.guards.sqlite_file import NoDatabase, open_sqlite, read_sqlite
from edgeward.profiles.memory.storage import Cache
from edgeward.profiles.memory.vectors import Vectors


def threads(path: Path) -> None:
    """Begin a database of threads."""
    saver = SqliteThreads(path)
    saver.setup()
    saver.close()


def receipts(path: Path) -> None:
    """Begin a log of receipts."""
    log = ReceiptLog(path, algorithm="hmac")
    log.write([{"n": 1}])
    log.close()


def vectors(path: Path) -> None:
    """Begin an index of a memory."""
    Vectors(path, embedder="e", dims=3)


@pytest.mark.parametrize("begin", [threads, receipts, Cache, vectors])
def test_a_file_that_another_process_is_about_to_begin(
    begin: Callable[[Path], Any], tmp_path: Path
) -> None:
    """Is waited for. SQLite itself says "locked" at once, however long it was told to wait."""
    path = tmp_path / "new.sqlite"
    with closing(sqlite3.connect(path)) as other, ThreadPoolExecutor(1) as pool:
        other.execute("BEGIN IMMEDIATE")
        begun = pool.submit(begin, path)
        wait([begun], timeout=0.3)
        assert not begun.done()
        other.commit()
        begun.result()
    with closing(sqlite3.connect(path)) as base:
        assert base.execute("PRAGMA journal_mode").fetchone() == ("wal",)


@pytest.mark.parametrize("begin", [threads, receipts, Cache, vectors])
def test_many_that_begin_a_file_at_once(begin: Callable[[Path], Any], tmp_path: Path) -> None:
    """Each finds what it needs there, whoever of them made it."""
    start = Barrier(8)

    def begun(path: Path) -> None:
        start.wait(60)
        begin(path)

    with ThreadPoolExecutor(8) as pool:
        for number in range(5):
            path = tmp_path / f"{number}.sqlite"
            for one in [pool.submit(begun, path) for _ in range(8)]:
                one.result()


def test_a_file_that_is_no_database(tmp_path: Path) -> None:
    """Is told at once, by its name, not waited for, and left as it is."""
    path = tmp_path / "notes.sqlite"
    path.write_text("nothing of SQLite's " * 100, encoding="utf-8")
    with pytest.raises(sqlite3.DatabaseError, match=r"notes\.sqlite: .* not a database") as caught:
        open_sqlite(path, isolation_level=None)
    assert isinstance(caught.value, ValueError)  # what was given is wrong, and not the program
    assert path.read_text(encoding="utf-8").startswith("nothing of SQLite's")


def test_a_log_is_read_where_nothing_can_be_put_beside_it(tmp_path: Path) -> None:
    """An archive that is mounted to be read: SQLite itself wants to write an index beside it."""
    path = tmp_path / "log.sqlite"
    log = ReceiptLog(path, algorithm="hmac")
    log.write([{"n": 1}])
    log.close()
    (tmp_path / "log.sqlite-shm").symlink_to("log.sqlite-shm")  # to itself: cannot be opened
    plain = sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)
    with closing(plain), pytest.raises(sqlite3.OperationalError, match="unable to open"):
        plain.execute("SELECT n FROM receipts")
    with closing(read_sqlite(path)) as found:
        assert found.execute("SELECT n FROM receipts").fetchall() == [(0,)]
    (tmp_path / "log.sqlite-wal").write_bytes(b"newer")
    with pytest.raises(NoDatabase, match=r"newest part is in log\.sqlite-wal.*; copy both into"):
        read_sqlite(path)
