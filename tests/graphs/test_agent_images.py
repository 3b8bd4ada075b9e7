"""`images=` of the agents, over each provider's wire format: who is shown which image, and when."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import HumanMessage

from edgeward import AgentConfig, AgentProfile, PlanAndSolveAgent, ReActAgent, SimpleAgent
from edgeward.graphs.build import build_graph
from edgeward.profiles.images import ImageRefused
from tests.profiles.test_images import JPEG, PNG, data_url
from tests.wire.server import Call, Say, wire
from tests.wire.ways import KEY, REMOTE

__all__ = ["wire"]

WEB = "https://example.com/photo.jpg"


def profile(wire: Any, folder: Path, provider: str = "openai", **images: Any) -> AgentProfile:
    """A profile whose provider is the wire server, and whose folder holds two pictures."""
    (folder / "pictures").mkdir(exist_ok=True)
    (folder / "pictures/shot.png").write_bytes(PNG)
    (folder / "pictures/photo.png").write_bytes(JPEG)
    url = wire.url if provider == "anthropic" else wire.openai_url
    llm = {"provider": provider, "model": "m", "base_url": url, "api_key": KEY, "max_retries": 0}
    agent = {"id": "bot", "name": "Helper", "llm": llm}
    return AgentProfile.from_mapping(
        {**agent, "images": {"folders": ["pictures"], **images}}, base_dir=folder
    )


def shown(wire: Any) -> list[int]:
    """How many images each request held."""
    return [
        sum(text.count(f'"type": "{kind}"') for kind in ("image_url", "image"))
        for text in (json.dumps(seen.body["messages"]) for seen in wire.requests)
    ]


def look(what: str) -> str:
    """Look something up."""
    return f"{what}: found"


@pytest.mark.parametrize("provider", REMOTE)
@pytest.mark.parametrize("way", ["run", "run_sync", "stream", "astream"])
def test_D134_D141_every_provider_gets_its_own_form(wire, tmp_path, provider, way):
    """A file, a mislabelled one and an address, by each way to run; Anthropic in its own blocks."""
    wire.script(Say("A dot."))
    images = [tmp_path / "pictures/shot.png", tmp_path / "pictures/photo.png", WEB]
    with SimpleAgent(AgentConfig(profile=profile(wire, tmp_path, provider))) as agent:
        if way == "run":
            asyncio.run(agent.run("What is it?", images=images))
        elif way == "run_sync":
            agent.run_sync("What is it?", images=images)
        elif way == "stream":
            assert [step.content for step in agent.stream("What is it?", images=images)]
        else:

            async def streamed() -> None:
                async for _ in agent.astream("What is it?", images=images):
                    pass

            asyncio.run(streamed())
    content = wire.requests[0].body["messages"][-1]["content"]
    png, jpeg = (data_url(PNG), data_url(JPEG, "image/jpeg"))
    if provider == "anthropic":
        sources = [block["source"] for block in content[1:]]
        assert content[0]["text"] == "What is it?"
        assert sources == [
            {"type": "base64", "media_type": "image/png", "data": png.partition(",")[2]},
            {"type": "base64", "media_type": "image/jpeg", "data": jpeg.partition(",")[2]},
            {"type": "url", "url": WEB},
        ]
    else:
        assert content == [
            {"type": "text", "text": "What is it?"},
            *({"type": "image_url", "image_url": {"url": url}} for url in (png, jpeg, WEB)),
        ]


@pytest.mark.parametrize("provider", ["openai", "anthropic"])
def test_an_address_in_capitals_is_an_address(wire, tmp_path, provider):
    """Also for Anthropic, whose package knows small letters only."""
    wire.script(Say("A dot."))
    with SimpleAgent(AgentConfig(profile=profile(wire, tmp_path, provider))) as agent:
        agent.run_sync("What is it?", images=["HTTPS://example.com/x.png"])
    assert "//example.com/x.png" in json.dumps(wire.requests[0].body)


def test_D139_a_graph_s_messages_reach_anthropic_translated(wire, tmp_path):
    """A content list is no error there: it is put into Anthropic's form."""
    wire.script(Say("A dot."))
    graph = build_graph("simple", profile=profile(wire, tmp_path, "anthropic"))
    block = {"type": "image_url", "image_url": {"url": data_url(JPEG, "image/png")}}
    graph.invoke({"messages": [HumanMessage([{"type": "text", "text": "look"}, block])]})
    (_, sent) = wire.requests[0].body["messages"][-1]["content"]
    assert sent["source"]["media_type"] == "image/jpeg"


CALL = Say("", [Call("look", '{"what": "dot"}', "c1")])


@pytest.mark.parametrize("provider", ["openai", "anthropic"])
@pytest.mark.parametrize(("when", "counts"), [("once", [1, 0, 0]), ("always", [1, 1, 1])])
def test_D138_react_shows_images_with_its_first_call(wire, tmp_path, provider, when, counts):
    """Later calls of the run have words in their place, unless the profile says otherwise."""
    wire.script(CALL, Say("", [Call("look", '{"what": "line"}', "c2")]), Say("A dot."))
    made = profile(wire, tmp_path, provider, shown=when)
    config = AgentConfig(profile=made, tools=[look], policy="allow_all")
    with ReActAgent(config) as agent:
        result = agent.run_sync("What is it?", images=[tmp_path / "pictures/shot.png"])
    assert result.final_answer == "A dot."
    assert shown(wire) == counts
    assert ("[image 1: shown before]" in json.dumps(wire.requests[1].body)) is (when == "once")


def test_D138_a_plan_shows_images_with_the_plan_and_with_each_step(wire, tmp_path):
    """Not with a step's later rounds, and not with the answer that sums up."""
    wire.script(
        Say("1. Look.\n2. Describe."),
        CALL,
        Say("It is round."),
        Say("It is black."),
        Say("A black dot."),
    )
    config = AgentConfig(profile=profile(wire, tmp_path), tools=[look], policy="allow_all")
    with PlanAndSolveAgent(config) as agent:
        result = agent.run_sync("What is it?", images=[tmp_path / "pictures/shot.png"])
    assert result.final_answer == "A black dot."
    assert shown(wire) == [1, 1, 0, 1, 0]


def test_D138_simple_shows_them_once(wire, tmp_path):
    """One call, one time."""
    wire.script(Say("A dot."))
    with SimpleAgent(AgentConfig(profile=profile(wire, tmp_path))) as agent:
        agent.run_sync("What is it?", images=[tmp_path / "pictures/shot.png", WEB])
    assert shown(wire) == [2]


def test_an_earlier_turn_s_images_are_not_sent_again(wire, tmp_path):
    """A thread that goes on keeps them in words; new ones are shown."""
    wire.script(Say("A dot."), Say("Another."), Say("Both black."))
    with SimpleAgent(AgentConfig(profile=profile(wire, tmp_path))) as agent:
        agent.run_sync("What is it?", images=[tmp_path / "pictures/shot.png"], thread="t")
        agent.run_sync("And this?", images=[WEB], thread="t")
        agent.run_sync("Compare.", thread="t")
    assert shown(wire) == [1, 1, 0]


def test_images_that_a_graph_s_caller_put_in_are_always_shown(wire, tmp_path):
    """Whoever writes the messages decides."""
    wire.script(CALL, Say("A dot."))
    graph = build_graph("react", profile=profile(wire, tmp_path), tools=[look], policy="allow_all")
    block = {"type": "image_url", "image_url": {"url": WEB}}
    graph.invoke({"messages": [HumanMessage([{"type": "text", "text": "look"}, block])]})
    assert shown(wire) == [1, 1]


@pytest.mark.parametrize("agent_of", [SimpleAgent, ReActAgent, PlanAndSolveAgent])
def test_a_refused_image_ends_the_run_before_any_request(wire, tmp_path, agent_of):
    """Nothing was sent, and the message says why."""
    (tmp_path / "secret.png").write_bytes(PNG)
    with agent_of(AgentConfig(profile=profile(wire, tmp_path))) as agent:
        with pytest.raises(ImageRefused, match=r"images\.folders"):
            agent.run_sync("What is it?", images=[tmp_path / "secret.png"])
        with pytest.raises(ImageRefused):
            asyncio.run(agent.run("What is it?", images=[tmp_path / "secret.png"]))
    assert wire.requests == []


def test_an_image_counts_as_an_image_in_a_budget(wire, tmp_path):
    """Not as the letters of its base64: half a megabyte of picture fits into a small budget."""
    (tmp_path / "pictures").mkdir()
    (tmp_path / "pictures/big.png").write_bytes(PNG + b"\0" * 500_000)
    wire.script(Say("A dot.", usage=None))
    policy = {"version": 2, "default": "allow", "limits": {"run": {"tokens": 5_000}}}
    config = AgentConfig(profile=profile(wire, tmp_path), policy=policy)
    with SimpleAgent(config) as agent:
        result = agent.run_sync("What is it?", images=[tmp_path / "pictures/big.png"])
    assert result.stopped_reason == "answered"
    assert 1_000 < result.usage.total_tokens < 2_000
