"""The steps that a model wrote down, whatever it wrote them as.

JSON (fenced or not, in a sentence, cut off), a numbered or a bulleted list, or prose with one step
a line. A text without any, an answer or a refusal, has no steps.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

STEP_CHARS = 500
"""Characters of one step that are kept."""

_NUMBERED = re.compile(
    r"^(?P<indent>[ \t]*)[#>*_(\[ ]{0,8}(?:(?:step|task|phase)[ \t]{0,3})?#?\d{1,3}"
    r"(?:\ufe0f?\u20e3|[ \t]{0,3}[.):\]\-\u2013\u2014])[*_]{0,3}(?:[ \t]+(?P<text>.*))?$",
    re.IGNORECASE,
)
_BULLET = re.compile(
    r"^(?P<indent>[ \t]*)(?:[-*+\u2022\u2023\u25e6\u2013\u2014]|\[[ xX]?\])[ \t]+"
    r"(?:\[[ xX]?\][ \t]+)?(?P<text>\S.*)$"
)
_QUOTED = re.compile(r'^\s*"(?P<text>[^"]+)"\s*,?\s*$')
_PYTHON = re.compile(r"\[\s*'")
_SINGLE = re.compile(r"'([^'\n]+)'")
_THINKING = re.compile(r"\A\s*(?:<think(?:ing)?>)?.*</think(?:ing)?>", re.DOTALL | re.IGNORECASE)
_LISTS = ("steps", "plan", "tasks", "subtasks", "todo", "todos")
_TEXTS = (
    *("step", "description", "task", "title", "action"),
    *("instruction", "text", "content", "name", "goal"),
)

REFUSALS = (
    "i'm sorry",
    "i am sorry",
    "sorry",
    "i can't",
    "i cannot",
    "i can not",
    "i'm unable",
    "i am unable",
    "i'm not able",
    "i am not able",
    "i won't",
    "i will not",
    "unfortunately",
    "as an ai",
)
"""How a text begins in which a model refuses."""

_CHATTER = (
    "sure",
    "here ",
    "here's",
    "okay",
    "ok,",
    "of course",
    "certainly",
    "great",
    "let me know",
    "hope",
    "i hope",
    "this plan",
    "thank",
)


def refuses(text: str) -> bool:
    """Whether a model says in this text that it does not do what it was asked."""
    return text.strip().replace("\u2019", "'").casefold().startswith(REFUSALS)


def steps_in(text: str) -> list[str]:
    """The steps in a model's text, in their order; empty where there are none."""
    return [step[:STEP_CHARS] for step in list_in(text) or _prose(_said(text))]


def list_in(text: str) -> list[str]:
    """The items of the list that a model wrote, in their order; prose is no list."""
    text = _said(text)
    for candidate in (*_fenced(text), text, _bracketed(text)):
        if steps := _from_data(candidate):
            return steps
    lines = text.splitlines()
    return _listed(lines) or _cut_off(text, lines)


def _said(text: str) -> str:
    """The text without what a model thought aloud before it."""
    return _THINKING.sub("", text, count=1) if "</think" in text.lower() else text


def _fenced(text: str) -> Iterator[str]:
    for number, part in enumerate(text.split("```")):
        if number % 2:
            first, _, rest = part.partition("\n")
            yield rest if first.strip().isalnum() else part


def _bracketed(text: str) -> str:
    starts = [i for i in (text.find("{"), text.find("[")) if i >= 0]
    end = max(text.rfind("}"), text.rfind("]"))
    return text[min(starts) : end + 1] if starts and end > 0 else ""


def _from_data(text: str) -> list[str]:
    """The steps in a text that is JSON, or what Python writes for the like of it."""
    text = text.strip()
    if not text.startswith(("{", "[")):
        return []
    data: Any
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        data = _SINGLE.findall(text) if _PYTHON.match(text) else None
    items = _items(data)
    return _kept(step for item in items if (step := _step_text(item)))


def _items(data: Any) -> list[Any]:
    for _ in range(3):  # {"plan": {"steps": [...]}}
        if isinstance(data, list):
            return data
        if not isinstance(data, Mapping):
            return []
        named = [data[key] for key in data if str(key).lower() in _LISTS]
        found = [value for value in named if isinstance(value, list | Mapping)]
        if not found:
            numbered = all(any(c.isdigit() for c in str(key)) for key in data)
            return list(data.values()) if numbered else []
        data = found[0]
    return []


def _step_text(item: object) -> str:
    if isinstance(item, str):
        return item
    if isinstance(item, Mapping):
        for key in _TEXTS:
            if isinstance(item.get(key), str) and item[key].strip():
                return str(item[key])
        texts = [value for value in item.values() if isinstance(value, str) and value.strip()]
        return texts[0] if len(texts) == 1 else ""
    return ""


def _listed(lines: list[str]) -> list[str]:
    """A numbered list, or a bulleted one: of a nested list what stands furthest out."""
    numbered = list(_matches(_NUMBERED, lines))
    bullets = list(_matches(_BULLET, lines))
    found = bullets if len(numbered) < 2 <= len(bullets) else numbered or bullets
    outer = min((indent for indent, _ in found), default=0)
    return _kept(text for indent, text in found if indent == outer)


def _matches(pattern: re.Pattern[str], lines: list[str]) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(lines):
        match = pattern.match(line)
        if match is None:
            continue
        text = (match["text"] or "").strip()
        if not text.strip("*_ "):  # a heading: the step is the line below it
            text = next((below for below in lines[number + 1 : number + 3] if below.strip()), "")
            if pattern.match(text):
                continue
        yield len(match["indent"].expandtabs(4)), text


def _cut_off(text: str, lines: list[str]) -> list[str]:
    """The whole strings, one a line, of JSON that does not end."""
    if "[" not in text:
        return []
    return _kept(match["text"] for line in lines if (match := _QUOTED.match(line)))


def _prose(text: str) -> list[str]:
    """The lines of a text that says one step a line. A single line is none, nor is a refusal."""
    lines = text.splitlines()
    if refuses(text) or any(line.lstrip().startswith(("{", "[", "|", "```")) for line in lines):
        return []
    steps = [line.strip() for line in lines if line.strip()]
    steps = [
        line
        for line in steps
        if not line.endswith((":", "?", "!")) and not line.casefold().startswith(_CHATTER)
    ]
    if len(steps) < 2 or any(len(line) > STEP_CHARS for line in steps):
        return []
    return _kept(steps)


def _kept(steps: Any) -> list[str]:
    """The steps without marks of emphasis, blank ones left out."""
    plain = (str(step).replace("**", "").strip().strip("*_").strip() for step in steps)
    return [step for step in plain if any(map(str.isalnum, step))]
