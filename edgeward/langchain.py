"""The LangChain door: a callback handler, a middleware for `create_agent`, and guarded tools.

Each guards by its own means; the middleware sees most. They can be imported where LangChain is
not installed: making one says then what to install, and none of them is silently without effect.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Annotated, Any

from typing_extensions import NotRequired

from .arguments import refusal
from .extras import MissingExtra
from .guards.caller import NOBODY, Caller
from .guards.decide import Policy
from .guards.firewall import Firewall, PolicyViolationError
from .guards.langchain.handler import CallbackHooks
from .guards.langchain.middleware import MiddlewareHooks
from .guards.langchain.tools import guarded_copy
from .guards.limits import Spending
from .guards.rules.limits import limits_of
from .later import Later
from .policies.schema import PolicySource, policy_source

if TYPE_CHECKING:
    from langchain.agents.middleware import AgentMiddleware, AgentState
    from langchain_core import tools as langchain_tools
    from langchain_core.callbacks import BaseCallbackHandler
else:
    langchain_tools = Later("langchain_core.tools")

__all__ = [
    "FirewallCallbackHandler",
    "FirewallMiddleware",
    "MissingExtra",
    "PolicyViolationError",
    "guard_tools",
]


def _base(module: str, name: str) -> Any:
    """A base class of LangChain's, or a stand-in that refuses to be made."""
    try:
        return getattr(import_module(module), name)
    except ImportError as error:
        return _stand_in(error)


def _stand_in(error: ImportError) -> type[Any]:
    text = f"{error}; install the extra `langchain`: pip install 'edgeward[langchain]'"

    class Missing:
        def __new__(cls, *args: Any, **kwargs: Any) -> Any:
            raise MissingExtra(text)

    return Missing


if not TYPE_CHECKING:
    BaseCallbackHandler = _base("langchain_core.callbacks", "BaseCallbackHandler")
    AgentMiddleware = _base("langchain.agents.middleware", "AgentMiddleware")
    AgentState = _base("langchain.agents.middleware", "AgentState")


def _private() -> Any:
    """What keeps a key of an agent's state out of its input and its output."""
    try:
        return import_module("langchain.agents.middleware.types").PrivateStateAttr
    except ImportError:
        return None


class FirewallState(AgentState):
    """What the middleware keeps in an agent's thread: the tokens that its model has used."""

    edgeward_spent: NotRequired[Annotated[dict[str, Any], _private()]]


class FirewallCallbackHandler(CallbackHooks, BaseCallbackHandler):
    """A LangChain callback handler that stops a tool before its body runs, whatever the model.

    Pass it as `callbacks=[handler]` or in a run's config: bare tools, `ToolNode`, `create_agent`
    and `AgentExecutor`, in `invoke`, `ainvoke`, `stream` and `batch`. It raises
    `PolicyViolationError`, which ends the run; a `ToolNode` whose `handle_tool_errors` covers it
    makes a tool message of it instead. One handler is one session: it counts the tokens and calls
    of all runs that it is passed to.

    A second layer, not the first. It does not see a tool's function that is called by hand
    (`tool.func(...)`), a tool that is called without the run's config (in a thread that was
    started without the context, say), or what a provider runs on its side. It sees arguments
    before the tool's schema has read them, and a tool's single text without its parameter's name.
    It can change nothing: a verdict of `ask` or `redact` refuses the call. Results are not masked.
    `FirewallMiddleware` and `guard_tools` do not have these limits. Nor does it see the user's
    words: pass them on (`handler.firewall.said(text)`), or nothing counts as stated.

    `caller` is the one whom the session serves, `spending` counts what callers use. Tokens and
    money are counted from the models that are passed the handler, too; until one has answered, a
    limit on them blocks.

    Raises:
        ConfigError: the policy cannot be loaded. MissingExtra: langchain-core is not installed.
    """

    def __init__(
        self,
        policy_path: PolicySource = None,
        *,
        caller: Caller = NOBODY,
        spending: Spending | None = None,
    ) -> None:
        policy = policy_source(policy_path)
        CallbackHooks.__init__(self, policy, caller=caller, spending=spending)


class FirewallMiddleware(MiddlewareHooks, AgentMiddleware):
    """Middleware for `langchain.agents.create_agent` that decides on every tool call.

    It decides where the tool would be run, so that neither a jump (`jump_to`, `Command`, `Send`)
    nor a rewritten state gets around it. The call is judged as the tool's schema reads it, and runs
    so. A refusal answers the call with the reason, and the run goes on. A verdict of `ask` pauses
    the run with LangGraph's interrupt (the agent needs a checkpointer); resume with a decision of
    LangChain's (`{"type": "approve"}`, `edit`, `reject`) or by the call's id
    (`{call_id: {"decision": "approve"}}`). An edited call is judged again. Secrets are masked in
    what the model is shown, in what tools give back, and in what the model says: in its text, in a
    structured response, in the calls it proposes (a call is judged by what was masked in it), and
    in all of these while they stream (`stream_mode="messages"`, `astream_events`, callbacks): text
    comes once it can be no part of a secret any more, a call when it is whole.

    It must be the last in the list that wraps tool calls; a later one could change a call that was
    decided. A middleware is not told of the others, so `create_agent` builds such an agent without
    a word: it is the first tool call that raises RuntimeError, then and every time, and no tool
    runs. An earlier middleware can
    still call `request.tool` itself, past everything that follows: use what you trust. A later one
    that puts another model into the request has that model heard before it is masked. Not seen:
    tools that a provider runs on its side, models that other middleware calls for itself (a
    summary's, say: neither its tokens nor its words).

    The run's context names the caller (`user`, `tenant`, `roles`). For `limits`, tokens, money and
    calls lie in the thread's messages; seconds are those of model calls and tools that this process
    has seen; `spending` counts what callers use. At a limit no tool runs and no model is asked.

    Raises:
        ConfigError: the policy cannot be loaded. MissingExtra: langchain is not installed.
    """

    state_schema = FirewallState

    def __init__(
        self,
        policy: PolicySource = None,
        *,
        spending: Spending | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__(policy_source(policy), spending=spending, clock=clock)


def guard_tools(
    tools: Sequence[langchain_tools.BaseTool | Callable[..., Any]],
    policy: PolicySource = None,
    *,
    caller: Caller = NOBODY,
    spending: Spending | None = None,
) -> list[langchain_tools.BaseTool]:
    """The same tools, each of which decides before it runs: for any code that calls tools.

    Name, schema, class and behaviour stay; the originals are not changed. A function becomes a tool
    as LangChain's `tool` makes one. However a tool is run (`invoke`, `ainvoke`, `run`, `batch`,
    by a `ToolNode` or an agent), the call is judged as the schema reads it, and runs so; with a
    verdict of `redact` it runs with masked arguments. `block` and `ask` raise
    `PolicyViolationError`. A result that is a text, content in blocks or a tool message comes back
    with its secrets masked, and withheld where it reads like instructions, as the policy's phrases
    say; any other value is the program's own, as it was. The tools of one call are one session. Not
    guarded is the function in a tool (`tool.func`) that is called by hand. What the user wrote is
    not seen: nothing counts as stated. `caller` is the one whom the session serves, `spending`
    counts what callers use.

    Raises:
        ConfigError: the policy cannot be loaded. MissingExtra: langchain-core is not installed.
        ValueError: the policy limits tokens or money, which no tool sees.
        TypeError: `tools` is no list, or what is in it is no tool.
    """
    as_tool = _base("langchain_core.tools", "tool")
    base = _base("langchain_core.tools", "BaseTool")
    firewall = Firewall(
        policy_source(policy),
        caller=caller,
        spending=spending,
        door="guard_tools",
        check=_without_models,
    )
    if callable(tools) or isinstance(tools, base) or not isinstance(tools, Iterable):
        raise refusal("tools", tools, "a list of functions and LangChain tools")

    def made(one: object) -> Any:
        if isinstance(one, base):
            return one
        if not callable(one):
            raise refusal("a tool", one, "a function or a LangChain tool")
        try:
            return as_tool(one)
        except ValueError as error:  # a signature that it cannot read, or no docstring
            raise ValueError(f"{getattr(one, '__name__', 'a tool')}: {error}") from None

    return [guarded_copy(made(one), firewall) for one in tools]


def _without_models(policy: Policy) -> None:
    """Refuse what cannot be held to where no model call is seen, nor what the model reads.

    Raises:
        ValueError: the policy limits tokens or money, or has `placeholders`.
    """
    policy.in_plain_sight()
    limits = limits_of(policy)
    for limit in limits.limits if limits is not None else ():
        if limit.amount in ("tokens", "cost_usd"):
            raise ValueError(
                f"policy {policy.name!r}: guard_tools sees no model call, so that it cannot count "
                f"`{limit.amount}` of `limits`; use FirewallMiddleware, or leave it out"
            )
