"""JSON text within JSON text is opened as deep as is said, and no deeper unseen."""

from __future__ import annotations

import json

import pytest

from edgeward.guards.normalise import MAX_OPENED

from .conftest import Ask

RULE = {"arg_rules": [{"name": "passwords", "regex": r"\.\./etc/passwd|\.\.\\"}]}


def quoted(text: str, times: int) -> str:
    """`text` as a JSON string of a JSON string, so many times over."""
    for _ in range(times):
        text = json.dumps(text)
    return text


@pytest.mark.parametrize("times", range(MAX_OPENED + 1))
def test_quoted_within_the_bound(ask: Ask, times: int) -> None:
    """Up to the bound a string is judged by what it says, not by the signs of its quoting."""
    assert ask(RULE, {"a": quoted('wait ..\nsay "hello"', times)}).word == "allow"
    verdict = ask(RULE, {"a": quoted('"../\u0065tc/passwd"', times)})
    assert verdict.word == "block"
    assert "arg_rules.passwords" in {f.rule for f in verdict.findings}


@pytest.mark.parametrize("times", [MAX_OPENED + 1, MAX_OPENED + 4])
def test_quoted_beyond_the_bound(ask: Ask, times: int) -> None:
    """Beyond the bound even a greeting is blocked: what cannot be read is not let through."""
    verdict = ask(RULE, {"a": quoted('say "hello"\n', times)})
    assert verdict.word == "block"
    assert "argument 'a': JSON text is nested too deeply" in verdict.reason


def test_the_place_that_a_finding_names(ask: Ask) -> None:
    """Values that hold no text (null, true, false, empty ones) do not shift the place named."""
    arguments = {"n": None, "yes": True, "list": [None, False, {}, [], "../etc/passwd"]}
    (found,) = ask(RULE, arguments).findings
    assert found.argument == "list[4]"
