"""A log of receipts as a replay reads it: found by its content, checked before it is believed."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path

from ...guards.receipts.chain import sealed, verify
from ...guards.receipts.keys import verifier
from ...guards.receipts.stores import is_database, read_log
from .receipts import ReceiptLines

# As bytes, whatever stands in its place.
_LINE = "SELECT COALESCE(CAST(line AS BLOB), x'') FROM receipts WHERE n = ?"


def fault_in(log: Path, key: Path) -> str:
    """What is wrong with a log; empty where all is as it was written.

    Raises:
        OSError, ValueError: the log or the key cannot be read.
    """
    signed_by = verifier(key)
    lines, head = read_log(log)
    if sealed(lines, signed_by, head=head):
        return ""
    lines, head = read_log(log)
    found = verify(lines, signed_by, head=head)
    return f"record {found.records}: {found.fault}" if found.fault else ""


def receipts_in(log: Path) -> ReceiptLines:
    """The receipts of a log, to be gone through thread by thread; it is only read.

    Raises:
        ValueError: it is none, and where. OSError: it cannot be read.
    """
    opened = partial(_database if is_database(log) else _file, log)
    return ReceiptLines(read_log(log)[0], opened)


@contextmanager
def _file(log: Path) -> Iterator[Callable[[int], bytes]]:
    offsets = array("q", [0])
    with log.open("rb") as file:

        def line(number: int) -> bytes:
            while len(offsets) <= number:
                file.seek(offsets[-1])
                offsets.append(offsets[-1] + len(file.readline()))
            file.seek(offsets[number])
            return file.readline()

        yield line


@contextmanager
def _database(log: Path) -> Iterator[Callable[[int], bytes]]:
    from ...guards.sqlite_file import read_sqlite

    with closing(read_sqlite(log)) as connection:

        def line(number: int) -> bytes:
            found = connection.execute(_LINE, (number,))
            kept: bytes = found.fetchone()[0]
            return kept

        yield line
