"""SKILL.md bundles: a folder of instructions and files that the model reads when it needs them.

    tools:
      skills:
        - skills/tabular-report          # a folder with a SKILL.md, relative to the profile

One skill is one tool that reads: without `file` it gives the instructions, with `file` a file of
the folder. Only the folders that the profile names are loaded; nothing is found by itself, and
nothing is downloaded. What a skill says comes to the model as a tool's result does: untrusted.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from langchain_core.tools import BaseTool, StructuredTool
from pydantic import BaseModel, ConfigDict, Field, field_validator

from ...guards.faults import words_of
from ...guards.hidden import cleaned
from ...policies.problems import ConfigError, Problem, speak
from ...policies.yaml_file import MAX_BYTES, parse_yaml, validate
from ..blocks import Text
from .python import NAME
from .skill_files import SkillLoadError, inventory, listed, read_file

__all__ = ["Skill", "SkillLoadError", "load_skill", "reading_tool"]

FILE = "SKILL.md"
_MARK = re.compile(r"---[ \t]*\Z")
_UNSAFE = re.compile(r"[^a-zA-Z0-9_-]+")

MAX_DESCRIPTION_CHARS = 1_024
"""It is in front of the model at every step; providers bound it, too."""

MAX_BODY_CHARS = 100_000


class FrontMatter(BaseModel):
    """What SKILL.md says at its head. Other keys (`license`, `allowed-tools`) are not ours."""

    model_config = ConfigDict(extra="ignore", frozen=True, hide_input_in_errors=True)

    name: Text
    description: Text = Field(max_length=MAX_DESCRIPTION_CHARS)
    version: str | int | float | None = None
    author: Text | None = None
    tags: list[Text] | Text = []
    metadata: dict[str, Any] = {}

    @field_validator("tags")
    @classmethod
    def _as_list(cls, tags: list[str] | str) -> list[str]:
        if isinstance(tags, list):
            return tags
        return [tag.strip() for tag in tags.split(",") if tag.strip()]

    def noted(self) -> dict[str, Any]:
        """What goes into the tool's metadata."""
        version = self.version if self.version is not None else self.metadata.get("version")
        return {
            "skill": self.name,
            "skill_id": f"{self.name}@{version}" if version is not None else self.name,
            "version": None if version is None else str(version),
            "author": self.author or self.metadata.get("author"),
            "tags": list(self.tags),
        }


@dataclass(frozen=True, slots=True)
class Skill:
    """One loaded bundle. `body` is what SKILL.md says below its front matter."""

    name: str
    description: str
    body: str
    folder: Path
    files: tuple[str, ...]
    metadata: Mapping[str, Any]


def load_skill(entry: str, base_dir: str | Path) -> Skill:
    """The skill in the folder `entry`, which is relative to `base_dir`.

    Raises:
        SkillLoadError: there is no such folder or no SKILL.md in it, its front matter is missing
            or wrong, its name is none for a tool, or it is larger than a skill may be.
    """
    folder = _folder(entry, Path(base_dir))
    where = f"{entry.rstrip('/')}/{FILE}"
    head, body = _split(_text(folder / FILE, where), where)
    try:
        document = parse_yaml(head, name=where)
        if not isinstance(document.data, dict):
            fix = "write `name:` and `description:` between two lines of `---`"
            raise SkillLoadError(Problem(where, "", "its front matter holds no keys", fix=fix))
        front = validate(FrontMatter, document.data, document)
    except ConfigError as error:
        raise SkillLoadError(*error.problems) from None
    if not NAME.match(front.name):
        plain = _UNSAFE.sub("-", front.name).strip("-")[:64].lower()
        fix = f"write name: {plain}" if plain else ""
        wrong, allowed = "is not a tool name that providers take", "1 to 64 of a-z A-Z 0-9 _ -"
        raise SkillLoadError(Problem(document.where(("name",)), "name", wrong, allowed, fix))
    files = tuple(file for file in listed(folder, where=entry) if not is_manual(file))
    text = cleaned(front.description)[0]
    return Skill(front.name, text, body, folder, files, front.noted())


def is_manual(file: str) -> bool:
    """Whether a path is that of the skill's SKILL.md, however it is written."""
    return file.casefold() == FILE.casefold()


def reading_tool(skill: Skill) -> BaseTool:
    """The one tool that reads this skill."""
    return StructuredTool(
        name=skill.name,
        description=f"{skill.description}\n\n{inventory(skill.files)}",
        args_schema=ReadArguments,
        func=_Reader(skill),
        metadata=dict(skill.metadata),
    )


class ReadArguments(BaseModel):
    """What the reading tool takes."""

    model_config = ConfigDict(extra="forbid")

    file: str | None = Field(
        default=None,
        description="One of the bundled files; leave it out to read the skill's instructions.",
    )


class _Reader:
    """Reads one skill. It holds no open file, so that any number of runs may call it at once."""

    def __init__(self, skill: Skill) -> None:
        self._skill = skill

    def __call__(self, file: str | None = None) -> str:
        name = (file or "").strip()
        plain = "/".join(part for part in name.split("/") if part not in ("", "."))
        if not name or is_manual(plain):
            return self._skill.body or "(the skill has no instructions)"
        return read_file(self._skill.folder, name, skill=self._skill.name)


def _folder(entry: str, base_dir: Path) -> Path:
    """The folder, without links in its path."""
    path = base_dir / entry
    if path.name.casefold() == FILE.casefold() and path.is_file():
        fix = f"write {speak(str(Path(entry).parent))}"
        raise SkillLoadError(Problem(speak(entry), "", "is a file", "the skill's folder", fix))
    if not path.is_dir():
        fix = "skills are folders, relative to the profile; nothing is downloaded"
        near = _near(path)
        wrong = "there is no such folder"
        raise SkillLoadError(Problem(speak(entry), "", wrong, fix=near or fix))
    if not (path / FILE).is_file():
        inner = sorted(
            f"{entry.rstrip('/')}/{found.parent.name}" for found in path.glob(f"*/{FILE}")
        )
        fix = f"name each skill: {', '.join(inner[:5])}" if inner else f"add a {FILE}"
        raise SkillLoadError(Problem(speak(entry), "", f"holds no {FILE}", fix=fix))
    return path.resolve()


def _near(path: Path) -> str:
    if not path.parent.is_dir():
        return ""
    names = [found.parent.name for found in path.parent.glob(f"*/{FILE}")]
    near = difflib.get_close_matches(path.name, names, n=1)
    return f"did you mean {speak(near[0])}?" if near else ""


def _text(file: Path, where: str) -> str:
    if file.is_symlink():
        raise SkillLoadError(Problem(where, "", "is a link", fix="put the file itself there"))
    try:
        with file.open("rb") as opened:
            raw = opened.read(MAX_BYTES + 1)
        if len(raw) <= MAX_BYTES:
            return raw.decode("utf-8-sig").replace("\r\n", "\n")
        problem = Problem(where, "", "the file is too big", f"{MAX_BYTES:,} bytes")
    except OSError as error:
        problem = Problem(where, "", f"cannot be read ({words_of(error)})")
    except UnicodeDecodeError:
        problem = Problem(where, "", "is not UTF-8", fix="save the file as UTF-8")
    raise SkillLoadError(problem)


def _split(text: str, where: str) -> tuple[str, str]:
    """Front matter and body."""
    lines = text.split("\n")
    fix = "begin the file with `---`, `name:`, `description:` and another `---`"
    if not _MARK.match(lines[0]):
        raise SkillLoadError(Problem(f"{where}:1", "", "has no front matter", fix=fix))
    for number, line in enumerate(lines[1:], start=1):
        if _MARK.match(line):
            body = "\n".join(lines[number + 1 :]).strip()
            if len(body) > MAX_BODY_CHARS:
                wrong = f"its instructions have {len(body):,} characters"
                fix = "move parts of them into files under references/"
                allowed = f"{MAX_BODY_CHARS:,}"
                raise SkillLoadError(Problem(where, "", wrong, allowed, fix))
            return "\n".join(lines[:number]), body
    raise SkillLoadError(Problem(f"{where}:1", "", "its front matter has no end", fix=fix))
