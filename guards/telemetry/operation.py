"""One operation as a span: an agent that runs, a model that is asked, a tool that is run.

with operation:                      # current, so that what runs inside is below it
    operation.note("gen_ai.tool.name", call.name)
yield from operation.driving(stream)     # the same for a stream, step by step
"""

from __future__ import annotations

import json
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator, Mapping
from contextlib import aclosing, closing, contextmanager
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypeVar, cast

from typing_extensions import Self

from ..faults import MaskedFault
from ..patterns import searchable
from ..redact import Redactor
from .safely import safely

if TYPE_CHECKING:
    from .instruments import Instruments

T = TypeVar("T")
Value = str | int | float | bool | list[str]
Attributes = Mapping[str, Value]

CHAT, EXECUTE_TOOL, INVOKE_AGENT = "chat", "execute_tool", "invoke_agent"
OPERATION = "gen_ai.operation.name"

_PAUSES = "GraphBubbleUp"
"""LangGraph's way out of a run that pauses; by its name, for the guards know no LangGraph."""


class Operation:
    """Whatever is noted while nobody is told: nothing."""

    __slots__ = ()

    on = False
    """Whether anybody is told."""

    def note(self, name: str, value: Value | None) -> None:
        """An attribute of the span; None is left out."""

    def content(self, name: str, written: Callable[[], object]) -> None:
        """An attribute that holds what somebody wrote: masked, and only where that is wanted."""

    def failed(self, kind: str, written: Callable[[], object]) -> None:
        """It failed: the kind of failure, and in words (which count as content)."""

    def raised(self, error: BaseException) -> None:
        """It failed with this error, if that is one: a run that pauses has not failed."""

    def counted(self, read: int, written: int) -> None:
        """The tokens that a model read and wrote."""

    def end(self) -> None:
        """It is over; a second time means nothing."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        return None

    def driving(self, items: Iterator[T]) -> Iterator[T]:
        """The items, this operation being current while each is made, and over with the last."""
        return items

    def adriving(self, items: AsyncIterator[T]) -> AsyncIterator[T]:
        """`driving`, for an event loop."""
        return items


NOBODY_LISTENS = Operation()


class Spanned(Operation):
    """An operation that has a span."""

    __slots__ = ("_began", "_instruments", "_kept", "_over", "_redactor", "_span", "_tokens")

    on = True

    def __init__(
        self, instruments: Instruments, name: str, attributes: Attributes, redactor: Redactor
    ) -> None:
        self._instruments, self._redactor = instruments, redactor
        self._began = time.perf_counter()
        self._kept: dict[str, Value] = {}
        self._tokens: list[Any] = []
        self._over = False
        self._span: Any = None
        self._start(name, dict(attributes))

    @safely
    def _start(self, name: str, attributes: dict[str, Value]) -> None:
        attributes = {key: masked(value, self._redactor) for key, value in attributes.items()}
        self._kept = dict(attributes)
        self._span = self._instruments.start(masked(name, self._redactor), attributes)

    @safely
    def note(self, name: str, value: Value | None) -> None:
        """See `Operation`."""
        if value is not None and value != "" and not self._over:
            value = self._kept[name] = masked(value, self._redactor)
            self._span.set_attribute(name, value)

    @safely
    def content(self, name: str, written: Callable[[], object]) -> None:
        """See `Operation`."""
        if self._instruments.content:
            self._span.set_attribute(name, shown(written(), self._redactor))

    @safely
    def failed(self, kind: str, written: Callable[[], object]) -> None:
        """See `Operation`."""
        kind = self._kept["error.type"] = masked(kind, self._redactor)
        self._span.set_attribute("error.type", kind)
        self._span.set_status(self._instruments.error_status(None))
        text = shown(written(), self._redactor) if self._instruments.content else ""
        if text:
            self._span.set_status(self._instruments.error_status(text))
            self._span.add_event("exception", {"exception.type": kind, "exception.message": text})

    @safely
    def raised(self, error: BaseException) -> None:
        """See `Operation`."""
        if not _is_no_failure(error):
            kind = error.kind if isinstance(error, MaskedFault) else type(error).__name__
            self.failed(kind, lambda: str(error))

    @safely
    def counted(self, read: int, written: int) -> None:
        """See `Operation`."""
        if self._over:
            return
        self._span.set_attribute("gen_ai.usage.input_tokens", read)
        self._span.set_attribute("gen_ai.usage.output_tokens", written)
        self._instruments.count_tokens(read, written, self._kept)

    @safely
    def end(self) -> None:
        """See `Operation`."""
        if not self._over:
            self._over = True
            self._span.end()
            self._instruments.count_duration(time.perf_counter() - self._began, self._kept)

    @safely
    def _attach(self) -> None:
        self._tokens.append(self._instruments.attach(self._span))

    @safely
    def _detach(self) -> None:
        if self._tokens:
            self._instruments.detach(self._tokens.pop())

    def __enter__(self) -> Self:
        self._attach()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._detach()
        if error is not None:
            self.raised(error)
        self.end()

    # Current only while an item is made: between two of them the caller's own code runs.

    def driving(self, items: Iterator[T]) -> Iterator[T]:
        """See `Operation`."""
        with self._to_its_end(), closing(cast("Any", items)):
            while True:
                self._attach()
                try:
                    item = next(items)
                except StopIteration:
                    break
                finally:
                    self._detach()
                yield item

    async def adriving(self, items: AsyncIterator[T]) -> AsyncGenerator[T, None]:
        """See `Operation`."""
        with self._to_its_end():
            async with aclosing(cast("Any", items)):
                while True:
                    self._attach()
                    try:
                        item = await anext(items)
                    except StopAsyncIteration:
                        break
                    finally:
                        self._detach()
                    yield item

    @contextmanager
    def _to_its_end(self) -> Iterator[None]:
        try:
            yield
        except BaseException as error:
            self.raised(error)
            raise
        finally:
            self.end()


def masked(value: Any, redactor: Redactor) -> Any:
    """An attribute as it is told: names and ids are others' to choose.

    Without halves of characters: one in a name, and an exporter loses every span of its batch.
    """
    if isinstance(value, str):
        return redactor.secrets(searchable(value))[0]
    return [masked(one, redactor) for one in value] if isinstance(value, list) else value


def shown(written: object, redactor: Redactor) -> str:
    """What somebody wrote, masked: a text as it is, any other value as JSON.

    Text by text: in JSON the escape of a new line may hide where a secret begins.
    """
    if isinstance(written, str):
        return redactor.all(searchable(written))[0]
    plain = _without_personal(redactor.value(written), redactor)
    return json.dumps(plain, ensure_ascii=False, default=lambda value: shown(str(value), redactor))


def _without_personal(value: Any, redactor: Redactor) -> Any:
    if isinstance(value, str):
        return shown(value, redactor)
    if isinstance(value, dict):
        return {shown(str(k), redactor): _without_personal(v, redactor) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [_without_personal(item, redactor) for item in value]
    return value


def _is_no_failure(error: BaseException) -> bool:
    """Whether a run pauses, or nobody reads on."""
    names = {kind.__name__ for kind in type(error).__mro__}
    return isinstance(error, GeneratorExit) or _PAUSES in names
