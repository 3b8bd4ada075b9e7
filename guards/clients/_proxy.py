"""A wrapped client: the client itself, with the methods that the guard has to see in between.

A vendor's file names its surface:

    SURFACE = Surface(
        vendor="FirewallAcme",
        guarded={"chat.create": _create},              # path -> what is called in its place
        passed=("models.*", "files.*", "close"),       # harmless, untouched
        copies=("with_options", "copy"),               # give clients; theirs are wrapped, too
        modes=("with_raw_response",),                  # segments that do not change what a path is
    )
    class FirewallAcme(GuardedClient): ...

What is neither guarded nor passed may return tool calls or the model's text unread: calling it
raises `UnguardedMethod`, unless its path is opted out by name (`unguarded=["completions.create"]`).
So what an SDK brings next year is refused until somebody has looked at it. Values that are no
methods (a base URL, an API key) are the client's own.
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from typing import Any, TypeVar

from ..caller import Caller
from ._exchange import Door

Result = TypeVar("Result")

_PLAIN = (str, bytes, int, float, bool, type(None), Mapping, list, tuple, set, frozenset)


class UnguardedMethod(TypeError):
    """A method of a wrapped client that no guard stands in front of."""


@dataclass(frozen=True, slots=True)
class Target:
    """What a guarded method stands for: the client's own method, and how it was reached.

    `path` is without modes (`chat.completions.create`), `mode` the segment that was left out
    (`with_raw_response`) or empty.
    """

    door: Door
    raw: Callable[..., Any]
    path: str
    mode: str = ""


Wrap = Callable[..., Any]
"""`wrap(target, *args, **kwargs)`: called in place of the method, sync; may return an awaitable."""


def through(target: Target, *args: Any, **kwargs: Any) -> Any:
    """The client's own method: what it sends and reads is guarded elsewhere."""
    return target.raw(*args, **kwargs)


def also_beta(*paths: str) -> tuple[str, ...]:
    """Each path, from the client and from `beta`, where some of them live."""
    return tuple(f"{prefix}{path}" for prefix in ("", "beta.") for path in paths)


@dataclass(frozen=True, slots=True)
class Surface:
    """The methods of a vendor's client, by path from the client; `passed`, `copies` are globs."""

    vendor: str
    guarded: Mapping[str, Wrap]
    passed: tuple[str, ...] = ()
    copies: tuple[str, ...] = ()
    modes: tuple[str, ...] = ()
    hints: Mapping[str, str] = field(default_factory=dict)
    """What to use in place of a method that is refused, by glob."""

    def passes(self, path: str) -> bool:
        """Whether a path is harmless, or lies below one that is."""
        return any(_below(path, glob) for glob in self.passed)

    def guards_below(self, path: str) -> bool:
        """Whether a guarded method lies below the path."""
        return any(known.startswith(f"{path}.") for known in self.guarded)


@dataclass(frozen=True, slots=True)
class _Frame:
    surface: Surface
    door: Door
    unguarded: tuple[str, ...]


class Guarded:
    """One object of a wrapped client: the client, or a resource below it."""

    __slots__ = ("__weakref__", "_frame", "_mode", "_path", "_raw")

    def __init__(self, raw: Any, frame: _Frame, path: str = "", mode: str = "") -> None:
        for name, value in (("_raw", raw), ("_frame", frame), ("_path", path), ("_mode", mode)):
            object.__setattr__(self, name, value)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        frame, mode = self._frame, self._mode
        value = getattr(self._raw, name)
        if name.startswith("_"):
            return value  # private: whoever reaches for it knows what it goes around
        surface = frame.surface
        if name in surface.modes:
            return Guarded(value, frame, self._path, name)
        path = f"{self._path}.{name}" if self._path else name
        wrap = surface.guarded.get(path)
        if wrap is not None:
            return _bound(wrap, Target(frame.door, value, path, mode), value)
        if surface.guards_below(path):
            return Guarded(value, frame, path, mode)
        if surface.passes(path) or any(_below(path, glob) for glob in frame.unguarded):
            return value
        if any(fnmatchcase(path, glob) for glob in surface.copies):
            return self._copying(value)
        if isinstance(value, _PLAIN) or not (callable(value) or _akin(value, self._raw)):
            return value
        return Refused(value, frame, path, mode)

    def _copying(self, method: Callable[..., Any]) -> Callable[..., Any]:
        def copied(*args: Any, **kwargs: Any) -> Any:
            return self._around(method(*args, **kwargs), self._frame.door)

        return copied

    def _around(self, client: Any, door: Door) -> Any:
        """The same object around another client's."""
        return Guarded(client, replace(self._frame, door=door), self._path, self._mode)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self._raw, name, value)

    def __dir__(self) -> list[str]:
        return dir(self._raw)

    def __repr__(self) -> str:
        where = f".{self._path}" if self._path else ""
        return f"<{self._frame.surface.vendor}{where} around {type(self._raw).__name__}>"

    def __enter__(self) -> Any:
        self._raw.__enter__()
        return self

    def __exit__(self, *exc: Any) -> Any:
        return self._raw.__exit__(*exc)

    async def __aenter__(self) -> Any:
        await self._raw.__aenter__()
        return self

    async def __aexit__(self, *exc: Any) -> Any:
        return await self._raw.__aexit__(*exc)

    def __copy__(self) -> Guarded:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Guarded:
        return self

    def __reduce__(self) -> Any:
        raise TypeError(f"a {self._frame.surface.vendor} holds connections and cannot be pickled")


class Refused(Guarded):
    """Something that no guard stands in front of: it raises as soon as it is called."""

    __slots__ = ()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        value = getattr(self._raw, name)
        path = f"{self._path}.{name}"
        frame = self._frame
        if name in frame.surface.modes:
            return Refused(value, frame, self._path, name)
        if frame.surface.passes(path) or any(_below(path, glob) for glob in frame.unguarded):
            return value
        if name.startswith("_") or isinstance(value, _PLAIN):
            return value
        return Refused(value, frame, path, self._mode)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        vendor, path = self._frame.surface.vendor, self._path
        hints = self._frame.surface.hints
        hint = next((text for glob, text in hints.items() if _below(path, glob)), "")
        instead = f" Use {hint}." if hint else ""
        raise UnguardedMethod(
            f"{vendor} does not guard `{path}`, which can return tool calls or the model's text."
            f"{instead} To call it without the guard, opt out of it by name:"
            f' {vendor}(..., unguarded=["{path}"])'
        )


class GuardedClient(Guarded):
    """A wrapped client. A subclass gives its surface and its constructor.

    It is an instance of the client's own class, too, as far as `isinstance` asks, so that code
    which looks for the SDK's client takes it.
    """

    __slots__ = ()

    def __init__(
        self, client: Any, surface: Surface, door: Door, *, unguarded: Sequence[str] = ()
    ) -> None:
        known = tuple(_checked(path, client, surface) for path in unguarded)
        super().__init__(client, _Frame(surface, door, known))

    def _around(self, client: Any, door: Door) -> Any:
        """This wrapper around another client."""
        made = object.__new__(type(self))
        Guarded.__init__(made, client, replace(self._frame, door=door))
        return made

    def serving(self, *, user: str = "", tenant: str = "", roles: Sequence[str] = ()) -> Any:
        """This client for requests on somebody's behalf: the caller whom a policy asks for."""
        caller = Caller(user, tenant, tuple(roles))
        return self._around(self._raw, self._frame.door.serving(caller))

    __class__ = property(lambda self: type(self._raw))


def settled(value: Any, then: Callable[[Any], Result]) -> Result | Awaitable[Result]:
    """`then(value)`; where the client is async and `value` has to be awaited, after that.

    An SDK's methods do not say by their kind whether they are async: what they return does.
    """
    if not inspect.isawaitable(value):
        return then(value)

    async def after() -> Result:
        return then(await value)

    return after()


def _bound(wrap: Wrap, target: Target, raw: Any) -> Callable[..., Any]:
    def guarded(*args: Any, **kwargs: Any) -> Any:
        return wrap(target, *args, **kwargs)

    guarded.__name__ = getattr(raw, "__name__", target.path.rpartition(".")[2])
    guarded.__doc__ = getattr(raw, "__doc__", None)
    if callable(raw):
        guarded.__wrapped__ = raw  # type: ignore[attr-defined]
    return guarded


def _akin(value: Any, client: Any) -> bool:
    """Whether it is an object of the SDK's own, which may have methods, and no plain value."""
    ours, theirs = (type(one).__module__.partition(".")[0] for one in (client, value))
    return ours == theirs


def _below(path: str, glob: str) -> bool:
    """Whether the path is as the glob says, or lies below it."""
    return fnmatchcase(path, glob) or fnmatchcase(path, f"{glob}.*")


def _checked(path: str, client: Any, surface: Surface) -> str:
    """A path that is opted out; it has to be there, and not be guarded.

    Raises:
        ValueError: there is no such method, or it is guarded.
    """
    covered = [known for known in surface.guarded if _below(known, path)]
    if covered:
        raise ValueError(
            f"unguarded: `{path}` is guarded ({covered[0]}) and cannot be opted out of"
        )
    value = client
    for name in path.removesuffix(".*").split("."):
        if not hasattr(value, name):
            raise ValueError(
                f"unguarded: {type(client).__name__} has no `{path}`; write a method's path from"
                " the client, like `completions.create`"
            )
        value = getattr(value, name)
    return path
