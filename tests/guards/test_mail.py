"""Address literals (`a@[203.0.113.9]`): recipients where addresses stand, code in code."""

from __future__ import annotations

import pytest

from .conftest import Ask

EGRESS = {"egress_allowlist": ["example.com", "2001:db8::1"]}


@pytest.mark.parametrize(
    "address",
    ["a@[IPv6:zz]", "a@[IPv6:]", "a@[1:2]", "a@[]", "Ann <a@[IPv6:1::2::3]>", "a@[a%b]",
     "ann@example.com, a@[IPv6:zz]"],
)  # fmt: skip
def test_malformed_literal_as_a_recipient(ask: Ask, address: str) -> None:
    """In a field for recipients a literal that is no address blocks: a mailer may still read it."""
    verdict = ask(EGRESS, {"to": address})
    assert verdict.word == "block"
    assert "it is no well-formed address literal" in verdict.reason


@pytest.mark.parametrize(
    "text",
    ["y = w@[i:j] + b", "out = weights@[batch]", "x@[a:b, c]", "m@[] is empty", "p@[k]"],
)
def test_code_that_looks_like_a_literal(ask: Ask, text: str) -> None:
    """A product of matrices in code, or a name in brackets, is no address literal."""
    verdict = ask(EGRESS, {"code": text, "text": text})
    assert verdict.word == "allow", verdict.reason


@pytest.mark.parametrize("field", ["to", "text"])
def test_literal_by_address(ask: Ask, field: str) -> None:
    """A well-formed literal is its address: allowed where it is listed, also in prose."""
    assert ask(EGRESS, {field: "write to a@[IPv6:2001:db8::1] now"}).word == "allow"
    for literal in ("[IPv6:2001:db8::2]", "[ipv6:2001:DB8::2]", "[203.0.113.9]"):
        assert ask(EGRESS, {field: f"write to a@{literal} now"}).word == "block"


@pytest.mark.parametrize(
    ("domain", "in_prose"), [("$5", "allow"), ("x%y", "allow"), ("ex$mple.com", "block")]
)
def test_malformed_domain(ask: Ask, domain: str, in_prose: str) -> None:
    """What cannot be a domain blocks as a recipient, and in prose where it has dots."""
    assert ask(EGRESS, {"to": f"a@{domain}"}).word == "block"
    verdict = ask(EGRESS, {"text": f"apples a@{domain} today"})
    assert verdict.word == in_prose, verdict.reason


@pytest.mark.parametrize(
    "text",
    ["write to me@... well", "me@-- no", "@ann, look", "npm i x@1.2.3", "lodash@^4.17.0:",
     '"@babel/core@~7.1"', "git@v2.40.1", "kernel@5.15.0-91-generic", "x@1.0.0-rc.1"],
)  # fmt: skip
def test_signs_after_an_at(ask: Ask, text: str) -> None:
    """Dots and dashes alone, a name after an @, and a version are no domain."""
    verdict = ask(EGRESS, {"text": text})
    assert verdict.word == "allow", verdict.reason


@pytest.mark.parametrize("address", ["a@...", "a@--", "Ann <a@.>"])
def test_recipient_without_a_domain(ask: Ask, address: str) -> None:
    """In a field for recipients an @ with nothing but signs behind it blocks."""
    assert ask(EGRESS, {"to": address}).word == "block"


@pytest.mark.parametrize("text", ["x@5.evil.test", "x@5.15.0-evil.test", "x@^1.evil.test"])
def test_a_domain_that_begins_like_a_version(ask: Ask, text: str) -> None:
    """What goes on behind the numbers is a domain."""
    assert ask(EGRESS, {"text": text}).word == "block"
