"""No encoding hides what a rule forbids, and no benign text is taken for one."""

from __future__ import annotations

import base64
import json
import random
import tracemalloc
import urllib.parse
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from edgeward.guards import encodings
from edgeward.guards.encodings import as_text, json_text, plain, views
from edgeward.guards.folding import folded
from edgeward.guards.normalise import Examined
from edgeward.guards.patterns import PatternSet
from edgeward.guards.verdict import ToolCall

from .conftest import Ask

RULE = {"arg_rules": [{"name": "passwords", "regex": r"\.\./etc/passwd|\.\.\\|\.\./"}]}
PAYLOAD = "../../etc/passwd"


def _b64(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


ENCODERS = {
    "percent": lambda t: "".join(f"%{b:02x}" for b in t.encode()),
    "percent of specials": lambda t: urllib.parse.quote(t, safe="").replace(".", "%2E"),
    "decimal entities": lambda t: "".join(f"&#{ord(c)};" for c in t),
    "hexadecimal entities": lambda t: "".join(f"&#x{ord(c):x};" for c in t),
    "unicode escapes": lambda t: "".join(f"\\u{{{ord(c):x}}}" for c in t),
    "hex escapes": lambda t: "".join(
        f"\\x{ord(c):02x}" if ord(c) < 256 else f"\\U{ord(c):08x}" for c in t
    ),
    "json string": json.dumps,
    "json object": lambda t: json.dumps({"p": t}),
    "full width": lambda t: "".join(chr(ord(c) + 0xFEE0) if "!" <= c <= "~" else c for c in t),
    "zero width": "\u200b".join,
    "tag characters": lambda t: "".join(chr(0xE0000 + ord(c)) if " " <= c <= "~" else c for c in t),
}
DEEP = {
    "base64": _b64,
    "base64url": lambda t: base64.urlsafe_b64encode(t.encode()).decode().rstrip("="),
    "hexadecimal": lambda t: t.encode().hex(),
    "base32": lambda t: base64.b32encode(t.encode()).decode(),
}


@settings(max_examples=150, deadline=None)
@given(
    outer=st.lists(st.sampled_from(sorted(ENCODERS)), max_size=2),
    deep=st.lists(st.sampled_from(sorted(DEEP)), max_size=2),
    inner=st.sampled_from([None, *sorted(ENCODERS)]),
)
def test_every_encoding_is_seen_through(
    ask: Ask, outer: list[str], deep: list[str], inner: str | None
) -> None:
    """A forbidden value is blocked in any encoding; base64, base32, hexadecimal two layers deep."""
    text = PAYLOAD if inner is None else ENCODERS[inner](PAYLOAD)
    for name in deep:
        text = DEEP[name](text)
    for name in outer:
        text = ENCODERS[name](text)
    assert ask(RULE, {"path": text}).word == "block"


@settings(max_examples=150, deadline=None)
@given(st.text(st.characters(codec="utf-8", exclude_characters=".\\/%&\u2024\u2025"), max_size=200))
def test_text_without_the_payload_is_allowed(ask: Ask, text: str) -> None:
    """Text that holds no dot in any form holds no path traversal."""
    dots = {"\u2024", "\u2025", "．", "。"}
    if not dots & set(folded(text)) and "." not in folded(text):
        verdict = ask(RULE, {"text": text})
        assert "passwords" not in verdict.reason
        assert all(f.rule != "arg_rules.passwords" or f.value for f in verdict.findings)


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=200))
def test_any_text_gets_an_answer(ask: Ask, text: str) -> None:
    """Whatever a value or a key is made of, lone surrogates included, there is a verdict."""
    verdict = ask({**RULE, "egress_allowlist": []}, {"a": text, text: [text, {"url": text}]})
    assert "failed" not in verdict.reason


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=120))
def test_the_signal_overlooks_no_view(text: str) -> None:
    """Where the signal finds nothing in a text, decoding finds no other view of it."""
    if not PatternSet().candidates(text):
        assert views(text).texts == []


@pytest.mark.parametrize(
    "text",
    [
        "%2e%2e/", "%252e%252e%252f", "%25252e%25252e/", "..%c0%af", "%c0%ae%c0%ae/",
        "%u002e%u002e/", "&#46;&#46;/", "&#x2e;&#x2e;&sol;", "&period;&period;/",
        "\\u002e\\u002e/", "\\x2e\\x2e/", "\\u{2e}\\u{2e}/", "\\056\\056/", "..\\/", "．．／",
        "․․/", "‥/", ".\u200b./", ".\u00ad./x", "..", "a/..", "..\\x", "..%5cx", "..＼x",
        "..\u2215etc", "%%32%65%2e/", " ".join(f"{b:02x}" for b in PAYLOAD.encode()),
        PAYLOAD.encode("utf-16-le").hex(), PAYLOAD.encode("utf-16-be").hex(),
        base64.b64encode(PAYLOAD.encode("utf-16")).decode(), _b64(PAYLOAD) + " and more",
        "x" + _b64(PAYLOAD), "\n".join([_b64(PAYLOAD * 9)[i : i + 76] for i in range(0, 190, 76)]),
        base64.b32encode(PAYLOAD.encode()).decode().rstrip("="), "=?utf-8?Q?=2E=2E=2Fetc?=",
        "..=\n/etc", "..=\r\n=2Fetc", "Encoding: Quoted-Printable\n\n=2E=2E/",
        "\n".join([base64.b32encode(PAYLOAD.encode() * 9).decode()[i : i + 76] for i in (0, 76)]),
        json.dumps(json.dumps({"p": PAYLOAD})), json.dumps([[["../"]]]), '{"a":1,"a":"../"}',
    ],
)  # fmt: skip
def test_disguised(ask: Ask, text: str) -> None:
    """Known disguises of a path traversal are blocked as values and as keys."""
    assert ask(RULE, {"path": text}).word == "block"
    assert ask(RULE, {"options": [{text: 1}]}).word == "block"


@pytest.mark.parametrize(
    "text",
    [
        "Loading...\nDone", "wait.. and", "...", "a...b", "…/x", "v1..v2", "50%2f50", "100%",
        "100%25", "Hmm... /x", "http://a/b%20c", "smile 😀", "レポート／２０２４．txt", "½ cup",
        "&copy; 2024 &amp; more", "C:\\new\\table", "x" * 200_000, "deadbeef" * 8,
        "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "QWxhZGRpbjpvcGVuIHNlc2FtZQ==", "a=2E=2E/b", "x =\n 2", "=?utf-8?q?J=C3=B6rg?= hi",
        "Title\n" + "=" * 80 + "\n\nText", "=" * 64 + "\nx", "<<<<\n====\n>>>>",
        "MFRGGZDFMZTWQ2LKMFRGGZDF", "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "LOREMIPSUMDOLORSITAMET",
        json.dumps({"text": "Loading...\nDone"}),
        json.dumps({"text": 'Loading...\nDone é \\ " '}), json.dumps(json.dumps({"t": "a..\nb"})),
        "{not json}", "[1] see", '"quoted" text', "Thanks… / bye", "1..10", "&#0;&#99999999;",
        "\\ud83d\\ude00", "%zz%", "[" * 50_000,
    ],
)  # fmt: skip
def test_benign(ask: Ask, text: str) -> None:
    """Ellipses, percentages, escapes, digests and JSON artefacts are no path traversal."""
    verdict = ask(RULE, {"text": text})
    assert verdict.word == "allow", verdict.reason


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        ({"dir": "..", "file": "etc/passwd"}, "block"),
        ({"parts": ["..", "etc"]}, "block"),
        ({"a": ".", "b": "./etc"}, "block"),
        ({"text": "wait..", "path": "/docs/a"}, "allow"),
        ({"text": "Hmm...", "path": "/tmp/x"}, "allow"),
    ],
)
def test_split_over_arguments(ask: Ask, arguments: dict[str, Any], word: str) -> None:
    """Pieces are put together; the dots that end a word of prose are no piece of a path."""
    assert ask(RULE, arguments).word == word


def _wrapped(times: int) -> str:
    text = json.dumps({"a": "b"})
    for _ in range(times):
        text = json.dumps({"a": text})
    return text


@pytest.mark.parametrize(
    ("value", "limit"),
    [
        (_wrapped(6), "JSON text is nested too deeply"),
        ("[" * 200_000 + "]" * 200_000, "JSON text is nested too deeply"),
        ("&amp;" + "amp;" * 20 + "lt;", "encoded more than"),
        ("[" * 70 + "]" * 70, "nested too deeply"),
    ],
)
def test_a_bound_that_is_hit_blocks(ask: Ask, value: str, limit: str) -> None:
    """What cannot be seen through to its end is blocked, with the argument and the bound."""
    verdict = ask({}, {"deep": [value]})
    assert verdict.word == "block"
    assert limit in verdict.reason
    assert "argument 'deep[0]" in verdict.reason


def test_bounds_of_the_whole_call(ask: Ask) -> None:
    """Too many characters, values or levels block; so does what JSON cannot hold."""
    nested: Any = "x"
    for _ in range(80):
        nested = [nested]
    deep: Any = "x"
    for _ in range(80):
        deep = {"k": deep}
    for value in ("x" * 500_001, [0] * 50_001, nested, deep, (1,), 10**5_000):
        assert ask({}, {"a": value}).word == "block"


def test_large_binary_data_is_cheap(ask: Ask) -> None:
    """Base64 of binary data is opened once; only long readable runs in it are looked at."""
    noise = random.Random(1).randbytes(150_000)
    seen = views(base64.b64encode(noise).decode())
    assert seen.texts == []
    assert sum(map(len, seen.noise)) < 1_000
    hidden = base64.b64encode(noise + b" AKIAIOSFODNN7EXAMPLE " + noise).decode()
    assert ask({}, {"image": hidden}).word == "block"


def test_views_of_plain_text() -> None:
    """Text on which no decoding acts has no other view."""
    for text in ("plain words", "naïve “quotes” – dash", "quarterly_report_2024", ""):
        assert plain(text)
        assert views(text).texts == []


def test_json_text() -> None:
    """JSON text without the escapes of its strings; other backslashes stay."""
    assert json_text(r'{"a":"x..\ny\"\\z\q"}') == '{"a":"x..\ny"\\z\\q"}'


def test_as_text() -> None:
    """Bytes are text where they decode without control characters."""
    assert as_text("größer".encode()) == "größer"
    assert as_text(b"\x00\x01\x02\x03") is None
    assert as_text(b"ab") is None
    assert as_text(b"abc\xff" * 4) is None
    assert as_text(b"x" * 600 + b"\x01") is None


def test_leaf_paths() -> None:
    """Every leaf has its place in the arguments, also inside JSON text."""
    call = ToolCall("t", {"a": [{"b": '{"c": ["\\u0064"]}'}], "n": 3})
    seen = Examined(call)
    paths = {seen.leaves[i]: seen.path(i) for i in range(len(seen.leaves))}
    assert paths["d"] == "a[0].b.c[0]"
    assert paths["3"] == "n"
    assert seen.path(-1) == ""
    assert seen.path(99) == ""


def test_rounds_are_bounded() -> None:
    """The number of unescaping rounds is the documented one."""
    text = "&" + "amp;" * encodings.MAX_ROUNDS * 2 + "lt;"
    assert views(text).bound


def test_a_message_in_tag_characters_that_is_told_again(ask: Ask) -> None:
    """An invisible message is read once, however often and however encoded it is repeated."""
    tags = ENCODERS["tag characters"](PAYLOAD)
    text = f"hi{tags} and " + ENCODERS["percent"](tags)
    assert views(text).texts.count(PAYLOAD) == 1
    assert views(text).bound == ""
    assert ask(RULE, {"text": text}).word == "block"


def test_base64_beside_other_escapes_is_opened_once() -> None:
    """What a run of base64 says is one view, however many rounds the text around it takes."""
    told = "Read the FILE ../../etc/passwd"
    text = f"{_b64(told)} and 50%25 of it &amp; more"
    assert views(text).texts.count(told) == 1


def test_nothing_of_a_long_text_is_kept() -> None:
    """An entity, an escape or a text of any length is read, and is gone with who asked."""
    tracemalloc.start()
    try:
        for number in range(40):
            size = 200_000 + number
            assert views("&#" + "0" * size + "65;").texts == ["A"]
            assert "A" in views("\\" * size + "x41").texts
            assert folded("\u00e9" * size).startswith("\u00e9")
        kept, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert kept < 2_000_000
