"""`Firewall.guard`: a function, plain or async, whose calls are decided before they run."""

from __future__ import annotations

import asyncio
import functools
import inspect
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest

from edgeward import Firewall, PolicyViolationError

from .plain_door import FLOW, KEY, Point
from .spies import POLICY


def test_a_function_decides_before_it_runs() -> None:
    """Positional, named and default arguments: judged by their names; a refusal is raised."""
    firewall = Firewall(POLICY)
    seen: list[Any] = []

    @firewall.guard
    def search(text: str, *more: str, where: str = "here", **rest: str) -> str:
        """Search."""
        seen.append((text, more, where, rest))
        return "fine"

    assert search("a", "b", where="c", d="e") == "fine"
    for args, kwargs in (
        (("../a",), {}),
        (("a", "../b"), {}),
        (("a",), {"where": "../c"}),
        (("a",), {"d": "../e"}),
    ):
        with pytest.raises(PolicyViolationError, match="path traversal") as caught:
            search(*args, **kwargs)
        assert caught.value.verdict is not None
        assert caught.value.verdict.word == "block"
    assert seen == [("a", ("b",), "c", {"d": "e"})]
    assert (search.__name__, search.__doc__) == ("search", "Search.")
    assert list(inspect.signature(search).parameters) == ["text", "more", "where", "rest"]


def test_a_default_is_judged() -> None:
    """What the function would take is looked at as well as what it was given."""

    @Firewall(POLICY).guard
    def search(path: str = "../secret") -> str:
        return path

    with pytest.raises(PolicyViolationError):
        search()


def test_a_name_of_its_own() -> None:
    """A function may be known to the policy under another name."""

    @Firewall(POLICY).guard(name="send_email")
    def search(text: str) -> str:
        return text

    with pytest.raises(PolicyViolationError, match="'send_email' is denied"):
        search("hi")


async def test_an_async_function() -> None:
    """It stays one, and decides before its body runs."""
    seen: list[str] = []

    @Firewall(POLICY).guard
    async def search(text: str) -> str:
        await asyncio.sleep(0)
        seen.append(text)
        return text

    assert inspect.iscoroutinefunction(search)
    assert await search("hi") == "hi"
    with pytest.raises(PolicyViolationError):
        await search("../hi")
    assert seen == ["hi"]


async def test_generators() -> None:
    """They decide when they are called, sync and async."""
    firewall = Firewall(POLICY)

    @firewall.guard
    def search(text: str) -> Iterator[str]:
        yield text

    @firewall.guard
    async def read_doc(text: str) -> AsyncIterator[str]:
        yield text

    assert list(search("a")) == ["a"]
    assert [text async for text in read_doc("a")] == ["a"]
    with pytest.raises(PolicyViolationError):
        search("../a")
    with pytest.raises(PolicyViolationError):
        read_doc("../a")


def test_a_method() -> None:
    """Its object is no argument of the call."""
    firewall = Firewall(POLICY)

    class Desk:
        @firewall.guard
        def search(self, text: str) -> str:
            return text

    assert Desk().search("hi") == "hi"
    with pytest.raises(PolicyViolationError):
        Desk().search("../hi")


def test_class_methods_and_static_ones() -> None:
    """With the guard below their decorator or above it, called on the class or on an object."""
    firewall = Firewall(POLICY)

    class Desk:
        @firewall.guard
        @classmethod
        def search(cls, text: str) -> str:
            return cls.__name__ + text

        @firewall.guard
        @staticmethod
        def read_doc(text: str) -> str:
            return text

        @classmethod
        @firewall.guard(name="search")
        def look(cls, text: str) -> str:
            return cls.__name__ + text

        @staticmethod
        @firewall.guard(name="search")
        def see(text: str) -> str:
            return text

    for desk in (Desk, Desk()):
        assert desk.search("1") == desk.look("1") == "Desk1"
        assert desk.read_doc("1") == desk.see("1") == "1"
        for method in (desk.search, desk.look, desk.read_doc, desk.see):
            with pytest.raises(PolicyViolationError):
                method("../hi")


@pytest.mark.parametrize("value", ["../hi", ["../hi"], {"a": "../hi"}], ids=str)
def test_an_argument_is_no_object_whatever_its_name(value: Any) -> None:
    """A plain function's `self` or `cls` is judged: a model may fill it."""
    firewall = Firewall(POLICY)
    with pytest.raises(PolicyViolationError):
        firewall.guard(lambda self: self, name="search")(value)
    with pytest.raises(PolicyViolationError):
        firewall.guard(lambda cls, text="": cls, name="search")(value)


def test_what_a_partial_binds_is_judged() -> None:
    """By position or by name; the call's name is the function's."""
    firewall = Firewall(POLICY)

    def search(where: str, text: str) -> str:
        return where + text

    assert firewall.guard(functools.partial(search, "a"))("b") == "ab"
    for bound in (functools.partial(search, "../a"), functools.partial(search, text="../a")):
        with pytest.raises(PolicyViolationError):
            firewall.guard(bound)("b")


def test_arguments_that_do_not_fit_are_pythons_error() -> None:
    """As without the guard."""

    @Firewall(POLICY).guard
    def search(text: str) -> str:
        return text

    with pytest.raises(TypeError, match="missing a required argument"):
        search()  # type: ignore[call-arg]


def test_two_arguments_of_one_name() -> None:
    """A positional-only parameter and a named one: no rule could tell them apart."""

    @Firewall(POLICY).guard
    def search(text: str, /, **rest: str) -> str:
        return text

    with pytest.raises(PolicyViolationError, match="one name"):
        search("a", text="b")


def test_redact_runs_masked() -> None:
    """Where the arguments are plain values; where they are not, the call is refused."""
    seen: list[Any] = []

    @Firewall({"version": 2, "tools": {"search": "redact"}}).guard
    def search(text: Any, **rest: Any) -> None:
        seen.append((text, rest))

    search(f"key {KEY}", more=[KEY])
    mask = "[REDACTED:openai_key]"
    assert seen == [(f"key {mask}", {"more": [mask]})]
    with pytest.raises(PolicyViolationError, match="cannot be done here"):
        search(Point(KEY))
    assert len(seen) == 1


def test_a_method_runs_masked() -> None:
    """Its object is left as it is."""

    class Desk:
        @Firewall({"version": 2, "tools": {"search": "redact"}}).guard
        def search(self, text: str) -> tuple[object, str]:
            return self, text

    desk = Desk()
    assert desk.search(f"key {KEY}") == (desk, "key [REDACTED:openai_key]")


def test_ask_is_refused() -> None:
    """A function can ask nobody; a loop that can looks at the verdict of `check`."""
    firewall = Firewall({"version": 2, "tools": {"search": "ask"}})
    with pytest.raises(PolicyViolationError, match="nobody can be asked"):
        firewall.guard(lambda text: text, name="search")("hi")
    assert firewall.check("search", {"text": "hi"}).word == "ask"
    assert not firewall.history.calls


async def test_a_guarded_function_reports_what_it_gives() -> None:
    """Sync and async, any value; a failure gave nothing; a generator's values stay unseen."""
    firewall = Firewall(FLOW)

    @firewall.guard
    def read_inbox(fail: bool = False) -> list[dict[str, str]]:
        if fail:
            raise OSError("no")
        return [{"mail": "code 482913X"}]

    @firewall.guard(name="read_inbox")
    async def later() -> Any:
        return object()

    @firewall.guard(name="read_inbox")
    def one_by_one() -> Iterator[str]:
        yield "code 1"

    with pytest.raises(OSError, match="no"):
        read_inbox(fail=True)
    assert firewall.check("post", {"text": "it is 482913X"}).word == "allow"
    read_inbox()
    await later()
    assert firewall.check("post", {"text": "it is 482913X"}).word == "block"
    assert firewall.check("post", {"text": "hello"}).word == "allow"
    one_by_one()
    assert firewall.check("post", {"text": "hello"}).word == "block"


class _Inbox:
    async def __call__(self, fail: bool = False) -> str:
        if fail:
            raise OSError("no")
        return "code 482913X"


def _plainly(function: Any) -> Any:
    """A decorator that knows nothing of async functions."""
    return functools.wraps(function)(lambda *args, **kwargs: function(*args, **kwargs))


@pytest.mark.parametrize("make", [_Inbox, lambda: _plainly(_Inbox().__call__)], ids=["object", "?"])
async def test_what_only_turns_out_to_be_async_is_read_when_it_is_there(make: Any) -> None:
    """What is waited for counts, and not the promise of it."""
    firewall = Firewall(FLOW)
    guarded = firewall.guard(make(), name="read_inbox")
    with pytest.raises(OSError, match="no"):
        await guarded(fail=True)
    assert firewall.check("post", {"text": "it is 482913X"}).word == "allow"
    assert await guarded() == "code 482913X"
    assert firewall.check("post", {"text": "it is 482913X"}).word == "block"
    assert firewall.check("post", {"text": "hello"}).word == "allow"


async def test_a_task_that_nobody_reads_makes_all_text_private() -> None:
    """Its result is never seen here, so nothing can be said of any text."""
    firewall = Firewall(FLOW)
    task = firewall.guard(lambda: asyncio.ensure_future(_Inbox()()), name="read_inbox")()
    assert await task == "code 482913X"
    assert firewall.check("post", {"text": "hello"}).word == "block"
