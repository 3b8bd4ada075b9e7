"""Many tools as a list: what the model is shown, and that nothing else changes by it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage, BaseMessage, SystemMessage
from langchain_core.tools import BaseTool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from edgeward import AgentConfig, AgentProfile, ReActAgent, ScriptedModel, build_graph
from edgeward.graphs.index import SHOWN_TOKENS, ToolIndex
from edgeward.nodes._index import FIND_TOOLS, MOST_IN_A_ROW
from edgeward.profiles.scripted import call
from edgeward.profiles.tools.python import as_tool
from tests.fakes import ALLOW_ALL, Recorder, answers, ask, on, policy, turn
from tests.wire.server import Call, Say, Wire

MANY = ["pay_invoice", "list_invoices", "send_mail", "read_mail", "create_event", "delete_event"]


class Watching(ScriptedModel):
    """A scripted model that notes which tools it was shown in each request."""

    def _generate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> Any:
        SEEN.append([tool["function"]["name"] for tool in self.bound_tools])
        return super()._generate(messages, *args, **kwargs)


SEEN: list[list[str]] = []


@pytest.fixture(autouse=True)
def seen() -> list[list[str]]:
    """The tools of each request of this test."""
    SEEN.clear()
    return SEEN


def profile(above: int | None, **more: Any) -> dict[str, Any]:
    """The `agent:` mapping of a profile with this bound."""
    return {"id": "a", "name": "A", "tools": {"index_above": above, **more}}


def indexed(
    turns: list[Any],
    *,
    recorder: Recorder | None = None,
    above: int | None = 3,
    words: Mapping[str, str] | None = None,
    tools: list[BaseTool] | None = None,
    **options: Any,
) -> Any:
    """A graph with six tools, of which the model sees a list, and the model."""
    recorder = recorder or Recorder()
    model = Watching(turns=turns)
    graph = build_graph(
        options.pop("strategy", "react"),
        profile=AgentProfile.from_mapping(profile(above)),
        model=model,
        tools=tools or [recorder.tool(name) for name in MANY],
        policy=ALLOW_ALL if words is None else policy(words),
        **options,
    )
    return graph, model


def find(query: Any, call_id: str = "f") -> AIMessage:
    """A turn that looks tools up."""
    return call(FIND_TOOLS, call_id, query=query)


def test_the_model_sees_a_list_and_asks_for_schemas(seen: list[list[str]]) -> None:
    """One request a look-up; what was found is bound from then on, and is called by its name."""
    recorder = Recorder()
    turns = [find("pay an invoice"), call("pay_invoice", "c1", what="x", amount=1), "done"]
    graph, model = indexed(turns, recorder=recorder)
    result = graph.invoke(ask())
    assert result["messages"][-1].text == "done"
    assert seen[0] == [FIND_TOOLS]
    assert seen[1][:2] == [FIND_TOOLS, "pay_invoice"]
    assert seen[2] == seen[1]
    assert recorder.runs == [("pay_invoice", {"what": "x", "amount": 1})]
    system = model.requests[0][0]
    assert isinstance(system, SystemMessage)
    assert all(f"\n- {name}: Does {name}." in system.text for name in MANY)
    assert "properties" not in system.text
    (_, told), (_, ran) = answers(result["messages"])
    assert told.startswith("These can be called now:\n- pay_invoice: Does pay_invoice.")
    assert ran == "pay_invoice ran"


@pytest.mark.parametrize("above", [None, 6, 7])
def test_up_to_the_bound_everything_is_as_without_it(
    above: int | None, seen: list[list[str]]
) -> None:
    """All schemas, no list, and no tool that looks up."""
    graph, model = indexed([find("mail"), "done"], above=above)
    result = graph.invoke(ask())
    assert seen[0] == MANY
    assert "find_tools" not in str(model.requests[0])
    assert "no tool named 'find_tools'" in answers(result["messages"])[0][1]


def test_the_guard_is_the_same_for_a_tool_that_was_not_looked_up(seen: list[list[str]]) -> None:
    """Its name is in the list: arguments are judged by its schema, which is then shown."""
    recorder = Recorder()
    turns = [
        call("send_mail", "c1", what="x", amount="1"),
        call("send_mail", "c2", amount="many"),
        call("pay_invoice", "c3"),
        call("pay_invoices", "c4"),
        "done",
    ]
    words = {"send_mail": "allow", "pay_invoice": "block"}
    graph, _ = indexed(turns, recorder=recorder, words=words)
    plain, _ = indexed(turns, words=words, above=None)
    found = answers(graph.invoke(ask())["messages"])
    assert found == answers(plain.invoke(ask())["messages"])
    assert recorder.runs == [("send_mail", {"what": "x", "amount": 1})]
    assert seen[1] == [FIND_TOOLS, "send_mail"]
    assert seen[4] == [FIND_TOOLS, "send_mail", "pay_invoice"]


def test_looking_up_is_not_the_policy_s_matter_and_leaves_no_trace_in_the_ledger() -> None:
    """It runs nothing: a policy that blocks what it does not name leaves it alone, and what makers
    say of their tools counts as little as in a schema."""
    words = {"pay_invoice": "allow"}
    turns = [find("pay_invoice send_mail"), call("pay_invoice", "c1"), "done", "yes"]
    graph, _ = indexed(turns, words=words, checkpointer=InMemorySaver())
    graph.invoke(ask(), on())
    state = graph.get_state(on()).values
    assert [record["tool"] for record in state["verdicts"]] == ["pay_invoice"]
    assert not [entry for entry in state["ledger"] if FIND_TOOLS in entry["source"]]
    graph.invoke(ask("again"), on())
    state = graph.get_state(on()).values
    assert not [entry for entry in state["ledger"] if FIND_TOOLS in entry["source"]]


def test_a_look_up_beside_calls_is_answered_and_they_are_judged(seen: list[list[str]]) -> None:
    """Every call of the turn has one answer, in any order."""
    recorder = Recorder()
    mixed = turn(
        ("send_mail", {"what": "x"}, "c1"),
        (FIND_TOOLS, {"query": "event"}, "c2"),
        ("pay_invoice", {}, "c3"),
    )
    words = {"send_mail": "allow", "pay_invoice": "block"}
    graph, _ = indexed([mixed, "done"], recorder=recorder, words=words)
    messages = graph.invoke(ask())["messages"]
    assert sorted(call_id for call_id, _ in answers(messages)) == ["c1", "c2", "c3"]
    assert recorder.names() == ["send_mail"]
    assert seen[1][:2] == [FIND_TOOLS, "send_mail"]
    assert {"create_event", "delete_event", "pay_invoice"} < set(seen[1])


def test_what_a_thread_asked_for_is_its_own_and_lasts(seen: list[list[str]]) -> None:
    """Over runs and another process; another thread begins with the list."""
    saver = InMemorySaver()
    turns = [find("send_mail"), "one", "two", "three"]
    graph, _ = indexed(turns, checkpointer=saver)
    graph.invoke(ask(), on("a"))
    again, _ = indexed(turns, checkpointer=saver)
    again.invoke(ask("more"), on("a"))
    assert seen[2] == [FIND_TOOLS, "send_mail"]
    other, _ = indexed(["hello"], checkpointer=saver)
    other.invoke(ask(), on("b"))
    assert seen[3] == [FIND_TOOLS]


async def test_a_run_that_waits_goes_on_with_the_same_tools(seen: list[list[str]]) -> None:
    """Deterministic: an approval resumes with what was shown when the call was made."""
    recorder = Recorder()
    turns = [find("pay_invoice"), call("pay_invoice", "c1", what="x"), "done"]
    saver = InMemorySaver()
    graph, _ = indexed(turns, recorder=recorder, words={"pay_invoice": "ask"}, checkpointer=saver)
    await graph.ainvoke(ask(), on())
    assert not recorder.runs
    result = await graph.ainvoke(Command(resume={"c1": {"decision": "approve"}}), on())
    assert result["messages"][-1].text == "done"
    assert recorder.names() == ["pay_invoice"]
    assert seen == [[FIND_TOOLS], [FIND_TOOLS, "pay_invoice"], [FIND_TOOLS, "pay_invoice"]]


def test_look_ups_count_as_steps_and_end_with_the_bound() -> None:
    """A model that does nothing else comes to its limit."""
    turns = [find("mail", f"f{n}") for n in range(40)]
    for bound in (3, 30):
        graph, model = indexed(turns, max_steps=bound)
        result = graph.invoke(ask())
        assert len(model.requests) == bound
        assert len(answers(result["messages"])) == bound
    assert bound > MOST_IN_A_ROW


def test_a_strategy_that_ends_where_all_is_blocked_can_look_up(
    strategy_file: Callable[[str], Path],
) -> None:
    """Looking up is part of the step: it takes no way of the strategy."""
    strategy = strategy_file(
        "strategy: s\nstart: act\nnodes: {act: act, guard: guard, tool: tool}\n"
        "edges: {act.call: guard, act.answer: end, act.limit: end, guard.allow: tool,"
        " guard.block: end, tool.done: act}\n"
    )
    graph, _ = indexed([find("mail"), "done"], strategy=strategy)
    assert graph.invoke(ask())["messages"][-1].text == "done"


async def test_an_agent_s_trace_shows_look_ups() -> None:
    """As calls with their results."""
    recorder = Recorder()
    config = AgentConfig(
        profile=_loaded(3),
        policy=ALLOW_ALL,
        llm=ScriptedModel(turns=[find("mail"), call("read_mail", "c1"), "done"]),
        tools=[recorder.tool(name) for name in MANY],
    )
    async with ReActAgent(config) as agent:
        result = await agent.run("go")
    assert result.final_answer == "done"
    assert [step.kind for step in result.steps] == [
        "tool_call",
        "tool_result",
        "tool_call",
        "tool_result",
        "answer",
    ]


def _loaded(above: int) -> Any:
    return AgentProfile.from_mapping(profile(above))


@pytest.mark.parametrize("provider", ["openai", "anthropic"])
def test_what_is_asked_for_is_in_the_next_request_of_a_real_client(provider: str) -> None:
    """In the provider's own form; what was there before stays where it is."""
    recorder = Recorder()
    with Wire() as wire:
        wire.script(
            Say(calls=[Call(FIND_TOOLS, '{"query": "pay_invoice"}', "c1")]),
            Say(calls=[Call("pay_invoice", '{"what": "x"}', "c2")]),
            Say("done"),
        )
        url = wire.openai_url if provider == "openai" else wire.url
        llm = {"provider": provider, "model": "m", "api_key": "sk-test-key", "base_url": url}
        graph = build_graph(
            "react",
            profile=AgentProfile.from_mapping({**profile(3), "llm": llm}),
            tools=[recorder.tool(name) for name in MANY],
            policy=ALLOW_ALL,
        )
        result = graph.invoke(ask())
    assert result["messages"][-1].text == "done"
    assert recorder.names() == ["pay_invoice"]
    shown = [
        [(tool.get("function") or tool)["name"] for tool in seen.body["tools"]]
        for seen in wire.requests
    ]
    assert shown == [[FIND_TOOLS], *[[FIND_TOOLS, "pay_invoice"]] * 2]


def test_a_tool_of_that_name_is_refused_where_there_is_a_list() -> None:
    """Both are named; without a list the name is free."""
    tools = [Recorder().tool(name) for name in (*MANY, FIND_TOOLS)]
    said = "two tools are named 'find_tools': the `tools` argument, and the one by which the model"
    with pytest.raises(ValueError, match=said):
        indexed(["x"], tools=tools)
    indexed(["x"], tools=tools, above=None)


def test_a_limit_on_tokens_counts_what_is_shown() -> None:
    """The list instead of all schemas: a budget that has no room for those lets the run go on."""
    tools = [_wordy(f"tool_{n}") for n in range(60)]
    bounded = {"version": 2, "default": "allow", "limits": {"run": {"tokens": 8_000}}}

    def stopped(above: int | None) -> str:
        graph = build_graph(
            "react",
            profile=AgentProfile.from_mapping(profile(above)),
            model=Watching(turns=[find("tool_7"), "done"]),
            tools=tools,
            policy=bounded,
        )
        return str(graph.invoke(ask())["messages"][-1].text)

    assert stopped(10) == "done"
    assert stopped(None) != "done"


def _wordy(name: str) -> BaseTool:
    def work(what: str) -> str:
        return what

    work.__doc__ = f"Does {name}. " + "It has a long description. " * 40
    return as_tool(work, name=name)


def described(**tools: str) -> ToolIndex:
    """An index of tools with these descriptions."""
    return ToolIndex(
        [
            {"type": "function", "function": {"name": n, "description": d, "parameters": {}}}
            for n, d in tools.items()
        ]
    )


OFFICE = described(
    send_mail="Send a mail to one or more people.",
    readMail="Read the newest mails.",
    create_event="Put an event into the calendar.",
    search_files="Search files by their text.",
    search_web="Search the web.",
    issue="Tickets: list, open, close.",
)


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("send_mail", ["send_mail"]),
        ("SEND_MAIL", ["send_mail"]),
        ("`send_mail`, readmail", ["send_mail", "readMail"]),
        ("mails", ["readMail", "send_mail"]),
        ("read mail", ["readMail", "send_mail"]),
        ("calendar event", ["create_event"]),
        ("events", ["create_event"]),
        ("search for text in a file", ["search_files", "search_web"]),
        ("ticket", ["issue"]),
        ("rocket", []),
        ("", []),
        ("x" * 1_000_000, []),
    ],
)
def test_names_and_words_find_tools(query: str, found: list[str]) -> None:
    """Names bring exactly what is named; words bring what fits best first."""
    assert OFFICE.find(query)[: len(found) or None] == found


def test_words_bring_few_and_names_bring_what_is_named() -> None:
    """Within bounds."""
    many = described(**{f"mail_{n}": "Mail." for n in range(40)})
    assert len(many.find("mail")) == 5
    assert len(many.find(" ".join(f"mail_{n}" for n in range(12)))) == 12
    assert len(many.find(" ".join(f"mail_{n}" for n in range(40)))) == 20


@pytest.mark.parametrize("query", [["send_mail", "issue"], "send_mail issue", {"a": "x"}, 7, None])
def test_a_query_may_have_any_shape(query: Any) -> None:
    """Models send lists, numbers and nothing."""
    graph, _ = indexed([find(query), "done"])
    assert graph.invoke(ask())["messages"][-1].text == "done"


def test_the_list_is_short_whatever_makers_write() -> None:
    """One line each, the first sentence, nothing hidden; of very many tools names only."""
    index = described(
        a="First sentence. Second\nsentence.",
        b="x" * 500,
        c="Two\nlines\u200b here",
        d="",
    )
    lines = index.text.split("\n")[1:]
    assert lines == ["- a: First sentence.", f"- b: {'x' * 99}…", "- c: Two lines here", "- d: "]
    many = described(**{f"tool_{n}": "y" * 90 for n in range(400)})
    assert many.text.endswith("\n- tool_399")
    assert "yyy" not in many.text


def test_what_is_shown_stays_within_bounds_and_in_order() -> None:
    """The oldest goes first; what is shown already stays where it is, for the provider's cache."""
    index = described(**{f"t{n}": "z" * 4_000 for n in range(20)})
    shown: list[str] = []
    for n in range(20):
        before, shown = shown, index.kept(shown, [f"t{n}"])
        assert shown[-1] == f"t{n}"
        kept = [name for name in before if name in shown]
        assert shown[: len(kept)] == kept
    assert 5 <= len(shown) <= SHOWN_TOKENS // 1_000
    assert index.kept(shown, [shown[0]]) == shown
    assert index.kept(["gone", "t1"], ["t2"]) == ["t1", "t2"]
    large = described(big="z" * 100_000, small="s")
    assert large.kept(["small"], ["big"]) == ["big"]
