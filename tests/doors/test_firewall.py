"""`Firewall`: the plain door, for code that calls its tools itself."""

from __future__ import annotations

import pickle
import subprocess
import sys
from datetime import date
from enum import Enum
from pathlib import Path, PurePosixPath
from typing import Any

import pytest
from pydantic import BaseModel, SecretStr, field_serializer

from edgeward import (
    Caller,
    Firewall,
    PolicyViolationError,
    check_tool_calls,
    load_policy,
)
from edgeward import ToolCall as Defended
from edgeward.guards.firewall import Firewall as PlainFirewall
from edgeward.guards.python_values import as_call

from .plain_door import FLOW, KEY, Point
from .spies import POLICY, REFUSED


@pytest.mark.parametrize("policy", ["default", load_policy("default"), None, Path("none")])
def test_a_policy_by_any_name(policy: Any, tmp_path: Path) -> None:
    """A shipped name, a policy, a path, nothing: one verdict."""
    if isinstance(policy, Path):
        policy = tmp_path / "p.yaml"
        policy.write_text("version: 2\ntools: {run_shell: block}\n", encoding="utf-8")
    assert Firewall(policy).check("run_shell", {"command": "ls"}).word == "block"


def test_only_a_policy_makes_one() -> None:
    """In the guards themselves nothing is loaded by name."""
    with pytest.raises(TypeError, match="not a str"):
        PlainFirewall("default")  # type: ignore[arg-type]


@pytest.mark.parametrize(("name", "arguments", "said"), REFUSED)
def test_a_check(name: str, arguments: dict[str, Any], said: str) -> None:
    """A verdict with its reasons; nothing is raised."""
    verdict = Firewall(POLICY).check(name, arguments)
    assert verdict.word == "block"
    assert said in verdict.reason


@pytest.mark.parametrize(
    "arguments", [None, {}, "", "{}", '{"text": "hi"}', {"text": ("hi", b"ho")}]
)
def test_what_may_run(arguments: Any) -> None:
    """A mapping, the JSON text that a model wrote, or nothing."""
    assert Firewall(POLICY).check("search", arguments).word == "allow"


@pytest.mark.parametrize(
    "arguments",
    [
        "{",
        "[]",
        '{"a": 1, "a": 2}',
        '{"a": NaN}',
        [1],
        {"a": object()},
        {"a": float("nan")},
        {"a": {1: 2, "1": 3}},
        {"a": iter("b")},
    ],
)
def test_what_cannot_be_checked(arguments: Any) -> None:
    """It is blocked, and the reason does not quote it."""
    verdict = Firewall("allow_all").check("search", arguments)
    assert verdict.word == "block"
    assert "cannot be checked" in verdict.reason


class Kind(Enum):
    """An argument that is a word of a list."""

    UP = "../up"


class Hides(BaseModel):
    """A model whose own serializer leaves something out."""

    path: str

    @field_serializer("path")
    def nothing(self, value: str) -> str:
        return ""


class Port(int):
    """A number of a class of its own."""


@pytest.mark.parametrize(
    "value",
    [
        Kind.UP,
        Hides(path="../a"),
        Point(Point(b"../a")),
        PurePosixPath("../a"),
        {"../a"},
        [{"../a": 1}],
        SecretStr("../a"),
        type("Text", (str,), {})("../a"),
    ],
)
def test_a_value_is_judged_by_what_it_says(value: Any) -> None:
    """Whatever Python object carries it."""
    firewall = Firewall(POLICY)
    assert firewall.check("search", {"value": value}).reason == "path traversal"


def test_a_value_that_holds_itself() -> None:
    """It has no end, and cannot be checked."""
    value: list[Any] = []
    value.append(value)
    assert "nested too deeply" in Firewall(POLICY).check("search", {"value": value}).reason


def test_a_value_that_is_harmless_is_allowed() -> None:
    """Objects of the usual kinds can be checked."""
    value = [
        date(2025, 1, 1),
        PurePosixPath("a/b"),
        Point(1.5),
        Hides(path="a"),
        Port(80),
        None,
        True,
    ]
    assert Firewall(POLICY).check("search", {"value": value}).word == "allow"


def test_a_session_counts() -> None:
    """Calls that were let through, and tokens that it was told of."""
    firewall = Firewall(
        {"version": 2, "default": "allow", "token_budget_per_session": 100}, thread="t"
    )
    assert firewall.check("a").word == "allow"
    firewall.add_tokens(60)
    assert firewall.check("a").word == "allow"
    firewall.add_tokens(60)
    assert firewall.check("a").reason.startswith("the session's token budget of 100 is used up")
    assert (firewall.history.calls, firewall.history.thread) == ({"a": 2}, "t")


def test_no_secret_in_an_error() -> None:
    """Neither in its text nor in its pickle's text."""
    with pytest.raises(PolicyViolationError) as caught:
        Firewall("default").guard(lambda text: text, name="search")(f"key {KEY}")
    assert KEY not in str(caught.value)
    again = pickle.loads(pickle.dumps(PolicyViolationError("no", verdict=caught.value.verdict)))
    assert str(again) == "no"
    assert again.verdict == caught.value.verdict


def test_it_loads_no_agent(tmp_path: Path) -> None:
    """The plain door needs neither LangChain nor LangGraph."""
    code = (
        "import sys; from edgeward import Firewall, check_tool_calls, scan_and_redact\n"
        "assert Firewall('default').check('run_shell').word == 'block'\n"
        "assert not {'langchain_core', 'langgraph', 'langchain'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], cwd=tmp_path, check=True)


def test_a_check_of_calls_alone_cannot_know_what_is_private() -> None:
    """A policy whose `private` would find nothing is refused, not kept in name only."""
    with pytest.raises(ValueError, match="`private` needs to see"):
        check_tool_calls([], load_policy(FLOW))


def test_what_a_call_gave_back_is_reported() -> None:
    """What is private may not leave; as long as a result is missing, nothing may."""
    firewall = Firewall(FLOW)
    call = as_call("read_inbox", {})
    assert firewall.decide(call).word == "allow"
    missing = firewall.check("post", {"text": "hello"})
    assert missing.word == "block"
    assert "what 'read_inbox' gave back was not reported" in missing.reason
    firewall.observe(call, {"mail": "code 482913X"})
    assert firewall.check("post", {"text": "hello"}).word == "allow"
    assert firewall.check("post", {"text": "it is 482913x"}).word == "block"
    firewall.said("Post 482913X.")
    assert firewall.check("post", {"text": "it is 482913x"}).word == "allow"
    assert firewall.history.calls == {"post": 1}


def test_a_loop_reports_by_the_name_of_the_tool() -> None:
    """With what it asked by; agent-defender's calls are none, and the error says what is one."""
    firewall = Firewall(FLOW)
    assert firewall.check("read_inbox", "{}").word == "allow"
    firewall.observe("read_inbox", [{"mail": "code 482913X"}], arguments="{}")
    assert firewall.check("post", {"text": "hello"}).word == "allow"
    assert firewall.check("post", {"text": "it is 482913X"}).word == "block"
    with pytest.raises(TypeError, match="call is of type ToolCall; allowed: the name of a tool"):
        firewall.observe(Defended(function={"name": "read_inbox"}), "")  # type: ignore[arg-type]


def test_what_the_user_said_is_a_text() -> None:
    """A message of some SDK is none; what it says is to be handed over."""
    message: Any = {"role": "user", "content": "Go."}
    with pytest.raises(TypeError, match="text is of type dict; allowed: a text"):
        Firewall("default").said(message)


def test_a_call_that_is_taken_back_gave_nothing() -> None:
    """It will be decided again before it runs."""
    firewall = Firewall(FLOW)
    firewall.check("read_inbox")
    firewall.take_back("read_inbox")
    assert firewall.check("post", {"text": "hello"}).word == "allow"


def test_the_order_of_calls_in_a_session() -> None:
    """What opens a gate is a call that ran; what shuts one is a call that may run."""
    rules = [{"before": "deploy", "require": "test"}, {"after": "fetch", "block": "deploy"}]
    firewall = Firewall({"version": 2, "default": "allow", "sequence": rules})
    test = as_call("test")
    assert firewall.decide(test).word == "allow"
    assert firewall.check("deploy").word == "block"
    firewall.observe(test, "bad", failed=True)
    assert firewall.check("deploy").word == "block"
    firewall.observe(test, "ok")
    assert firewall.check("deploy").word == "allow"
    firewall.check("fetch")
    firewall.said("Deploy it.")
    assert firewall.check("deploy").word == "block"


def test_the_caller_of_a_session() -> None:
    """A session serves one caller, whom the code that makes it names."""
    policy = {"version": 2, "tools": {"pay": {"callers": {"roles": ["clerk"]}}}}
    assert Firewall(policy).check("pay").word == "block"
    assert Firewall(policy, caller=Caller(roles=("clerk",))).check("pay").word == "allow"
