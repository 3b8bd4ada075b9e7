"""Faults that users of comparable systems reported, as far as they touch the guard's engine."""

from __future__ import annotations

import base64
import random
import string
from typing import Any

import pytest

from edgeward.guards.decide import decide
from edgeward.guards.ledger import History
from edgeward.guards.normalise import parse_arguments
from edgeward.guards.redact import Redactor
from edgeward.guards.verdict import ToolCall, Verdict
from edgeward.policies.problems import ConfigError
from edgeward.policies.schema import load_policy

ANY_HOST = {"version": 1, "egress_allowlist": ["*"]}
TRAVERSAL = {"name": "path_traversal", "reason": "path traversal", "regex": r"\.\./"}
REMOVAL = {"name": "rm_rf", "reason": "removes folders", "regex": r"\brm\s+(-\w+\s+)*-\w*r"}

_RANDOM = random.Random(7)


def _body(size: int, extra: str = "") -> str:
    return "".join(_RANDOM.choices(string.ascii_letters + string.digits + extra, k=size))


KEYS = {
    "project": "sk-proj-" + _body(30) + "-" + _body(9),
    "service": "sk-svcacct-" + _body(40, "_-"),
    "anthropic": "sk-ant-api03-" + _body(90, "_-") + "-A_",
    "fine_grained": "github_pat_" + _body(60),
    "old": "sk-" + _body(48),
    "google": "AIza" + _body(35),
    "groq": "gsk_" + _body(52),
    "aws": "AKIAIOSFODNN7EXAMPLE",
    "slack": "xoxb-123456789012-" + _body(24),
    "jwt": "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0." + _body(43),
}


def verdict(arguments: dict[str, Any] | str, *, tool: str = "http_fetch", **policy: Any) -> Verdict:
    """What a version 1 policy says of one call."""
    parsed, fault = parse_arguments(arguments) if isinstance(arguments, str) else (arguments, None)
    loaded = load_policy({**ANY_HOST, **policy})
    return decide(loaded, ToolCall(tool, parsed or {}, fault=fault), History())


@pytest.mark.parametrize("kind", KEYS)
def test_C02_in_arguments(kind: str) -> None:
    """Current key formats block in arguments without any policy, and no reason quotes them."""
    said = verdict({"note": f"use {KEYS[kind]} please"})
    assert said.word == "block"
    assert KEYS[kind][8:] not in str(said)


@pytest.mark.parametrize("kind", KEYS)
def test_C02_in_prose(kind: str) -> None:
    """In prose the whole key is masked, also where it ends in a hyphen or an underscore."""
    masked, labels = Redactor().secrets(f"The key is {KEYS[kind]}, keep it.")
    assert len(labels) == 1
    assert masked == f"The key is [REDACTED:{labels[0]}], keep it."


def test_C14() -> None:
    """Payloads behind JSON escapes and in JSON within JSON are blocked; the value is shown."""
    typed = r'{"path": "\u002e\u002e/\u002e\u002e/etc/passwd"}'
    said = verdict(typed, arg_rules=[TRAVERSAL])
    assert said.word == "block"
    assert said.findings[0].value == "../../etc/passwd"
    assert said.findings[0].argument == "path"
    nested = r'{"payload": "{\"url\": \"https:\\/\\/evil.example\\/c\"}"}'
    assert verdict(nested, egress_allowlist=["example.com"]).word == "block"


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        ({"to": ["ops@example.com"], "bcc": [{"email": "drop@evil.example"}]}, "block"),
        ({"to": "Ops <ops@example.com>; x@evil.example"}, "block"),
        ({"to": '"ops@example.com"@evil.example'}, "block"),
        ({"to": "OPS@EXAMPLE.COM"}, "allow"),
        ({"to": "Ops Team", "cc": "Ann Lee <ann@mail.example.com>"}, "allow"),
    ],
)
def test_C17(arguments: dict[str, Any], word: str) -> None:
    """Every address in every field and shape counts; a display name is no address."""
    assert verdict(arguments, tool="send_mail", egress_allowlist=["example.com"]).word == word


def test_C31_arguments() -> None:
    """Argument rules look at the text with and without invisible characters."""
    rules = [TRAVERSAL]
    assert verdict({"path": ".\u200b./.\u200b./etc"}, arg_rules=rules).word == "block"
    tags = "".join(chr(0xE0000 + ord(c)) for c in "../etc")
    assert verdict({"path": f"report{tags}"}, arg_rules=rules).word == "block"
    scotland = "\U0001f3f4\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f"
    family = "\U0001f468\u200d\U0001f469\u200d\U0001f467"
    persian = "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645"
    for text in (scotland, family, persian):
        assert verdict({"text": text}, arg_rules=rules).word == "allow"


@pytest.mark.parametrize(
    "arguments",
    [
        {"url": "//evil.example/c"},
        {"host": "evil.example"},
        {"endpoint": "evil.example:8443/c"},
        {"url": "WSS://evil.example"},
    ],
)
def test_C38(arguments: dict[str, Any]) -> None:
    """Destinations without http in front are checked against the egress list."""
    said = verdict(arguments, egress_allowlist=["example.com"])
    assert said.word == "block"
    assert "host 'evil.example' is not on the egress allowlist" in said.reason


@pytest.mark.parametrize(
    ("command", "word"),
    [
        ("rm${IFS}-r${IFS}-f${IFS}/srv", "block"),
        ('r""m -rf /srv', "block"),
        ("echo ok\nrm -rf /srv", "block"),
        ("$'\\162m' -rf /srv", "block"),
        ('echo "$IFSTREAM"', "allow"),
    ],
)
def test_C43(command: str, word: str) -> None:
    """Command rules see what the shell makes of a command; look-alike variables do not count."""
    assert verdict({"command": command}, tool="run_shell", arg_rules=[REMOVAL]).word == word


def test_C50() -> None:
    """Secrets in base64, percent or hexadecimal form are seen; a large image is let through."""
    key = "sk-proj-" + _body(32)
    assert verdict({"q": base64.b64encode(key.encode()).decode()}).word == "block"
    percent = "".join(f"%{ord(c):02x}" for c in key)
    assert verdict({"url": f"https://example.com/?d={percent}"}).word == "block"
    assert verdict({"q": key.encode().hex()}).word == "block"
    png = base64.b64encode(b"\x89PNG\r\n\x1a\n" + _RANDOM.randbytes(150_000)).decode()
    assert verdict({"image": png}, arg_rules=[TRAVERSAL]).word == "allow"


@pytest.mark.parametrize(
    "name", ["Send_Email", " send_email", "\uff53end_email", "send_\u0435mail", "mail__send_email"]
)
def test_C52(name: str) -> None:
    """A denied tool is denied under every spelling; an allowed one only under its own."""
    assert verdict({}, tool=name, tool_denylist=["SEND_EMAIL"]).word == "block"
    assert verdict({}, tool=name, tool_allowlist=["send_email"]).word == "block"


@pytest.mark.parametrize(
    "url",
    [
        "http://evil.example\\@docs.company.internal/x",
        "http://docs.company.internal@evil.example/",
        "ht\ttp://evil.example/",
    ],
)
def test_C53(url: str) -> None:
    """Where URL parsers disagree about the host the call is blocked."""
    assert verdict({"url": url}, egress_allowlist=["docs.company.internal"]).word == "block"


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("http://docs.company.internal\\@docs.company.internal/", "user information"),
        ("http://ann@docs.company.internal/", "user information"),
        ("http://docs.company\t.internal/", "control character"),
        ("http://docs.company.internal /", "white space"),
    ],
)
def test_C53_even_for_a_listed_host(url: str, why: str) -> None:
    """A doubtful authority is blocked outright and with that reason, whatever the host."""
    said = verdict({"url": url}, egress_allowlist=["docs.company.internal"])
    assert said.word == "block"
    assert why in said.reason


def test_C61() -> None:
    """Numbers that are no personal data come back byte for byte; a card is masked."""
    text = (
        "created_at 1769011237418, 20250214110709_init.sql, product 4087713925, v1.2.3.4.5, "
        "a4b60cc188a37c137cfceb619b77c596faec5d9c"
    )
    assert Redactor().all(text) == (text, ())
    masked, labels = Redactor().all("card 4111 1111 1111 1111")
    assert (masked, labels) == ("card [REDACTED:credit_card]", ("credit_card",))


@pytest.mark.parametrize(
    ("url", "word"),
    [
        ("HTTPS://Docs.Company.Internal.:443/a", "allow"),
        ("https://xn--bcher-kva.example/", "allow"),
        ("http://docs.company.internal\u3002evil.example/", "block"),
        ("http://d\u043ecs.company.internal/", "block"),
    ],
)
def test_C67(url: str, word: str) -> None:
    """One routine reads list entries and candidates; a look-alike is another host."""
    hosts = ["docs.company.internal", "bücher.example"]
    assert verdict({"url": url}, egress_allowlist=hosts).word == word


def test_C95() -> None:
    """A regex that hangs a backtracking engine is decided at once, and named where it matches."""
    rules = [{"name": "words", "regex": r"^(\w+ ?)+$"}]
    for text in ("w" * 60 + "!", "w" * 60):
        said = verdict({"x": text}, arg_rules=rules)
        assert said.word == "block"
        assert said.findings[0].rule == "arg_rules.words"
    # Keys are searched like values: here it is the key that matches, and not the text with the !.
    assert verdict({"x!": "w" * 60 + "!"}, arg_rules=rules).word == "allow"
    with pytest.raises(ConfigError, match="regular expression"):
        load_policy({"version": 1, "arg_rules": [{"name": "broken", "regex": "("}]})
