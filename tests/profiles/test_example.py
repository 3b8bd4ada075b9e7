"""The example bundle: every block of a profile, copied out of the package, at work and offline."""

from __future__ import annotations

import shutil
from pathlib import Path

from langchain_core.messages import BaseMessage

from edgeward.agent import AgentConfig, ReActAgent
from edgeward.config import AgentProfile
from edgeward.examples import EXAMPLE_AGENT_DIR, EXAMPLE_PROFILE_PATH
from edgeward.profiles.llm import resolve_llm
from edgeward.profiles.scripted import ScriptedModel, call
from edgeward.profiles.tools.mcp.review import review_mcp


def test_d006_the_example_is_there() -> None:
    """Its folder and its profile, which says something of every block."""
    assert EXAMPLE_PROFILE_PATH.is_file()
    profile = AgentProfile.from_yaml(EXAMPLE_PROFILE_PATH)
    assert {"llm", "cognitive", "memory", "rag", "tools", "prompt"} <= profile.model_fields_set
    assert profile.tools.python
    assert profile.tools.skills
    assert profile.tools.mcp


def test_d007_d008_a_copy_of_the_example_answers(tmp_path: Path) -> None:
    """With a tool of every kind, from documents and memory, without a network."""
    bundle = tmp_path / "mine"
    shutil.copytree(EXAMPLE_AGENT_DIR, bundle)
    review_mcp(bundle / "profile.yaml").accept()
    said: list[str] = []

    def heard(messages: list[BaseMessage]) -> str:
        said.extend(message.text for message in messages if message.type == "tool")
        return "Done."

    turns = [
        call("count_parts", part="rotor"),
        call("figures"),
        call("figures__table", args=["1", "2"]),
        call("weekday", day="2026-11-30"),
        call("rag_search", query="How long does a battery last?"),
        call("memory_recall", query="battery"),
        heard,
    ]
    model = ScriptedModel(turns=turns)
    config = AgentConfig(profile=bundle, policy="example", llm=model, load_env=False)
    with ReActAgent(config) as agent:
        result = agent.run_sync("What do we have, and how long does it fly?")
    assert result.final_answer == "Done."
    assert "12 x rotor" in said[0]
    assert "one number an argument" in said[1]
    assert "| mean | 1.5 |" in said[2]
    assert "Monday" in said[3]
    assert "31 minutes" in said[4]
    assert len(said) == 6
    assert (bundle / "memory").is_dir()
    assert not (EXAMPLE_AGENT_DIR / "memory").exists()


def test_the_example_takes_its_model_from_the_environment() -> None:
    """Its provider, too: whoever has a key of some provider runs it as it is."""
    env = {"AGENT_LAB_LLM_PROVIDER": "deepseek", "DEEPSEEK_MODEL": "m", "DEEPSEEK_API_KEY": "k"}
    settings = resolve_llm(AgentProfile.from_yaml(EXAMPLE_PROFILE_PATH).llm, env)
    assert (settings.provider, settings.model) == ("deepseek", "m")
