"""A real package that adds a node kind and a rule kind: built, installed, used in one graph."""

from __future__ import annotations

import inspect
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from edgeward.graphs.schema import load_strategy
from edgeward.guards.detectors import installed as installed_detectors
from edgeward.guards.results import asked, screen
from edgeward.guards.rules import rule_modules
from edgeward.nodes import kinds
from edgeward.policies.schema import load_policy, policy_model
from edgeward.policies.yaml_file import ConfigValidationError, parse_yaml
from tests.contracts.examples import example_of
from tests.fakes import Recorder, agent_graph, answers, ask, turn

PACKAGE = Path(__file__).parent
BUILD = "import sys; from setuptools import build_meta; build_meta.build_wheel(sys.argv[1])"
CACHES = (kinds, rule_modules, policy_model, installed_detectors)
STRATEGY = """\
strategy: polite
start: act
nodes: {act: act, guard: guard, tool: tool, short: {kind: shorten, max_chars: 10}}
edges: {act.call: guard, act.answer: short, act.limit: end, short.done: end,
        guard.allow: tool, guard.block: act, tool.done: act}
"""
POLICY = """\
version: 2
tools: {ring: allow}
max_calls:
  ring: 1
"""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder into which the package is installed: its wheel, built by its own backend."""
    folder = tmp_path_factory.mktemp("plugin")
    copy = folder / "source"
    shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("test_*", "__pycache__"))
    subprocess.run(
        [sys.executable, "-c", BUILD, str(folder)], cwd=copy, check=True, capture_output=True
    )
    (wheel,) = folder.glob("*.whl")
    zipfile.ZipFile(wheel).extractall(folder / "site")
    return folder / "site"


@pytest.fixture
def installed(site: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The package is on the path; what was found before is forgotten, before and after."""
    monkeypatch.syspath_prepend(str(site))
    for cache in CACHES:
        cache.cache_clear()
    yield
    for cache in CACHES:
        cache.cache_clear()
    for name in [name for name in sys.modules if name.startswith("edgeward_manners")]:
        del sys.modules[name]


@pytest.mark.usefixtures("installed")
def test_its_kinds_are_found_and_say_what_they_are() -> None:
    """Both kinds are known by their names, and their examples are valid as ours are."""
    shorten, max_calls = kinds()["shorten"], rule_modules()["max_calls"]
    assert shorten.origin == "edgeward_manners.shorten"
    module = sys.modules[shorten.origin]
    fields = parse_yaml(example_of(inspect.getdoc(module) or ""), name="example").data
    assert shorten.spec.model_validate(fields["nodes"]["short"]).outcomes() == ("done",)
    rule = parse_yaml(example_of(inspect.getdoc(max_calls) or ""), name="example").data
    assert "max_calls" in {check.rule for check in load_policy({"version": 2, **rule}).checks}


@pytest.mark.usefixtures("installed")
def test_both_are_in_force_in_one_graph(tmp_path: Path) -> None:
    """The rule refuses the second call with its line, and the node cuts the answer."""
    strategy, policy = tmp_path / "strategy.yaml", tmp_path / "policy.yaml"
    strategy.write_text(STRATEGY, encoding="utf-8")
    policy.write_text(POLICY, encoding="utf-8")
    recorder = Recorder()
    rings = [turn(("ring", {"what": "bell"}, "c1")), turn(("ring", {"what": "bell"}, "c2"))]
    graph = agent_graph(
        [*rings, "The bell was rung once."],
        tools=[recorder.tool("ring")],
        strategy=strategy,
        policy=load_policy(policy),
    )
    messages = graph.invoke(ask())["messages"]
    assert recorder.names() == ["ring"]
    (first, _), (second, refusal) = answers(messages)
    assert (first, second) == ("c1", "c2")
    assert "all it may" in refusal
    assert messages[-1].text == "The bell …"


@pytest.mark.usefixtures("installed")
def test_its_files_are_checked_as_ours_are(tmp_path: Path) -> None:
    """A misspelt field of its node, and a value its rule does not take, are errors at load."""
    path = tmp_path / "strategy.yaml"
    path.write_text(STRATEGY.replace("max_chars", "max_char"), encoding="utf-8")
    with pytest.raises(ConfigValidationError, match="did you mean max_chars"):
        load_strategy(path)
    with pytest.raises(ConfigValidationError, match="max_calls"):
        load_policy({"version": 2, "max_calls": {"ring": -1}})


@pytest.mark.usefixtures("installed")
def test_its_detector_is_asked() -> None:
    """Named in a policy, it has a text flagged; alone it withholds nothing."""
    policy = load_policy({"version": 2, "results": {"detectors": ["shouting"]}})
    for text, did in (("BUY NOW", ("flagged: detector shouting",)), ("quiet words", ())):
        seen = screen(policy, text, said=asked(policy, text))
        assert (seen.did, seen.withheld) == (did, False)
    with pytest.raises(ConfigValidationError, match="there are: shouting"):
        load_policy({"version": 2, "results": {"detectors": ["shoutin"]}})


def test_without_it_its_words_are_unknown(tmp_path: Path) -> None:
    """Where the package is not installed, nothing of it is silently ignored."""
    path = tmp_path / "strategy.yaml"
    path.write_text(STRATEGY, encoding="utf-8")
    with pytest.raises(ConfigValidationError, match="unknown node kind 'shorten'"):
        load_strategy(path)
    with pytest.raises(ConfigValidationError, match="max_calls"):
        load_policy({"version": 2, "max_calls": {"ring": 1}})
