"""The index on disk: whole changes, one writer, and no trust in what lies there."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
import threading
from array import array

import pytest

from edgeward.profiles.rag.content import table
from edgeward.profiles.rag.store import FILE, LOCK, Chunk, Document, Entry, Store


def nobody() -> None:
    """Nobody waits."""


def entry(path: str, text: str = "text", *, space: str = "s", dims: int = 2) -> Entry:
    """A document of one chunk and one table."""
    chunk = Chunk(
        path, text, "sec", 3, (f"table-{path}",), b"", dims, array("f", [1.0] * dims).tobytes()
    )
    return Entry(path, Document("d", space), [chunk], [(f"table-{path}", table("| a |"))])


@pytest.fixture
def store(tmp_path):
    """An empty index."""
    made = Store(tmp_path / "index")
    with made.only_one(nobody):
        assert made.prepare() == ""
    return made


def test_what_is_put_is_there_and_can_be_replaced(store):
    """A document's chunks and tables come and go with it."""
    store.put([entry("a"), entry("b")])
    store.put([entry("a", "new")], gone=["b"])
    assert store.documents() == {"a": Document("d", "s")}
    change, (chunk,) = store.load("s")
    assert (change, store.change()) == (2, 2)
    assert (chunk.text, chunk.section, chunk.page) == ("new", "sec", 3)
    assert chunk.resources == ("table-a",)
    assert store.resource("table-a") == ("a", table("| a |"))
    assert store.resource("table-b") is None


def test_a_lock_that_is_none_stops_nobody(store, tmp_path):
    """Something else wrote over the file that writers take turns by."""
    store.put([entry("a")])
    (tmp_path / "index" / LOCK).write_bytes(b"garbage" * 100)
    again = Store(tmp_path / "index")
    assert not again.is_read_only()
    (tmp_path / "index" / LOCK).write_bytes(b"garbage" * 100)
    with again.only_one(nobody):
        assert again.prepare() == ""
    assert again.documents() == {"a": Document("d", "s")}


def test_only_documents_of_one_space_are_searched_together(store):
    """What another embedder made does not mix."""
    store.put([entry("a", space="s"), entry("b", space="t", dims=3)])
    assert [chunk.path for chunk in store.load("t")[1]] == ["b"]
    assert (store.dims("s"), store.dims("t"), store.dims("u")) == (2, 3, 0)


def test_a_change_is_whole_or_not_at_all(store):
    """What fails in the middle leaves everything as it was."""
    store.put([entry("a")])
    broken = Entry("a", Document("d2", "s"), [object()])
    with pytest.raises(AttributeError):
        store.put([entry("b"), broken])
    assert store.documents() == {"a": Document("d", "s")}
    assert len(store.load("s")[1]) == 1


@pytest.mark.parametrize("damage", [b"no database at all", b"SQLite format 3\0" + b"x" * 5000, b""])
def test_a_damaged_index_is_put_aside_and_made_anew(store, damage):
    """Everything in it can be made again from the documents; what was there is kept."""
    store.put([entry("a")])
    file = store._folder / FILE
    file.write_bytes(damage)
    with store.only_one(nobody):
        assert "every document is read anew" in store.prepare()
    assert store.documents() == {}
    assert file.with_suffix(".broken").read_bytes() == damage


def test_an_index_of_another_version_is_put_aside(store):
    """Its tables may be others."""
    with sqlite3.connect(store._folder / FILE) as opened:
        opened.execute("PRAGMA user_version = 99")
    opened.close()
    with store.only_one(nobody):
        assert "another version" in store.prepare()


def test_one_at_a_time_holds_the_index(store):
    """Another one waits, and may give up."""
    held, free = threading.Event(), threading.Event()

    def hold() -> None:
        with store.only_one(nobody):
            held.set()
            free.wait(30)

    thread = threading.Thread(target=hold)
    thread.start()
    held.wait(30)

    def gives_up() -> None:
        raise TimeoutError

    with pytest.raises(TimeoutError), store.only_one(gives_up):
        pass
    free.set()
    thread.join()
    with store.only_one(gives_up):
        pass


def test_a_process_that_died_holds_nothing(store):
    """Not even one that was killed in the middle of a change."""
    code = (
        "import os, sqlite3, sys\n"
        "lock = sqlite3.connect(sys.argv[1] + '/index.lock', isolation_level=None)\n"
        "lock.execute('BEGIN EXCLUSIVE')\n"
        "db = sqlite3.connect(sys.argv[1] + '/index.sqlite3', isolation_level=None)\n"
        "db.execute('BEGIN IMMEDIATE')\n"
        "db.execute('DELETE FROM document')\n"
        "os._exit(9)\n"
    )
    store.put([entry("a")])
    done = subprocess.run([sys.executable, "-c", code, str(store._folder)], check=False)
    assert done.returncode == 9
    with store.only_one(nobody):
        assert store.prepare() == ""
    assert list(store.documents()) == ["a"]
