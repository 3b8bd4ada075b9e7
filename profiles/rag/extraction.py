"""Which extractor reads which file: the user's own first, then the built-in ones.

The built-in ones run in a process of their own (`isolation.py`): documents come from anywhere, and
what takes them apart may hang, crash or run out of memory on them.
"""

from __future__ import annotations

from collections.abc import Sequence

from .content import MAX_FILE_BYTES, NotExtracted, Source, StructuredChunk, StructuredExtractor
from .isolation import Reader


class StructuredDocExtractor:
    """The extractors of one agent, in the order in which they are asked."""

    def __init__(self, extractors: Sequence[StructuredExtractor] = ()) -> None:
        """`extractors` are asked before the built-in ones."""
        self._first = list(extractors)
        self._last: list[StructuredExtractor] = []

    def register(self, extractor: StructuredExtractor, *, prepend: bool = False) -> None:
        """Add one: `prepend` puts it before all others, otherwise it comes after those that were
        registered and gets what they and the built-in ones do not know by name.

        It runs in this process, and nothing but itself bounds the time it takes.
        """
        if prepend:
            self._first.insert(0, extractor)
        else:
            self._last.append(extractor)

    @property
    def own(self) -> str:
        """What tells documents read with these extractors from those read with others: their
        classes, and what each says of itself as its `version`."""
        return ",".join(map(_kind, [*self._first, *self._last]))

    def extract(self, source: Source, *, reader: Reader | None = None) -> list[StructuredChunk]:
        """The file's text, by the first extractor that supports it.

        `reader` is the process for the built-in ones; without it, one is started and ended.

        Raises:
            NotExtracted: there is no text to be had, for the reason in the message.
        """
        chosen = self._own(source)
        if chosen is not None:
            return _by_own(chosen, source)
        if len(source.read_bytes()) > MAX_FILE_BYTES:
            raise NotExtracted(f"is bigger than {MAX_FILE_BYTES:,} bytes")
        if reader is not None:
            return reader.extract(source)
        with Reader() as opened:
            return opened.extract(source)

    def _own(self, source: Source) -> StructuredExtractor | None:
        from .builtin import by_name

        for one in self._first:
            if one.supports(source):
                return one
        if by_name(source) is None:
            for one in self._last:
                if one.supports(source):
                    return one
        return None


def _kind(extractor: StructuredExtractor) -> str:
    kind = type(extractor)
    return f"{kind.__module__}.{kind.__qualname__} {getattr(extractor, 'version', '')}".rstrip()


def _by_own(extractor: StructuredExtractor, source: Source) -> list[StructuredChunk]:
    try:
        return list(extractor.extract(source))
    except NotExtracted:
        raise
    except Exception as error:
        name = type(extractor).__name__
        why = f"{name} failed: {type(error).__name__}: {error}"[:300]
        raise NotExtracted(why, passing=True) from error  # until its maker has mended it
