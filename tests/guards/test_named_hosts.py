"""A host that a text names as configuration does is seen; what programs and prose say is none."""

from __future__ import annotations

import pytest

from edgeward.guards.named_hosts import NAMED, named_hosts
from edgeward.guards.patterns import compile_pattern
from tests.steps import steps_of

from .conftest import Ask

EGRESS = {"egress_allowlist": ["example.com", "bücher.example", "10.0.0.1"]}


@pytest.mark.parametrize(
    "text",
    [
        *("url: evil.test/x", "host: evil.test", "server:\n  host: evil.test\n", "url=evil.test"),
        *(
            "API_URL=evil.test/x",
            "PGHOST=evil.test",
            "baseUrl = 'evil.test'",
            "{host: 'evil.test'}",
        ),
        *("[s]\nhost = evil.test", "host=evil.test port=80", "Server=evil.test;Database=x"),
        *("Driver={SQL};Server=tcp:evil.test,1433", "Data Source=evil.test,1433;pwd=x"),
        *("(ADDRESS=(HOST=evil.test)(PORT=1521))", "jdbc:oracle:thin:@evil.test:1521:x"),
        *("jdbc:oracle:thin:u/p@//evil.test:1521/x", "<host>evil.test</host>", "host => evil.test"),
        *('<server host="evil.test"/>', "hosts: example.com, evil.test", "hosts: [evil.test]"),
        *(
            "host: 203.0.113.9",
            "endpoint: evil.test:443",
            "pull evil.test:5000/image",
            "a@(url:evil.io)",
        ),
        *(
            "host = evil.name:80",
            'host = "evil.name"',
            "proxy: user.evil.test.",
            "host: evil.test:x",
            "host=localhost;url=evil.test",
            "url = self.evil.test",
            "host: evil.top",
            "server=evil.online",
            "kubectl --server evil.test get pods",
            "hosts:\n  - example.com\n  - evil.test",
            "hosts: ['example.com', 'evil.test']",
        ),
        *("open 203.0.113.9:8080/x", "HOST=[2001:db8::1]"),
    ],
)
def test_named(ask: Ask, text: str) -> None:
    """In YAML, a shell, XML, connection strings: the host counts without a scheme."""
    assert ask(EGRESS, {"text": text}).word == "block"


@pytest.mark.parametrize(
    "text",
    [
        *("url: see below", "url: /api/v1", "host: localhost", "Host: the person who invites"),
        *("host = args.host", "url = self.name", "host = config.get('host')", "url = app.com()"),
        *("server = http.server", "url = None", "Server: nginx/1.2", "domain: biology"),
        *(
            "url: index.html",
            "host: example.com",
            "url: example.com/x",
            "server: sub.example.com:80",
        ),
        *("hosts: example.com, 10.0.0.1", "see the url: it is good.", "host: 1.5", "url: 3.14"),
        *(
            "url = self.me",
            "host: 127.0.0.1:80",
            "HOST=0.0.0.0",
            "vite --host 0.0.0.0",
            "app --server-host main",
        ),
        *("curl: evil", "const host = os.environ['HOST']", "registry: npm", "proxy: none"),
        *(
            "https://bücher.example:8443/x",
            "a/b:80/c",
            "main.c:42/3",
            "10.0.0.1:80/x",
            "at 10:30/11",
        ),
        *("addr: 0x7ffe", "address: 5 Main St.", "proxy = urllib.request", "endpoint=users.list"),
    ],
)
def test_not_named(ask: Ask, text: str) -> None:
    """A listed host, an attribute of a program, a file, a path and a number are let through."""
    verdict = ask(EGRESS, {"text": text})
    assert verdict.word == "allow", verdict.reason


@pytest.mark.parametrize(
    "text",
    ["host=" * 60_000, "host: a.b," * 30_000, "a.test:80/" * 30_000, "jdbc:oracle:x:" * 20_000],
)
def test_hostile_text_is_read_once(text: str) -> None:
    """Every place of a text belongs to one match at most."""
    matches = compile_pattern(NAMED).finditer(text)
    assert sum(match.end() - match.start() for match in matches) <= len(text)
    assert len(list(named_hosts(text, compile_pattern(NAMED)))) <= len(text)


@pytest.mark.parametrize("unit", ["x--host evil.test:5000/", "host: evil.test, ", " --host a.test"])
def test_lists_that_go_on_in_one_another_are_walked_once(unit: str) -> None:
    """What follows a value in a list is not followed again from each of its members."""
    pattern = compile_pattern(NAMED)
    short, long = (steps_of(lambda n=n: list(named_hosts(unit * n, pattern))) for n in (100, 400))
    assert long < 5 * short
