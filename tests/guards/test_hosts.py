"""One spelling of a host, and what a policy's list of hosts contains."""

from __future__ import annotations

import pytest

from edgeward.guards.hosts import HostList, canonical_host


@pytest.mark.parametrize(
    ("text", "host"),
    [
        ("Example.COM.", "example.com"),
        ("bücher.example", "xn--bcher-kva.example"),
        ("XN--BCHER-KVA.example", "xn--bcher-kva.example"),
        ("a。b．example", "a.b.example"),
        ("2852039166", "169.254.169.254"),
        ("0xA9FEA9FE", "169.254.169.254"),
        ("0251.0376.0251.0376", "169.254.169.254"),
        ("127.1", "127.0.0.1"),
        ("[2001:0DB8:0:0:0:0:0:10]", "2001:db8::10"),
        ("2001:db8::10", "2001:db8::10"),
        ("[::ffff:10.0.0.5]", "10.0.0.5"),
        ("under_score.example", "under_score.example"),
    ],
)
def test_canonical(text: str, host: str) -> None:
    """Case, closing dot, Unicode and number forms of one host are one host."""
    assert canonical_host(text) == host


@pytest.mark.parametrize(
    "text",
    ["", "a..b", "example.com..", "a b", "a;b", "a@b", "a/b", "[::1", "1.2.3.4.5", "300.1.1.1",
     "a%2eb", "-", "a" * 300, "exa\tmple.com", "[nonsense]", "xn--\u00fc"],
)  # fmt: skip
def test_no_host(text: str) -> None:
    """What is malformed has no canonical form."""
    assert canonical_host(text) is None


def test_list_means_subdomains_of_names_only() -> None:
    """A name covers its subdomains on label boundaries; an address covers itself only (F005)."""
    hosts = HostList(["example.com", "10.0.0.5", "*.wild.test", "192.168.0.0/16", "h.test:8080"])
    assert "example.com" in hosts
    assert "a.b.example.com" in hosts
    assert "notexample.com" not in hosts
    assert "example.com.evil.test" not in hosts
    assert "10.0.0.5" in hosts
    assert "evil.10.0.0.5" not in hosts
    assert "wild.test" not in hosts
    assert "a.wild.test" in hosts
    assert "192.168.7.7" in hosts
    assert "192.169.7.7" not in hosts
    assert "2001:db8::1" not in hosts
    assert "h.test" in hosts


def test_star_is_any_host() -> None:
    """A single star lists every host of the public net."""
    for host in ("evil.test", "8.8.8.8", "2606:4700::1111", "localhost.evil.test"):
        assert host in HostList(["*"])
        assert host not in HostList([])


@pytest.mark.parametrize(
    "host",
    ["localhost", "a.localhost", "127.0.0.1", "10.0.0.1", "169.254.169.254", "::1", "fe80::1",
     "metadata.google.internal", "0.0.0.0", "100.100.100.200", "64:ff9b::a9fe:a9fe",
     "2002:a00:1::1", "fd00::1"],
)  # fmt: skip
def test_star_names_nothing_private(host: str) -> None:
    """This machine, private networks and a cloud's metadata have to be named."""
    assert host not in HostList(["*"])
    assert host in HostList(["*", host])


@pytest.mark.parametrize("entry", ["https://example.com", "a b", "@example.com", "10.0.0.0/99", ""])
def test_entry_that_is_no_host(entry: str) -> None:
    """An entry that could never match is an error with the entry in it."""
    with pytest.raises(ValueError, match=r"no host|no network"):
        HostList([entry])
