"""`secret_patterns`: blocked in arguments, masked in text and where a tool runs redacted."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from edgeward.guards.decide import decide
from edgeward.guards.ledger import History
from edgeward.guards.verdict import ToolCall
from edgeward.policies.problems import ConfigError
from edgeward.policies.schema import load_policy

from ..conftest import Ask

KEY = "AKIAIOSFODNN7EXAMPLE"
BADGE = {"secret_patterns": [{"name": "badge", "regex": "BADGE-[0-9]{8}"}]}


def test_blocked_without_being_quoted(ask: Ask) -> None:
    """The finding names the pattern and the argument, never the secret (F006)."""
    verdict = ask(BADGE, {"note": "BADGE-12345678"})
    (found,) = verdict.findings
    assert (found.word, found.rule) == ("block", "secret_patterns.badge")
    assert (found.argument, found.value) == ("note", "[REDACTED:badge]")
    assert "12345678" not in str(verdict)


@pytest.mark.parametrize(
    "arguments",
    [
        {"k": KEY},
        {KEY: 1},
        {"part1": "AKIAIOSF", "part2": "ODNN7EXAMPLE"},
        {"note": "see", "a": "AKIA", "b": "IOSFODNN", "c": "7EXAMPLE"},
        {"parts": ["AKIAIOSF", "ODNN7EXAMPLE"]},
        {"k": base64.b64encode(b"\x00\x01" + KEY.encode()).decode()},
        {"k": base64.b64encode(KEY.encode("utf-16")).decode()},
        {"aws_secret_access_key": "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"},
        {"headers": {"Authorization": "Bearer abc.def-ghi"}},
    ],
)
def test_shipped_patterns_apply(ask: Ask, arguments: dict[str, Any]) -> None:
    """Without any entry the shipped patterns block: whole, split, encoded, named by their key."""
    assert ask({}, arguments).word == "block"


def test_joined_text_that_is_no_key(ask: Ask) -> None:
    """Pieces that make no key when they are put together are allowed."""
    assert ask({}, {"sku": "AKIA-01", "batch": "osfodnn7example"}).word == "allow"


def test_text_is_masked() -> None:
    """The same pattern masks text (F006)."""
    redactor = load_policy({"version": 1, **BADGE}).redactor
    assert redactor.secrets("it is BADGE-12345678.")[0] == "it is [REDACTED:badge]."


def test_redact_runs_with_masks() -> None:
    """A tool whose verdict is redact runs with its secrets masked, whatever its spelling allows."""
    policy = load_policy({"version": 2, "tools": {"post": "redact", "put": "allow"}})
    call = ToolCall("post", {"a": [f"key {KEY}"], "b": 1})
    verdict = decide(policy, call, History())
    assert verdict.word == "redact"
    assert verdict.findings[0].masked == {"a": ["key [REDACTED:aws_access_key]"], "b": 1}
    assert call.arguments["a"] == [f"key {KEY}"]
    assert decide(policy, ToolCall("put", call.arguments), History()).word == "block"
    assert decide(policy, ToolCall("post", {"a": "nothing"}), History()).word == "allow"


@pytest.mark.parametrize(
    "arguments",
    [{"a": base64.b64encode(KEY.encode()).decode()}, {"a": "AKIAIOSF", "b": "ODNN7EXAMPLE"}],
)
def test_what_cannot_be_masked_blocks(arguments: dict[str, Any]) -> None:
    """A secret that masking does not remove blocks even where the verdict is redact."""
    policy = load_policy({"version": 2, "tools": {"post": "redact"}})
    assert decide(policy, ToolCall("post", arguments), History()).word == "block"


@pytest.mark.parametrize(
    ("regex", "secret", "harmless"),
    [
        (r"\ABADGE-[0-9]{8}\z", {"id": "BADGE-12345678"}, {"id": "old BADGE-12345678 form"}),
        (r"PIN\s[0-9]{4}", {"note": "my PIN\n1234"}, {"kind": "PIN", "year": 2024}),
    ],
)
def test_only_what_matches_within_one_value(
    ask: Ask, regex: str, secret: dict[str, Any], harmless: dict[str, Any]
) -> None:
    """A pattern is asked of each value alone: its anchors hold, and neighbours make no secret."""
    rule = {"secret_patterns": [{"name": "own", "regex": regex}]}
    assert [f.rule for f in ask(rule, secret).findings] == ["secret_patterns.own"]
    assert ask(rule, harmless).word == "allow"


EITHER = [{"name": "pin", "regex": "PIN (?P<secret>[0-9]{4})|PUK [0-9]{8}"}]


@pytest.mark.parametrize("fail_closed", [True, False])
def test_group_that_takes_no_part_in_the_match(ask: Ask, fail_closed: bool) -> None:
    """Where the group `secret` matched nothing, the whole match is the secret."""
    rules = {"secret_patterns": EITHER, "fail_closed": fail_closed}
    verdict = ask(rules, {"note": "PUK 12345678"})
    assert verdict.word == "block"
    assert verdict.findings[0].value == "[REDACTED:pin]"
    redactor = load_policy(rules).redactor
    assert redactor.secrets("PUK 12345678, PIN 1234") == (
        "[REDACTED:pin], PIN [REDACTED:pin]",
        ("pin",),
    )


def test_pattern_that_matches_everything() -> None:
    """A pattern that also matches the empty text would block every call, and is refused at load."""
    with pytest.raises(ConfigError, match="matches the empty text"):
        load_policy({"secret_patterns": [{"name": "x", "regex": "X?"}]})
