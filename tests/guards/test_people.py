"""People who are called by their given name, or by their family's."""

from __future__ import annotations

import pytest

from edgeward.guards.people import MOST, called
from tests.guards.threads import Thread

FAMILY = [
    {"name": "Mia Porter", "mobile": "+44 7700 900123"},
    {"name": "Noah Porter", "mobile": "+44 7700 900124"},
    {"name": "Kim de Witt", "mobile": "+44 7700 900125"},
]
RULES = {
    "tools": {"get_family": "allow", "text": {"args": {"to": "known"}}},
    "trust": [{"tool": "get_family", "fields": ["mobile"], "named": True}],
}


def test_a_given_name_names_a_person() -> None:
    """Who is called so by nobody else; the family's name is that of two."""
    thread = Thread(RULES, "Text Mia that I am late, Mr Porter, and Mrs de Witt.")
    thread.gave("get_family", FAMILY)
    assert [thread.word("text", to=row["mobile"]) for row in FAMILY] == ["allow", "block", "allow"]


def test_two_of_one_name() -> None:
    """Neither is meant for sure."""
    thread = Thread(RULES, "Text Mia.")
    thread.gave("get_family", [*FAMILY, {"name": "Mia Stone", "mobile": "+44 7700 900666"}])
    assert thread.word("text", to=FAMILY[0]["mobile"]) == "block"
    thread = Thread(RULES, "Text Mia.")
    thread.gave("get_family", [*FAMILY, {"name": "Mia Stone"}])
    assert thread.word("text", to=FAMILY[0]["mobile"]) == "block"


@pytest.mark.parametrize(
    ("row", "names"),
    [
        ({"name": "Weiß, Jürgen", "telefon": "1"}, ["Jürgen", "Frau Weiß"]),
        ({"first_name": "Luca", "last_name": "De Santis", "email": "x"}, ["Luca", "Dr De Santis"]),
        ({"displayName": "Ann M. O'Neil", "workEmail": "x"}, ["Ann", "Ms O'Neil"]),
        ({"name": "Will Smith", "mail": "x"}, ["Herr Smith"]),
        ({"name": "Mr Emre Kaya", "phone": "1"}, ["Emre", "Mr Kaya"]),
    ],
)
def test_names_of_a_person(row: dict[str, str], names: list[str]) -> None:
    """In each usual order of a name; a given name that is another word as well does not do."""
    [found] = called([row], [row])
    assert set(names) <= set(found)
    assert "Will" not in found


@pytest.mark.parametrize(
    "row",
    [
        {"name": "Back Door", "id": "lock.back"},
        {"name": "mia porter", "mail": "x"},
        {"name": "Mia", "mail": "x"},
        {"subject": "Mia Porter", "id": 4},
        {"name": "Pay Mia now, please: " + "x" * 90, "mail": "x"},
        {"name": 4, "mail": "x"},
        "Mia Porter",
    ],
)
def test_what_is_no_person(row: object) -> None:
    """A thing, one word, a sentence."""
    assert called([row], [row]) == [[]]


def test_a_long_list_calls_nobody_for_short() -> None:
    """Among very many, somebody else is called so as well."""
    rows: list[object] = [{"name": "Mia Porter", "mail": "x"} for n in range(MOST + 1)]
    assert called(rows, rows) == [[] for _ in rows]
    assert called(rows[:1], rows * 10) == [[]]
    assert called(rows[:1], rows[:1]) != [[]]
