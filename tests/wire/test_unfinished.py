"""Replies that are broken, cut off, withheld or refused."""

from __future__ import annotations

import pytest
from langchain_core.messages import HumanMessage

from edgeward import AgentConfig, ReActAgent, SimpleAgent
from edgeward.graphs.build import build_graph

from .server import Call, Events, Raw, Say
from .talk import add, nothing, profile
from .ways import BOTH, EVERY


@EVERY
async def test_C25_broken_arguments_go_back_to_the_model(wire, provider):
    """The broken call gets an error, the valid one beside it runs, the model tries again."""
    if provider == "anthropic":
        pytest.skip("its whole answers hold objects; the streamed ones are in test_broken_calls")
    wire.script(
        Say("", [Call("add", '{"a": 1, "b": unfinis', "c1"), Call("nothing", "", "c2")]),
        Say("Sorry."),
    )
    config = AgentConfig(profile=profile(wire, provider), tools=[add, nothing], policy="allow_all")
    async with ReActAgent(config) as agent:
        result = await agent.run("go")
    assert result.final_answer == "Sorry."
    (step,) = [step for step in result.steps if step.kind == "tool_result"]
    said = {m.tool_call_id: m for m in step.tool_results}
    assert said["c1"].status == "error"
    assert "unfinis" in said["c1"].text
    assert said["c2"].status == "success"


@BOTH
async def test_a_cut_off_answer_is_not_told_as_a_whole_one(wire, provider):
    """What there is of it is given, and the result says why it stopped."""
    finish = "max_tokens" if provider == "anthropic" else "length"
    wire.script(Say("It all began", finish=finish))
    async with SimpleAgent(AgentConfig(profile=profile(wire, provider))) as agent:
        result = await agent.run("Tell me a long story.")
    assert (result.stopped_reason, result.final_answer) == ("length", "It all began")


@BOTH
def test_a_cut_off_stream_is_not_told_as_a_whole_one(wire, provider):
    """Streamed through the graph, it is the same."""
    finish = "max_tokens" if provider == "anthropic" else "length"
    wire.script(Say("It all began", finish=finish))
    graph = build_graph("simple", profile=profile(wire, provider))
    list(graph.stream({"messages": [HumanMessage("hi")]}, stream_mode="messages"))
    wire.script(Say("It all began", finish=finish))
    last = graph.invoke({"messages": [HumanMessage("hi")]})["messages"][-1]
    assert last.response_metadata.get("finish_reason", last.response_metadata.get("stop_reason"))


def last_values(graph, streamed):
    """What a run ends with, its model asked for a stream or for a whole answer."""
    modes = ["messages", "values"] if streamed else ["values"]
    asked = {"messages": [HumanMessage("hi")]}
    return [value for mode, value in graph.stream(asked, stream_mode=modes) if mode == "values"][-1]


@BOTH
@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
def test_C29_no_call_of_a_withheld_reply_runs(wire, provider, streamed):
    """The provider broke the reply off: its call does not run, and the run says why it stopped."""
    runs = []

    def pay(amount: int) -> str:
        """Pay."""
        runs.append(amount)
        return "paid"

    finish = "refusal" if provider == "anthropic" else "content_filter"
    wire.script(Say("I will", [Call("pay", '{"amount": 1}')], finish=finish))
    graph = build_graph("react", profile=profile(wire, provider), policy="allow_all", tools=[pay])
    values = last_values(graph, streamed)
    assert values["run"]["stopped"] == "filtered"
    assert (values["messages"][-1].text, runs) == ("I will", [])


@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
def test_a_refusal_in_words_of_its_own_is_the_answer(wire, streamed):
    """OpenAI puts it beside the content, which is null then."""
    words = {"role": "assistant", "content": None, "refusal": "I cannot help with that."}
    if streamed:
        ends = {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}
        wire.script(Events([{"choices": [{"index": 0, "delta": words}]}, ends, "data: [DONE]\n\n"]))
    else:
        wire.script(Raw({"choices": [{"index": 0, "message": words, "finish_reason": "stop"}]}))
    graph = build_graph("simple", profile=profile(wire))
    values = last_values(graph, streamed)
    assert values["messages"][-1].text == words["refusal"]
