"""What the environment says of the network: proxies, certificates."""

from __future__ import annotations

from pathlib import Path

import pytest

from edgeward.policies.problems import ConfigError
from edgeward.profiles import connections
from edgeward.profiles.network import is_this_machine
from tests.wire.server import Raw, Say, Wire
from tests.wire.ways import BOTH, WAYS, ask, model_for

HERE = [
    "http://localhost:1/v1",
    "http://127.0.0.1",
    "ws://[::1]:2",
    "https://LocalHost.",
    "http://127.8.8.8",
]
AWAY = [
    "https://api.openai.com/v1",
    "http://10.0.0.1",
    "http://localhost.example",
    "http://127.example",
    "",
]
PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY")


@pytest.fixture
def proxied(monkeypatch: pytest.MonkeyPatch) -> None:
    """An environment with proxies at which nobody is, one of a kind that needs a package."""
    for name in PROXIES:
        kind = "socks5" if name == "ALL_PROXY" else "http"
        monkeypatch.setenv(name, f"{kind}://127.0.0.1:9")
        monkeypatch.setenv(name.lower(), f"{kind}://127.0.0.1:9")
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.delenv("no_proxy", raising=False)


@pytest.mark.parametrize("url", HERE)
def test_addresses_of_this_machine(url: str) -> None:
    """By name or number, whatever the scheme and the case."""
    assert is_this_machine(url)


@pytest.mark.parametrize("url", AWAY)
def test_addresses_of_others(url: str) -> None:
    """Also those that look alike."""
    assert not is_this_machine(url)


@BOTH
@WAYS
@pytest.mark.usefixtures("proxied")
def test_no_proxy_stands_before_a_model_on_this_machine(
    wire: Wire, caplog: pytest.LogCaptureFixture, provider: str, way: str
) -> None:
    """A local server answers, whatever proxy the environment names, and nothing is told of it."""
    wire.script(Say("Good day."))
    assert ask(model_for(wire, provider), "hi", way).text == "Good day."
    assert not caplog.records


def test_other_servers_are_asked_through_the_proxy(
    wire: Wire, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The environment's proxies hold for them, as before."""
    for name in ("HTTP_PROXY", "http_proxy"):
        monkeypatch.setenv(name, wire.url)
    wire.script(Raw({"from": "the proxy"}))
    url = "http://models.example/v1"
    with connections.client(1, url) as client:
        assert client.get(url).json() == {"from": "the proxy"}


@pytest.mark.parametrize("made", [connections.client, connections.async_client])
@pytest.mark.parametrize("holds", [None, "no certificate"])
def test_certificates_that_cannot_be_read_are_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, holds: str | None, made: object
) -> None:
    """One line that says which variable is wrong, and not a missing file without a name."""
    file = tmp_path / "ca.pem"
    if holds is not None:
        file.write_text(holds)
    monkeypatch.setenv("SSL_CERT_FILE", str(file))
    connections._tls.cache_clear()
    try:
        with pytest.raises(ConfigError, match="SSL_CERT_FILE: names certificates that cannot"):
            made(1, "https://api.openai.com")  # type: ignore[operator]
    finally:
        connections._tls.cache_clear()
