"""Links in prose: shares, addresses in brackets, and user names before the host."""

from __future__ import annotations

import pytest

from edgeward.guards.links import links, network_paths
from edgeward.guards.verdict import Verdict

from .conftest import Ask


def blocked_for(verdict: Verdict, *parts: str) -> None:
    """The egress list blocks, and its reason names each of `parts`."""
    assert verdict.word == "block"
    assert {f.rule.partition(".")[0] for f in verdict.findings} == {"egress_allowlist"}
    for part in parts:
        assert part in verdict.reason


@pytest.mark.parametrize(
    "text",
    ["open file:////evil.test/share now", "open FILE:////evil.test/share",
     "open file:\\\\\\\\evil.test\\share now", "open file://evil.test/share now"],
)  # fmt: skip
def test_file_link_to_a_share(ask: Ask, text: str) -> None:
    """A file link with four slashes, which Windows opens as a share of another host, is seen."""
    blocked_for(ask({"egress_allowlist": ["example.com"]}, {"text": text}), "evil.test")


@pytest.mark.parametrize("text", ["open file:///etc/hosts now", "open file:////"])
def test_file_link_without_a_host(ask: Ask, text: str) -> None:
    """A file link to this machine leads to no host."""
    assert ask({"egress_allowlist": ["example.com"]}, {"text": text}).word == "allow"


@pytest.mark.parametrize("scheme", ["gopher", "DICT", "ldap", "smb", "sftp", "telnet"])
def test_a_host_after_one_slash(ask: Ask, scheme: str) -> None:
    """What curl takes for a host behind one slash is one, in a field of its own and in text."""
    policy = {"egress_allowlist": ["example.com"]}
    for host in ("evil.test", "10.0.0.1:6379", "[::1]"):
        link = f"{scheme}:/{host}/x"
        for arguments in ({"url": link}, {"text": f"open {link} now"}, {"command": f"curl {link}"}):
            assert ask(policy, arguments).word == "block", arguments
        assert ask(policy, {"url": f"{scheme}:/example.com/x"}).word == "allow"


@pytest.mark.parametrize(
    "text",
    ["ldap:/etc/ldap.conf", "the dict:/usr/share/dict", "volumes: smtp:/var/spool", "C:/evil/x",
     "s3:/bucket/a.csv", "sftp:/ and rtsp:/"],
)  # fmt: skip
def test_a_folder_after_one_slash(ask: Ask, text: str) -> None:
    """A path behind a colon leads to no host, whatever stands before it."""
    for arguments in ({"text": text}, {"path": text}):
        assert ask({"egress_allowlist": ["example.com"]}, arguments).word == "allow"


@pytest.mark.parametrize(
    "text",
    ["It runs at http://[2001:db8::1].", "(http://[2001:db8::1]:8080), I think",
     "**http://[2001:DB8:0::1]**", "http://[2001:db8::1]:8080; then"],
)  # fmt: skip
def test_address_in_brackets(ask: Ask, text: str) -> None:
    """The punctuation of a sentence is no part of an IPv6 address; a port counts for nothing."""
    assert [d.host for d in links(text)] == ["2001:db8::1"]
    assert ask({"egress_allowlist": ["2001:db8::1"]}, {"text": text}).word == "allow"
    blocked_for(ask({"egress_allowlist": ["2001:db8::2"]}, {"text": text}), "2001:db8::1")


@pytest.mark.parametrize(
    "path",
    ["\\\\evil.test@SSL\\dav\\x", "\\\\evil.test@8080\\dav", "\\\\ann@example.com\\share",
     "\\\\evil.test@example.com\\share", "\\\\?\\UNC\\evil.test@example.com\\share"],
)  # fmt: skip
def test_share_with_a_user_name(ask: Ask, path: str) -> None:
    """An @ in a share's host (WebDAV: `host@SSL`) is a fault, whichever side of it is listed."""
    (found, *_) = network_paths(path, 0)
    assert (found.host, found.fault) == ("", "user information before the host")
    blocked_for(ask({"egress_allowlist": ["example.com"]}, {"path": path}), "user information")


def test_share_of_a_listed_host(ask: Ask) -> None:
    """A share without a user name is allowed where its host is listed."""
    path = "\\\\files.example.com\\share\\x"
    assert ask({"egress_allowlist": ["example.com"]}, {"path": path}).word == "allow"


@pytest.mark.parametrize("link", ["http://[2001:db8::1]x/", "http://[2001:db8::1].evil.test/"])
def test_more_than_an_address_in_brackets(ask: Ask, link: str) -> None:
    """A host that only begins with a listed address is no host at all."""
    for arguments in ({"url": link}, {"text": f"see {link} now"}):
        verdict = ask({"egress_allowlist": ["2001:db8::1"]}, arguments)
        blocked_for(verdict, "it is no well-formed host")


@pytest.mark.parametrize("rest", [".evil.test", ":80.evil.test", "evil.test"])
def test_name_behind_a_bracketed_address(ask: Ask, rest: str) -> None:
    """What goes on behind the bracket is no punctuation: the host is none, and blocks."""
    rules = {"egress_allowlist": ["2001:db8::1"]}
    assert ask(rules, {"text": f"go http://[2001:db8::1]{rest} now"}).word == "block"
    for fine in ("http://[2001:db8::1]. Then", "http://[2001:db8::1]:8080, then"):
        assert ask(rules, {"text": f"go {fine}"}).word == "allow"


@pytest.mark.parametrize(
    "text",
    ['<a href="//x\\@6.6.6.6/">', '<a href="//\\//@evil.test/">', '<a href="///evil.test/x">',
     '<a href="/\\/evil.test/x">', '<a href="/\t/evil.test/x">', '<a href=/\n/evil.test/x>',
     '<a href="//a.b(.evil.com/x">'],
)  # fmt: skip
def test_a_network_path_as_browsers_read_it(ask: Ask, text: str) -> None:
    """Slashes too many, a backslash before an @, and signs in a name hide no host."""
    blocked_for(ask({"egress_allowlist": ["example.com"]}, {"text": text}))


@pytest.mark.parametrize(
    "text", ["//@ts-ignore", "//console.log(x)", "//log(user.name)", '"///"', "///<reference />"]
)
def test_a_comment_of_a_program_is_no_network_path(ask: Ask, text: str) -> None:
    """What stands behind its slashes is no host."""
    assert ask({"egress_allowlist": ["example.com"]}, {"text": text}).word == "allow"


class _Copied(str):
    """A text that counts how many of its characters are copied."""

    copied = 0

    def __getitem__(self, key: object) -> str:
        part = str(self)[key]  # type: ignore[index]
        self.copied += len(part)
        return part


def test_a_sign_without_a_scheme_costs_nothing_of_what_stands_before_it() -> None:
    """Many of them in one text are looked at once each, not with the whole text before each."""
    copied = []
    for n in (100, 400):
        text = _Copied("x" + " ://y" * n)
        assert list(links(text)) == []
        copied.append(text.copied)
    assert copied[1] < 5 * copied[0]


@pytest.mark.parametrize("text", ["\\\\n\\\\t", "\\\\n\\\\n# Title", "\\\\d\\\\.", "\\\\n"])
def test_an_escape_with_doubled_backslashes_is_no_share(ask: Ask, text: str) -> None:
    """Code that is quoted once more begins like one; a name with more letters is one."""
    assert ask({"egress_allowlist": ["example.com"]}, {"text": text}).word == "allow"
    for share in ("\\\\nas\\\\t", "\\\\n\\t", "\\\\n.evil.test\\\\t"):
        assert ask({"egress_allowlist": ["example.com"]}, {"text": share}).word == "block"
