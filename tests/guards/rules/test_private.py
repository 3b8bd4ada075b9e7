"""`private`: what a tool gave leaves through no other tool's free text."""

from __future__ import annotations

import pytest

from edgeward.policies.problems import ConfigError
from edgeward.policies.schema import load_policy

from ..threads import Thread

RULES = {
    "tools": {"post": {}, "say": {"args": {"text": "words"}}, "get_me": "allow"},
    "private": ["get_me", "read_*"],
}
ME = {
    "name": "Ann",
    "passport": "HGK137803",
    "card": "4237-4252-7456-2574",
    "address": "12 Main Street, Anytown",
    "born": "1980-05-20",
}
LETTER = (
    "Dear Ann, we are sorry to tell you that the offer for the house was not accepted by the"
    " owner, who will sell it to a cousin instead. Yours, Bob"
)


def thread(said: str = "write something nice") -> Thread:
    """A thread that has read private things."""
    t = Thread(RULES, said)
    t.gave("get_me", ME)
    t.gave("read_letter", LETTER)
    return t


@pytest.mark.parametrize(
    "text",
    [
        "the number is HGK137803.",
        "hgk 137803",
        "hgk-137-803",
        "4237 4252 7456 2574",
        "42374252 74562574",
        "4237425274562574",
        "she lives at 12 main street (Anytown)",
        "SEhLMTM3ODAzIGFuZCBIR0sxMzc4MDM=",
        "FYI: " + LETTER,
        "the offer for the house was not accepted by the owner, who will sell it to a cousin",
    ],
)
def test_private(text: str) -> None:
    """Codes in any grouping, short values with a number, copied sentences, also encoded."""
    assert thread().word("post", body=text) == "block"


@pytest.mark.parametrize(
    "text", ["Ann sends her love", "the offer was not accepted", "on 1980-05-21", "12 houses", ""]
)
def test_not_private(text: str) -> None:
    """A name, a date, a few words in common: prose stays possible."""
    assert thread().word("post", body=text) == "allow"


def test_what_the_user_wrote_is_not_private() -> None:
    """The user may have something sent that a private output holds as well."""
    t = thread("tell them that my passport is HGK137803")
    assert t.word("post", body="passport: HGK137803") == "allow"
    assert t.word("say", text="passport is HGK137803") == "allow"
    assert t.word("post", body="card 4237-4252-7456-2574") == "block"


def test_only_what_the_named_tools_gave() -> None:
    """What another tool gave is not private."""
    t = Thread(RULES, "write")
    t.gave("get_weather", {"station": "HGK137803"})
    assert t.word("post", body="HGK137803") == "allow"


def test_shape() -> None:
    """One name may stand alone; version 1 has no such key."""
    assert load_policy({"version": 2, "private": "get_me", "default": "allow"})
    with pytest.raises(ConfigError, match="private"):
        load_policy({"version": 1, "private": ["get_me"]})


GAP = "what get_me gave back was not reported"


@pytest.mark.parametrize("tool", ["post", "note"])
@pytest.mark.parametrize(
    ("text", "word"), [("anything at all", "block"), ("something nice", "allow"), ("", "allow")]
)
def test_what_was_not_seen_may_be_private(text: str, word: str, tool: str) -> None:
    """After a gap in the past only what the user wrote leaves, whether the tool has conditions."""
    t = Thread({**RULES, "tools": {**RULES["tools"], "note": "allow"}}, "write something nice")
    t.ledger = t.ledger.with_gap(GAP)
    assert t.word(tool, body=text) == word
    assert t.word("get_me", who="anything") == "allow"


def test_what_was_not_seen_says_why() -> None:
    """The reason names the argument and the gap."""
    t = Thread({"tools": {"note": "allow"}, "private": ["get_me"]})
    t.ledger = t.ledger.with_gap(GAP)
    reason = t.verdict("note", body={"deep": ["x y z"]}).reason
    assert reason == f"argument 'body.deep[0]' of tool 'note' may hold private data ({GAP})"


@pytest.mark.parametrize(
    ("line", "word"),
    [
        ("- [outcome] (untrusted, from tool get_me) Answer: HGK137803", "block"),
        ("- [outcome] (untrusted, from tool search, tool read_mail) Answer: HGK137803", "block"),
        ("- [lesson] (untrusted, from tool a, tool b and 2 more) HGK137803", "block"),
        ("- [outcome] (untrusted, from tool search) Answer: HGK137803", "allow"),
        ("- [outcome] Answer: HGK137803 (untrusted, from tool get_me) ", "allow"),
    ],
)
def test_what_a_memory_kept_of_it(line: str, word: str) -> None:
    """A record that says which tools it came from stays as private as they were."""
    t = Thread(RULES, "write something nice")
    t.gave("memory_recall", f"- [outcome] Task: greet\n{line}")
    assert t.word("post", text="the number is HGK137803") == word
    assert t.word("post", text="greet everybody") == "allow"
