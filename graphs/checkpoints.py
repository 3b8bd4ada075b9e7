"""Where threads are kept: in memory, in a SQLite file, in Postgres, or in any LangGraph saver.

SQLite and Postgres savers work here from sync and async code alike, on one connection; stored
data is read back by a strict list of types, so that a file that was tampered with cannot make
Python import anything.
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import (
    BaseCheckpointSaver,
    ChannelVersions,
    Checkpoint,
    CheckpointMetadata,
    CheckpointTuple,
    DeltaChannelHistory,
)
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite import SqliteSaver

from ..arguments import require
from ..extras import MissingExtra
from ..guards.sqlite_file import open_sqlite
from ..guards.ticket import TicketKey
from . import workers
from .serializer import strict_serializer

Saver = BaseCheckpointSaver[Any]

_KEPT_IN = (
    "memory, sqlite, a path to a SQLite file (*.sqlite, *.db), a postgresql:// URL, a LangGraph"
    " saver"
)

HOME_VARIABLE = "EDGEWARD_HOME"
KEY_VARIABLE = "EDGEWARD_TICKET_KEY_FILE"


def home() -> Path:
    """The folder for what outlives a run: `$EDGEWARD_HOME`, or the user's state folder."""
    chosen = os.environ.get(HOME_VARIABLE, "").strip()
    if chosen:
        return Path(chosen)
    state = os.environ.get("XDG_STATE_HOME", "").strip()
    return (Path(state) if state else Path.home() / ".local" / "state") / "edgeward"


class _AsyncToo:
    """Async methods for a blocking saver: each runs in a worker thread."""

    if TYPE_CHECKING:
        get_tuple: Any
        list: Any
        put: Any
        put_writes: Any
        delete_thread: Any
        get_delta_channel_history: Any

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        return await workers.arun(self.get_tuple, config)

    async def alist(
        self, config: RunnableConfig | None, **options: Any
    ) -> AsyncIterator[CheckpointTuple]:
        found: Iterator[CheckpointTuple] = await workers.arun(
            lambda: iter(tuple(self.list(config, **options)))
        )
        for item in found:
            yield item

    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        return await workers.arun(self.put, config, checkpoint, metadata, new_versions)

    async def aput_writes(
        self,
        config: RunnableConfig,
        writes: Sequence[tuple[str, Any]],
        task_id: str,
        task_path: str = "",
    ) -> None:
        await workers.arun(self.put_writes, config, writes, task_id, task_path)

    async def adelete_thread(self, thread_id: str) -> None:
        await workers.arun(self.delete_thread, thread_id)

    async def aget_delta_channel_history(
        self, *, config: RunnableConfig, channels: Sequence[str]
    ) -> Mapping[str, DeltaChannelHistory]:
        read = partial(self.get_delta_channel_history, config=config, channels=channels)
        return await workers.arun(read)


class SqliteThreads(_AsyncToo, SqliteSaver):
    """Threads in a SQLite file, for sync and async runs of any number of processes."""

    def __init__(self, path: str | Path) -> None:
        if str(path) != ":memory:":
            Path(path).parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        connection = open_sqlite(str(path), isolation_level="DEFERRED")
        connection.execute("PRAGMA synchronous=NORMAL")  # a power cut may lose the last steps
        super().__init__(connection, serde=strict_serializer())
        self.jsonplus_serde = strict_serializer()
        self.path = str(path)

    def __reduce__(self) -> tuple[type[SqliteThreads], tuple[str]]:
        return SqliteThreads, (self.path,)

    def close(self) -> None:
        """Close the file. Closing twice is fine."""
        self.conn.close()


def open_checkpointer(where: str | Path | Saver | None) -> Saver | None:
    """The checkpointer that `where` names.

    `"memory"`; `"sqlite"` (the file `threads.sqlite` in `home()`); the path of a SQLite file; a
    `postgresql://` URL (extra `postgres`); a LangGraph saver, returned as it is; None for none.

    Raises:
        ValueError: it names none of these. TypeError: it cannot name one. MissingExtra: the extra
            is missing.
    """
    if where is None or isinstance(where, BaseCheckpointSaver):
        return where
    require("checkpointer", where, str | Path, _KEPT_IN)
    text = str(where)
    if text == "memory":
        return InMemorySaver(serde=strict_serializer())
    if text == "sqlite":
        return SqliteThreads(home() / "threads.sqlite")
    if text.startswith(("postgres://", "postgresql://")):
        return _postgres(text)
    if "://" in text or not text.strip() or (isinstance(where, str) and "." not in text):
        raise ValueError(f"checkpointer: {text.partition('://')[0]!r} is none of: {_KEPT_IN}")
    return SqliteThreads(where)


def tickets_for(saver: Saver | Literal[True] | None) -> TicketKey:
    """The ticket key for graphs on this checkpointer.

    Threads that outlive the process need a key that does too: it lies in the file
    `$EDGEWARD_TICKET_KEY_FILE` or `ticket.key` in `home()`, apart from the threads. Without a
    checkpointer, or in memory, the key lives and dies with the process, unless the variable names
    a file: a graph within another, or on a server, has threads that others keep.
    """
    chosen = os.environ.get(KEY_VARIABLE, "").strip()
    if chosen:
        return TicketKey.from_file(Path(chosen))
    if saver is None or isinstance(saver, InMemorySaver):
        return TicketKey()
    return TicketKey.from_file(home() / "ticket.key")


def _postgres(url: str) -> Saver:
    try:
        from langgraph.checkpoint.postgres import PostgresSaver
        from psycopg import Connection
        from psycopg.rows import dict_row
        from psycopg_pool import ConnectionPool
    except ImportError as error:
        raise MissingExtra(
            "a Postgres checkpointer needs an extra: pip install 'edgeward[postgres]'"
        ) from error

    class PostgresThreads(_AsyncToo, PostgresSaver):  # type: ignore[misc, unused-ignore]
        """Threads in Postgres, for sync and async runs."""

        def close(self) -> None:
            self.conn.close()

    pool: ConnectionPool[Connection[Any]] = ConnectionPool(
        url, kwargs={"autocommit": True, "prepare_threshold": 0, "row_factory": dict_row}, open=True
    )
    saver = PostgresThreads(pool, serde=strict_serializer())
    saver.setup()
    return saver
