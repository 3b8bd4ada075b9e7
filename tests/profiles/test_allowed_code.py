"""Restricted mode (D145): of a profile by strangers only code runs that the program allows."""

from __future__ import annotations

from pathlib import Path

import pytest

from edgeward import AgentConfig, AgentProfile, ReActAgent, ScriptedModel, build_graph
from edgeward.profiles.tools.allowed_code import check_code
from edgeward.profiles.tools.signature import ToolRegistrationError

from .skill_bundles import bundle, profile_with

EVERYTHING = {
    "python": ["tools.py:add", "os.path:join"],
    "skills": ["skills/tabular-report"],
    "allow_skill_execution": True,
    "mcp": [
        {"command": "uvx", "args": ["mcp-server-files", "my files"]},
        {"transport": "sse", "url": "https://mcp.example/sse"},
    ],
}


def refused(base: Path, allowed: list[str], **tools: object) -> str:
    """The message with which a profile is refused."""
    with pytest.raises(ToolRegistrationError) as caught:
        check_code(profile_with(base, **tools).tools, allowed)
    return str(caught.value)


def test_D145_code_outside_of_the_allowlist_is_refused_all_at_once(tmp_path: Path) -> None:
    """Python functions, skills whose scripts run, commands of servers; a URL runs nothing here."""
    message = refused(tmp_path, [], **EVERYTHING)
    assert message.count("this program does not let a profile run it") == 4
    assert "agent.tools.python: os.path:join" in message
    assert "agent.tools.skills: skills/tabular-report" in message
    assert "agent.tools.mcp: " in message
    assert "my files" not in message
    assert "allowed: nothing" in message


def test_D145_what_is_allowed_is_named_exactly_or_by_glob(tmp_path: Path) -> None:
    """A longer name is another name."""
    tools = profile_with(tmp_path, **EVERYTHING).tools
    check_code(tools, None)
    check_code(tools, ["tools.py:*", "os.path:join", "skills/*", "uvx mcp-server-files 'my files'"])
    assert "os.path:join" in refused(
        tmp_path, ["tools.py:*", "os.path:joi"], python=["os.path:join"]
    )
    assert "xtools.py" in refused(tmp_path, ["tools.py:*"], python=["xtools.py:add"])
    reading = {"skills": ["skills/tabular-report"]}
    check_code(profile_with(tmp_path, **reading).tools, [])


def test_D145_one_text_is_no_list(tmp_path: Path) -> None:
    """Its letters would be globs, and `*` among them would allow everything."""
    tools = profile_with(tmp_path, **EVERYTHING).tools
    with pytest.raises(ToolRegistrationError, match="allowed_code: is one text; allowed: a list"):
        check_code(tools, "python_tools/*")


async def test_D145_nothing_of_a_refused_profile_is_loaded(tmp_path: Path) -> None:
    """The file of a tool is not even read; agents and graphs alike."""
    (tmp_path / "tools.py").write_text(
        "from pathlib import Path\nPath(__file__).with_name('ran').touch()\n"
        'def add(a: int) -> int:\n    """Add."""\n    return a\n'
    )
    bundle(tmp_path)
    profile = profile_with(tmp_path, python=["tools.py:add"])
    model = ScriptedModel(turns=["hi"])
    with pytest.raises(ToolRegistrationError):
        build_graph("react", profile=profile, model=model, allowed_code=["json:*"])
    config = AgentConfig(profile=profile, llm=model, allowed_code=["json:*"])
    with pytest.raises(ToolRegistrationError):
        ReActAgent(config)
    assert not (tmp_path / "ran").exists()
    allowed = AgentConfig(profile=profile, llm=model, allowed_code=["tools.py:add"])
    async with ReActAgent(allowed) as agent:
        assert (await agent.run("hello")).final_answer == "hi"
    assert (tmp_path / "ran").exists()


async def test_D117_without_use_tools_the_model_is_shown_none(tmp_path: Path) -> None:
    """Neither the profile's nor those that are passed in; with it, both."""

    def search(what: str) -> str:
        """Search."""
        return what

    bundle(tmp_path)
    profile = AgentProfile.from_mapping(
        {"id": "a", "name": "A", "tools": {"skills": ["skills/tabular-report"]}}, base_dir=tmp_path
    )
    for use, expected in ((True, ["tabular-report", "search"]), (False, [])):
        seen: list[str] = []

        class Watching(ScriptedModel):
            """Notes what it is shown."""

            def _generate(self, *args: object, seen: list[str] = seen, **kwargs: object) -> object:  # type: ignore[override]
                seen += [tool["function"]["name"] for tool in self.bound_tools]
                return super()._generate(*args, **kwargs)  # type: ignore[arg-type]

        model = Watching(turns=["hi"])
        config = AgentConfig(profile=profile, llm=model, tools=[search], use_tools=use)
        async with ReActAgent(config) as agent:
            await agent.run("hello")
        assert seen == expected
