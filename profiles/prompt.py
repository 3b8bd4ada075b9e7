"""The system prompt: inline text, a file, or built from the identity; and its placeholders.

A template knows six placeholders: {id} {name} {age} {traits} {backstory} {initial_plan}. They are
put in by one pass over the text: no format specs, no attribute access, and a value is never
looked at again, so that braces in it stay what they are. An unknown placeholder is an error at
load. All other braces, such as those of a JSON example, stay as they are; `{{` and `}}` stand for
single braces, where a placeholder's look is wanted: `{{name}}`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import field_validator, model_validator

from ..guards.faults import words_of
from ..policies.yaml_file import ConfigValidationError, Document, Problem, did_you_mean, speak
from .blocks import Block

if TYPE_CHECKING:
    from .schema import AgentProfile

PLACEHOLDERS = ("id", "name", "age", "traits", "backstory", "initial_plan")
MAX_BYTES = 1_000_000
"""Size of a prompt file."""

MAX_FAULTS = 20
"""So many misused placeholders are told at once."""

# Neither part can run past the next brace, so that all tries together read the text once.
_FIELD = re.compile(r"\{(\s*)([A-Za-z_]\w*)(\s*)([.!:\[][^{}\n]*)?\}")


class PromptBlock(Block):
    """`path` (a file beside the profile) or `system` (inline), and what is appended."""

    path: str | None = None
    system: str | None = None
    extra_instructions: str | None = None

    @field_validator("path", "system", "extra_instructions")
    @classmethod
    def _blank_is_unset(cls, value: str | None) -> str | None:
        return value if value and value.strip() else None

    @model_validator(mode="after")
    def _one_source(self) -> PromptBlock:
        if self.path is not None and self.system is not None:
            raise ValueError("path and system are both set; set one of them")
        return self


@dataclass(frozen=True, slots=True)
class Template:
    """A checked template: literal text, and the names of placeholders in between."""

    pieces: tuple[str, ...]
    """Literal at even positions, placeholder name at odd ones."""

    def render(self, values: Mapping[str, object]) -> str:
        """The text with the values put in; None and absent render empty."""
        out = []
        for position, piece in enumerate(self.pieces):
            value = values.get(piece) if position % 2 else piece
            out.append("" if value is None else str(value))
        return "".join(out)


@dataclass(frozen=True, slots=True)
class Misuse:
    """A placeholder that cannot be: at which line of the template, and what to do."""

    line: int
    wrong: str
    fix: str


def parse_template(text: str) -> tuple[Template, list[Misuse]]:
    """Take a template apart; the second value lists what is wrong with it.

    `{{` opens an escape that its own `}}` closes, so that `{{"a": {"b": 1}}}` and the unescaped
    `{"a": {"b": 1}}` both mean the JSON that one sees.
    """
    pieces: list[str] = [""]
    literal: list[str] = []
    faults: list[Misuse] = []
    open_: list[int] = []  # 2 for an escape, 1 for a brace that stands for itself
    at, line, counted = 0, 1, 0
    for brace in re.finditer(r"[{}]", text):
        here = brace.start()
        if here < at:
            continue
        literal.append(text[at:here])
        if text[here] == "}":
            at = here + _close(text, here, open_)
            literal.append("}")
            continue
        if text.startswith("{{", here):
            open_.append(2)
            literal.append("{")
            at = here + 2
            continue
        field = _FIELD.match(text, here)
        name = field[2] if field else ""
        if field and name in PLACEHOLDERS and field[0] == "{" + name + "}":
            pieces[-1] = "".join(literal)
            pieces += [name, ""]
            literal = []
            at = field.end()
            continue
        wrong = _misuse(field) if field and len(faults) < MAX_FAULTS else None
        if wrong:
            line, counted = line + text.count("\n", counted, here), here
            faults.append(Misuse(line, *wrong))
        open_.append(1)
        literal.append("{")
        at = here + 1
    literal.append(text[at:])
    pieces[-1] = "".join(literal)
    return Template(tuple(pieces)), faults


def _close(text: str, here: int, open_: list[int]) -> int:
    """How many characters the closing brace at `here` takes: two where it closes an escape."""
    double = text.startswith("}}", here)
    if not open_:
        return 2 if double else 1
    if open_[-1] == 2 and not double:
        # A single brace cannot close an escape: the `{{` stood alone.
        while open_ and open_[-1] == 2:
            open_.pop()
        if open_:
            open_.pop()
        return 1
    return open_.pop()


def _misuse(field: re.Match[str]) -> tuple[str, str] | None:
    """What is wrong with something that looks like a placeholder; None for other text."""
    before, name, after, spec = field.groups()
    known = name in PLACEHOLDERS
    shown = "".join(letter if letter.isprintable() else "?" for letter in field[0][1:61])
    shown = shown.removesuffix("}")
    escape = f"; for the braces themselves write {{{{{shown}}}}}"
    if known and (spec or before or after):
        return f"{{{shown}}} is more than a placeholder", f"write {{{name}}}{escape}"
    if spec and spec[0] == ":":
        return None  # `{color: red}`, not a placeholder
    if before or after:
        return None
    near = did_you_mean(name, PLACEHOLDERS)
    known_ones = ", ".join("{" + word + "}" for word in PLACEHOLDERS)
    return f"unknown placeholder {{{shown}}}", f"{near} known: {known_ones}{escape}".strip()


def load_template(block: PromptBlock, document: Document, base_dir: Path) -> Template | None:
    """The template that `block` names, read and checked; None where it names none.

    Raises:
        ConfigValidationError: the file is missing, outside the profile's folder or not text; or
            the template misuses placeholders (all of them at once).
    """
    if block.system is not None:
        at = ("agent", "prompt", "system")
        template, faults = parse_template(block.system)
        problems = [
            Problem(
                document.where(at),
                "agent.prompt.system",
                f"line {fault.line} of the text: {fault.wrong}",
                fix=fault.fix,
            )
            for fault in faults
        ]
    elif block.path is not None:
        text = _read(block.path, document, base_dir)
        template, faults = parse_template(text)
        problems = [
            Problem(f"{block.path}:{fault.line}", "", fault.wrong, fix=fault.fix)
            for fault in faults
        ]
    else:
        return None
    if problems:
        raise ConfigValidationError(*problems)
    return template


def _read(path: str, document: Document, base_dir: Path) -> str:
    where, wrong, fix = document.where(("agent", "prompt", "path")), "", ""
    file = base_dir / path
    try:
        inside = file.resolve().is_relative_to(base_dir.resolve())
        if not inside:
            wrong, fix = "leads out of the profile's folder", "move the file below it"
        elif not file.is_file():
            wrong = f"there is no file {speak(path)}"
            fix = "paths are relative to the profile's folder"
        else:
            with file.open("rb") as opened:
                raw = opened.read(MAX_BYTES + 1)
            if len(raw) <= MAX_BYTES:
                return raw.decode("utf-8-sig")
            wrong = f"the file is larger than {MAX_BYTES} bytes"
    except UnicodeDecodeError:
        wrong, fix = "the file is not UTF-8 text", "save it as UTF-8"
    except (OSError, ValueError, RuntimeError) as error:
        wrong = f"the file cannot be read ({words_of(error)})"
    raise ConfigValidationError(Problem(where, "agent.prompt.path", wrong, fix=fix))


def system_prompt(profile: AgentProfile, *, extra: str | None = None) -> str:
    """The agent's system prompt.

    Inline text, else the file, else one built from the identity. Instructions follow after a
    blank line: `extra` where it is given, else the profile's `extra_instructions`; they are not
    a template.
    """
    template = profile.template
    if template is None:
        text = _built(profile)
    else:
        text = template.render({name: getattr(profile, name) for name in PLACEHOLDERS})
    added = profile.prompt.extra_instructions if extra is None else extra
    added = (added or "").strip()
    return f"{text.strip()}\n\n{added}".strip() if added else text.strip()


def _built(profile: AgentProfile) -> str:
    age = profile.age
    opening = f"You are {profile.name}."
    if age is not None:
        opening = f"You are {profile.name}, {_article(age)} {age}-year-old."
    if profile.traits.strip():
        opening += f"\nTraits: {profile.traits.strip()}"
    parts = [opening]
    if profile.backstory.strip():
        parts.append(f"Background: {profile.backstory.strip()}")
    if profile.initial_plan.strip():
        parts.append(f"Today's plan: {profile.initial_plan.strip()}")
    # Only where the profile sets it: a minimal profile's prompt is its one sentence.
    if "planning_horizon" in profile.cognitive.model_fields_set:
        parts.append(f"Your planning horizon for this run: {profile.cognitive.planning_horizon}.")
    return "\n\n".join(parts)


def _article(age: int) -> str:
    digits = str(age)
    leading = digits[: len(digits) % 3 or 3]  # "an 11-year-old", "an 80-year-old", "a 110-year-old"
    return "an" if digits.startswith("8") or leading in ("11", "18") else "a"
