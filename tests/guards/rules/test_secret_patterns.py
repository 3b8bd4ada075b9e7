"""`secret_patterns`: credentials are blocked in arguments, or masked where a tool runs redacted."""

from __future__ import annotations

import base64

import pytest

from .deciding import verdict, word

BADGE = {"name": "badge", "regex": "BADGE-[0-9]{8}"}
OWN: dict[str, object] = {"secret_patterns": [BADGE]}
ANTHROPIC = "sk-ant-api03-" + "A1b2C3d4" * 12
GITHUB = "ghp_" + "A1b2C3d4E5f6G7h8I9j0" + "K1l2M3n4O5p6Q7r8"


@pytest.mark.parametrize("key", [ANTHROPIC, GITHUB, "AKIAQYLPMN5HHHFPZAM2"])
def test_shipped_patterns_apply_without_a_word(key: str) -> None:
    """A policy that says nothing of secrets lets no key of a common provider out."""
    assert word({}, "send", {"body": f"here: {key}."}) == "block"


def test_an_own_pattern_is_added() -> None:
    """The shipped ones stay in force."""
    assert word(OWN, "send", {"body": "BADGE-12345678"}) == "block"
    assert word(OWN, "send", {"body": ANTHROPIC}) == "block"
    assert word({}, "send", {"body": "BADGE-12345678"}) == "allow"


@pytest.mark.parametrize(
    "text",
    [
        base64.b64encode(b"the badge is BADGE-12345678, keep it").decode(),
        "BADGE%2D12345678",
        "BADGE\u200b-12345678",
    ],
)
def test_an_encoded_secret_is_found(text: str) -> None:
    """In base64, percent signs, or with invisible characters in it."""
    assert word(OWN, "send", {"body": text}) == "block"


def test_the_refusal_does_not_repeat_the_secret() -> None:
    """It names the kind of the secret and where it stood."""
    (finding,) = verdict(OWN, "send", {"to": ["x", "BADGE-12345678"]}).deciding
    assert (finding.rule, finding.argument) == ("secret_patterns.badge", "to[1]")
    assert finding.value == "[REDACTED:badge]"
    assert "12345678" not in finding.reason


def test_a_tool_that_runs_redacted_gets_masked_arguments() -> None:
    """It runs, with the secret taken out and the rest as it was."""
    rules = {**OWN, "tools": {"send": "redact"}}
    said = verdict(rules, "send", {"to": "bob", "body": "my BADGE-12345678!"})
    assert said.word == "redact"
    (finding,) = said.deciding
    assert finding.masked == {"to": "bob", "body": "my [REDACTED:badge]!"}


def test_what_cannot_be_masked_is_blocked() -> None:
    """A secret in base64 would be there still."""
    rules = {**OWN, "tools": {"send": "redact"}}
    body = base64.b64encode(b"the badge is BADGE-12345678, keep it").decode()
    assert word(rules, "send", {"body": body}) == "block"


def test_a_tool_that_runs_redacted_needs_no_secret_to_run() -> None:
    """Without one, nothing is changed and nothing is said."""
    rules = {**OWN, "tools": {"send": "redact"}}
    assert verdict(rules, "send", {"body": "hello"}).findings == ()


@pytest.mark.parametrize("text", ["BADGE-123", "a badge", "sk-", "ghp_short", ""])
def test_what_only_resembles_a_secret_may_pass(text: str) -> None:
    """Words about keys are no keys."""
    assert word(OWN, "send", {"body": text}) == "allow"
