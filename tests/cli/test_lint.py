"""`edgeward lint`: problems of all kinds of file, for people, scripts and code hosts."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from edgeward.cli.sarif import MEANINGS
from edgeward.policies.lint import SUSPICIOUS

from .conftest import Invoke

POLICY = "version: 2\ntools:\n  pay: ask\n  send: allow\n"
PROFILE = """\
agent:
  id: a
  name: A
  llm: {provider: openai, api_key: KEY}
  tools: {python: [tools.py:send, "tools.py:read"]}
"""
STRATEGY = """\
strategy: bad
start: act
nodes: {act: act, tool: tool}
edges: {act.call: tool, act.answer: end, act.limit: end, tool.done: act}
"""
KEY = "sk-proj-" + "Ab1" * 16


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    """A policy, a profile and a strategy, each with something wrong."""
    texts = {"policy.yaml": POLICY, "profile.yaml": PROFILE, "strategy.yaml": STRATEGY}
    for name, text in texts.items():
        (tmp_path / name).write_text(text.replace("KEY", KEY), encoding="utf-8")
    return [tmp_path / name for name in texts]


def test_each_file_and_what_they_say_of_each_other(files: list[Path], invoke: Invoke) -> None:
    """One line a problem; the exit code says that there are some."""
    result = invoke("lint", *files)
    assert result.exit_code == 1
    for part in (
        "policy.yaml:4: tools.send: is free, while pay has conditions (bare_sink)",
        "profile.yaml:4: agent.llm.api_key: holds what looks like a secret",
        "strategy.yaml:4: edges.act.call",
        "policy.yaml:3: tools.pay: the agent has no such tool (no_such_tool)",
        "policy.yaml:2: tools: the agent's tool read is not named, so that `default` (block)",
    ):
        assert part in result.stdout, result.stdout
    assert KEY not in result.output


def test_what_is_clean(invoke: Invoke) -> None:
    """Exit code 0; names of shipped policies are taken."""
    result = invoke("lint", "default", "read_only")
    assert (result.exit_code, result.stdout) == (0, "2 files, 0 problems\n")


def test_for_scripts(files: list[Path], invoke: Invoke) -> None:
    """A list of problems with file, line and kind."""
    found = json.loads(invoke("lint", files[0], "--json").stdout)
    assert [(p["kind"], p["line"], p["field"]) for p in found] == [("bare_sink", 4, "tools.send")]


def test_for_code_hosts(files: list[Path], invoke: Invoke) -> None:
    """A SARIF log: what may be meant as it stands is a warning, the rest an error."""
    log = json.loads(invoke("lint", *files, "--sarif").stdout)
    assert log["version"] == "2.1.0"
    (run,) = log["runs"]
    levels = {result["ruleId"]: result["level"] for result in run["results"]}
    assert levels["bare_sink"] == "warning"
    assert levels["secret"] == "error"
    assert {rule["id"] for rule in run["tool"]["driver"]["rules"]} == set(levels)
    place = run["results"][0]["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"].endswith("policy.yaml")
    assert place["region"] == {"startLine": 4}


def test_code_hosts_are_told_where_in_a_form_that_they_read(
    tmp_path: Path, invoke: Invoke, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A place is a URI, signs in a name escaped; each rule says what it is about."""
    (tmp_path / "a b#1.yaml").write_text("version: 2\ntools: {x: alow}\n")
    monkeypatch.chdir(tmp_path)
    for name, uri in (
        ("a b#1.yaml", "a%20b%231.yaml"),
        (str(tmp_path / "a b#1.yaml"), (tmp_path / "a b#1.yaml").as_uri()),
    ):
        (run,) = json.loads(invoke("lint", name, "--sarif").stdout)["runs"]
        (result,) = run["results"]
        assert result["locations"][0]["physicalLocation"]["artifactLocation"] == {"uri": uri}
        assert "did you mean allow?" in result["message"]["text"]
        (rule,) = run["tool"]["driver"]["rules"]
        assert rule["shortDescription"]["text"].startswith("The file does not")


def test_every_suspicion_means_something() -> None:
    """What lint can suspect is explained to code hosts."""
    assert set(MEANINGS) >= SUSPICIOUS


def test_secrets_are_found_wherever_they_stand(tmp_path: Path, invoke: Invoke) -> None:
    """In values and comments of a policy, a profile or a strategy, also of one that is wrong."""
    for number, text in enumerate(
        (
            f"version: 2\ntols: {{}}  # {KEY}\n",
            f"agent:\n  id: a\n  nam: A\n  # {KEY}\n",
            STRATEGY.replace("bad", f"bad\ndescription: {KEY}"),
            STRATEGY + f"# {KEY}\n",
        )
    ):
        path = tmp_path / f"{number}.yaml"
        path.write_text(text)
        result = invoke("lint", path)
        assert result.exit_code == 1
        assert "holds what looks like a secret (openai_key)" in result.stdout, result.stdout
        assert f"{tmp_path}" in result.stdout
        assert KEY not in result.output
        assert not result.stdout.endswith("1 file, 1 problem\n")


def test_a_folder(files: list[Path], invoke: Invoke) -> None:
    """Its YAML files are read, as if each had been named; not what lies deeper."""
    (files[0].parent / "policy" / "allow").mkdir(parents=True)
    (files[0].parent / "policy" / "allow" / "a.yaml").write_text("tool: x\n")
    assert invoke("lint", files[0].parent).stdout == invoke("lint", *files).stdout


def test_a_folder_without_files(tmp_path: Path, invoke: Invoke) -> None:
    """One line, which says what to do."""
    result = invoke("lint", tmp_path)
    assert result.exit_code == 2
    assert result.stderr.endswith("is a folder without a YAML file; name a file\n")


def test_a_file_that_is_not_there(tmp_path: Path, invoke: Invoke) -> None:
    """One line, exit code 2."""
    result = invoke("lint", tmp_path / "x.yaml")
    assert result.exit_code == 2
    assert "there is no such policy" in result.stderr


def test_a_file_that_is_no_yaml(tmp_path: Path, invoke: Invoke) -> None:
    """A problem of the file's, with its line."""
    path = tmp_path / "x.yaml"
    path.write_text("version: 2\ntools: {x\n")
    result = invoke("lint", path)
    assert result.exit_code == 1
    assert "x.yaml:" in result.stdout


def test_a_broken_policy_hides_nothing_of_the_others(files: list[Path], invoke: Invoke) -> None:
    """What is wrong with the profile beside it is said, too."""
    files[0].write_text("version: 2\ntools: {x\n")
    result = invoke("lint", *files[:2])
    assert result.exit_code == 1
    assert "policy.yaml:" in result.stdout
    assert "profile.yaml:4: agent.llm.api_key" in result.stdout


def test_of_many_agents_each_policy_is_that_of_its_neighbour(
    tmp_path: Path, invoke: Invoke
) -> None:
    """A folder an agent: no policy is held to another agent's tools. One that lies elsewhere is
    compared with every profile that is named, where none of them has a policy of its own."""
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "policy.yaml").write_text(f"version: 2\ntools: {{look_{name}: allow}}\n")
        (tmp_path / name / "profile.yaml").write_text(
            "agent:\n  id: a\n  name: A\n  llm: {provider: openai, model: m}\n"
            f"  prompt: {{system: Hi.}}\n  tools: {{python: ['tools.py:look_{name}']}}\n"
        )
    assert invoke("lint", tmp_path / "a", tmp_path / "b").stdout == "4 files, 0 problems\n"
    alone = invoke("lint", tmp_path / "a" / "policy.yaml", tmp_path / "b" / "profile.yaml")
    assert "look_a: the agent has no such tool" in alone.stdout


def test_code_hosts_are_given_a_line_where_a_file_has_none(tmp_path: Path, invoke: Invoke) -> None:
    """They show nothing that stands nowhere."""
    (tmp_path / "p.yaml").write_text("")
    ((result,),) = (
        run["results"] for run in json.loads(invoke("lint", tmp_path, "--sarif").stdout)["runs"]
    )
    assert result["locations"][0]["physicalLocation"]["region"] == {"startLine": 1}
