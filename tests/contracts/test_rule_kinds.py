"""Every rule kind names its threat, shows a valid example, refuses unknown keys, has its test."""

from __future__ import annotations

import copy
import inspect
import re
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from edgeward.guards.rules import rule_modules
from edgeward.policies.schema import load_policy
from edgeward.policies.yaml_file import ConfigValidationError, parse_yaml
from tests.nested import mappings_in

from .examples import example_of
from .tree import ROOT, files_of

KEYS = [path.stem for path in files_of("guards/rules", "*.py") if not path.stem.startswith("_")]

pytestmark = pytest.mark.parametrize("key", KEYS)


def doc(key: str) -> str:
    """The docstring of a rule's module."""
    return inspect.getdoc(module(key)) or ""


def module(key: str) -> ModuleType:
    """A rule's module."""
    return import_module(f"edgeward.guards.rules.{key}")


def example(key: str) -> dict[str, Any]:
    """The example, read by the project's own reader."""
    data = parse_yaml(example_of(doc(key)), name=f"guards/rules/{key}.py").data
    assert isinstance(data, dict)
    return data


def test_the_file_name_is_the_key(key: str) -> None:
    """A rule is found by its file, under the key that the reader of a policy sees."""
    rule = module(key)
    assert key == rule.KEY
    assert rule_modules()[key] is module(key)


def test_the_docstring_names_the_threat(key: str) -> None:
    """It begins with what the rule is, and says against what it helps."""
    text = doc(key)
    assert text.splitlines()[0].strip()
    assert re.search(r"^Threat: \S", text, re.MULTILINE)


def test_the_example_is_in_force(key: str, tmp_path: Path) -> None:
    """The example, as a policy file, loads and makes a check of this rule."""
    path = tmp_path / "policy.yaml"
    path.write_text(f"version: 2\n{example_of(doc(key))}", encoding="utf-8")
    assert key in example(key)
    assert [check.rule for check in load_policy(path).checks].count(key) == 1


def test_an_unknown_key_is_refused(key: str) -> None:
    """Wherever the example has a mapping, a stranger in it stops the policy."""
    whole = {"version": 2, **example(key)}
    for number in range(len(list(mappings_in(whole)))):
        wrong = copy.deepcopy(whole)
        list(mappings_in(wrong))[number]["surprise"] = {"surprise": 1}
        with pytest.raises(ConfigValidationError, match="surprise"):
            load_policy(wrong)


def test_a_misspelt_key_is_refused_with_its_name(key: str) -> None:
    """A rule under a name that is nearly right is no rule, and the reader hears which was meant."""
    value = example(key)[key]
    with pytest.raises(ConfigValidationError, match=f"did you mean {key}"):
        load_policy({"version": 2, key + "s": value})


def test_a_twin_test_file_exists(key: str) -> None:
    """`guards/rules/<key>.py` has a `tests/guards/rules/test_<key>.py`."""
    assert (ROOT / "tests" / "guards" / "rules" / f"test_{key}.py").is_file()
