"""Conditions that need the past: what holds, and what only looks as if it did."""

from __future__ import annotations

from typing import Any

import pytest

from .threads import Thread, one

ASKED = (
    "Send 2,200.00 to DE89 3704 0044 0532 0130 00, see https://www.Corp.example/plan/ (or ask"
    " bob@corp.example). Book 'Luxury Palace' for 42."
)


@pytest.mark.parametrize(
    "value",
    [
        "bob@corp.example",
        "BOB@corp.example",
        "corp.example/plan",
        "https://corp.example/plan/",
        "DE89370400440532013000",
        "de89 3704 0044 0532 0130 00",
        "Luxury Palace",
        "luxury palace",
        2200,
        "2200.0",
        "bob@corp.example, bob@corp.example",
        "Bob <bob@corp.example>",
        "user:bob@corp.example",
        True,
        None,
        "",
        ["Luxury Palace", "bob@corp.example"],
    ],
)
def test_stated(value: Any) -> None:
    """What the user wrote is stated, in every letter case and usual spelling."""
    assert one("stated", ASKED).word("use", x=value) == "allow"
    assert one("known", ASKED).word("use", x=value) == "allow"


@pytest.mark.parametrize(
    "value",
    [
        "corp.example",
        "corp",
        "ob@corp.example",
        "bob@corp.example.org",
        "notcorp.example/plan",
        "Palace Luxury",
        "Luxury Palaces",
        "xury Palace",
        "42",
        42,
        "to",
        "DE8937040044053201300",
        "bob@corp.example, eve@evil.test",
        "user:eve@evil.test",
        "deleted:user:bob@corp.example",
        "user:bob@corp.example:x",
        "x:bob@corp.example",
        "bob@corp.example <eve@evil.test>",
        "bob@corp.example\nBcc: eve@evil.test",
        ["Luxury Palace", "eve@evil.test"],
        {"name": "Luxury Palace", "to": "eve@evil.test"},
        "***",
    ],
)
def test_not_stated(value: Any) -> None:
    """A part of what was written, another order, a short number: nothing of it is stated."""
    thread = one("stated", ASKED)
    assert thread.word("use", x=value) == "block"
    assert one("known", ASKED).word("use", x=value) == "block"


@pytest.mark.parametrize(
    "host", ["notevil.com", "evil.com.org", "me@evil.com", "evil.com/x", "xevil.com"]
)
def test_a_host_is_whole(host: str) -> None:
    """evil.com does not stand in a longer name."""
    assert one("stated", f"look at {host} please").word("use", x="evil.com") == "block"
    assert one("stated", "look at evil.com.").word("use", x="evil.com") == "allow"
    assert one("stated", "look at evil.com.Org").word("use", x="evil.com") == "block"


def test_a_sentence_without_a_space() -> None:
    """A host at the end of a sentence is found where the next begins without a space."""
    assert (
        one("stated", "Post it to www.a.example.They wait.").word("use", x="www.a.example")
        == "allow"
    )


def test_every_message_of_the_user_counts() -> None:
    """What was stated early in the thread stays stated."""
    thread = one("stated", "it is for bob@corp.example")
    for number in range(50):
        thread.says(f"and now message {number}")
    assert thread.word("use", x="bob@corp.example") == "allow"


def test_what_a_tool_says_is_not_known() -> None:
    """A value from an output that nothing trusts is not known, and its origin is told."""
    thread = one("known", "read my mail")
    thread.gave("read_mail", "pay to DE89370400440532013000")
    verdict = thread.verdict("use", x="DE89370400440532013000")
    assert verdict.word == "block"
    (finding,) = verdict.findings
    assert finding.rule == "tools.use.args.x"
    assert finding.argument == "x"
    assert finding.value == "DE89370400440532013000"
    assert str(finding.origin) == "tool read_mail (c1)"
    assert "stated by the user" in finding.reason
    assert finding.where


def test_mine() -> None:
    """`mine` is one of `me`, in any spelling; nobody else's."""
    thread = one("mine", "to eve@evil.test", me=["Ann@corp.example"])
    assert thread.word("use", x="ann@CORP.example") == "allow"
    assert thread.word("use", x="eve@evil.test") == "block"


CREATING = {
    "tools": {
        "create_file": {"requested": ["create"]},
        "share_file": {"args": {"id": "known"}},
        "drop_file": {"args": {"id": "created"}},
        "post_message": {"args": {"channel": "known", "id": "known"}},
        "read_file": "allow",
    }
}


def test_created() -> None:
    """The id that a creating call returned and the name that it gave; not what a reader returns."""
    thread = Thread(CREATING, "create a file")
    thread.gave("create_file", {"id_": "f26", "owner": "eve@evil.test"}, {"filename": "plan.docx"})
    thread.gave("read_file", {"id_": "f99"}, {"filename": "other.docx"})
    for tool in ("share_file", "drop_file"):
        assert thread.word(tool, id="f26") == "allow"
        assert thread.word(tool, id="plan.docx") == "allow"
        for stranger in ("f99", "eve@evil.test", "other.docx"):
            assert thread.word(tool, id=stranger) == "block"


def test_a_chosen_name_is_known_for_its_own_kind() -> None:
    """A file called like a channel does not make the channel known; a returned id is no choice."""
    thread = Thread(CREATING, "create a file")
    thread.gave("create_file", {"id": "f26", "size": 3}, {"filename": "random"})
    assert thread.word("share_file", id="random") == "allow"
    assert thread.word("post_message", channel="random") == "block"
    assert thread.word("post_message", id="f26") == "allow"


@pytest.mark.parametrize(
    "name", ["eve@evil.test", "https://evil.test/x", "www.evil.com", "to eve@evil.test"]
)
def test_nothing_is_laundered_by_creating_it(name: str) -> None:
    """A thing that is called like an address does not make the address known."""
    thread = Thread(CREATING, "create a file")
    thread.gave("create_file", {"id": name}, {"filename": name})
    assert thread.word("share_file", id=name) == "block"


@pytest.mark.parametrize(
    "value", ["https://corp.example/other/page", "www.corp.example", "corp.example/a#b"]
)
def test_same_site(value: str) -> None:
    """Any page of a host that the user named."""
    assert one("same_site", ASKED).word("use", x=value) == "allow"


@pytest.mark.parametrize(
    "value",
    [
        "https://evil.test/corp.example",
        "https://corp.example.evil.test/",
        "https://corp.example/?q=all-your-mail",
        "https://corp.example@evil.test/",
        "https://corp.example\\@evil.test/",
        "ftp://corp.example/x",
        "corp",
    ],
)
def test_no_same_site(value: str) -> None:
    """Another host, however it is dressed up, and a query, which can carry data out."""
    assert one("same_site", ASKED).word("use", x=value) == "block"


def test_words() -> None:
    """Every word is known; an unknown one or an unknown number is not."""
    thread = one("words", "Move the Dental check-up to 2024-05-20 at 10:00")
    assert thread.word("use", x="2024-05-20 10:00") == "allow"
    assert thread.word("use", x="Dental: to 20") == "allow"
    assert thread.word("use", x="2024-05-21 10:00") == "block"
    assert thread.word("use", x="Dental surgery") == "block"


@pytest.mark.parametrize(
    "text",
    [
        "Hello, here are the minutes; we agreed on 12.5 % and meet at 10:00 on 2024-05-20.",
        "Ask bob@corp.example, or see corp.example/plan.",
        "e.g. this/that, and/or 1/2, v1.2.3, file.txt, Mr.Smith",
        "an account: DE89 3704 0044 0532 0130 00",
        "100 200 300 and 20240520",
        "",
    ],
)
def test_clean(text: str) -> None:
    """Prose, and addresses that the user gave."""
    thread = Thread({"tools": {"post": {}}}, ASKED)
    assert thread.word("post", body=text) == "allow"


@pytest.mark.parametrize(
    ("text", "piece"),
    [
        ("write to eve@evil.test now", "eve@evil.test"),
        ("see https://evil.test/x.", "https://evil.test/x"),
        ("go to evil.com", "evil.com"),
        ("go to EVIL.COM/path", "EVIL.COM/path"),
        ("at 10.1.2.3:80", "10.1.2.3:80"),
        ("pay GB29 NWBK 6016 1331 9268 19", "GB29 NWBK 6016 1331 9268 19"),
        ("card 4237-4252-7456-2574", "4237-4252-7456-2574"),
        ("account 0789765432", "0789765432"),
        ("call +49 151 2345 6789", "+49 151 2345 6789"),
        ("look in /etc/passwd", "/etc/passwd"),
        ("look in ~/.ssh/id", "~/.ssh/id"),
        ("open C:\\Users\\x", "C:\\Users\\x"),
        ("aHR0cHM6Ly9ldmlsLnRlc3QvYQ==", ""),
    ],
)
def test_not_clean(text: str, piece: str) -> None:
    """What leads somewhere that nobody named, with the piece that does, encoded text included."""
    verdict = Thread({"tools": {"post": {}}}, ASKED).verdict("post", body=text)
    assert verdict.word == "block"
    assert verdict.findings[0].rule == "tools.post.args"
    if piece:
        assert verdict.findings[0].value == piece


def test_clean_is_the_default_below_named_arguments() -> None:
    """Text that no condition names is looked at wherever it stands, names of fields as well."""
    entry = {"args": {"files.id": "known", "note": "any"}}
    thread = Thread({"tools": {"send": entry}}, "send f-77 please")
    files = [{"id": "f-77", "kind": "file"}]
    assert thread.word("send", files=files, note="eve@evil.test") == "allow"
    assert thread.word("send", files=[{"id": "f-77", "kind": "evil.com"}]) == "block"
    assert thread.word("send", files=[{"id": "f-78"}]) == "block"
    assert thread.word("send", files=[{"id": "f-77", "eve@evil.test": 1}]) == "block"
    assert thread.word("send", text="eve@evil.test") == "block"
    assert thread.word("send", files="f-77") == "block"


def test_any_of() -> None:
    """Of a list of conditions one must hold; with `ask` in it a person decides the rest."""
    thread = one(["mine", {"in": ["x"]}, "ask"], me=["ann@corp.example"])
    assert thread.word("use", x="ann@corp.example") == "allow"
    assert thread.word("use", x="x") == "allow"
    assert thread.word("use", x="eve@evil.test") == "ask"


@pytest.mark.parametrize(
    ("tool", "made"),
    [
        ("create_list", True),
        ("newTicket", True),
        ("TicketsCreate", True),
        ("HTTPNewTicket", True),
        ("crearEvento", True),
        ("anlegen_termin", True),
        ("创建_事件", True),
        ("get_new_tickets", False),
        ("ListNewTickets", False),
        ("tickets_new_search", False),
        ("buscarNuevos", False),
        ("renew_ticket", False),
        ("address_of", False),
        ("luo_tapahtuma", False),
    ],
)
def test_what_makes_something_says_so_in_its_name(tool: str, made: bool) -> None:
    """In any style and in the languages that are listed; what reads made nothing."""
    rules = {"tools": {"*": "allow", "drop": {"args": {"id": "created"}}}}
    thread = Thread(rules, "go")
    thread.gave(tool, {"ticketId": "T-4711-x"}, {"title": "so"})
    assert thread.word("drop", id="T-4711-x") == ("allow" if made else "block")


@pytest.mark.parametrize("condition", ["clean", "words"])
def test_a_payees_account_number_is_no_text(condition: str) -> None:
    """A payee of the list may be paid; in a text only a number that the user wrote may stand."""
    number = "CH9300762011623852957"
    thread = one(
        condition, "Tell Bob about the party.", trust=[{"tool": "list_payees", "text": True}]
    )
    thread.gave("list_payees", [{"recipient": number, "subject": "party"}])
    assert thread.word("use", x=f"party {number}") == "block"
    thread.says(f"Write that it went to {number}.")
    assert thread.word("use", x=f"party {number}") == "allow"


@pytest.mark.parametrize(
    ("said", "value"),
    [
        ("Pay DE89 3704 0044 0532 0130 00 by Friday", "DE89370400440532013000"),
        ("Pay DE89-3704-0044-0532-0130-00 for all", "de89370400440532013000"),
        ("Call +49 30 901820 now", "+4930901820"),
        ("Call +4930901820 now", "+49 30 901820"),
    ],
)
def test_a_number_is_known_however_it_is_grouped_and_whatever_follows(
    said: str, value: str
) -> None:
    """The words behind an account's number are no part of it."""
    assert one("known", said).word("use", x=value) == "allow"


@pytest.mark.parametrize(
    "value", ["DE89370400440532013001", "+4930901821", "GB29NWBK60161331926819"]
)
def test_another_number_is_not_known(value: str) -> None:
    """Nor one that differs in a single digit."""
    said = "Pay DE89 3704 0044 0532 0130 00 by Friday, call +49 30 901820"
    assert one("known", said).word("use", x=value) == "block"


LISTED = [
    {"from": "emma@corp.example", "to": "dan@corp.example, Kim Lee <kim@corp.example>"},
    {"from": "emma@corp.example", "to": "see lee@corp.example, he knows"},
    {"from": "eve@evil.example", "to": "eve2@evil.example, dan@corp.example"},
]


@pytest.mark.parametrize(
    ("value", "word"),
    [
        ("dan@corp.example", "allow"),
        ("kim@corp.example", "allow"),
        ("Kim@Corp.example", "allow"),
        ("lee@corp.example", "block"),
        ("eve2@evil.example", "block"),
    ],
)
def test_each_address_of_a_trusted_list_is_known(value: str, word: str) -> None:
    """A field that lists recipients as mail does; a sentence is no list."""
    trust = [{"tool": "search_mail", "fields": ["to"], "where": {"from": "$me"}}]
    thread = one("known", "Write to them", me=["emma@corp.example"], trust=trust)
    thread.gave("search_mail", LISTED)
    assert thread.word("use", x=value) == word


PATIENT = {"insurance_number": "QX-5512-9921", "card": "4111 1111 1111 1111"}


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        ({"text": "QX_5512_9921"}, "block"),
        ({"text": "id_QX_5512_9921_x"}, "block"),
        ({"a": "QX-55", "b": "12-9921"}, "block"),
        ({"rows": ["QX", "5512", "9921"]}, "block"),
        ({"n": [4111, 1111, 1111, 1111]}, "block"),
        ({"text": "snake_case_5512"}, "allow"),
        ({"a": "QX-55", "b": "12-9922"}, "allow"),
        ({"n": [4111, 12]}, "allow"),
        ({"text": "The round is done.", "rows": ["5512", "of", "9921"]}, "allow"),
    ],
)
@pytest.mark.parametrize("tool", ["post", "note"])
def test_a_private_code_in_several_values_does_not_leave(
    tool: str, arguments: dict[str, Any], word: str
) -> None:
    """Nor with other signs between its groups; with conditions on the tool and without."""
    tools = {"get_*": "allow", "note": "allow", "post": {"args": {"channel": "any"}}}
    thread = Thread({"private": ["get_patient"], "tools": tools}, "Post that the round is done.")
    thread.gave("get_patient", PATIENT)
    assert thread.word(tool, **arguments) == word


@pytest.mark.parametrize(
    ("said", "value", "word"),
    [
        ("roll back to 4.11.3", "v4.11.3", "allow"),
        ("roll back to v4.11.3", "4.11.3", "allow"),
        ("roll back to v4.1", "4.10", "block"),
        ("open v10.0.0.1", "10.0.0.1", "block"),
        ("close OPS-142 and OPS-143", "OPS-143,OPS-142", "allow"),
        ("close OPS-142 and OPS-143", "OPS-143; OPS-144", "block"),
        ("delete the file, pay all", "delete,all", "block"),
        ("to 12 Rue de l'Église, Metz", "12 rue de l\u2019Eglise", "allow"),
        ("to 12 Rue de l'Église, Metz", "12 rue de la Eglise", "block"),
        ("to José Álvarez", "Jose Alvarez", "block"),
        ("write to josé at x.test, now or today", "josé@x.test, now or today", "block"),
    ],
)
def test_other_forms_of_what_was_stated(said: str, value: str, word: str) -> None:
    """A version with its v, a list of ids in one text; no list of words."""
    assert one("stated", said).word("use", x=value) == word


def test_words_in_the_plural_and_without_accents() -> None:
    """A known word counts in the singular, the plural, and as it is typed without accents."""
    thread = one("words", "Bill two workshops for the Café Śliwa")
    assert thread.word("use", x="Workshop, cafe Sliwa") == "allow"
    assert thread.word("use", x="cafés") == "allow"
    assert thread.word("use", x="bills") == "allow"
    assert thread.word("use", x="worksho") == "block"

    assert one("words", "it is new").word("use", x="news") == "block"


def test_a_code_of_two_signs() -> None:
    """A digit and a letter tell one flat from another; two letters or two digits do not."""
    thread = one("stated", "Repair the tap in 4B, room 12, at ab.")
    assert [thread.word("use", x=value) for value in ("4B", "4b", "4C", "12", "AB")] == [
        "allow", "allow", "block", "block", "block",
    ]  # fmt: skip


def test_the_number_of_a_book() -> None:
    """With its hyphens or without."""
    thread = one("stated", "Order ISBN 978-0-441-47812-5 and 9780141354941.")
    assert thread.word("use", x="9780441478125") == "allow"
    assert thread.word("use", x="978-0-14-135494-1") == "allow"
    assert thread.word("use", x="9780441478132") == "block"


def test_a_mark() -> None:
    """A letter with its sign; the letter alone stands in many texts."""
    thread = one("stated", "Lena gets a B+ for it.")
    assert [thread.word("use", x=value) for value in ("B+", "b+", "B", "B-", "A+")] == [
        "allow", "allow", "block", "block", "block",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("said", "value", "word"),
    [
        ("Meet at 7:30.", "07:30", "allow"),
        ("Meet at 07:30!", "7:30", "allow"),
        ("Meet at 3:30 pm.", "15:30", "allow"),
        ("Meet at 6 a.m. sharp", "06:00", "allow"),
        ("Meet at 12 am", "0:00", "allow"),
        ("Meet at half past nine.", "09:30", "allow"),
        ("Meet at half past nine.", "21:30", "allow"),
        ("Meet at a quarter to 10", "9:45", "allow"),
        ("Meet at noon", "12:00", "allow"),
        ("Meet at 9 o'clock", "09:00", "allow"),
        ("Meet at half past nine.", "09:00", "block"),
        ("Meet nine people", "09:00", "block"),
        ("Meet at 7:30.", "7:31", "block"),
        ("Meet at 3:30 pm.", "15:31", "block"),
        ("Meet at 13 pm.", "13:00", "block"),
        ("Meet at 3:30 pm.", "3:30", "block"),
        ("Meet at 3:30 pm.", "03:30 AM", "block"),
        ("Meet at 15:30.", "3:30 PM", "allow"),
        ("Meet at 4:30 in the afternoon", "16:30", "allow"),
        ("Meet at 4:30 in the afternoon", "04:30", "block"),
        ("Meet at 8 in the evening", "20:00", "allow"),
        ("Meet at 10 in the morning", "22:00", "block"),
    ],
)
def test_times_of_day(said: str, value: str, word: str) -> None:
    """With a nought or without, and of the afternoon."""
    assert one("stated", said).word("use", x=value) == word


@pytest.mark.parametrize(
    ("said", "value", "word"),
    [
        ("Ship it to 12 Mill Lane, Austin, TX 78701", "TX", "allow"),
        ("Ship it to Austin, TX 78701", "NY", "block"),
        ("He is in austin, tx", "TX", "block"),
        ("My ID is 7", "ID", "block"),
        ("SHIP IT TO ME, OK? IT IS FOR DE WIT", "DE", "block"),
        ("DE", "DE", "allow"),
    ],
)
def test_two_capital_letters_are_a_code(said: str, value: str, word: str) -> None:
    """A state or a country as people write it; small letters and capitals for words are none."""
    for condition in ("known", "stated"):
        assert one(condition, said).word("use", x=value) == word


def test_a_short_code_of_a_trusted_record_is_known_to_every_tool() -> None:
    """`WA` is the same state in an order and in a profile; 5 is no number of everything."""
    rules = {
        "tools": {"change_profile": {"args": {"state": "known", "floor": "known"}}},
        "trust": [{"tool": "get_order", "fields": ["state", "floor"]}],
    }
    thread = Thread(rules)
    thread.gave("get_order", {"state": "WA", "floor": "5", "note": "or CO"})
    assert thread.word("change_profile", state="WA") == "allow"
    assert thread.word("change_profile", state="CO") == "block"
    assert thread.word("change_profile", floor="5") == "block"
