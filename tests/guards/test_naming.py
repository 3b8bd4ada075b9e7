"""How a person names a record."""

from __future__ import annotations

from typing import Any

import pytest

from edgeward.guards.naming import names_of, steps_to, values_in
from tests.guards.threads import Thread
from tests.steps import steps_of


@pytest.mark.parametrize(
    ("tool", "row", "names"),
    [
        ("list_files", {"filename": "team-plan.docx"},
         ["team-plan.docx", "team-plan", "team plan"]),
        ("my_agenda", {"summary": "Budget review", "id": "evt_1"},
         ["Budget review", "evt_1", "evt 1"]),
        ("find", {"displayName": "Orchard Labs", "first_name": "Ann", "last_name": "Lee"},
         ["Orchard Labs", "Ann Lee"]),
        ("get", {"name": "Mr Emre Kaya"}, ["Mr Emre Kaya", "Emre Kaya"]),
        ("get", {"name": "Dr House", "pnr": "K3X9QL"}, ["Dr House", "K3X9QL"]),
        ("suchen", {"name": "Weiß, Jürgen"}, ["Weiß, Jürgen", "Jürgen Weiß"]),
        ("searchOrders", {"orderId": "ORD-1", "customerName": "Zoë", "customerId": "cus_1"},
         ["ORD-1", "ORD 1"]),
        ("list_mails", {"from_name": "Ann Lee", "id": 7}, []),
        ("list_files", "a text", []),
    ],
)  # fmt: skip
def test_the_names_of_a_record(tool: str, row: object, names: list[str]) -> None:
    """Its own title, name or number; not what names another thing."""
    assert names_of(row, tool) == names


def test_values_below_a_record() -> None:
    """A path leads through objects and lists, and a field may have dots in its name."""
    row = {"to": [{"email": "a"}, {"email": "b"}], "x.y": 1}
    assert list(values_in(row, steps_to("to.email"))) == ["a", "b"]
    assert list(values_in(row, steps_to("x.y"))) == [1]
    assert not list(values_in(row, steps_to("to.name")))
    deep: object = "a"
    for _ in range(10_000):  # more lists than Python could walk down
        deep = [deep]
    assert [type(found) for found in values_in({"to": deep}, steps_to("to"))] == [list]
    assert not list(values_in({"to": deep}, steps_to("to.email")))


CALENDAR: dict[str, Any] = {
    "me": ["nora@corp.example"],
    "tools": {"move": {"args": {"id": "known"}}, "write": {"args": {"to": "known"}}},
    "trust": [
        {"tool": "my_agenda", "fields": ["id"], "named": True},
        {"tool": "own_events", "fields": ["attendees.email"], "where": {"organizer.email": "$me"}},
        {"tool": "list_requests", "fields": ["id"], "named": ["employee", "number"]},
    ],
}


def test_a_record_is_named_by_what_the_user_writes() -> None:
    """By its title, with accents or without; not one that the user never mentioned."""
    thread = Thread(CALENDAR, "Move the Budget Review and Jose's Café visit")
    events = [("ev-11", "Budget review"), ("ev-12", "Roadmap"), ("ev-13", "Cafe visit")]
    thread.gave("my_agenda", {"items": [{"id": i, "summary": s} for i, s in events]})
    assert [thread.word("move", id=i) for i, _ in events] == ["allow", "block", "allow"]


def test_the_policy_says_by_which_fields() -> None:
    """Whose request it is, or its number, which is short and stands beside what it numbers."""
    thread = Thread(CALENDAR, "Decline request 33 and what Ingrid Solberg wants")
    rows = [("rq-11", "Ingrid Solberg", 31), ("rq-12", "Eve", 33), ("rq-13", "Eve", 34)]
    thread.gave("list_requests", [{"id": i, "employee": e, "number": n} for i, e, n in rows])
    assert [thread.word("move", id=i) for i, *_ in rows] == ["allow", "allow", "block"]


def test_fields_below_a_record() -> None:
    """Who takes part in what the user organises; an address with its owner's name before it."""
    thread = Thread(CALENDAR, "Write to them")
    for organizer, guest in (
        ("Nora Lind <nora@corp.example>", "ann@corp.example"),
        ("nora@corp.example <eve@evil.example>", "eve@evil.example"),
        ("dana@corp.example", "dan@corp.example"),
    ):
        row = {"organizer": {"email": organizer}, "attendees": [{"email": guest}]}
        thread.gave("own_events", {"items": [row]})
    words = [thread.word("write", to=f"{n}@corp.example") for n in ("ann", "dan")]
    assert words == ["allow", "block"]
    assert thread.word("write", to="eve@evil.example") == "block"


def test_the_one_thing_that_was_looked_up_is_named_by_the_look_up() -> None:
    """Whatever parts it has; of several results, none is."""
    trust = [{"tool": ["get_order", "search_orders"], "fields": ["id", "value"], "named": True}]
    thread = Thread(
        {"tools": {"refund": {"args": {"id": "known"}}}, "trust": trust}, "Refund 10482"
    )
    order = {"id": "ORD-10482", "total": {"value": "69.70"}, "lines": [{"id": "L-1771"}]}
    thread.gave("get_order", {"order": order}, {"id": "10482"})
    thread.gave("get_order", {"order": {"id": "ORD-10499"}}, {"id": "10499"})
    thread.gave(
        "search_orders", {"orders": [{"id": "ORD-10501"}, {"id": "ORD-10502"}]}, {"q": "10482"}
    )
    ids = ("ORD-10482", "L-1771", "ORD-10499", "ORD-10501")
    assert [thread.word("refund", id=i) for i in ids] == ["allow", "block", "block", "block"]


def test_a_record_is_looked_up_by_an_id_that_the_named_one_gave() -> None:
    """The order of the customer whom the user named, and what belongs to it by its own number;
    not what only mentions it, nor what a stranger's id leads to."""
    trust = [
        {"tool": "search_orders", "fields": ["id"], "named": True},
        {"tool": "get_order", "fields": ["id", "shipping"], "named": True},
        {"tool": "list_notes", "fields": ["note_id", "shipping"], "named": True},
    ]
    tools = {"refund": {"args": {"id": "known"}, "together": ["id", "amount"]}}
    thread = Thread({"tools": tools, "trust": trust}, "Reimburse Zoë Fürst the shipping")
    thread.gave("search_orders", {"orders": [{"id": "ORD-10482"}]}, {"query": "Zoë Fürst"})
    for number, shipping in (("ORD-10482", 4.95), ("ORD-10499", 9.95)):
        thread.gave("get_order", {"id": number, "shipping": shipping}, {"order_id": number})
    note = {"note_id": "N-7701", "order_id": "ORD-10482", "shipping": 900.5}
    thread.gave("list_notes", [note, {**note, "note_id": "N-7702"}], {"order_id": "ORD-10482"})
    assert thread.word("refund", id="ORD-10482", amount=4.95) == "allow"
    assert thread.word("refund", id="ORD-10482", amount=900.5) == "block"
    assert thread.word("refund", id="ORD-10499", amount=9.95) == "block"
    assert thread.word("refund", id="N-7701", amount=900.5) == "block"


def test_records_that_were_looked_up_by_one_another_are_none() -> None:
    """Two that lead to each other lead to nothing that the user wrote."""
    trust = [{"tool": ["get_a", "get_b"], "fields": ["id", "key"], "named": True}]
    thread = Thread({"tools": {"use": {"args": {"x": "known"}}}, "trust": trust}, "Do it")
    thread.gave("get_a", {"id": "A-4711", "key": "B-4712"}, {"id": "A-4711"})
    thread.gave("get_b", {"id": "B-4712", "key": "A-4711"}, {"id": "B-4712"})
    assert thread.word("use", x="A-4711") == thread.word("use", x="B-4712") == "block"


def test_what_wraps_a_list_is_not_named_by_a_look_up() -> None:
    """With no field named a wrapper would be all that is in it; a category is no name."""
    trust = [{"tool": "search", "named": True}]
    thread = Thread({"tools": {"use": {"args": {"x": "known"}}}, "trust": trust}, "Search my inbox")
    rows = [{"id": "m-1041", "label": "inbox", "reference": "inbox"}, {"id": "m-1042"}]
    thread.gave("search", {"query": "inbox", "results": rows}, {"query": "inbox"})
    assert thread.word("use", x="m-1041") == thread.word("use", x="m-1042") == "block"


def test_many_records_that_were_looked_up_by_many_ids() -> None:
    """The ids of a call are read once, and not again for each record that it gave."""

    def steps(times: int) -> int:
        thread = Thread(CALENDAR, "Show my agenda")
        asked = {f"a{n}_id": n for n in range(times)}
        rows = [{"id": f"ev-{n}", "title": f"Event {n}"} for n in range(times)]
        return steps_of(lambda: thread.gave("my_agenda", rows, asked))

    assert steps(400) < 5 * steps(100)


SHELF: dict[str, Any] = {
    "tools": {"swap": {"args": {"item": ["known", "ask"]}}},
    "trust": [{"tool": "get_variants", "fields": ["item"], "named": ["made_of"]}],
}


def test_an_object_names_by_all_that_stands_in_it() -> None:
    """A variant is named by its options: the user wrote each, a short one behind what it is."""
    thread = Thread(SHELF, "I want the oak one, in dark brown, size M.")
    thread.gave(
        "get_variants",
        {
            "a": {"item": "V-4411", "made_of": {"wood": "oak", "colour": "dark brown"}},
            "b": {"item": "V-4412", "made_of": {"wood": "oak", "colour": "white"}},
            "c": {"item": "V-4413", "made_of": {"wood": "oak", "size": "M"}},
            "d": {"item": "V-4414", "made_of": {"wood": "oak", "size": "L"}},
            "e": {"item": "V-4415", "made_of": {}},
            "f": {"item": "V-4416", "made_of": {"wood": "oak", "old": True}},
            "g": {"item": "V-4417", "made_of": {"wood": "oak", "legs": ["dark brown"]}},
        },
    )
    words = [thread.word("swap", item=f"V-441{n}") for n in range(1, 8)]
    assert words == ["allow", "ask", "allow", *["ask"] * 4]


@pytest.mark.parametrize(
    ("said", "word"),
    [
        ("I am Lan Ng, 50667, what about my order?", "allow"),
        ("I am Lan Li, 50667, what about my order?", "block"),
        ("Ng, 50667", "block"),
    ],
)
def test_a_short_name_counts_beside_one_that_tells(said: str, word: str) -> None:
    """People are called Ng: who was looked up by given name, name and postcode is named by them."""
    rules = {
        "tools": {"get_orders": {"args": {"customer": "known"}}},
        "trust": [{"tool": "find_customer", "fields": ["customer"], "named": True}],
    }
    thread = Thread(rules, said)
    looked_up = {"first": "Lan", "last": "Ng", "zip": "50667"}
    thread.gave("find_customer", {"customer": "C-90031"}, looked_up)
    assert thread.word("get_orders", customer="C-90031") == word
