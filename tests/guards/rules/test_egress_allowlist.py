"""`egress_allowlist`: what an empty and an absent list mean in both versions."""

from __future__ import annotations

import pytest

from edgeward.guards.decide import decide
from edgeward.guards.ledger import History
from edgeward.guards.verdict import ToolCall
from edgeward.policies.problems import ConfigError
from edgeward.policies.schema import load_policy

CALL = ToolCall("fetch", {"url": "https://example.com/"})


@pytest.mark.parametrize(
    ("data", "word"),
    [
        ({"version": 1}, "block"),
        ({"version": 1, "egress_allowlist": []}, "block"),
        ({"version": 2}, "allow"),
        ({"version": 2, "egress_allowlist": []}, "block"),
        ({"version": 2, "egress_allowlist": ["example.com"]}, "allow"),
    ],
)
def test_versions(data: dict[str, object], word: str) -> None:
    """Version 1 blocks every host where none is listed; in version 2 an absent key does not."""
    assert decide(load_policy(data), CALL, History()).word == word


def test_reason() -> None:
    """The reason names the host; a host that is named twice is named once."""
    policy = load_policy({"version": 1, "egress_allowlist": ["corp.test"]})
    call = ToolCall("fetch", {"a": "https://evil.test/1", "b": "https://evil.test/2"})
    verdict = decide(policy, call, History())
    assert verdict.reason == "host 'evil.test' is not on the egress allowlist"


def test_reason_where_any_host_is_listed() -> None:
    """Who lists any host is told that a private one has to be named."""
    policy = load_policy({"version": 1, "egress_allowlist": ["*"]})
    verdict = decide(policy, ToolCall("fetch", {"url": "http://2852039166/"}), History())
    said = "host '169.254.169.254' is not on the egress allowlist: `*` names no private one"
    assert verdict.reason == said


def test_entry_that_is_no_host() -> None:
    """An entry with a scheme or a path could never match and is refused."""
    with pytest.raises(ConfigError, match="without scheme and path"):
        load_policy({"version": 1, "egress_allowlist": ["https://example.com/x"]})


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ('{"a":1}\n{"base_url":"evil.test/x"}', "block"),
        ('{"url":"evil.test",}', "block"),
        ('{"url":"evil.test/x"', "block"),
        ("{'Host': 'evil.test'}", "block"),
        ('```json\n{"endpoint": "evil.test:80"}\n```', "block"),
        ('log: {\\"url\\":\\"evil.test\\"} end', "block"),
        ('{"url":"https://example.com/x"}\n{"url":"/b"}', "allow"),
        ("{'host': 'example.com', 'port': 1}", "allow"),
        ('```json\n{"server": "nginx", "domain": "biology"}\n```', "allow"),
        ('// a.b\n{"url": "/api/v1", "path": "a.b"}', "allow"),
        ('{"host": null, "title": "c.d", }', "allow"),
    ],
)
def test_a_host_in_what_is_nearly_json(text: str, word: str) -> None:
    """Several documents, Python's quotes, a comma too many or a fence hide no host."""
    policy = load_policy({"version": 2, "default": "allow", "egress_allowlist": ["example.com"]})
    assert decide(policy, ToolCall("note", {"payload": text}), History()).word == word
