"""A profile's documents, read with a bar that shows how far it is: on a terminal, on stderr."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from .failures import complain, lines_of
from .printable import one_line

if TYPE_CHECKING:
    from ..profiles.rag.indexing import Progress, Report, Told
    from ..profiles.schema import AgentProfile

NAME_CHARS = 40


def read_documents(profile: AgentProfile) -> Report:
    """Bring the index of a profile up to date. What is left out is in the report alone."""
    from ..profiles.rag.rag import LlamaIndexRAG

    logging.getLogger("edgeward.rag").addHandler(logging.NullHandler())
    documents = LlamaIndexRAG(profile)
    try:
        with _bar() as told:
            return documents.refresh(progress=told)
    finally:
        documents.close()


def documents_before_a_run(profile: AgentProfile) -> None:
    """The same where somebody watches, so that the first search of the run need not wait.

    A failure is said and stops nothing: the run may get along without documents.
    """
    if not profile.rag.enabled or not sys.stderr.isatty():
        return
    from ..profiles.rag.rag import LlamaIndexRAG

    with _bar() as told:
        documents = LlamaIndexRAG(profile, progress=told)
        try:
            documents.ready()
        except Exception as error:  # noqa: BLE001 - it is said, and again by a search
            complain(*lines_of(error))
        finally:
            documents.close()


@contextmanager
def _bar() -> Iterator[Told]:
    """What hears of the progress."""
    if not sys.stderr.isatty():
        yield lambda progress: None
        return
    from rich.console import Console
    from rich.progress import Progress as Bar

    with Bar(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("documents", total=None)

        def told(progress: Progress) -> None:
            name = one_line(progress.name)[:NAME_CHARS].replace("[", "\\[")
            bar.update(
                task,
                completed=progress.done,
                total=progress.total,
                description=f"documents {progress.done}/{progress.total} {name}",
            )

        yield told
