"""DefenseAgent's public names: each is there, and does what its description says."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import pytest

from edgeward import AgentProfile, ReActAgent, ScriptedModel, create_agent
from edgeward.agent import AgentConfig, AgentError, AgentStepLimitError
from edgeward.graphs.locked import LockViolation, NothingWaiting
from edgeward.memory import ContextCompressor
from edgeward.profiles.scripted import call
from edgeward.skills import SkillContainer, SkillLoader, SkillLoadError, load_skills, to_tools
from edgeward.tools import (
    MCPClient,
    ToolError,
    ToolExecutionError,
    ToolNotFoundError,
    ToolRegistrationError,
    ToolRegistry,
)
from tests.profiles.mcp.serving import Program
from tests.profiles.skill_bundles import bundle

NAMES = {
    "agent": "AgentConfig BaseAgent SimpleAgent ReActAgent PlanAndSolveAgent AgentResult AgentStep"
    " StepKind AgentError AgentStepLimitError MEMORY_RECALL_TOOL_NAME RAG_SEARCH_TOOL_NAME"
    " RAG_GET_RESOURCE_TOOL_NAME",
    "config": "AgentProfile CognitiveConfig LLMConfig MemoryConfig RAGConfig ToolsConfig"
    " MCPServerConfig PromptConfig ConfigError ConfigFileNotFoundError ConfigParseError"
    " ConfigValidationError",
    "llm": "LLM Message ToolCall TokenUsage LLMResponse TextDelta StreamEnd StreamChunk LLMError"
    " LLMConfigError LLMProviderError LLMAdapter LLMAdapterError",
    "llm.openai_compat": "OpenAICompatibleAdapter",
    "llm.anthropic": "AnthropicAdapter",
    "memory": "Mem0Memory ContextCompressor MemoryBackendConfig",
    "tools": "ToolRegistry MCPClient ToolError ToolRegistrationError ToolNotFoundError"
    " ToolExecutionError SkillLoadError",
    "skills": "SkillLoader SkillContainer SkillLoadError load_skills to_tools",
    "rag": "LlamaIndexRAG StructuredChunk StructuredResource StructuredExtractor"
    " StructuredDocExtractor ResourceRenderer TableRenderer ImageRenderer",
    "rag.extraction": "StructuredDocExtractor StructuredExtractor StructuredChunk",
    "rag.renderer": "ResourceRenderer TableRenderer ImageRenderer",
    "reflection": "Reflector",
    "ops": "AgentLogger",
    "examples": "EXAMPLE_AGENT_DIR EXAMPLE_PROFILE_PATH",
}
"""By module; a program that imports them changes `DefenseAgent` to `edgeward`."""

BOT = AgentProfile.from_mapping({"id": "bot", "name": "Helper"})


@pytest.mark.parametrize("module", NAMES)
def test_D010_every_name_imports_from_its_module(module: str) -> None:
    """All of a module's names are there, and in its `__all__`."""
    found = importlib.import_module(f"edgeward.{module}")
    names = NAMES[module].split()
    assert [name for name in names if not hasattr(found, name)] == []
    listed = getattr(found, "__all__", names)
    assert set(names) <= set(listed)


def test_D133_a_run_that_cannot_go_on_is_an_agent_error() -> None:
    """An answer that nobody asked for, a jump into a guarded graph."""
    assert issubclass(LockViolation, AgentError)
    with ReActAgent(AgentConfig(profile=BOT, llm=ScriptedModel(turns=["Hi."]))) as agent:
        agent.run_sync("hi", thread="t")
        with pytest.raises(AgentError) as caught:
            list(agent.events(None, thread="t", answers={"c1": {"decision": "approve"}}))
    assert isinstance(caught.value, NothingWaiting)


def test_D133_a_program_that_catches_the_step_limit_gets_a_result() -> None:
    """The bound ends a run with all it has, and raises nothing."""

    def look() -> str:
        """Look."""
        return "nothing"

    config = AgentConfig(
        profile=BOT,
        llm=ScriptedModel(turns=[call("look", f"c{n}") for n in range(4)]),
        tools=[look],
        policy="allow_all",
        max_steps=2,
    )
    try:
        with ReActAgent(config) as agent:
            result = agent.run_sync("Look.")
    except AgentStepLimitError:
        pytest.fail("it was raised")
    assert (result.stopped_reason, len(result.steps)) == ("max_steps", 4)


def test_D133_tools_have_errors_of_their_own() -> None:
    """One that is not there, two of one name; what a tool raises is the answer to its call."""

    def fail() -> str:
        """Fail."""
        raise ToolExecutionError("no luck")

    registry = ToolRegistry([fail])
    assert (registry.get("fail").name, registry.names()) == ("fail", ["fail"])
    with pytest.raises(ToolNotFoundError, match=r"no tool 'fial'; did you mean fail\?"):
        registry.get("fial")
    with pytest.raises(ToolRegistrationError, match="two tools have this name"):
        ToolRegistry([fail, fail])
    assert issubclass(ToolRegistrationError, ToolError)
    assert issubclass(SkillLoadError, ToolError)
    model = ScriptedModel(turns=[call("fail"), "It failed."])
    config = AgentConfig(profile=BOT, llm=model, tool_registry=registry, policy="allow_all")
    with ReActAgent(config) as agent:
        result = agent.run_sync("Try.")
    (answer,) = result.steps[1].tool_results
    assert (answer.status, "no luck" in answer.text) == ("error", True)


def test_a_configuration_in_every_form_makes_an_agent(tmp_path: Path) -> None:
    """A profile's path, fields as a mapping, or an AgentConfig."""
    path = tmp_path / "profile.yaml"
    path.write_text("agent: {id: bot, name: Helper, llm: {provider: scripted}}\n")
    for given in (path, str(path), {"profile": path}, AgentConfig(profile=path)):
        with create_agent(given) as agent:
            assert agent.run_sync("hi").final_answer == "You said: hi"


def test_folders_can_be_given_in_python(tmp_path: Path) -> None:
    """`log_dir` and `storage_path` are relative to the current folder, not to the profile's."""
    profile = AgentProfile.from_mapping({"id": "bot", "name": "Helper", "memory": {}})
    config = AgentConfig(
        profile=profile,
        llm=ScriptedModel(turns=["Hi."]),
        log_dir=tmp_path / "logs",
        storage_path=tmp_path / "kept",
    )
    with ReActAgent(config) as agent:
        agent.run_sync("hi")
    assert (tmp_path / "logs" / "bot.log").is_file()
    assert (tmp_path / "kept" / "stream.db").is_file()


def test_compressor_numbers_of_a_profile() -> None:
    """`ContextCompressor(profile)` is what `AgentConfig(compressor=...)` takes."""
    small = AgentProfile.from_mapping(
        {"id": "bot", "name": "Helper", "memory": {"context_limit": 4096}}
    )
    assert ContextCompressor(small).context_limit == 4096
    assert ContextCompressor.from_profile(small, enable_summary=False).enable_summary is False
    with pytest.raises(ValueError, match="reserved_buffer"):
        ContextCompressor(context_limit=2048, reserved_buffer=2048)
    model = ScriptedModel(turns=["Hi."])
    with ReActAgent(
        AgentConfig(profile=BOT, llm=model, compressor=ContextCompressor(small))
    ) as agent:
        assert agent.run_sync("hi").final_answer == "Hi."


async def test_skills_are_loaded_and_become_tools(tmp_path: Path) -> None:
    """One that reads each; with a container, one for each script; nothing where one is bad."""
    skills = bundle(tmp_path).parent
    loader = SkillLoader()
    assert list(loader.load_skills(skills)) == list(load_skills(skills / "tabular-report"))
    assert [tool.name for tool in loader.to_tools()] == ["tabular-report"]
    offered = to_tools(list(loader.all_skills().values()), SkillContainer(timeout=20))
    assert [tool.name for tool in offered] == ["tabular-report", "tabular-report__generate"]
    assert "made" in await offered[1].ainvoke({})
    with pytest.raises(SkillLoadError):
        loader.load_skills([skills, tmp_path])
    assert len(loader.get_all_skills()) == 1


async def test_a_client_gives_the_tools_of_its_servers(tmp_path: Path) -> None:
    """For a registry; it ends them once, and pins what they said."""
    program = Program(tmp_path)
    entry: dict[str, Any] = {k: v for k, v in program.entry().items() if k != "name"}
    client = MCPClient({"mcpServers": {"prog": entry}}, base_dir=tmp_path)
    async with client:
        tools = await client.discover_tools()
        assert [tool.name for tool in tools] == ["inc", "get"]
        assert (tmp_path / "mcp.lock").is_file()
        model = ScriptedModel(turns=[call("inc"), "One."])
        config = AgentConfig(
            profile=BOT, llm=model, tool_registry=ToolRegistry(tools), policy="allow_all"
        )
        async with ReActAgent(config) as agent:
            result = await agent.run("Count.")
        assert "1" in result.steps[1].tool_results[0].text
    await client.cleanup()
