"""The plain door: verdicts for code that calls its tools itself.

    firewall = Firewall(policy)
    if firewall.check("send_email", {"to": "a@example.com"}).word == "allow": ...

    @firewall.guard
    def send_email(to: str, body: str) -> str: ...

It has no rules of its own: every verdict is that of `decide`.
"""

from __future__ import annotations

import functools
import inspect
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, TypeVar, overload

from ..arguments import require
from .caller import NOBODY, Caller
from .decide import Policy
from .faults import text_of
from .following import Source
from .ledger import History
from .limits import Spending
from .names import shown_name
from .python_values import as_call
from .receipts.keeping import beside
from .rules.limits import limits_of
from .session import Session
from .spent import Usage
from .telemetry.current import executing, ran
from .verdict import ToolCall, Verdict, masked_call

Function = TypeVar("Function", bound=Callable[..., Any])

UNASKED = "it needs an approval, and nobody can be asked here"
_USED_UP = (Iterator, AsyncIterator, Awaitable)
"""Results that are used up when they are read."""
_VALUES = frozenset({str, bytes, int, float, bool, list, tuple, dict, set, frozenset, type(None)})
"""Types of arguments, none of which is the object of a method."""
_UNMASKED = "it may only run with its secrets masked, which cannot be done here"


class PolicyViolationError(ValueError):
    """A call that the policy does not let run. `call` and `verdict` say which, and why."""

    def __init__(
        self, message: str, *, call: ToolCall | None = None, verdict: Verdict | None = None
    ) -> None:
        super().__init__(message)
        self.call = call
        self.verdict = verdict


def keepable(policy: Policy) -> Policy:
    """The policy, if a check of calls alone, which sees no tool's output, can hold calls to it.

    Raises:
        ValueError: it has a `private` rule, which would find nothing here and let all through,
            `limits`, for which nobody counts, or `placeholders`, which nobody would put back.
    """
    policy.in_plain_sight()
    if limits_of(policy) is not None:
        raise ValueError(
            f"policy {policy.name!r}: `limits` needs to see what was used, which a check of calls"
            " alone does not; pass a history with `used`, or use another door"
        )
    if any(hasattr(check, "pieces") for check in policy.checks):
        raise ValueError(
            f"policy {policy.name!r}: `private` needs to see what the tools bring back, which a"
            " check of calls alone does not; pass a history, or use another door"
        )
    return policy


def _as_it_is(result: Any) -> tuple[Any, bool]:
    return result, False


class Firewall:
    """One session under one policy. May be shared by threads.

    A session counts the calls that were let through, by tool, and the tokens that it is told of:
    rules with a budget read them. It knows what the user said and what tools gave back as far as
    it is told (`said`, `observe`; what `guard` wraps reports its own results): conditions such as
    `known`, and `sequence`, rest on that. A call of a `private` tool that is never reported makes
    every text count as private. `thread` is the session's name, `caller` the one whom it serves.

    For `limits` a run's seconds are those since the user spoke (`said`) to the last thing that was
    told. Tokens and money are counted as `add_tokens` says; until it has said something, a limit on
    them blocks. `spending` counts what callers use, also in other sessions. `door` is the name that
    receipts give to what decides here; `check` raises ValueError for a policy that cannot be held
    to there.
    """

    def __init__(
        self,
        policy: Source,
        *,
        thread: str = "",
        caller: Caller = NOBODY,
        spending: Spending | None = None,
        clock: Callable[[], float] = time.monotonic,
        door: str = "firewall",
        check: Callable[[Policy], object] = Policy.in_plain_sight,
    ) -> None:
        self._session = Session(
            policy,
            thread=thread,
            caller=caller,
            spending=spending,
            clock=clock,
            door=door,
            check=check,
        )

    @property
    def policy(self) -> Policy:
        """The policy that counts now."""
        return self._session.policy

    @property
    def history(self) -> History:
        """What the session's next decision knows of the past."""
        return self._session.history

    def add_tokens(
        self,
        tokens: int = 0,
        *,
        read: int = 0,
        written: int = 0,
        cached: int = 0,
        model: str = "",
    ) -> None:
        """Count the tokens that one of the session's model calls has used.

        For a limit on money say what was `read` (of it `cached`) and `written`, and the `model`;
        tokens that are not parted count at the dearer price, an unknown model as the dearest one.
        """
        self.add_usage(Usage(read, written, cached, model, total=tokens))

    def add_usage(self, usage: Usage) -> None:
        """Count what one of the session's model calls has used."""
        self._session.add_usage(usage)

    def said(self, text: str) -> None:
        """The user wrote this: it counts as stated, and calls are counted from here.

        Raises:
            TypeError: it is no text.
        """
        require("text", text, str, "a text")
        self._session.said(text)

    def observe(
        self,
        call: ToolCall | str,
        result: object,
        *,
        arguments: Mapping[str, object] | str | None = None,
        failed: bool = False,
    ) -> None:
        """Report what a call gave back: a text, or a value that is read as JSON. What would be used
        up by reading it (a generator, a task) is not read, and counts as never reported.

        `call` may be the tool's name, with the `arguments` that it was checked with. `failed`: it
        went wrong, and nothing in `result` is believed.

        Raises:
            TypeError: `call` is neither.
        """
        made = as_call(call, arguments) if isinstance(call, str) else call
        require("call", made, ToolCall, "the name of a tool, or edgeward.guards.verdict.ToolCall")
        if not isinstance(result, _USED_UP):
            self._session.observe(made, result, failed=failed)

    def check(
        self, name: str, arguments: Mapping[str, object] | str | None = None, *, id: str = ""
    ) -> Verdict:
        """The verdict on a call. `arguments` are a mapping, or the JSON text that a model wrote.

        Only `allow` means that the call may run as it is. A call that is allowed counts as one
        that ran. Never raises for what the call holds.
        """
        return self.decide(as_call(name, arguments, id=id))

    def decide(self, call: ToolCall) -> Verdict:
        """The verdict on a call that is parsed already; counts it where it may run."""
        return self._session.decide(call)

    def take_back(self, name: str) -> None:
        """Count one call less: one that was let through will be decided again before it runs."""
        self._session.take_back(name)

    def permit(self, call: ToolCall, *, plain: bool = True) -> ToolCall:
        """The call as it may run: with masked arguments where the verdict is `redact`.

        `plain` says that the caller runs exactly the returned arguments; where it is False a
        verdict of `redact` cannot be carried out, and refuses the call.

        Raises:
            PolicyViolationError: it may not run, or needs somebody's approval first.
        """
        verdict = self.decide(call)
        if verdict.word == "allow":
            return call
        masked = masked_call(call, verdict)
        if verdict.word == "redact" and plain and masked is not call:
            return masked
        raise self.refused(call, verdict)

    def refused(self, call: ToolCall, verdict: Verdict) -> PolicyViolationError:
        """The error that says why a call does not run."""
        missing = {"ask": UNASKED, "redact": _UNMASKED}.get(verdict.word, "")
        reason = "; ".join(filter(None, (verdict.reason, missing)))
        named = "" if shown_name(call.name) in reason else f"tool {shown_name(call.name)}: "
        text = f"{self.policy.block_message} {named}{reason}"
        return PolicyViolationError(text, call=call, verdict=verdict)

    @overload
    def guard(self, function: Function, *, name: str = "") -> Function: ...
    @overload
    def guard(self, function: None = None, *, name: str = "") -> Callable[[Function], Function]: ...
    def guard(self, function: Any = None, *, name: str = "") -> Any:
        """Decorate a function (plain or async) so that each call is decided before it runs.

        The call's name is the function's, or `name`. Rules see the arguments by their parameters'
        names, defaults included; an object as `self` or `cls` is left out. With a verdict of
        `redact` the function runs with masked arguments.

        Raises (when the function is called):
            PolicyViolationError: it may not run.
        """
        if function is None:
            return functools.partial(self.guard, name=name)
        if isinstance(function, classmethod | staticmethod):
            return type(function)(self.guard(function.__func__, name=name))
        if isinstance(function, functools.partial):  # what is bound is judged, too
            inner = self.guard(function.func, name=name)
            return functools.partial(inner, *function.args, **function.keywords)
        signature = inspect.signature(function)
        called = name or getattr(function, "__name__", type(function).__name__)

        if inspect.iscoroutinefunction(function):

            @functools.wraps(function)
            async def guarded_async(*args: Any, **kwargs: Any) -> Any:
                given = called, signature, args, kwargs
                call, args, kwargs = await beside(self.policy, self._permitted, *given)
                with self.reporting(call) as report:
                    return report(await function(*args, **kwargs))

            return guarded_async

        @functools.wraps(function)
        def guarded(*args: Any, **kwargs: Any) -> Any:
            call, args, kwargs = self._permitted(called, signature, args, kwargs)
            with self.reporting(call) as report:
                result = report(function(*args, **kwargs))
            return self._awaited(call, result) if inspect.iscoroutine(result) else result

        return guarded

    async def _awaited(self, call: ToolCall, result: Coroutine[Any, Any, Any]) -> Any:
        """What a function that does not look async gives once it is waited for, and reports it."""
        try:
            made = await result
        except BaseException as error:
            self.observe(call, text_of(error), failed=True)
            raise
        self.observe(call, made)
        return made

    @contextmanager
    def reporting(
        self, call: ToolCall, *, read: Callable[[Any], tuple[Any, bool]] = _as_it_is
    ) -> Iterator[Callable[[Any], Any]]:
        """Report what the body gives to the function in its hand; a failure where it raises.

        `read` tells of a result what it says, and whether it says that the call failed.
        """

        told = executing(call, self.policy.redactor, thread=self.history.thread)

        def report(result: Any) -> Any:
            said, failed = read(result)
            self.observe(call, said, failed=failed)
            if not isinstance(result, _USED_UP):
                ran(told, said, failed=failed)
            return result

        try:
            with told:
                yield report
        except BaseException as error:
            self.observe(call, text_of(error), failed=True)
            raise

    def _permitted(
        self,
        name: str,
        signature: inspect.Signature,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
    ) -> tuple[ToolCall, tuple[Any, ...], dict[str, Any]]:
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        given = dict(bound.arguments)
        receiver = next(iter(signature.parameters), "")
        if args and receiver in ("self", "cls") and type(args[0]) not in _VALUES:
            del given[receiver]
        rest = _rest_name(signature)
        extra = given.pop(rest, {}) if rest else {}
        clash = given.keys() & extra.keys()
        given.update(extra)
        call = as_call(name, given)
        if clash:
            call = replace(call, arguments={}, fault="two arguments have one name")
        permitted = self.permit(call, plain=call.arguments == given)
        if permitted is call:
            return call, bound.args, bound.kwargs
        for parameter in bound.arguments:
            if parameter == rest:
                bound.arguments[rest] = {k: permitted.arguments[k] for k in extra}
            elif parameter in permitted.arguments:
                bound.arguments[parameter] = permitted.arguments[parameter]
        return permitted, bound.args, bound.kwargs


def _rest_name(signature: inspect.Signature) -> str:
    """The name of the function's `**parameter`, or empty."""
    kinds = ((p.name, p.kind) for p in signature.parameters.values())
    return next((name for name, kind in kinds if kind is inspect.Parameter.VAR_KEYWORD), "")
