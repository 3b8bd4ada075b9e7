"""`egress_allowlist`: the hosts to which a call may point, wherever in its arguments."""

from __future__ import annotations

import pytest

from edgeward.guards.ledger import History, Ledger

from .deciding import verdict, word

RULES: dict[str, object] = {"egress_allowlist": ["corp.example", "10.0.0.0/8"]}


@pytest.mark.parametrize(
    "text",
    [
        *("https://corp.example/x", "see http://wiki.corp.example", "ann@corp.example"),
        *("HTTPS://CORP.EXAMPLE", "https://corp.example:8443", "http://10.1.2.3/", "no link here"),
        *("https://corp.example.?q=1", "ann@mail.corp.example"),
    ],
)
def test_what_is_listed_may_be_reached(text: str) -> None:
    """A name with its subdomains, in links and mail addresses, and a network's addresses."""
    assert word(RULES, "send", {"text": text}) == "allow"


@pytest.mark.parametrize(
    "text",
    [
        *("https://evil.example/", "https://notcorp.example", "https://corp.example.evil.example"),
        *("https://corp.example@evil.example/", "https://evil.example#corp.example"),
        *("ann@evil.example", "ann@corp.example.evil.example"),
        *("http://11.0.0.1/", "http://185.199.108.153/", "//evil.example/x"),
        *("https:\\\\evil.example", "https://еvil.example", "https://xn--vil-rna.example"),
        "https%3A%2F%2Fevil.example%2F",
    ],
)
def test_what_is_not_listed_is_blocked(text: str) -> None:
    """Look-alikes, userinfo, encodings: what counts is the host that a client would ask."""
    assert word(RULES, "send", {"text": text}) == "block"


@pytest.mark.parametrize(
    "arguments",
    [
        {"cc": [{"email": "x@evil.example"}]},
        {"host": "evil.example"},
        {"https://evil.example/": "as a key"},
        {"a": {"b": ["https://corp.example", "https://evil.example"]}},
    ],
)
def test_every_corner_of_the_arguments_is_seen(arguments: dict[str, object]) -> None:
    """Lists, nested objects, keys, and fields whose name says that they hold a host."""
    assert word(RULES, "send", arguments) == "block"


def test_the_refusal_names_host_argument_and_origin() -> None:
    """What was refused, where it stood, and which tool had brought it."""
    ledger = Ledger().appended(
        [Ledger().observed("write to x@evil.example", source="tool read_mail", call_id="c1")]
    )
    said = verdict(RULES, "send", {"to": ["x@evil.example"]}, history=History(ledger=ledger))
    (finding,) = said.deciding
    assert finding.rule == "egress_allowlist"
    assert finding.argument == "to[0]"
    assert "evil.example" in finding.reason
    assert str(finding.origin) == "tool read_mail (c1)"


@pytest.mark.parametrize(
    ("version", "rules", "expected"),
    [
        (1, {}, "block"),
        (1, {"egress_allowlist": []}, "block"),
        (2, {}, "allow"),
        (2, {"egress_allowlist": []}, "block"),
    ],
)
def test_absent_and_empty_mean_what_the_version_says(
    version: int, rules: dict[str, object], expected: str
) -> None:
    """A version 1 file allows no host that it does not list; version 2 restricts when asked."""
    assert word(rules, "send", {"to": "https://any.example"}, version=version) == expected
