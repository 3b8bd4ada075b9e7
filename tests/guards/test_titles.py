"""Things that the user refers to by less than their whole titles."""

from __future__ import annotations

from typing import Any

import pytest

from edgeward.guards.titles import MOST, _head, _telling, referred
from tests.guards.threads import Thread
from tests.steps import steps_of

RULES: dict[str, Any] = {
    "tools": {"list_files": "allow", "share": {"args": {"file_id": "known"}}},
    "trust": [
        {"tool": "list_files", "fields": ["file_id"], "named": True},
        {"tool": "list_bookings", "fields": ["file_id"], "named": True},
        {"tool": "find_customer", "fields": ["customer_id"], "named": True},
        {"tool": "list_entries", "fields": ["file_id"], "named": ["date"]},
    ],
}
FILES = [
    "Expert report Dr Weiss.pdf",
    "Summons 2026-11-12.pdf",
    "Settlement strategy.docx",
    "Will draft v1.docx",
    "Will_draft_v2.docx",
    "Will of Samuel Okonjo (signed).pdf",
    "Petition for probate.pdf",
    "Ski trip Obertauern",
    "Museum trip on 9 December",
    "Siemens AG",
    "Siemens Energy AG",
    "Team lunch",
    "Sprint week",
    "Green tea 100 g",
    "Dentist Dr. Wolf",
]


def _shared(said: str, titles: list[str]) -> list[str]:
    """The titles of the files that may be shared."""
    thread = Thread(RULES, said)
    thread.gave("list_files", [{"file_id": f"doc-{n}7Q", "title": t} for n, t in enumerate(titles)])
    return [
        t for n, t in enumerate(titles) if thread.word("share", file_id=f"doc-{n}7Q") == "allow"
    ]


@pytest.mark.parametrize(
    ("said", "titles"),
    [
        ("share the Weiss expert report with Ann", FILES[:1]),
        ("share the expert report", FILES[:1]),
        ("attach the summons", FILES[1:2]),
        ("delete both will drafts in Okonjo, v1 and v2", FILES[3:5]),
        ("Share the petition with Maria Okonjo.", FILES[6:7]),
        ("share Weiss's report", FILES[:1]),
        ("sign Lena up for the ski trip", FILES[7:8]),
        ("sign the form for the museum trip", FILES[8:9]),
        ("pay Siemens Energy", FILES[10:11]),
        ("the team lunch is off", FILES[11:12]),
        ("30 bags of green tea arrived", FILES[13:14]),
        ("move the dentist to Monday", FILES[14:15]),
    ],
)
def test_what_a_person_calls_it(said: str, titles: list[str]) -> None:
    """By its words in any order, by most of them, by what it is."""
    assert _shared(said, FILES) == titles


@pytest.mark.parametrize(
    "said",
    [
        "Share the report, the trip and the draft.",
        "Is there a petition? Then summons him, as a strategy.",
        "What is on this week?",
        "Tell the team and Tom to come, and that there is lunch.",
        "Will Samuel sign it?",
        "Where would he settle?",
        "pay Siemens",
        "the expert sent a long letter of two pages with no word of what the other report said",
    ],
)
def test_what_names_none(said: str) -> None:
    """What several could be called, single words without an article, words far from each other."""
    titles = [*FILES, "Valuation report.pdf"]
    assert _shared(said, titles) == []


def test_whoever_adds_another_of_the_name_makes_it_unsure() -> None:
    """A title like it, anywhere in the output, and its whole name is needed."""
    assert _shared("share the expert report", [*FILES, "The expert's report (2)"]) == []
    said = "share Settlement strategy"
    assert _shared(said, [*FILES, "Another settlement strategy"]) == FILES[2:3]
    thread = Thread(RULES, "share the summons")
    rows = [{"file_id": "doc-17Q", "title": "Summons of May"}]
    thread.gave("list_files", {"files": rows, "trash": [{"title": "Old summons"}]})
    assert thread.word("share", file_id="doc-17Q") == "block"


def test_parts_of_a_thing_are_no_others() -> None:
    """What stands below a record is called like it because it is of it."""
    thread = Thread(RULES, "share the summons")
    row = {"title": "Summons of May", "file_id": "doc-17Q", "versions": [{"name": "summons"}]}
    thread.gave("list_files", [row, {"file_id": "doc-27Q", "title": "Reply"}])
    assert thread.word("share", file_id="doc-17Q") == "allow"
    assert thread.word("share", file_id="doc-27Q") == "block"


def test_a_later_message_refers_as_well() -> None:
    """The user may have seen the list before."""
    thread = Thread(RULES, "What is there?")
    thread.gave("list_files", [{"file_id": "doc-17Q", "title": "Summons of May"}])
    assert thread.word("share", file_id="doc-17Q") == "block"
    thread.says("Share the summons, please.")
    assert thread.word("share", file_id="doc-17Q") == "allow"


def test_the_one_record_of_whom_the_user_named() -> None:
    """Looked up by her number alone; whatever else is said may have picked it out of many."""
    for more, word in (({}, "allow"), ({"limit": 1}, "block"), ({"query": "secret"}, "block")):
        thread = Thread(RULES, "Send Ms Tanabe her itinerary.")
        people = [{"customer_id": "C10293", "name": "Yuki Tanabe", "email": "y@x.example"}]
        thread.gave("find_customer", people, {"query": "Tanabe"})
        thread.gave("list_bookings", [{"file_id": "doc-17Q"}], {"customer_id": "C10293", **more})
        assert thread.word("share", file_id="doc-17Q") == word
    thread.gave("list_bookings", [{"file_id": "doc-27Q"}], {"customer_id": "C10666"})
    assert thread.word("share", file_id="doc-27Q") == "block"


def test_what_is_referred_to_goes_together_with_what_stands_beside_it() -> None:
    """The message stands for the number of the record, as it does where it has the whole title."""
    tools = {"pay": {"args": {"invoice_no": "known"}, "together": ["invoice_no", "amount"]}}
    trust = [{"tool": "list_invoices", "fields": ["invoice_no"], "named": ["text"]}]
    thread = Thread({"tools": tools, "trust": trust}, "Pay 40 EUR of the invoice for the ski trip.")
    rows = [{"invoice_no": "R-2291", "text": "Ski trip Obertauern"}, {"invoice_no": "R-2292"}]
    thread.gave("list_invoices", rows)
    assert thread.word("pay", invoice_no="R-2291", amount=40) == "allow"
    assert thread.word("pay", invoice_no="R-2291", amount=400) == "block"
    thread.says("Did Bob get his 75 EUR?")
    assert thread.word("pay", invoice_no="R-2291", amount=75) == "block"


def test_a_day_names_an_entry() -> None:
    """However the user writes it."""
    thread = Thread(RULES, "Correct my entry of 27 November.")
    rows = [{"file_id": f"te-90{n}", "date": f"2026-11-2{n}"} for n in (5, 7)]
    thread.gave("list_entries", rows)
    assert thread.word("share", file_id="te-907") == "allow"
    assert thread.word("share", file_id="te-905") == "block"


def test_a_long_list_and_a_long_title() -> None:
    """Of very many records, and of a title like a sentence, only whole names count."""
    rows: list[dict[str, Any]] = [{"title": f"Summons of {n}"} for n in range(MOST + 1)]
    assert referred([(row, [row["title"]]) for row in rows], rows) == [([], [])] * len(rows)
    long = {"title": "Ski trip, Obertauern, everybody of 7b, two buses, cost, rooms, food"}
    [(near, _)] = referred([(long, [long["title"]])], [long])
    assert not near


def test_a_title_that_many_rows_have_is_looked_up_once() -> None:
    """Many rows of one title take less than half of what they would one by one; words that all
    rows have name none of them."""
    words = ["amber", "birch", "cedar", "delta", "ember", "flint", "grove", "heath"]

    def steps(titles: list[str]) -> int:
        rows = [({"title": title}, [title]) for title in titles]
        referred(rows, [])  # what is known of each title is known
        return steps_of(lambda: referred(rows, []))

    one = " ".join(words)
    others = [" ".join((*words[n % 7 + 1 :], *words[: n % 7 + 1])) for n in range(MOST)]
    assert steps([one] * MOST) * 2 < MOST * steps([one])
    assert {tuple(map(tuple, way)) for way in referred([({}, [t]) for t in others], [])} == {
        ((), ())
    }


def test_a_long_text_is_kept_in_no_cache() -> None:
    """A tool may give a megabyte for a name."""
    before = _telling.cache_info().misses, _head.cache_info().misses
    assert referred([({}, ["a report " * 100])], [{"name": "an offer " * 100}]) == [([], [])]
    assert (_telling.cache_info().misses, _head.cache_info().misses) == before
