"""A log of receipts, as doors write to it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, get_args

from ...arguments import refusal
from .keys import Algorithm, Signer, signer
from .spelling import spelled
from .stores import JsonLines, Passing, Sqlite, Store, Writer

KEY_SUFFIX = ".key"
_DATABASES = (".sqlite", ".sqlite3", ".db")


class ReceiptLog:
    """Receipts in a file of JSON lines, a SQLite file (by its suffix), or anything with `write`.

        log = ReceiptLog("receipts.jsonl")
        policy = load_policy("clerk.yaml", receipts=log)

    `key`: the file of the key, made on first use; left out, it is beside the log
    (`receipts.jsonl.key`). Keep it where whoever may change the log cannot read it.
    """

    def __init__(
        self,
        target: str | Path | Writer,
        *,
        key: str | Path | None = None,
        algorithm: Algorithm = "ed25519",
    ) -> None:
        """Open the log; nothing is written before the first receipt.

        Raises:
            ValueError: the key's file holds none, or there is no file to name it after; the target
                is a folder, a pipe or a device; there is no such algorithm; JSON lines cannot be
                kept on this system.
            TypeError: `target` is nothing that can be written to.
        """
        if algorithm not in get_args(Algorithm):
            allowed = " or ".join(get_args(Algorithm))
            raise ValueError(f"algorithm: {algorithm!r} is none; allowed: {allowed}")
        self._made_from = (target, key, algorithm)
        if isinstance(target, str | Path):
            path = Path(target)
            if path.is_dir():
                raise ValueError(f"{path}: is a folder; name a file in it, as receipts.jsonl")
            if path.exists() and not path.is_file():
                fix = "name a file, or give what has a method write(text), as sys.stdout"
                raise ValueError(f"{path}: is a pipe or a device, where nothing is kept; {fix}")
            self._store: Store = Sqlite(path) if path.suffix in _DATABASES else JsonLines(path)
            key = path.with_name(path.name + KEY_SUFFIX) if key is None else key
        elif callable(getattr(target, "write", None)):
            self._store = Passing(target)
        else:
            raise refusal("target", target, "a path, or anything with a method write(text)")
        if key is None:
            raise ValueError("a log that is no file needs `key`: the file of its key")
        self._signer: Signer = signer(Path(key), algorithm)

    def __reduce__(self) -> tuple[Any, ...]:
        target, key, algorithm = self._made_from
        return _reopened, (target, key, algorithm)

    def write(self, receipts: Sequence[Mapping[str, Any]]) -> None:
        """Keep receipts, in their order, together.

        Raises:
            Exception: whatever the store raises; then none of them counts as written.
        """
        if receipts:
            self._store.extend(list(map(spelled, receipts)), self._signer)

    def close(self) -> None:
        """Close the file; what is written afterwards opens it again."""
        self._store.close()


def _reopened(target: Any, key: Any, algorithm: Algorithm) -> ReceiptLog:
    return ReceiptLog(target, key=key, algorithm=algorithm)
