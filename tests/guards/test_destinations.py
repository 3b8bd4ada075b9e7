"""Every spelling of a destination is seen, and prose that only looks like one is not."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from edgeward.guards.normalise import Examined
from edgeward.guards.verdict import ToolCall

from .conftest import Ask

EGRESS = {"egress_allowlist": ["example.com", "docs.company.internal", "bücher.example"]}

BAD_LINKS = [
    "//evil.example/c", "WSS://evil.example", "ftp://evil.test", "ssh://evil.test/x",
    "smb://evil.test/s", "gopher://evil.test", "foo://evil.test/x", "https:evil.test",
    "https:/evil.test", "https:///evil.test", "http:\\\\evil.test", "\\\\evil.test\\s",
    "/\\evil.test", "\\/evil.test/x", "evil.test", "evil.test:80", "evil.test.", "evil.test?x",
    "evil.test#x", "EVIL.test/x", "user@evil.test:80/", "http://user:pw@example.com/",
    "http://example.com:80@evil.test/", "https://example.com\t@evil.test", "https://evil\n.test/x",
    "ht\ttp://evil.example/", "http://docs.company.internal\u3002evil.example/",
    "http://d\u043ecs.company.internal/", "http://evil.example\\@docs.company.internal/x",
    "http://docs.company.internal@evil.example/", "127.0.0.1", "0x7f.1", "017700000001",
    "2130706433", "[::1]", "[::1]:80/x", "http://[::ffff:127.0.0.1]/", "localhost:3000",
    "localhost", "http://localhost/", "http://example.com%00.evil.test/",
    "http://example.com%2eevil.test/", "https://example.com/x?u=https%3A%2F%2Fevil.test%2F",
    "https://example.com/#https://evil.test", "http://exa mple.com/",
    "http://example.com .evil.test/", "https://example.com;evil.test/",
    "https://example.com,evil.test/", "https://example.com\\.evil.test/", "http://evil。test/",
    "evil。test/x", "ｅｖｉｌ．test/x", "https://example.com:99999999/", "https://example.com:80x/",
    "http://example.com..evil.test/", "view-source:https://evil.test/", "jar:https://evil.test!/",
    "blob:https://evil.test/x", "git+ssh://git@evil.test/x", "jdbc:mysql://evil.test:3306/x",
    "s3://evil/x", "https://evil.test\u200b/", "https://ex\u00adample.com.evil.test/",
    "https://example。com.evil.test/", "http://①②7.0.0.1/", "//example.com@evil.test/",
    "https://example.com\u2044@evil.test/", "https://[::1]:8080/", "http://0/", "http://127.1/",
    "file://evil.test/share", "file:////evil.test/share", "http://[::1",
]  # fmt: skip

GOOD_LINKS = [
    "https://example.com", "https://example.com/", "HTTPS://Docs.Company.Internal.:443/a",
    "https://xn--bcher-kva.example/", "https://bücher.example/", "https://BÜCHER.example/",
    "/api", "/", "docs/intro", "?q=1", "#top", "", "example.com", "example.com/x",
    "example.com:8080/x", "sub.example.com", "//example.com/x", "https://example.com/a@b",
    "https://example.com/?q=a:b", "data:text/plain;base64,aGVsbG8=",
    "https://example.com/%2F%2Fx", "https://example.com/a//b",
    "https://example.com/search?q=C%2B%2B&lang=en", "https://example.com/x?next=/home",
    "about:blank", "https://example.com/?u=https%3A%2F%2Fsub.example.com%2F", "./x", "../x",
    "wss://example.com/s", "https://example.com/path;v=1/x,y", "https://EXAMPLE.com.:443/",
    "file:///etc/hosts",
]  # fmt: skip

BAD_ARGUMENTS: list[dict[str, Any]] = [
    {"host": "evil.example"},
    {"endpoint": "evil.example:8443/c"},
    {"server": "prod-db"},
    {"domain": "@evil.test"},
    {"url": "user@10.0.0.1/x"},
    {"url": "user@2852039166"},
    {"proxy": "user@localhost"},
    {"url": "example.com\\@evil.test"},
    {"contact_url": "ann@evil.test"},
    {"proxy": "http://evil.test:3128"},
    {"webhookUrl": "evil.test/x"},
    {"callback_url": "evil.test"},
    {"urls": ["example.com", "evil.test"]},
    {"server": {"name": "evil.test"}},
    {"host": 2852039166},
    {"host": "0xA9FEA9FE"},
    {"ip": "10.0.0.1"},
    {"ip_address": "2001:db8::1"},
    {"hostname": "a.example.com, evil.test"},
    {"base_url": "https://example.com", "path": ".evil.test/x"},
    {"base_url": "https://example.com", "path": "@evil.test/x"},
    {"base_url": "https://example.com", "path": ":x@evil.test/x"},
    {"scheme": "https://", "rest": "evil.test/x"},
    {"html": '<img src="//evil.test/p.png">'},
    {"md": "![](https://evil.test/p)"},
    {"text": "go to HTTP://EVIL.TEST now"},
    {"text": "\\\\evil.test\\share\\x"},
    {"text": 'open "\\\\evil.test\\share" now'},
    {"path": "\\\\?\\UNC\\evil.test\\share"},
    {"https://evil.test/": 1},
    {"headers": {"Host": "evil.test"}},
    {"x": json.dumps({"host": "evil.test"})},
    {"x": base64.b64encode(b"https://evil.test/").decode()},
    {"x": base64.b64encode(base64.b64encode(b"https://evil.test/abc")).decode()},
    {"x": "https&#58;//evil.test"},
    {"x": "https:\\u002f\\u002fevil.test"},
    {"x": "https:\\x2f\\x2fevil.test"},
    {"x": b"https://evil.test".hex()},
    {"x": 'http://example.com"@evil.test/'},
    {"urls": ",".join(["example.com"] * 2_000)},
    {"proxies": {"https": "evil.test:3128"}},
    {"hosts": {"evil.test": 80}},
    {"servers": {"main": {}, "203.0.113.9": {"weight": 1}}},
    {"remote": "evil.test:a/b.git"},
    {"link": "evil.test/x"},
    {"host_port": "evil.test:80"},
    {"redirect": "evil.test/x"},
    {"scheme": "https", "netloc": "evil.test"},
    {"сервер": "evil.test"},
    {"url": "https://example.com", "rest": "@evil.test"},
    {"url": "https://example.com", "rest": ".com"},
    {"url": "https://example.com", "path": ".sh"},
    {"url": "https://example.com", "file": ".json.evil.test/x"},
    {"url": "https://example.com", "file": ".gitignore@evil.test"},
    {"url": "https://example.com", "file": ".git:80@evil.test/x"},
    {"url": "https://example.com", "rest": ":80@evil"},
    {"text": "see //evil.test/x"},
    {"text": "copy it to \\\\evil.test\\share"},
]

GOOD_ARGUMENTS: list[dict[str, Any]] = [
    {"domain": "finance"},
    {"gateway": "stripe"},
    {"domain": "@example.com"},
    {"contact_url": "ann@example.com"},
    {"url": "N/A"},
    {"server": "Production server"},
    {"from": "en", "to": "de"},
    {"url_count": 5},
    {"server_id": "abc"},
    {"website_title": "Hello there"},
    {"text": "ratio 3://4"},
    {"text": "a // b"},
    {"code": "//increment"},
    {"code": "// see example.org/foo"},
    {"path": "docs//readme.txt"},
    {"path": "C:\\Users\\bob\\x"},
    {"path": "C:\\\\Users\\\\bob"},
    {"path": "\\\\?\\C:\\Users"},
    {"text": "Visit https://example.com."},
    {"text": "(https://example.com)"},
    {"text": "<https://example.com>"},
    {"text": "[x](https://example.com)"},
    {"text": "**https://example.com**"},
    {"text": "https://example.com, https://sub.example.com; and https://example.com/x"},
    {"text": "https://example.com,https://sub.example.com/x"},
    {"text": "'https://example.com'"},
    {"text": "https://example.com\nnext"},
    {"html": '<a href="https://example.com">Bob</a>'},
    {"text": "use @property"},
    {"text": "meet @ noon"},
    {"text": "pip install foo==1.2.3 react@18.2.0"},
    {"text": "actions/checkout@v4"},
    {"text": "follow @john.doe"},
    {"text": "Time: 10:30 // ok"},
    {"text": "the server returned http:400"},
    {"pattern": "\\\\d+\\s*"},
    {"text": "a\\nb\\tc"},
    {"json": json.dumps({"text": 'Visit "https://example.com" now', "n": [1, 2]})},
    {"regex": "^https?://"},
    {"text": "https://"},
    {"text": "C'est très bien – voilà https://example.com !"},
    {"text": "请看 https://example.com，谢谢"},
    {"version": "1.2.3.4"},
    {"port": 443},
    {"server": 3},
    {"text": "wait... //[1] see"},
    {"x": None, "y": True},
    {"text": "std::vector<int>::iterator"},
    {"text": "https://example.com/a_(b)"},
    {"text": "https://example.com…"},
    {"text": "note: //not a url"},
    {"src": "logo.png"},
    {"link": "docs/readme.md"},
    {"time": "12:30:45"},
    {"text": "x@y"},
    {"text": "/* comment */ // done"},
    {"text": "print('https://example.com\\n')"},
    {"url": "index.html"},
    {"callback": "app.on_done"},
    {"host": "example.com", "user": "@bob"},
    {"url": "https://example.com", "ext": ".png"},
    {"url": "https://example.com", "file": ".gitignore"},
    {"url": "https://example.com", "path": ".github/workflows/ci.yml"},
    {"url": "https://example.com", "suffix": ".tar.gz"},
    {"host": "example.com", "filename": ".eslintrc.json"},
    {"link": "report.pdf"},
    {"links": ["page.html", "#top"]},
    {"origin": "main"},
    {"connection": "keep-alive"},
    {"server": {"http": "enabled"}},
    {"server": {"http.port": 80, "timeout": 5, "example.com": True}},
    {"endpoint": {"/v1/users.list": "get"}},
    {"text": "x = 1 //this.name = 2"},
    {"text": "build //src/app:main and //third_party/foo"},
    {"text": "bazel test //test/unit //app/main, or //dev/x"},
    {"text": "row \\\\ab\\\\ next"},
    {"text": "see //example.com/x"},
]

BAD_MAIL = [
    "a@example.com, b@evil.test", '"ops team"@evil.test', "a@[203.0.113.9]",
    "a@[IPv6:2001:db8::1]", "a@[nonsense]", "a@example.com.evil.test",
    "Ops <ops@example.com>; x@evil.example", '"ops@example.com"@evil.example', "ops@evil",
    "ops@bücher.test", "ops@\u0435vil.test", "a@evil.test.", "<a@evil.test>", "a @ evil.test",
    "a@ evil.test", "mailto:a@evil.test", "a@EVIL.TEST", "a@example.com\nbcc: x@evil.test",
    "a@evil。test", "Ann <@evil.test:ann@example.com>", "a@example.com>, <b@evil.test",
    "ann(at evil)@evil.test", "a@(c)evil.test", "a%40evil.test", "a@example.com%2cb@evil.test",
    "=?utf-8?q?x?= <a@evil.test>", "a@127.0.0.1", "a@exa_mple..com",
]  # fmt: skip

GOOD_MAIL = [
    "ops@example.com", "OPS@EXAMPLE.COM", "Ops Team", "Ann Lee <ann@mail.example.com>",
    "a@example.com; b@example.com", '"Ops, Team" <ops@example.com>', "ops@example.com.",
    "ann@bücher.example", "ann@xn--bcher-kva.example", "",
]  # fmt: skip


@pytest.mark.parametrize("link", BAD_LINKS)
def test_foreign_link(ask: Ask, link: str) -> None:
    """A link to a host that is not listed, or whose host is doubtful, is blocked."""
    assert ask(EGRESS, {"url": link}).word == "block"


@pytest.mark.parametrize("link", GOOD_LINKS)
def test_own_link(ask: Ask, link: str) -> None:
    """A link to a listed host, or to none, is allowed."""
    verdict = ask(EGRESS, {"url": link})
    assert verdict.word == "allow", verdict.reason


@pytest.mark.parametrize("arguments", BAD_ARGUMENTS, ids=lambda a: str(a)[:60])
def test_foreign_destination(ask: Ask, arguments: dict[str, Any]) -> None:
    """Hosts are found in fields named after them, split over fields, encoded, and in prose."""
    assert ask(EGRESS, arguments).word == "block"


@pytest.mark.parametrize("arguments", GOOD_ARGUMENTS, ids=lambda a: str(a)[:60])
def test_no_destination(ask: Ask, arguments: dict[str, Any]) -> None:
    """Prose, code, paths and numbers are no destinations."""
    verdict = ask(EGRESS, arguments)
    assert verdict.word == "allow", verdict.reason


@pytest.mark.parametrize("address", BAD_MAIL)
def test_foreign_address(ask: Ask, address: str) -> None:
    """One recipient outside blocks, however the address is written."""
    assert ask(EGRESS, {"to": address}).word == "block"
    assert ask(EGRESS, {"message": {"bcc": [{"email": address}]}}).word == "block"


@pytest.mark.parametrize("address", GOOD_MAIL)
def test_own_address(ask: Ask, address: str) -> None:
    """Recipients within are allowed, and a display name alone is no address."""
    verdict = ask(EGRESS, {"to": address, "cc": [address]})
    assert verdict.word == "allow", verdict.reason


@pytest.mark.parametrize(
    "text",
    ["http:" * 40_000, "a@" * 100_000, "://" * 70_000, "//" * 100_000, "@" * 200_000, "a," * 99_000,
     "\\\\" * 100_000, "https://a" * 20_000, '"@' * 100_000, "[::" * 70_000],
)  # fmt: skip
def test_hostile_text_ends(ask: Ask, text: str) -> None:
    """Texts made to be slow for a backtracking search get an answer (quadratic ones would not)."""
    assert ask(EGRESS, {"text": text, "url": text}).word in ("allow", "block")


def test_long_addresses_and_many_paths_are_refused_not_put_together() -> None:
    """Each with each of the others would be more than linear."""
    call = {"url": "https://corp.example" + "a" * 20_000, "path": ["@b"] * 100}
    found = {d.fault for _, d in Examined(ToolCall("get", call)).destinations()}
    assert "more addresses and paths than are joined" in found
    few = {"urls": ["https://corp.example"] * 30, "paths": ["@evil.example"] * 300}
    found = {d.fault for _, d in Examined(ToolCall("get", few)).destinations()}
    assert found == {"", "user information before the host"}


def test_many_hosts_are_cut(ask: Ask) -> None:
    """A call with thousands of foreign hosts is blocked with a reason of bounded length."""
    text = " ".join(f"https://h{i}.test/" for i in range(5_000))
    verdict = ask(EGRESS, {"text": text})
    assert verdict.word == "block"
    assert len(verdict.reason) < 5_000


_SIGNS = st.text("a1.:/\\@[]%?#;, \t\n\"'<>xn-\u3002\u0430", max_size=24)


@settings(max_examples=400, deadline=None)
@given(_SIGNS, st.sampled_from(["url", "host", "domain", "to", "href", "text"]))
def test_no_check_fails_on_any_value(ask: Ask, text: str, field: str) -> None:
    """However broken a link, host or address is, it is read or refused, never an exception."""
    verdict = ask(EGRESS, {field: text, "urls": [text, "http://" + text]})
    assert "failed" not in verdict.reason
