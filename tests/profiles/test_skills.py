"""SKILL.md bundles: what loads, what the model is told, what is refused, what is never found."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from edgeward.graphs.build import registry_for
from edgeward.policies.problems import ConfigError
from edgeward.profiles.equipment import equip
from edgeward.profiles.tools.registry import ToolRegistry
from edgeward.profiles.tools.skills import SkillLoadError, load_skill, reading_tool
from tests.fakes import agent_graph, answers, ask, turn

from .skill_bundles import BODY, HEAD, bundle, profile_with


def refused(base: Path, entry: str = "skills/tabular-report") -> str:
    """The message with which a skill is refused."""
    with pytest.raises(SkillLoadError) as caught:
        load_skill(entry, base)
    return str(caught.value)


def test_D098_one_read_tool_with_description_and_inventory(tmp_path: Path) -> None:
    """The text is the documented one."""
    bundle(tmp_path)
    registry = registry_for(equip(profile_with(tmp_path, skills=["skills/tabular-report"])), ())
    assert list(registry) == ["tabular-report"]
    (described,) = registry.schemas()
    function = described["function"]
    assert function["name"] == "tabular-report"
    assert function["description"] == (
        "Render a list of row dictionaries as a GitHub-flavored Markdown table.\n\n"
        "Bundled files — scripts: generate.py; references: None; resources: header.md."
    )
    assert list(function["parameters"]["properties"]) == ["file"]
    assert function["parameters"]["required"] == []


async def test_D099_without_file_the_body_with_file_its_text(tmp_path: Path) -> None:
    """Through a graph, as tool results; a bare name that the list shows is enough."""
    bundle(tmp_path)
    read = "tabular-report"
    calls = turn(
        (read, {}, "c1"),
        (read, {"file": ""}, "c2"),
        (read, {"file": "scripts/generate.py"}, "c3"),
        (read, {"file": "header.md"}, "c4"),
        (read, {"file": "./SKILL.md"}, "c5"),
        (read, {"file": "%2e%2e/x"}, "c6"),
    )
    profile = profile_with(tmp_path, skills=["skills/tabular-report"])
    graph = agent_graph([calls, "Done."], profile=profile)
    for result in (graph.invoke(ask()), await graph.ainvoke(ask())):
        *said, wrong = [text for _, text in answers(result["messages"])]
        assert said == [BODY, BODY, "print('made')\n", "| a |\n", BODY]
        assert wrong.startswith("tabular-report failed: SkillLoadError: tabular-report: '%2e%2e/x'")


def test_D096_where_a_tool_came_from_is_in_its_metadata(tmp_path: Path) -> None:
    """The skill's id, version, author and tags; a Python tool's entry; sources by name."""
    bundle(tmp_path)
    (tmp_path / "t.py").write_text('def f(x: int) -> int:\n    """Do."""\n    return x\n')
    profile = profile_with(tmp_path, skills=["skills/tabular-report"], python=["t.py:f"])
    registry = registry_for(equip(profile), ())
    assert registry.metadata("tabular-report") == {
        "skill": "tabular-report",
        "skill_id": "tabular-report@1.2",
        "version": "1.2",
        "author": "kevin",
        "tags": ["reporting", "table"],
    }
    assert registry.metadata("f") == {"python": "t.py:f"}
    assert registry.source("tabular-report") == "tools.skills: skills/tabular-report"


def test_author_and_version_may_stand_under_metadata(tmp_path: Path) -> None:
    """As the open format has it; keys that are not ours are no fault."""
    head = (
        "---\nname: s\ndescription: D.\nlicense: MIT\nallowed-tools: Read\n"
        "metadata: {author: ann, version: '2.0'}\n---"
    )
    bundle(tmp_path, head, name="s", a="x")
    noted = load_skill("skills/s", tmp_path).metadata
    assert (noted["author"], noted["skill_id"]) == ("ann", "s@2.0")


@pytest.mark.parametrize(
    ("head", "words"),
    [
        ("# No front matter", ["SKILL.md:1", "has no front matter"]),
        ("", ["has no front matter"]),
        ("---\nname: s\ndescription: d", ["SKILL.md:1", "has no end"]),
        ("---\n---", ["holds no keys"]),
        ("---\n- a\n---", ["holds no keys"]),
        ("---\ndescription: d\n---", ["name"]),
        ("---\nname: s\n---", ["description"]),
        ("---\nname: s\ndescription: '  '\n---", ["SKILL.md:3", "description"]),
        ("---\nname: s\nname: t\ndescription: d\n---", ["SKILL.md:3", "name"]),
        ("---\nname: s\ndescription: use: this\n---", ["SKILL.md:3", "not YAML"]),
        ("---\nname: !!python/name:os.system\ndescription: d\n---", ["SKILL.md:2"]),
        ("---\nname: s\ndescription: d\ntags: {a: b}\n---", ["SKILL.md:4", "tags"]),
        (f"---\nname: s\ndescription: {'x' * 1_100}\n---", ["description", "1024"]),
    ],
)
def test_D097_missing_or_bad_front_matter(tmp_path: Path, head: str, words: list[str]) -> None:
    """One error that names the file and, where there is one, the line."""
    bundle(tmp_path, head)
    message = refused(tmp_path)
    assert all(word in message for word in ["skills/tabular-report/SKILL.md", *words])


@pytest.mark.parametrize(
    ("name", "fix"),
    [
        ("My Fancy Skill!", "write name: my-fancy-skill"),
        ("a.b", "write name: a-b"),
        ("x" * 65, "x" * 64),
        ("päth", "write name: p-th"),
        ("日本", "1 to 64"),
    ],
)
def test_a_name_that_providers_refuse_is_refused_with_one_that_they_take(
    tmp_path: Path, name: str, fix: str
) -> None:
    """The name is what policies are written for: nothing changes it silently."""
    bundle(tmp_path, f"---\nname: '{name}'\ndescription: d\n---")
    message = refused(tmp_path)
    assert "SKILL.md:2: name: is not a tool name" in message
    assert fix in message


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ("skills/tabular-rprt", ["no such folder", "did you mean tabular-report"]),
        ("org/skill", ["no such folder", "nothing is downloaded"]),
        ("https://hub.example/skill", ["no such folder", "nothing is downloaded"]),
        ("skills", ["holds no SKILL.md", "name each skill: skills/tabular-report"]),
        ("skills/tabular-report/SKILL.md", ["is a file", "write skills/tabular-report"]),
        ("skills/tabular-report/scripts", ["holds no SKILL.md", "add a SKILL.md"]),
    ],
)
def test_an_entry_that_is_no_skill_says_what_to_write(
    tmp_path: Path, entry: str, words: list[str]
) -> None:
    """Nothing is looked up anywhere else: no hub, no other folder."""
    bundle(tmp_path)
    message = refused(tmp_path, entry)
    assert all(word in message for word in words)


def test_a_manual_beyond_the_bounds_is_refused(tmp_path: Path) -> None:
    """Its size, the size of its instructions, its encoding, and a link in its place."""
    folder = bundle(tmp_path)
    file = folder / "SKILL.md"
    file.write_text(HEAD + "x" * 1_000_001)
    assert "too big" in refused(tmp_path)
    file.write_text(HEAD + "x" * 100_001)
    assert "100,001 characters; allowed: 100,000" in refused(tmp_path)
    file.write_bytes(HEAD.encode() + b"\xff\xfe")
    assert "not UTF-8" in refused(tmp_path)
    file.rename(tmp_path / "else.md")
    file.symlink_to(tmp_path / "else.md")
    assert "is a link" in refused(tmp_path)


def test_windows_line_ends_and_a_byte_order_mark_are_no_fault(tmp_path: Path) -> None:
    """A bundle that was written elsewhere."""
    folder = bundle(tmp_path)
    text = (HEAD + "Read me.\nTwice.").replace("\n", "\r\n")
    (folder / "SKILL.md").write_bytes(b"\xef\xbb\xbf" + text.encode())
    assert load_skill("skills/tabular-report", tmp_path).body == "Read me.\nTwice."


def test_hidden_characters_in_a_description_do_not_reach_the_model(tmp_path: Path) -> None:
    """Nobody who reviews the file would see them."""
    bundle(tmp_path, "---\nname: s\ndescription: Makes\u200b tables.\U000e0041\n---", name="s")
    assert load_skill("skills/s", tmp_path).description == "Makes tables."


def test_D094_two_skills_of_one_name_are_refused_naming_both(tmp_path: Path) -> None:
    """Also a skill and a Python tool."""
    bundle(tmp_path)
    bundle(tmp_path, name="copy")
    equipment = equip(profile_with(tmp_path, skills=["skills/tabular-report", "skills/copy"]))
    with pytest.raises(ConfigError) as caught:
        registry_for(equipment, ())
    assert "tools.skills: skills/tabular-report" in str(caught.value)
    assert "tools.skills: skills/copy" in str(caught.value)


def test_folders_that_nobody_named_are_not_loaded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither `skills` of the current folder, nor one at home, nor any that comes with us."""
    home = tmp_path / "home"
    bundle(home / ".defense-agent")
    bundle(home / ".edgeward")
    bundle(tmp_path / "here")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.chdir(tmp_path / "here")
    assert equip(profile_with(tmp_path / "here")).tools == ()


def test_a_skill_may_lie_outside_of_the_profile_where_the_profile_says_so(tmp_path: Path) -> None:
    """Skills are shared between profiles; the folder may be a link, what is in it may not."""
    folder = bundle(tmp_path)
    inner = tmp_path / "profile"
    inner.mkdir()
    os.symlink(folder, inner / "linked")
    for entry in ("../skills/tabular-report", str(folder), "linked"):
        tool = reading_tool(load_skill(entry, inner))
        assert tool.invoke({"file": "generate.py"}) == "print('made')\n"


def test_the_instructions_are_those_that_were_loaded(tmp_path: Path) -> None:
    """A file that changes later does not change what the agent was built with."""
    folder = bundle(tmp_path)
    tool = reading_tool(load_skill("skills/tabular-report", tmp_path))
    (folder / "SKILL.md").write_text("---\nname: x\ndescription: y\n---\nobey me")
    assert tool.invoke({}) == tool.invoke({"file": "SKILL.md"}) == BODY


def test_a_skill_without_instructions_says_so(tmp_path: Path) -> None:
    """The model is not left with nothing."""
    folder = bundle(tmp_path)
    (folder / "SKILL.md").write_text(HEAD)
    tool = reading_tool(load_skill("skills/tabular-report", tmp_path))
    assert tool.invoke({}) == "(the skill has no instructions)"
    assert ToolRegistry([(tool, "x")]).schemas()
