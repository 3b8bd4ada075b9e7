"""I8: however a streamed text is cut, what comes out is what masking the whole text gives."""

from __future__ import annotations

import random
from collections.abc import Iterable
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from edgeward.guards import holdback, prefixes
from edgeward.guards.holdback import Holdback
from edgeward.guards.redact import Redactor, SecretPattern

REDACTOR = Redactor(
    [
        SecretPattern("lazy", r"<<[\s\S]*?>>"),
        SecretPattern("greedy", r"token=\S+"),
        SecretPattern("line", r"(?m)^pin: \d+$"),
        SecretPattern("start", r"^begin \w+"),
        SecretPattern("folded", r"(?i)\bkiss-[a-zß]{3}\b"),
        SecretPattern("wide", r"ключ\s*[=:]\s*(?P<secret>[\p{Cyrillic}0-9]{4,12})"),
        SecretPattern("short", r"ab|abc+d"),
    ],
    literals={"known": "a literal one, a literal two"},
)

SECRETS = [
    "sk-proj-A1b2C3d4E5f6G7h8A1b2C3d4",
    "sk-ant-api03-" + "aB3_" * 22 + "A-",
    "sk-or-v1-" + "a1b2" * 8,
    "AIza" + "b4C_-" * 7,
    "ya29.a0Af" + "x1" * 12,
    "GOCSPX-" + "a1_-" * 7,
    "AKIAIOSFODNN7EXAMPLE",
    "aws_secret_access_key = " + "aB3/" * 10,
    "AccountKey=" + "aB3+" * 18 + "==",
    "?sig=" + "aB3%" * 12 + "%3D",
    "abc8Q~" + "a1_." * 8,
    "ghp_" + "a1B2" * 9,
    "github_pat_" + "a1_B" * 10,
    "glpat-" + "a1.-" * 6,
    "xoxb-123456789012-abcDEF",
    "hooks.slack.com/services/T000/B000/" + "a1" * 10,
    "sk_live_" + "a1B2" * 5,
    "hf_" + "a1B2" * 9,
    "gsk_" + "a1B2" * 6,
    "xai-" + "a1B2" * 11,
    "pplx-" + "a1B2" * 9,
    "nvapi-" + "a1_-" * 11,
    "tvly-" + "a1-B" * 6,
    "lsv2_pt_" + "a1" * 16 + "_" + "b2" * 5,
    "npm_" + "a1B2" * 9,
    "pypi-AgE" + "a1_-" * 11,
    "SG." + "a1_-" * 5 + "ab." + "a1_-" * 11,
    "1234567890:AA" + "a1_" * 11,
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.a1_b2-",
    "Authorization: Bearer abcdef.12345678",
    "bearer a1b2c3d4e5f6g7h8i9j0",
    "postgres://ann:pa55word@db.example/x",
    "https://ann:pa55word@host.example/x",
    "-----BEGIN RSA PRIVATE KEY-----\nMIIEow+/=\nabc\n-----END RSA PRIVATE KEY-----",
    "-----BEGIN PRIVATE KEY-----\nMIIEow+/=\nabc",
    "ann.b+c@mail.example.co.uk",
    "用户@例子.公司",
    "123-45-6789",
    "4111 1111 1111 1111",
    "4111111111111111",
    "3782-822463-10005",
    "DE89 3704 0044 0532 0130 00",
    "GB33BUKB20201555555555",
    "+44 20 7946 0958",
    "(212) 555-0142",
    "203.0.113.9",
    "<<anything\nat all>>",
    "token=x/y",
    "pin: 1234",
    "begin here",
    "KISS-abc",
    "kiß-abc",
    "ключ: слово77",
    "abccd",
    "a literal one, a literal two",
]
PROSE = [
    "The quick brown fox jumps over the lazy dog. ",
    "version 1.2.3.4 of 2025-11-29, ",
    "Müller sagt: „So geht das nicht!“ ",
    "安全策略引擎会检查每一个工具调用，",
    "def f(a: int = 7) -> str:\n    return f'{a}'\n",
    "\n",
    " ",
    ", ",
    "secret key ",
    "sk-",
    "-----BEGIN CERTIFICATE-----",
    "1234 5678 ",
    "a@",
    "bearer ",
    "<<",
    "x",
    "{",
    '["',
    '"',
    "\\\\",
    "😀",
    "\u017fecret ",
]


def streamed(pieces: Iterable[str], redactor: Redactor = REDACTOR) -> tuple[str, tuple[str, ...]]:
    """What comes out of the pieces, and the labels."""
    held = Holdback(redactor)
    out = [held.feed(piece) for piece in pieces]
    out.append(held.close())
    return "".join(out), held.labels


def cut(text: str, places: Iterable[int]) -> list[str]:
    """The text in pieces, cut at these places."""
    at = [0, *sorted({place % (len(text) + 1) for place in places}), len(text)]
    return [text[a:b] for a, b in pairwise(at)]


@pytest.mark.parametrize("secret", SECRETS)
def test_a_secret_cut_at_every_place(secret: str) -> None:
    """In two pieces, wherever the cut is, and character by character."""
    text = f"{secret}\nkey {secret} done."
    whole = REDACTOR.all(text)
    assert whole[1], "the example holds nothing to mask"
    for place in range(len(text) + 1):
        assert streamed([text[:place], text[place:]]) == whole, place
    assert streamed(text) == whole


@settings(max_examples=100, deadline=None)
@given(
    st.lists(st.sampled_from([*SECRETS, *PROSE]) | st.text(max_size=6), max_size=10),
    st.lists(st.integers(0, 2_000), max_size=30),
)
def test_any_text_cut_anywhere(parts: list[str], places: list[int]) -> None:
    """Secrets of every kind, side by side and cut off, among prose in several scripts."""
    text = "".join(parts)
    pieces = cut(text, places)
    assert streamed(pieces) == REDACTOR.all(text)


ATOMS = ["a", "b", "[ab]", "[^a]", ".", r"\d", r"\s", "é", r"\pL", r"[\pL-]", r"\b", "ſ", r"\x{e9}"]
TEXTS = "ab1 -éßſ\n"


@st.composite
def patterns(draw: st.DrawFn) -> str:
    """Small patterns of every construction."""
    parts = []
    for _ in range(draw(st.integers(1, 4))):
        atom = draw(st.sampled_from(ATOMS))
        if draw(st.integers(0, 4)) == 0:
            atom = f"(?:{atom}|{draw(st.sampled_from(ATOMS))}b)"
        if atom != r"\b":
            atom += draw(
                st.sampled_from(["", "", "+", "*", "?", "*?", "+?", "{2}", "{1,12}", "{5,}"])
            )
        parts.append(atom)
    flags = draw(st.sampled_from(["", "", "(?i)", "(?s)", "(?m)^", "^"]))
    return flags + "".join(parts) + draw(st.sampled_from(["", "", "$", r"\b"]))


@settings(max_examples=150, deadline=None)
@given(
    st.lists(patterns(), min_size=1, max_size=3),
    st.text(alphabet=TEXTS, max_size=30),
    st.lists(st.integers(0, 40), max_size=10),
)
def test_any_pattern_of_a_users(regexes: list[str], text: str, places: list[int]) -> None:
    """Also lazy ones, ones that match nothing at all, or anything."""
    redactor = Redactor(SecretPattern(f"p{n}", regex) for n, regex in enumerate(regexes))
    assert streamed(cut(text, places), redactor) == redactor.all(text)


@pytest.mark.parametrize("kinds", [("secrets",), ("email", "card"), ("all",), ("phone", "secrets")])
def test_the_kinds_that_are_masked(kinds: tuple[str, ...]) -> None:
    """As the redactor masks them in a whole text."""
    text = " and ".join(SECRETS)
    held = Holdback(REDACTOR, kinds=kinds)
    out = "".join(map(held.feed, text)) + held.close()
    assert (out, held.labels) == REDACTOR.masked(text, kinds)


def test_a_kind_that_is_none() -> None:
    """It is named."""
    with pytest.raises(ValueError, match="no kind: mail"):
        Holdback(REDACTOR, kinds=("mail",))


JSON = [
    '{"card": 4111111111111111, "mail": "ann@mail.example", "n": 1}',
    '{"mail": "ann@mail.example", "card": 4111111111111111}',
    ' \n[4111111111111111, "a \\\\", "b \\" 4111111111111111"]',
    '{"mail": "a\\\\", "to": "ann@mail.example"} and 4111111111111111',
    "[see 4111111111111111]",
    '[4111111111111111] but "4111111111111111" is no JSON',
    '{"note": "<<a>>", "list": [<<b>>]}',
    "4111111111111111",
    "<<{>> 4111111111111111",
]


@pytest.mark.parametrize("text", JSON)
def test_json_stays_json(text: str) -> None:
    """A bare number becomes a string, as in the whole text, where the whole is JSON."""
    whole = REDACTOR.all(text)
    assert whole[1]
    for place in range(len(text) + 1):
        assert streamed([text[:place], text[place:]]) == whole, place
    assert streamed(text) == whole


def test_json_without_bare_secrets_flows() -> None:
    """A mail address in a string keeps back nothing but itself."""
    held = Holdback(Redactor())
    out = held.feed('{"mail": "ann@mail.example", "name": "Ann')
    assert out == '{"mail": "[REDACTED:email]", "name": "'


FLOWING = {
    "English": "The quick brown fox jumps over the lazy dog, as it did in 2024 and on 3 May. ",
    "German": "Die Bundesausbildungsförderung wird, sagt Frau Müller, im Jahr 2025 neu geregelt. ",
    "Chinese": "安全策略引擎会检查每一个工具调用，在它运行之前做出决定。内容可能不可信。",
    "Japanese": "ポリシーは、すべてのツールを、実行の前に検査します。",
    "code": "def total(values: list[int]) -> int:\n    return sum(v * 2 for v in values)\n",
    "Markdown": "- **One** of `them` (see [here](https://example.com/a/b)): 1,234 or 56.7 %.\n",
    "JSON": '{"name": "Ann", "count": 12, "items": [1, 2, 3], "ok": true}\n',
}


@pytest.mark.parametrize("kind", FLOWING)
def test_ordinary_text_flows(kind: str) -> None:
    """What waits is no longer than the word that is being written."""
    text = FLOWING[kind] * 20
    redactor = Redactor()
    held = Holdback(redactor)
    out, waits = 0, []
    for at in range(0, len(text), 4):
        out += len(held.feed(text[at : at + 4]))
        waits.append(min(at + 4, len(text)) - out)
    longest = max(map(len, text.replace("，", " ").replace("。", " ").replace("、", " ").split()))
    assert sum(waits) / len(waits) < 16
    assert max(waits) <= longest + 4
    assert out + len(held.close()) == len(text)


def test_a_key_that_never_ends_waits() -> None:
    """However long it is; it is masked when the text ends."""
    redactor = Redactor()
    held = Holdback(redactor)
    assert held.feed("Here: ") == "Here:"
    body = "-----BEGIN PRIVATE KEY-----\n" + "QUJD" * 5_000
    assert "".join(held.feed(body[at : at + 4]) for at in range(0, len(body), 4)) == " "
    assert held.close() == "[REDACTED:private_key]"


def test_what_comes_after_a_key_flows() -> None:
    """As soon as it is closed."""
    held = Holdback(Redactor())
    key = "-----BEGIN PRIVATE KEY-----\nQUJD\n-----END PRIVATE KEY-----"
    out = held.feed(key) + held.feed(" and so on, ")
    assert out.startswith("[REDACTED:private_key] and so")


def test_what_waits_long_is_looked_at_seldom(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that a stream of one endless word costs its length, and not its square."""
    looked: list[int] = []
    original = holdback.as_bytes
    monkeypatch.setattr(holdback, "as_bytes", lambda t: (looked.append(len(t)), original(t))[1])
    held = Holdback(Redactor())
    for _ in range(20_000):
        held.feed("word")
    assert len(looked) < 200
    assert held.close() == "word" * 20_000


def test_little_is_kept_of_what_has_gone_out() -> None:
    """A long stream needs no more memory than a short one."""
    held = Holdback(Redactor())
    for _ in range(20_000):
        held.feed("some words, ")
    assert len(held._text) == len(held._data) < 1_000


def test_patterns_that_are_too_large_make_all_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing goes out unseen."""
    monkeypatch.setattr(prefixes, "MAX_BYTES", 1 << 12)
    redactor = Redactor([SecretPattern("own", "abc{3}")])
    held = Holdback(redactor)
    assert held._watch is None
    assert held.feed("key sk-" + "a1" * 12) == ""
    assert held.close() == "key [REDACTED:openai_key]"
    assert held.labels == ("openai_key",)


def test_halves_of_characters() -> None:
    """A lone surrogate does not stop a stream."""
    text = "a \ud83d b sk-" + "a1" * 12 + " \ude00"
    assert streamed(text, Redactor()) == Redactor().all(text)


@pytest.mark.parametrize("name", ["README.md", "guards/secrets.py", "tests/guards/test_redact.py"])
def test_files_of_this_project(name: str) -> None:
    """Real text in pieces of the size of tokens."""
    text = (Path(__file__).parents[2] / name).read_text(encoding="utf-8")
    dice = random.Random(7)
    places = []
    at = 0
    while at < len(text):
        at += dice.randint(1, 7)
        places.append(at)
    assert streamed(cut(text, places), Redactor()) == Redactor().all(text)
