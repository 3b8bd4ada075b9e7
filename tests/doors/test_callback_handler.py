"""`FirewallCallbackHandler`: the tool's body does not run, however it is called."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_classic.agents import AgentExecutor, create_tool_calling_agent
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.messages import AIMessage
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.tools import BaseTool, Tool, tool
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode

from edgeward import FirewallCallbackHandler, PolicyViolationError, ScriptedModel

from .plain_door import FLOW
from .spies import POLICY, REFUSED, Spy, calls


async def _stream(runnable: Any, given: Any, config: Any) -> Any:
    return list(runnable.stream(given, config))


async def _astream(runnable: Any, given: Any, config: Any) -> Any:
    return [chunk async for chunk in runnable.astream(given, config)]


async def _events(runnable: Any, given: Any, config: Any) -> Any:
    return [event async for event in runnable.astream_events(given, config, version="v2")]


async def _invoke(runnable: Any, given: Any, config: Any) -> Any:
    return runnable.invoke(given, config)


async def _thread(runnable: Any, given: Any, config: Any) -> Any:
    return await asyncio.to_thread(runnable.invoke, given, config)


async def _batch(runnable: Any, given: Any, config: Any) -> Any:
    return runnable.batch([given, given], config)


WAYS: dict[str, Callable[[Any, Any, Any], Awaitable[Any]]] = {
    "invoke": _invoke,
    "ainvoke": lambda runnable, given, config: runnable.ainvoke(given, config),
    "stream": _stream,
    "astream": _astream,
    "astream_events": _events,
    "batch": _batch,
    "abatch": lambda runnable, given, config: runnable.abatch([given, given], config),
    "invoke in a thread": _thread,
}
KINDS = ["sync_tool", "async_tool"]
ways = pytest.mark.parametrize("way", WAYS)
kinds = pytest.mark.parametrize("kind", KINDS)


def guarded(**more: Any) -> dict[str, Any]:
    """A run's config with a handler in it."""
    return {"callbacks": [FirewallCallbackHandler(POLICY)], **more}


def executor(tools: list[BaseTool], *replies: Any, **settings: Any) -> AgentExecutor:
    """A classic agent that plays these replies."""
    prompt = ChatPromptTemplate.from_messages(
        [("user", "{input}"), ("placeholder", "{agent_scratchpad}")]
    )
    model = ScriptedModel(turns=list(replies))
    agent = create_tool_calling_agent(model, tools, prompt)
    return AgentExecutor.from_agent_and_tools(agent=agent, tools=tools, **settings)


def node(tools: list[BaseTool], **settings: Any) -> Any:
    """A graph of one `ToolNode`."""
    graph = StateGraph(MessagesState)
    graph.add_node("tools", ToolNode(tools, **settings))
    graph.add_edge(START, "tools")
    return graph.compile()


@ways
@kinds
@pytest.mark.parametrize(("name", "arguments", "said"), REFUSED)
async def test_a_bare_tool(
    way: str, kind: str, name: str, arguments: dict[str, Any], said: str
) -> None:
    """Denied, unlisted, bad arguments: the error comes out of the run, and nothing ran
    (F039, F041, F043, F053, X1)."""
    spy = Spy(name)
    with pytest.raises(PolicyViolationError, match=said) as caught:
        await WAYS[way](getattr(spy, kind)(), arguments, guarded())
    assert not spy.runs
    assert isinstance(caught.value, ValueError)
    assert caught.value.call is not None
    assert caught.value.call.name == name


@ways
@kinds
async def test_a_bare_tool_that_may_run_runs(way: str, kind: str) -> None:
    """What is allowed runs with what it was given."""
    spy = Spy("read_doc")
    await WAYS[way](getattr(spy, kind)(), {"text": "notes.txt", "amount": 2}, guarded())
    assert set(spy.runs) == {("notes.txt", 2)}


@ways
@kinds
@pytest.mark.parametrize("setting", ["default", True, False, "text", ValueError, (TypeError,)])
async def test_a_tool_node(way: str, kind: str, setting: Any) -> None:
    """The body does not run; the node raises, or makes a message, as it was told to."""
    spy, other = Spy("send_email"), Spy("search")
    settings = {} if setting == "default" else {"handle_tool_errors": setting}
    graph = node([getattr(spy, kind)(), getattr(other, kind)()], **settings)
    message = calls(("send_email", {"text": "hi"}), ("search", {"text": "hi"}))
    given = {"messages": [message]}
    covered = setting in (True, "text", ValueError)
    if covered:
        done = await WAYS[way](graph, given, guarded())
        if way.endswith("invoke"):
            first, second = done["messages"][-2:]
            assert (first.status, second.status) == ("error", "success")
            assert setting == "text" or "is denied" in first.content
    else:
        with pytest.raises(PolicyViolationError, match="is denied"):
            await WAYS[way](graph, given, guarded())
    assert not spy.runs


@ways
@kinds
async def test_an_agent(way: str, kind: str) -> None:
    """`create_agent` ends with the error."""
    spy = Spy("send_email")
    agent = create_agent(
        ScriptedModel(turns=[calls(("send_email", {"text": "hi"})), "Done."]),
        [getattr(spy, kind)()],
    )
    with pytest.raises(PolicyViolationError, match="is denied"):
        await WAYS[way](agent, {"messages": [("user", "Mail it.")]}, guarded())
    assert not spy.runs


@ways
@kinds
@pytest.mark.parametrize("place", ["config", "executor", "tool"])
async def test_a_classic_executor(way: str, kind: str, place: str) -> None:
    """`AgentExecutor` ends with the error, wherever the handler was given."""
    spy = Spy("send_email")
    one = getattr(spy, kind)()
    handler = FirewallCallbackHandler(POLICY)
    if place == "tool":
        one.callbacks = [handler]
    settings = {"callbacks": [handler]} if place == "executor" else {}
    runner = executor([one], calls(("send_email", {"text": "hi"})), "Done.", **settings)
    config = {"callbacks": [handler]} if place == "config" else {}
    with pytest.raises(PolicyViolationError, match="is denied"):
        await WAYS[way](runner, {"input": "Mail it."}, config)
    assert not spy.runs


async def test_a_classic_executor_with_an_allowed_tool() -> None:
    """What may run runs, and the answer comes."""
    spy = Spy("search")
    runner = executor([spy.async_tool()], calls(("search", {"text": "hi"})), "Done.")
    assert (await runner.ainvoke({"input": "Look."}, guarded()))["output"] == "Done."
    assert spy.runs == [("hi", 1)]


def test_a_tool_that_handles_its_own_errors() -> None:
    """A tool's `handle_tool_error` does not swallow the refusal."""
    spy = Spy("send_email")
    one = spy.sync_tool()
    one.handle_tool_error = True
    one.handle_validation_error = True
    with pytest.raises(PolicyViolationError):
        one.invoke({"text": "hi"}, guarded())
    assert not spy.runs


def test_a_tool_within_a_tool() -> None:
    """A tool that an allowed one calls is decided, too."""
    spy = Spy("send_email")
    inner = spy.sync_tool()

    @tool
    def search(text: str) -> str:
        """Search, it says."""
        return str(inner.invoke({"text": text}))

    with pytest.raises(PolicyViolationError, match="send_email"):
        search.invoke({"text": "hi"}, guarded())
    assert not spy.runs


def test_a_tool_of_one_text() -> None:
    """A text is looked at as well as an object."""
    spy = Spy("search")
    one = Tool(name="search", description="Searches.", func=spy.run)
    assert one.invoke("harmless", guarded()) == "fine"
    with pytest.raises(PolicyViolationError, match="path traversal"):
        one.invoke("../secret", guarded())
    assert spy.runs == [("harmless", 1)]


CONDITIONS = {
    "one of a list": ({"tools": {"pay": {"args": {"account": {"in": ["ops"]}}}}}, "ops", "mallory"),
    "stated": ({"tools": {"pay": {"args": {"account": "stated"}}}}, "ops-1", "mallory-2"),
    "at most": ({"tools": {"pay": {"args": {"amount": {"max": 5}}}}}, "4", "900"),
    "any of two": (
        {"tools": {"pay": [{"args": {"to": {"in": ["a"]}}}, {"args": {"to": {"in": ["b"]}}}]}},
        "b",
        "c",
    ),
    "a glob": ({"tools": {"p*": {"args": {"account": {"match": "ops.*"}}}}}, "ops-1", "mallory"),
    "arg_rules": (
        {"tools": {"pay": "allow"}, "arg_rules": [{"name": "n", "regex": "mal", "args": ["who"]}]},
        "ann",
        "mallory",
    ),
    "nothing of its arguments": ({"tools": {"pay": "allow", "other": "block"}}, "x", None),
}


@pytest.mark.parametrize("case", CONDITIONS)
def test_a_text_fulfils_what_is_asked_of_named_arguments(case: str) -> None:
    """A text has no name here: whatever the policy asks of an argument of its tool, it fulfils."""
    policy, good, bad = CONDITIONS[case]
    spy = Spy("pay")
    one = Tool(name="pay", description="Pays.", func=spy.run)
    handler = FirewallCallbackHandler({"version": 2, **policy})
    handler.firewall.said(f"Pay {good}.")
    assert one.invoke(good, {"callbacks": [handler]}) == "fine"
    if bad is not None:
        with pytest.raises(PolicyViolationError, match="Action blocked"):
            one.invoke(bad, {"callbacks": [handler]})
    assert spy.runs == [(good, 1)]


@pytest.mark.parametrize("error", [NotImplementedError, ValueError, KeyError])
def test_a_check_that_fails_blocks(error: type[Exception]) -> None:
    """Also with an error that LangChain would swallow."""
    handler = FirewallCallbackHandler(POLICY)

    class Broken(dict[str, Any]):
        def items(self) -> Any:
            raise error

    with pytest.raises(PolicyViolationError):
        handler.on_tool_start({"name": "search"}, "", inputs=Broken(text="hi"))


@pytest.mark.parametrize("place", ["config", "executor"])
def test_an_executors_call_counts_once(place: str) -> None:
    """An action that is announced, and then starts, is one call; one that only starts, too."""
    spy = Spy("search")
    handler = FirewallCallbackHandler(POLICY)
    settings = {"callbacks": [handler]} if place == "executor" else {}
    look = ("search", {"text": "hi"})
    runner = executor([spy.sync_tool()], calls(look, look), calls(look), "Done.", **settings)
    runner.invoke({"input": "Look."}, {"callbacks": [handler]} if place == "config" else {})
    assert len(spy.runs) == 3
    assert handler.firewall.history.calls == {"search": 3}
    assert not handler._announced


@pytest.mark.parametrize("word", ["ask", "redact"])
def test_what_a_handler_cannot_do_is_refused(word: str) -> None:
    """It can ask nobody and change nothing: such a call does not run."""
    spy = Spy("search")
    handler = FirewallCallbackHandler({"version": 2, "tools": {"search": word}})
    key = "sk-" + "a1" * 12
    with pytest.raises(PolicyViolationError) as caught:
        spy.sync_tool().invoke({"text": f"the key {key}"}, {"callbacks": [handler]})
    assert key not in str(caught.value)
    assert not spy.runs


def test_tokens_are_counted() -> None:
    """The budget of a session holds across the runs that a handler is passed to (F051)."""
    spy = Spy("search")
    reply = calls(("search", {"text": "hi"}))
    reply.usage_metadata = {"input_tokens": 60, "output_tokens": 40, "total_tokens": 100}
    agent = create_agent(ScriptedModel(turns=[reply, "Done."]), [spy.sync_tool()])
    handler = FirewallCallbackHandler(
        {"version": 2, "default": "allow", "token_budget_per_session": 150}
    )
    given = {"messages": [("user", "Look.")]}
    agent.invoke(given, {"callbacks": [handler]})
    with pytest.raises(PolicyViolationError, match="token budget of 150"):
        agent.invoke(given, {"callbacks": [handler]})
    assert len(spy.runs) == 1


def test_what_would_be_used_up_by_reading_counts_as_not_read() -> None:
    """A tool that gives an iterator, and is private: no text is known to be free of it."""
    handler = FirewallCallbackHandler(FLOW)

    @tool
    def read_inbox() -> Any:
        """Read."""
        return iter(["code 482913X"])

    @tool
    def post(text: str) -> str:
        """Post."""
        return "posted"

    assert list(read_inbox.invoke({}, {"callbacks": [handler]})) == ["code 482913X"]
    for text in ("it is 482913X", "hello"):
        with pytest.raises(PolicyViolationError, match="not reported"):
            post.invoke({"text": text}, {"callbacks": [handler]})


def test_what_a_handler_does_not_see() -> None:
    """As its docstring says: the function by hand, a thread without the run's context."""
    spy = Spy("send_email")
    one: Any = spy.sync_tool()

    @tool
    def search(text: str) -> str:
        """Search, it says."""
        thread = threading.Thread(target=one.invoke, args=({"text": text},))
        thread.start()
        thread.join()
        return str(one.func(text))

    search.invoke({"text": "hi"}, guarded())
    assert len(spy.runs) == 2


def test_it_is_a_handler_of_langchains() -> None:
    """And says what it is set to: errors are raised, in line."""
    handler = FirewallCallbackHandler(POLICY)
    assert isinstance(handler, BaseCallbackHandler)
    assert handler.raise_error
    assert handler.run_inline
    assert not handler.ignore_agent


def test_without_langchain(tmp_path: Path) -> None:
    """Without LangChain the names import; making one of them names the extra (F042)."""
    code = """
import sys
for name in ("langchain", "langchain_core", "langgraph"):
    sys.modules[name] = None
from edgeward import FirewallCallbackHandler, FirewallMiddleware, MissingExtra, guard_tools
for make in (FirewallCallbackHandler, FirewallMiddleware, lambda _: guard_tools([print], _)):
    try:
        make("default")
    except MissingExtra as error:
        assert "edgeward[langchain]" in str(error), error
    else:
        raise SystemExit(f"{make} was made")
"""
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_a_policy_that_is_wrong(tmp_path: Path) -> None:
    """It is refused when the handler is made, not when a tool starts."""
    with pytest.raises(ValueError, match="there is no such policy"):
        FirewallCallbackHandler(str(tmp_path / "none.yaml"))


def test_a_model_that_answers() -> None:
    """A run without a tool is not touched."""
    agent = create_agent(ScriptedModel(turns=["Hello."]), [])
    state = agent.invoke({"messages": [("user", "Hi.")]}, guarded())
    assert isinstance(state["messages"][-1], AIMessage)
