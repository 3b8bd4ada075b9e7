"""Skills, under the module name that DefenseAgent has for them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from langchain_core.tools import BaseTool

from .profiles.tools.skill_files import SkillLoadError
from .profiles.tools.skill_scripts import script_tools
from .profiles.tools.skills import FILE, Skill, load_skill, reading_tool

__all__ = ["Skill", "SkillContainer", "SkillLoadError", "SkillLoader", "load_skills", "to_tools"]

Folders = str | Path | Sequence[str | Path]


@dataclass(frozen=True, slots=True)
class SkillContainer:
    """Says that a skill's scripts may run, and for how many seconds; how they are kept in bounds is
    the same as for a profile with `allow_skill_execution`."""

    timeout: float = 300.0


class SkillLoader:
    """Skills by their id, `NAME@VERSION`, of the folders that it was told to load."""

    def __init__(self) -> None:
        """Nothing is loaded yet, and nothing is found by itself."""
        self._skills: dict[str, Skill] = {}

    def load_skills(self, skills: Folders) -> dict[str, Skill]:
        """Load a skill's folder, a folder of such folders, or several; what was loaded by now.

        Raises:
            SkillLoadError: one of them cannot be used; then none is loaded.
        """
        given = [skills] if isinstance(skills, str | Path) else skills
        found = [load_skill(folder.name, folder.parent) for one in given for folder in _in(one)]
        for skill in found:
            self._skills[str(skill.metadata["skill_id"])] = skill
        return self.all_skills()

    def all_skills(self) -> dict[str, Skill]:
        """The skills that were loaded."""
        return dict(self._skills)

    get_all_skills = all_skills

    def to_tools(self, container: SkillContainer | None = None) -> list[BaseTool]:
        """The tools of the skills that were loaded."""
        return to_tools(list(self._skills.values()), container)


def load_skills(skills: Folders) -> dict[str, Skill]:
    """The skills of some folders by their id.

    Raises:
        SkillLoadError: one of them cannot be used.
    """
    return SkillLoader().load_skills(skills)


def to_tools(skills: Sequence[Skill], container: SkillContainer | None = None) -> list[BaseTool]:
    """One tool a skill that reads it; with a container, one more for each script.

    They run without a guard until an agent has them.

    Raises:
        SkillLoadError: a script may not be offered.
    """
    tools: list[BaseTool] = []
    for skill in skills:
        tools.append(reading_tool(skill))
        if container is not None:
            tools += [tool for tool, _ in script_tools(skill, limit_s=container.timeout)]
    return tools


def _in(folder: str | Path) -> list[Path]:
    path = Path(folder).absolute()
    if (path / FILE).exists():
        return [path]
    return sorted(found.parent for found in path.glob(f"*/{FILE}")) or [path]
