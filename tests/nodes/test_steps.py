"""The steps in a model's text: every form that models write, and what is no plan (C74)."""

from __future__ import annotations

import pytest

from edgeward.nodes._steps import STEP_CHARS, list_in, refuses, steps_in

FORMS: dict[str, tuple[str, list[str]]] = {
    "fenced JSON with chatter": (
        'Sure!\n```json\n{"steps": ["Find", "Sum"]}\n```\nShall I?',
        ["Find", "Sum"],
    ),
    "a fence without a language": ('```\n["Find", "Sum"]\n```', ["Find", "Sum"]),
    "plain JSON": ('{"plan": ["Find", "Sum"]}', ["Find", "Sum"]),
    "a JSON list": ('["Find", "Sum"]', ["Find", "Sum"]),
    "JSON in a sentence": ('Here: {"steps": ["Find", "Sum"]} - good?', ["Find", "Sum"]),
    "JSON objects": ('[{"step": 1, "description": "Find"}, {"task": "Sum"}]', ["Find", "Sum"]),
    "numbers": ("1. Find\n2. Sum", ["Find", "Sum"]),
    "numbers in brackets": ("Plan:\n 1) Find\n 2) Sum\nDone.", ["Find", "Sum"]),
    "the word step": ("Step 1: Find\nStep 2: Sum", ["Find", "Sum"]),
    "dashes": ("- Find\n- Sum", ["Find", "Sum"]),
    "bold numbers": ("1. **Find**\n2. **Sum**", ["Find", "Sum"]),
    "a fenced list": ("```\n1. Find\n2. Sum\n```", ["Find", "Sum"]),
    "empty steps": ('{"steps": ["Find", "", " ", "Sum"]}', ["Find", "Sum"]),
    "no plan": ("I cannot plan", []),
    "nothing": ("", []),
    "an empty plan": ('{"steps": []}', []),
    "broken JSON": ('{"steps": ["Find", ', []),
    "deep JSON": ("[" * 5_000 + "]" * 5_000, []),
    "numbers in JSON": ("[1, 2]", []),
    "a number in a text": ("There are 3. Not a plan", []),
    "dotted by hand": ("1 - Find\n2 \u2013 Sum", ["Find", "Sum"]),
    "in brackets": ("(1) Find\n(2) Sum", ["Find", "Sum"]),
    "headings": ("## Step 1: Find\nLook.\n\n## Step 2: Sum\nAdd.", ["Find", "Sum"]),
    "headings without a text": (
        "### Step 1\nNo\n**Step 1:**\nFind\n**Step 2:**\nSum",
        ["Find", "Sum"],
    ),
    "bold as a whole": ("**1. Find**\n**2. Sum**", ["Find", "Sum"]),
    "keycaps": ("1\ufe0f\u20e3 Find\n2\ufe0f\u20e3 Sum", ["Find", "Sum"]),
    "check boxes": ("- [ ] Find\n- [x] Sum", ["Find", "Sum"]),
    "a nested list": ("1. Find\n   - in mail\n   - in files\n2. Sum\n   1. add", ["Find", "Sum"]),
    "stars": ("* Find\n* Sum", ["Find", "Sum"]),
    "thinking first": ("<think>1. no\n2. way</think>\n1. Find\n2. Sum", ["Find", "Sum"]),
    "JSON in JSON": ('{"plan": {"steps": [{"name": "Find"}, {"name": "Sum"}]}}', ["Find", "Sum"]),
    "JSON by number": ('{"1": "Find", "2": "Sum"}', ["Find", "Sum"]),
    "JSON by name": ('{"step_1": {"description": "Find"}, "step_2": "Sum"}', ["Find", "Sum"]),
    "JSON of another shape": ('[{"id": 1, "do": "Find"}, {"id": 2, "do": "Sum"}]', ["Find", "Sum"]),
    "Python": ("['Find', 'Sum']", ["Find", "Sum"]),
    "JSON that is cut off": ('{"steps": [\n  "Find",\n  "Sum",\n  "Wri', ["Find", "Sum"]),
    "the second fence": ('```\nls\n```\n```json\n["Find", "Sum"]\n```', ["Find", "Sum"]),
    "one step a line": (
        "Here is my plan:\nFind the file\nSum it up",
        ["Find the file", "Sum it up"],
    ),
    "words of order": (
        "First, find it.\nThen sum it.\nShall I?",
        ["First, find it.", "Then sum it."],
    ),
    "a refusal": ("I\u2019m sorry, I can't do that.\nAsk a lawyer.\nOr a friend.", []),
    "an answer": ("Paris is the capital of France.", []),
    "a greeting": ("Hello there!\nHow can I help you?", []),
    "a table": ("| 1 | Find |\n| 2 | Sum |", []),
    "a year": ("2024 - a good year", []),
}


@pytest.mark.parametrize("case", FORMS)
def test_c74_forms_of_a_plan(case: str) -> None:
    """Fenced JSON, lists and chatter around them are read; anything else has no steps."""
    text, steps = FORMS[case]
    assert steps_in(text) == steps


def test_prose_is_no_list() -> None:
    """Where a list was asked for, as for insights, lines of prose are none."""
    assert list_in("Find it\nSum it") == []
    assert list_in("- Find it\n- Sum it") == ["Find it", "Sum it"]


def test_a_long_step_is_cut() -> None:
    """A step is a line, not a page."""
    assert steps_in("1. " + "x" * 9_000) == ["x" * STEP_CHARS]


@pytest.mark.parametrize("text", ["x" * 200_000, "1. " * 100_000, "[" * 100_000, "- \n" * 90_000])
def test_any_text(text: str) -> None:
    """However long and odd, a text is read in one go."""
    assert len(steps_in(text)) <= 1


@pytest.mark.parametrize("text", ["I'm sorry, but no.", "I cannot do it", " As an AI model, I"])
def test_refusals(text: str) -> None:
    """How models say no."""
    assert refuses(text)
    assert not refuses("Find what cannot be found")
