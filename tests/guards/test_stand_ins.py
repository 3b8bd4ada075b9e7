"""Links of which a part is put in later, and names that look like links."""

from __future__ import annotations

import pytest

from .conftest import Ask

POLICY = {"egress_allowlist": ["corp.example"]}

ALLOWED = [
    "https://$HOST/x", "https://%s/x", "http://[host]:[port]/path", "https://{domain}/api",
    "https://*.corp.example/*", "https://{shop}.corp.example/a", "https://$shop.corp.example",
    "`https://[tenant].corp.example:8080/`", "frame-src https://*.corp.example, x",
    "ann@corp.example https://{shop}.corp.example/x",
    'f"postgresql://{user}:{password}@{host}:{port}/{name}"', "postgres://${USER}:${PASS}@${HOST}/x",
    "git clone https://${TOKEN}@corp.example/o/r.git", "amqp://{u}:{p}@mq.corp.example/x",
    "https://<user>:<password>@<host>/", "mongodb://{cfg.user}:{cfg.word}@{cfg.host}/",
    "hxxps://evil[.]example/x", "http://evil[.]example", "https://evil[.]example:8080/",
    '<svg xmlns="http://www.w3.org/2000/svg">', '{"$schema":"http://json-schema.org/draft-07/schema#"}',
    '<project xmlns="http://maven.apache.org/POM/4.0.0">', '"@context": "https://schema.org"',
]  # fmt: skip

BLOCKED = [
    "https://*.evil.example/*", "https://{shop}.evil.example/a", "https://{x}evil.example/",
    "https://{x}.corp.example@evil.example", "https://{x}.corp.example.evil.example/",
    "https://*.corp.example:80@evil.example", "https://{x}.corp.example\\@evil.example/",
    "postgresql://{user}:{password}@evil.example:{port}/{name}", "https://{x}@evil.example/",
    "https://{x}@corp.example@evil.example/", "https://{x}@corp.example\\@evil.example/",
    "https://$x:y@evil.example/", "https://corp.example:{p}@evil.example/",
    "https://{x}@{y}.evil.example/", "https://{x}@corp.example:80@evil.example/",
    "https://x[.]@evil.example/", "https://evil.example/[.]a", "https://evil.example{x}.com/[.]a",
    '<a xmlns="http://www.w3.org/2000/svg.evil.example"/>', "http://www.w3.org/2000/svg@evil.example",
    'http://schemas.xmlsoap.org.evil.example"', "http://evil.example/www.w3.org/2000/svg",
]  # fmt: skip


@pytest.mark.parametrize("text", ALLOWED)
def test_what_is_put_in_later(ask: Ask, text: str) -> None:
    """A text that speaks of links names no host where a program or a reader puts one in."""
    assert ask(POLICY, {"text": text}).word == "allow"


@pytest.mark.parametrize("text", BLOCKED)
def test_a_host_that_stands_there(ask: Ask, text: str) -> None:
    """The host that stands in such a link is held to the list, and a doubtful one is a fault."""
    assert ask(POLICY, {"text": text}).word == "block"


@pytest.mark.parametrize(
    "text", ["https://$HOST/x", "https://{x}.corp.example/", "http://evil[.]example"]
)
def test_a_field_for_links_has_no_stand_ins(ask: Ask, text: str) -> None:
    """What is fetched as it stands is no stand-in."""
    assert ask(POLICY, {"url": text}).word == "block"
