"""The ticket key: in memory only, or in a file of its owner's; never copied, never shown."""

from __future__ import annotations

import copy
import os
import pickle
import threading
from pathlib import Path

import cloudpickle
import pytest

from edgeward.graphs.checkpoints import SqliteThreads, tickets_for
from edgeward.guards.ticket import KEY_BYTES, TicketKey
from edgeward.guards.verdict import ToolCall

BYTES = b"the key of thirty-two bytes here"
CALL = ToolCall("pay", {"what": "x"}, id="c1")
WHERE = {"thread": "t", "policy": "p"}


def honours(key: TicketKey, ticket: object) -> bool:
    return key.honours(ticket, CALL, thread="t", policy="p")


def test_signs_and_honours() -> None:
    """A key honours its own tickets, and another key with the same bytes does too."""
    ticket = TicketKey(BYTES).sign(CALL, **WHERE)
    assert honours(TicketKey(BYTES), ticket)
    assert not honours(TicketKey(), ticket)


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, pickle.dumps, cloudpickle.dumps])
def test_copies_get_a_fresh_key(copied: object) -> None:
    """A copy or a pickle of a key is another key, and its bytes hold nothing of this one."""
    key = TicketKey(BYTES)
    made = copied(key)  # type: ignore[operator]
    if isinstance(made, bytes):
        assert b"thirty-two" not in made
        made = pickle.loads(made)
    assert not honours(key, made.sign(CALL, **WHERE))


def test_not_shown() -> None:
    """The key is in no text of its holder."""
    assert "thirty" not in repr(TicketKey(BYTES)) + str(TicketKey(BYTES))


def test_wrong_length() -> None:
    """A key of another length is refused."""
    with pytest.raises(ValueError, match="32 bytes"):
        TicketKey(b"short")


def test_faulty_call() -> None:
    """No ticket is good for a call that has a fault, or that JSON cannot hold."""
    key = TicketKey(BYTES)
    faulty = ToolCall("pay", {"what": "x"}, id="c1", fault="broken")
    assert not key.honours(key.sign(faulty, **WHERE), faulty, thread="t", policy="p")
    odd = ToolCall("pay", {"what": object()}, id="c1")
    assert not key.honours("0" * 64, odd, thread="t", policy="p")


def test_key_file(tmp_path: Path) -> None:
    """A key file is made once, readable by its owner only, and read again after that."""
    path = tmp_path / "deep" / "ticket.key"
    first = TicketKey.from_file(path)
    ticket = first.sign(CALL, **WHERE)
    assert honours(TicketKey.from_file(path), ticket)
    assert path.stat().st_mode & 0o077 == 0
    assert path.stat().st_size == KEY_BYTES
    assert [p.name for p in path.parent.iterdir()] == ["ticket.key"]


def test_key_file_for_others(tmp_path: Path) -> None:
    """A key file that others may read is refused, with what to do."""
    path = tmp_path / "ticket.key"
    TicketKey.from_file(path)
    path.chmod(0o644)
    with pytest.raises(ValueError, match="chmod 600"):
        TicketKey.from_file(path)


@pytest.mark.parametrize("content", [b"", b"short", b"x" * 33])
def test_key_file_that_holds_no_key(content: bytes, tmp_path: Path) -> None:
    """A file that is no key is refused by its name, and stays as it is."""
    path = tmp_path / "ticket.key"
    path.write_bytes(content)
    path.chmod(0o600)
    with pytest.raises(ValueError, match=r"ticket\.key"):
        TicketKey.from_file(path)
    assert path.read_bytes() == content


def test_key_file_where_nothing_can_be_written(tmp_path: Path) -> None:
    """A key that is there is read also where nothing may be written."""
    path = tmp_path / "ticket.key"
    ticket = TicketKey.from_file(path).sign(CALL, **WHERE)
    tmp_path.chmod(0o500)
    try:
        if os.access(tmp_path, os.W_OK):
            pytest.skip("the superuser may write anywhere")
        assert honours(TicketKey.from_file(path), ticket)
    finally:
        tmp_path.chmod(0o700)


def test_one_key_wins(tmp_path: Path) -> None:
    """Processes that start at the same time end with one key."""
    path = tmp_path / "ticket.key"
    start = threading.Barrier(8)
    tickets: list[str] = []

    def make() -> None:
        start.wait()
        tickets.append(TicketKey.from_file(path).sign(CALL, **WHERE))

    threads = [threading.Thread(target=make) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(tickets)) == 1


def test_key_of_a_checkpointer(tmp_path: Path, own_home: Path) -> None:
    """Threads on disk have a key on disk, apart from them; threads in memory have none."""
    tickets_for(None)
    assert list(own_home.iterdir()) == []
    saver = SqliteThreads(tmp_path / "t.sqlite")
    ticket = tickets_for(saver).sign(CALL, **WHERE)
    assert [p.name for p in own_home.iterdir()] == ["ticket.key"]
    assert honours(tickets_for(saver), ticket)
    saver.close()


def test_a_key_that_is_named_counts_for_graphs_whose_threads_others_keep(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A graph within another or on a server has no checkpointer of its own, and the named key."""
    monkeypatch.setenv("EDGEWARD_TICKET_KEY_FILE", str(tmp_path / "named.key"))
    assert honours(tickets_for(None), tickets_for(None).sign(CALL, **WHERE))
    assert (tmp_path / "named.key").exists()
