"""Scripts of a skill as tools, where the profile says `allow_skill_execution: true`.

    tools:
      skills: [skills/tabular-report]
      allow_skill_execution: true        # off by default
      skill_execution_timeout: 300       # seconds

Each `.py`, `.sh` and `.js` file directly in the skill's `scripts/` becomes `<skill>__<script>`. A
call of it goes through the policy as every call does. What was loaded is what runs: a script that
has changed since is refused. The script itself is trusted by whoever sets the switch; see
`script_dangers.py` for what is looked for in it, and `processes.py` for how it is kept in bounds.
"""

from __future__ import annotations

import asyncio
import hashlib
import shutil
import sys
from pathlib import Path, PurePosixPath
from typing import Annotated

from langchain_core.tools import BaseTool, StructuredTool, ToolException
from pydantic import BaseModel, ConfigDict, Field

from ...guards.faults import words_of
from ...policies.problems import Problem, speak
from .processes import HAS_GROUPS, Ended, run_program
from .python import NAME
from .script_dangers import danger_in
from .skill_files import SkillLoadError
from .skills import Skill

__all__ = ["script_tools"]

MAX_SCRIPT_BYTES = 1_000_000

OVERTIME_S = 10.0
"""How much later than the script the call itself would be given up: the script's end is told."""

PROGRAMS = {".py": (sys.executable,), ".sh": ("bash", "sh"), ".js": ("node", "nodejs")}
"""What runs a script, by its ending; the first that there is."""


class RunArguments(BaseModel):
    """What a script's tool takes."""

    model_config = ConfigDict(extra="forbid")

    args: Annotated[list[Annotated[str, Field(max_length=10_000)]], Field(max_length=100)] = Field(
        default=[], description="The script's arguments, one item each. No shell reads them."
    )
    stdin: str | None = Field(
        default=None, max_length=1_000_000, description="Text for the script's standard input."
    )
    timeout: int | None = Field(
        default=None, ge=1, description="Seconds after which the script is ended."
    )


def script_tools(skill: Skill, *, limit_s: float) -> list[tuple[BaseTool, str]]:
    """A tool for each script of the skill that can run, with the script's file.

    Raises:
        SkillLoadError: a script's name makes no tool name, it is too large, or it holds what no
            script has a good reason for; or this system cannot end a program with its children.
    """
    found: list[tuple[BaseTool, str]] = []
    for file in skill.files:
        path = PurePosixPath(file)
        if path.parent != PurePosixPath("scripts") or path.suffix not in PROGRAMS:
            continue
        if not HAS_GROUPS:
            wrong = "scripts cannot be ended with all that they started on this system"
            fix = "set allow_skill_execution: false"
            raise SkillLoadError(Problem(skill.name, file, wrong, fix=fix))
        found.append((_tool(skill, path, limit_s), file))
    return found


def _tool(skill: Skill, path: PurePosixPath, limit_s: float) -> BaseTool:
    name = f"{skill.name}__{path.stem}"
    where = f"{skill.name}/{path}"
    if not NAME.match(name):
        fix = "rename the script"
        wrong = "makes no tool name that providers take"
        allowed = "1 to 64 of a-z A-Z 0-9 _ -, the skill's name included"
        raise SkillLoadError(Problem(where, speak(name), wrong, allowed, fix))
    text = _script(skill.folder / path, where)
    danger = danger_in(text.decode("utf-8", "replace"))
    if danger is not None:
        line, what = danger
        fix = "take it out of the script, or the skill out of the profile"
        raise SkillLoadError(Problem(f"{where}:{line}", "", f"the script {what}", fix=fix))
    script = _Script(skill.folder / path, path, hashlib.sha256(text).hexdigest(), limit_s)
    return StructuredTool(
        name=name,
        description=(
            f"Run {path} of the skill {skill.name}, for at most {limit_s:g} s. "
            f"Read the skill first: it says what the script takes."
        ),
        args_schema=RunArguments,
        coroutine=script.run,
        metadata={**skill.metadata, "script": str(path)},
        handle_tool_error=True,
    )


def _script(file: Path, where: str) -> bytes:
    try:
        with file.open("rb") as opened:
            text = opened.read(MAX_SCRIPT_BYTES + 1)
    except OSError as error:
        problem = Problem(where, "", f"cannot be read ({words_of(error)})")
        raise SkillLoadError(problem) from None
    if len(text) > MAX_SCRIPT_BYTES:
        raise SkillLoadError(Problem(where, "", "is too big", f"{MAX_SCRIPT_BYTES:,} bytes"))
    return text


class _Script:
    """One script, ready to run; each run is a process of its own."""

    def __init__(self, file: Path, path: PurePosixPath, digest: str, limit_s: float) -> None:
        self._file = file
        self._path = path
        self._digest = digest
        self._limit_s = limit_s

    async def run(
        self, args: list[str] | None = None, stdin: str | None = None, timeout: int | None = None
    ) -> str:
        """Exit code, output and errors as one text.

        Raises:
            ToolException: with that text, where the script failed or was ended.
        """
        limit_s = min(timeout or self._limit_s, self._limit_s)
        program = await asyncio.to_thread(self._program)  # it looks at files
        command = [program, str(self._file), *(args or ())]
        folder = self._file.parent.parent
        ended = await run_program(command, folder=folder, stdin=stdin or "", limit_s=limit_s)
        text = _told(ended, limit_s)
        if ended.code != 0:
            raise ToolException(text)
        return text

    def _program(self) -> str:
        """What runs the script, which is still the one that was loaded."""
        if self._changed():
            raise ToolException(f"{self._path} has changed since the skill was loaded: not run")
        names = PROGRAMS[self._path.suffix]
        found = next(filter(None, map(shutil.which, names)), None)
        if found is None:
            raise ToolException(f"{self._path} needs {names[0]}, which is not installed")
        return found

    def _changed(self) -> bool:
        if self._file.is_symlink() or self._file.parent.is_symlink():
            return True
        try:
            text = _script(self._file, str(self._path))
        except SkillLoadError:
            return True
        return hashlib.sha256(text).hexdigest() != self._digest


def _told(ended: Ended, limit_s: float) -> str:
    match ended.why:
        case "ended":
            first = f"exit code: {ended.code}"
        case "time":
            first = f"ended after {limit_s:g} s: it had not finished"
        case "output":
            first = "ended: it wrote too much"
        case "stopped":
            first = "ended: nobody waited for it any more"
    parts = [first]
    for name, text in (("stdout", ended.stdout), ("stderr", ended.stderr)):
        if text:
            parts.append(f"{name}:\n{text}")
    return "\n".join(parts)
