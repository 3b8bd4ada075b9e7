"""Case files: one call each, with what went before it; and every way in which one can be wrong."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from edgeward.guards.caller import Caller
from edgeward.policies.cases import case_folder, cases_beside, load_case, load_history
from edgeward.policies.problems import ConfigError, ConfigFileMissing
from edgeward.policies.schema import load_policy, shipped_policies

POLICY = """\
version: 2
tools:
  find_person: allow
  send_email: {args: {to: known}, max_calls: 1, otherwise: ask}
  close: {callers: {roles: [clerk]}}
trust: [{tool: find_person, fields: [email]}]
"""
FOUND = {"tool": "find_person", "arguments": {"name": "Ann"}, "result": [{"email": "a@x.example"}]}
MAIL = {"tool": "send_email", "arguments": {"to": "a@x.example"}}


def written(folder: Path, name: str, case: object) -> Path:
    """A case file."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(case if isinstance(case, str) else json.dumps(case), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("history", "word"),
    [
        ([], "ask"),
        ([{"user": "Mail a@x.example"}], "allow"),
        ([FOUND], "allow"),
        ([{**FOUND, "failed": True}], "ask"),
        ([FOUND, {**MAIL, "result": "sent"}], "ask"),
        ([FOUND, {**MAIL, "result": "sent"}, {"user": "Again."}], "allow"),
    ],
)
def test_what_went_before_counts(tmp_path: Path, history: list[Any], word: str) -> None:
    """What the user said, what tools gave, and how often they ran since the user spoke."""
    case = load_case(written(tmp_path, "case.json", {**MAIL, "history": history}))
    assert case.verdict(load_policy({"version": 2, **_policy()})).word == word


def _policy() -> dict[str, Any]:
    return {
        "tools": {
            "find_person": "allow",
            "send_email": {"args": {"to": "known"}, "max_calls": 1, "otherwise": "ask"},
        },
        "trust": [{"tool": "find_person", "fields": ["email"]}],
    }


def test_yaml_and_json_say_the_same(tmp_path: Path) -> None:
    """Text of other planes too: JSON writes it in pairs that YAML does not know."""
    data = {"tool": "note", "arguments": {"text": "\U0001f600"}, "caller": {"roles": ["clerk"]}}
    as_json = load_case(written(tmp_path, "a_note.json", data))
    as_yaml = load_case(
        written(
            tmp_path,
            "a_note.yaml",
            'tool: note\narguments: {text: "\U0001f600"}\ncaller: {roles: [clerk]}\n',
        )
    )
    assert as_json == as_yaml
    assert as_json.name == "a note"
    assert as_json.caller == Caller(roles=("clerk",))


def test_arguments_as_a_model_wrote_them(tmp_path: Path) -> None:
    """Text is parsed as a call's is, and what cannot be parsed is blocked."""
    path = written(tmp_path, "case.yaml", "tool: find_person\narguments: '{\"name\": '\n")
    case = load_case(path)
    assert case.call.fault is not None
    assert case.verdict(load_policy({"version": 2, **_policy()})).word == "block"


@pytest.mark.parametrize(
    ("name", "text", "wrong"),
    [
        ("a.json", "[1]", "is a list"),
        ("a.json", '{"tool": "x", "tool": "y"}', "holds the same key twice"),
        ("a.json", "{", "not valid JSON"),
        ("a.yaml", "tool: x\nargs: {}\n", "a.yaml:2: args: unknown key"),
        ("a.yaml", "arguments: {}\n", "tool"),
        (
            "a.yaml",
            "tool: x\nhistory:\n  - {usr: hello}\n",
            "a.yaml:3: history[0].usr: unknown key",
        ),
        ("a.yaml", "tool: x\nhistory:\n  - {tool: a, reslt: b}\n", "history[0].reslt: unknown key"),
        ("a.json", "3", "is a JSON number, not an object"),
    ],
)
def test_a_case_that_is_none(tmp_path: Path, name: str, text: str, wrong: str) -> None:
    """Each fault with its place."""
    with pytest.raises(ConfigError) as caught:
        load_case(written(tmp_path, name, text))
    assert wrong in str(caught.value)


def test_the_cases_beside_a_policy(tmp_path: Path) -> None:
    """In the folders of its name, by the verdict that they expect; other files are left alone."""
    policy = written(tmp_path, "clerk.yaml", POLICY)
    written(tmp_path, "clerk/ask/a_stranger.json", MAIL)
    written(tmp_path, "clerk/block/an_unknown_tool.yaml", "tool: rm\n")
    written(tmp_path, "clerk/block/README.md", "how to write them")
    assert [(c.expected, c.name) for c in cases_beside(policy)] == [
        ("ask", "a stranger"),
        ("block", "an unknown tool"),
    ]


def test_no_cases(tmp_path: Path) -> None:
    """What has no case is not tested, and that is said."""
    policy = written(tmp_path, "clerk.yaml", POLICY)
    with pytest.raises(ConfigFileMissing, match="no cases beside this policy; write a call into"):
        cases_beside(policy)
    with pytest.raises(ValueError, match="only a policy in a file"):
        case_folder({"version": 2})


def test_all_broken_cases_at_once(tmp_path: Path) -> None:
    """Nobody mends them one by one."""
    policy = written(tmp_path, "clerk.yaml", POLICY)
    for name in ("one", "two"):
        written(tmp_path, f"clerk/block/{name}.yaml", "tol: x\n")
    with pytest.raises(ConfigError) as caught:
        cases_beside(policy)
    assert str(caught.value).count("unknown key") == 2


def test_a_history_may_be_a_list_or_a_case(tmp_path: Path) -> None:
    """So that a recorded run and a case can both be gone on from."""
    as_list = written(tmp_path, "list.json", [{"user": "hello"}, FOUND])
    as_yaml = written(tmp_path, "list.yaml", "- user: hello\n- " + json.dumps(FOUND))
    as_case = written(tmp_path, "case.json", {**MAIL, "history": [{"user": "hello"}, FOUND]})
    assert load_history(as_list) == load_history(as_yaml) == load_history(as_case)
    assert len(load_history(as_list)) == 3


def test_a_history_may_be_given_as_json() -> None:
    """Where it is short; what is no JSON, or no history, is told."""
    text = json.dumps([{"user": "hello"}, FOUND])
    assert len(load_history(text)) == 3
    assert load_history(json.dumps({**MAIL, "history": [{"user": "hello"}, FOUND]}))
    with pytest.raises(ConfigError, match="history: is not valid JSON"):
        load_history(text[:-1])
    with pytest.raises(ConfigError, match="history: is missing"):
        load_history("{}")


def test_values_that_a_policy_hides_are_written_as_they_are(tmp_path: Path) -> None:
    """`placeholders` change what a model reads, not what a case says."""
    policy = load_policy({"version": 2, **_policy(), "placeholders": {"kinds": ["email"]}})
    case = load_case(written(tmp_path, "case.json", {**MAIL, "history": [FOUND]}))
    assert case.verdict(policy).word == "allow"


@pytest.mark.parametrize("name", shipped_policies())
def test_shipped_policies_have_cases(name: str) -> None:
    """They are found by the policy's name."""
    assert cases_beside(name)


@pytest.mark.parametrize(
    ("used", "word"),
    [
        ({}, "allow"),
        ({"caller": {"cost_usd": 2.99}}, "allow"),
        ({"caller": {"cost_usd": 3}}, "block"),
        ({"caller": {"cost_usd": "not counted"}}, "block"),
        ({"thread": {"tokens": 100}}, "block"),
        ({"run": {"calls": 2}}, "block"),
        ({"thread": {"calls": 200}}, "allow"),
    ],
)
def test_what_was_used_up_counts(tmp_path: Path, used: dict[str, Any], word: str) -> None:
    """Limits can be tested: what a case does not say was used was not."""
    policy = {
        "version": 2,
        "tools": {"*": "allow"},
        "limits": {
            "tokens": 100,
            "run": {"calls": 2},
            "caller": {"cost_usd": 3},
            "prices": {"*": {"input": 1, "output": 1}},
        },
    }
    history = [{"user": "hi"}, {"tool": "a"}]
    case = load_case(written(tmp_path, "c.json", {"tool": "x", "history": history, "used": used}))
    assert case.verdict(load_policy(policy)).word == word


@pytest.mark.parametrize(
    ("used", "said"),
    [
        ({"callers": {}}, "used.callers"),
        ({"caller": {"usd": 1}}, "used.caller.usd"),
        ({"caller": {"tokens": -1}}, "used.caller.tokens"),
        ({"caller": {"tokens": "many"}}, "used.caller.tokens"),
    ],
)
def test_what_is_no_amount_is_refused(tmp_path: Path, used: Any, said: str) -> None:
    """With its place."""
    with pytest.raises(ConfigError, match=said):
        load_case(written(tmp_path, "c.json", {"tool": "x", "used": used}))


def test_a_json_file_is_read_as_a_yaml_file_is(tmp_path: Path) -> None:
    """With a mark of its encoding; what cannot be read is told alike."""
    path = tmp_path / "h.json"
    path.write_bytes(b'\xef\xbb\xbf[{"user": "hi"}]')
    assert len(load_history(path)) == 1
    told = [(b" " * 1_000_001, "too big"), (b"[\xff]", "is not UTF-8"), (b"[", "not valid JSON")]
    for raw, wrong in told:
        path.write_bytes(raw)
        with pytest.raises(ConfigError, match=wrong):
            load_history(path)
    path.unlink()
    with pytest.raises(ConfigFileMissing, match="there is no such file"):
        load_history(path)
