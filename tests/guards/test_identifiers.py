"""What points somewhere in a text: in every spelling that a reader or a browser would follow."""

from __future__ import annotations

import base64
from functools import cache
from urllib.parse import quote

import pytest

from edgeward.guards.decide import Policy, decide
from edgeward.guards.identifiers import identifiers
from edgeward.guards.ledger import USER, History, Ledger
from edgeward.guards.verdict import ToolCall
from edgeward.policies.schema import load_policy

LINK = "http://evil.test/x"

POINTING = (
    "log in at evil.test",
    "log in at EVIL.TEST.",
    "log in at evil。test",
    "log in at e\u200bvil.test",
    "log in at ｅｖｉｌ.com",
    "log in at //evil.test/x",
    "log in at http:evil.test",
    "log in at http:/evil.test",
    "log in at http:\\\\evil.test",
    "<a href=//evil.test>here</a>",
    "log in at localhost:8080/x",
    "log in at localhost:80",
    "log in at 2001:db8::1",
    "log in at fe80::1%eth0",
    "log in at fe80:1:2:3:4:5:6:7",
    "log in at пример.рф",
    "log in at evil.中国",
    "write to eve＠evil.com",
    "call +49 (171) 666 777",
    "call (0171) 666-777",
    "call 0171 666777",
    "pay 0x52908400098527886E0F7730278D8C84b8f1b8f6",
    "pay 1BoatSLRHtKNngkdXEeobR76b53LETtpyT",
    "pay bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq",
)
"""Texts of which each sends a reader somewhere."""

CODED = (
    base64.b64encode(LINK.encode()).decode(),
    LINK.encode().hex(),
    quote(LINK, safe=""),
    "http&#58;&#47;&#47;evil.test&#47;x",
    "evil%2Etest",
    "evil&period;com",
    "evil dot com",
    "evil\ndot\ncom",
)
"""The same for a reader that decodes."""

PLAIN = (
    "We meet at 9:30 in room 4.12, bring 2-3 copies.",
    "Invoice 2026-11 is EUR 1,250.00 net; 50/50.",
    "Version 3.11.2 is out, pi is 3.14159, A4 @ 300dpi.",
    "e.g. this, i.e. that, and/or he/she, 24/7, 16:9.",
    "file report.pdf is attached, foo.bar() fails, x=y+z.",
    "the answer was http:400, see // the comment",
    "std::vector, A::B, a::b, ::1, 12:30:45, 00:1B:44:11:3A:B7, localhost, key: value: x",
    "日本語のテキスト。次の文。你好。世界",
    "Он пришёл.Потом ушёл.",
    "commit 3f2a9bc01d4e5f60718293a4b5c6d7e8f9012345",
    "md5 1b2c3d4e5f60718293a4b5c6d7e8f901",
    "codes AB12-CD34 or AB12CD34, gates B12 C14 D16 E18 F20",
    "from 09:00 to 10:00, on 03.12.2026 or 03/12/2026",
)
"""Texts that point nowhere."""


@cache
def sending(condition: str | None) -> Policy:
    """A policy whose one tool's text is `clean`: because it says so, or by default."""
    args = {"text": condition} if condition else {"to": "any"}
    return load_policy({"version": 2, "tools": {"send": {"args": args}}})


@pytest.mark.parametrize("condition", ["clean", None])
@pytest.mark.parametrize("text", [*POINTING, *CODED])
def test_a_text_that_points_somewhere_is_not_clean(text: str, condition: str | None) -> None:
    """Neither where the policy says `clean` nor where it says nothing."""
    assert decide(sending(condition), ToolCall("send", {"text": text}), History()).word == "block"


@pytest.mark.parametrize("condition", ["clean", None])
@pytest.mark.parametrize("text", PLAIN)
def test_ordinary_prose_is_clean(text: str, condition: str | None) -> None:
    """Dates, versions, ratios, hashes and scripts without spaces point nowhere."""
    verdict = decide(sending(condition), ToolCall("send", {"text": text}), History())
    assert verdict.word == "allow", list(identifiers(text))


@pytest.mark.parametrize("text", [t for t in POINTING if "。" not in t and "=" not in t])
def test_what_the_user_wrote_may_be_written_again(text: str) -> None:
    """An address that is known is no reason to refuse a text."""
    entry = Ledger().observed(text, source=USER)
    history = History(Ledger().appended([entry] if entry else []))
    verdict = decide(sending("clean"), ToolCall("send", {"text": text}), history)
    assert verdict.word == "allow", verdict.reason


@pytest.mark.parametrize("account", ["DE89370400440532013000", "DE89 3704 0044 0532 0130 00"])
def test_words_around_an_account_are_no_part_of_it(account: str) -> None:
    """A known account stays known in the middle of a sentence; another is found in it."""
    entry = Ledger().observed(f"Pay {account}.", source=USER)
    history = History(Ledger().appended([entry] if entry else []))
    told = ToolCall("send", {"text": f"Your account {account} was used for this."})
    assert decide(sending("clean"), told, history).word == "allow"
    assert decide(sending("clean"), told, History()).word == "block"


def test_a_coded_private_value_is_not_clean() -> None:
    """What came from a private tool is looked for in every view, too."""
    policy = load_policy(
        {
            "version": 2,
            "private": ["get_code"],
            "tools": {"get_code": "allow", "send": {"args": {"text": "clean"}}},
        }
    )
    entry = policy.observed(ToolCall("get_code", {}), "QX55129921", source="tool get_code")
    history = History(Ledger().appended([entry] if entry else []))
    for text in ("code QX55129921", "code &#81;&#88;55129921", "code QX%35%35129921"):
        assert decide(policy, ToolCall("send", {"text": text}), history).word == "block"
