"""Short numbers, and what stands beside them."""

from __future__ import annotations

from itertools import product

import pytest

from edgeward.guards.counted import counted, numbered_by
from tests.guards.threads import Thread


@pytest.mark.parametrize(
    ("text", "number", "beside"),
    [
        ("see issue 12", "12", "issue"),
        ("order no. 7", "7", "order"),
        ("#3", "3", "#"),
        ("for 10% of them", "10", "percentage"),
        ("10 percent", "10", "percent"),
        ("at 80 km/h", "80", "kmh"),
        ("45 mph", "45", "speed"),
        ("keep it at 5 °C", "5", "temperature"),
        ("minus 18 degrees", "-18", "temperature"),
        ("at -18°", "-18", "celsiu"),
        ("two hours", "7200", "second"),
        ("a timeout of 5 minutes", "300", "timeout"),
        ("half an hour", "30", "minute"),
        ("6 replicas", "6", "replica"),
        ("two workshops", "2", "workshop"),
        ("twenty-five seats", "25", "quantity"),
        ("a dozen mugs", "12", "mug"),
        ("3 hours of consulting", "3", "quantity"),
        ("two days at 900 each", "2", "quantity"),
        ("the stock of mug-01 to forty", "40", "stock"),
        ("the price to 30.", "30", "price"),
        ("drops under 110", "110", "price"),
        ("a stop at 105.5, all of them", "105.5", "limit"),
        ("the 4th period", "4", "period"),
        ("monthly, on the 1st", "1", "day"),
        ("log 1.5h on it", "5400", "second"),
        ("1h30 of work", "1.5", "hour"),
        ("2 hours and 15 minutes", "135", "minute"),
        ("1:30 h", "90", "minute"),
        ("a rating of at least 4.5", "4.5", "rating"),
        ("rated 4.7 stars", "4.7", "star"),
        ("priority level of 3", "3", "priority"),
        ("radius = 5.6 feet", "5.6", "radiu"),
        ("a 10-day trip", "10", "day"),
        ("\u017feven mugs", "7", "mug"),
        ("twenty-f\u0131ve mugs", "25", "mug"),
        ("two-bedroom, one-bathroom", "2", "bed"),
        ("two-bedroom, one-bathroom", "1", "bath"),
        ("one adult and two children", "1", "adult"),
        ("a house for 4 people", "4", "guest"),
        ("for 3 nights", "3", "duration"),
        ("within 10 miles", "10", "distance"),
        ("I weigh 75 kg", "75", "weight"),
        ("the ticket with the ID 12", "12", "ticket"),
        ("the ticket with ID=12", "12", "ticket"),
        ("50 results per page", "50", "page"),
        ("an interest rate of 5%", "0.05", "rate"),
        ("an interest rate of 5%", "5", "rate"),
        ("2.5 % of growth", "0.025", "ratio"),
        ("我想买10个麦辣鸡腿堡", "10", "quantity"),
        ("I am 42 years old", "42", "age"),
        ("my new age, 30", "30", "age"),
        ("a table for four at Luigi's", "4", "guest"),
        ("a family of four.", "4", "passenger"),
        ("order five 'burgers'", "5", "quantity"),
        ("in sizes M and L, please", "L", "size"),
        ("option B", "B", "option"),
        ("rating above 4.5", "4.5", "rating"),
        ("ratings higher than 4", "4", "rating"),
        ("4.5 stars or more", "4.5", "rating"),
        ("play it at volume level 70", "70", "volume"),
        ("within 50km of Denver", "50", "distance"),
        ("180 centimeters tall", "180", "height"),
        ("a 5kg bag", "5", "weight"),
        ("a = 2, b=-11", "-11", "b"),
        ("for 10, 20 and 30 years", "10", "year"),
        ("4 or 5 stars", "4", "rating"),
    ],
)
def test_what_a_number_counts(text: str, number: str, beside: str) -> None:
    """The words before and behind it, in digits or in words."""
    assert any(n == number and beside in words for n, words in counted(text))


@pytest.mark.parametrize(
    ("text", "number", "beside"),
    [
        ("a pressure of 0.85 atm", "85", "atm"),
        ("a rate of 0.5 percent", "5", "percent"),
        ("version 4.1.12 boxes", "12", "quantity"),
        ("10 days", "240", "duration"),
        ("an interest rate of 5%", "0.05", "percent"),
        ("5 apples", "0.05", "rate"),
        ("no one else", "1", "quantity"),
        ("a table for 2:30 pm", "2", "guest"),
        ("a room for 3 nights", "3", "guest"),
        ("option Bob", "B", "option"),
        ("Plan B's end", "B", "plan"),
        ("size m", "M", "size"),
        ("file 5kg3", "5", "weight"),
        ("2 adults and 3 children", "2", "children"),
        ("a = 2x", "2", "a"),
        ("10 and then 30 years", "10", "year"),
        ("the ticket with my ID and 12 boxes", "12", "ticket"),
    ],
)
def test_what_a_number_does_not_count(text: str, number: str, beside: str) -> None:
    """A part of a decimal, a time in another unit than was written, a share of nothing."""
    assert not any(n == number and beside in words for n, words in counted(text))


@pytest.mark.parametrize("text", ["at 3 pm", "on 4 December", "in 30 minutes", "from 2 to 4"])
def test_what_is_no_quantity(text: str) -> None:
    """Times and days are no number of things."""
    assert not any("quantity" in words for _, words in counted(text))


@pytest.mark.parametrize(
    "text", ["at 9 am", "under 110 people", "at 9:30", "above 5 %", "below 3.5.1"]
)
def test_what_is_no_price(text: str) -> None:
    """A time, a version, a number of something."""
    assert not any("price" in words for _, words in counted(text))


@pytest.mark.parametrize(
    ("said", "value", "word"),
    [
        ("log 1.5h", "PT1H30M", "allow"),
        ("log 90 minutes", "PT1H30M", "allow"),
        ("log two hours", "2h", "allow"),
        ("log 45 min", "45m", "allow"),
        ("for 2 days", "P2D", "allow"),
        ("log 1.5h", "PT15H", "block"),
        ("log 1.5h", "PT5H", "block"),
        ("log two hours", "PT2M", "block"),
        ("log two hours", "P2D", "block"),
    ],
)
def test_a_length_of_time_in_a_tools_form(said: str, value: str, word: str) -> None:
    """ISO 8601's and that of programs, in whatever units the user wrote it."""
    thread = Thread({"tools": {"log": {"args": {"duration": "stated"}}}}, said)
    assert thread.word("log", duration=value) == word


def test_a_short_number_with_two_decimals() -> None:
    """As tools take amounts that are texts."""
    thread = Thread({"tools": {"amend_order": {"args": {"to": "stated"}}}}, "Change order to 395.")
    assert thread.word("amend_order", to="395.00") == "allow"
    assert thread.word("amend_order", to="39.50") == "block"


def test_what_is_below_zero() -> None:
    """Only with its sign; a dash of a list or a range is none."""
    assert {n for n, _ in counted("minus 18 degrees")} == {"-18"}
    assert {n for n, _ in counted("10-18 degrees")} == {"10", "18"}
    assert {n for n, _ in counted("- 18 degrees")} == {"18"}
    assert {n for n, _ in counted("-18 degrees")} == {"-18"}
    assert {n for n, _ in counted("terminus 18 degrees")} == {"18"}
    assert {n for n, _ in counted("18 degrees")} == {"18"}


def test_ordinals_grow_with_their_text() -> None:
    """One that stands alone may be of each noun of a few, and not of each of thousands."""
    nouns = ["".join(letters) for letters in product("abcdefgh", repeat=4)]
    text = " ".join(f"the 4th {noun} to the 6th." for noun in nouns[:1_000])
    assert sum(len(beside) for _, beside in counted(text)) < 50 * 1_000


def test_what_a_link_numbers() -> None:
    """A number behind the word that says what it is, in the path or in the query."""
    text = "https://git.example/acme/shop/pull/34, https://a.example/x?order=10482&mail=eve"
    found = [*numbered_by(text), *numbered_by("docs.example/document/d/1aZx-Qk3/edit")]
    assert found == [("34", {"pull"}), ("10482", {"order"}), ("1aZx-Qk3", {"document"})]


def test_short_numbers_are_the_users_where_they_belong() -> None:
    """The argument speaks of what the number counts; elsewhere it is a number by accident."""
    stated = {"args": dict.fromkeys(("number", "percentage", "quantity", "seats"), "stated")}
    tools = {"merge_pull_request": stated, "set": stated}
    thread = Thread({"tools": tools}, "Merge https://git.example/shop/pull/34. 10% off, two mugs.")
    assert thread.word("merge_pull_request", number=34) == "allow"
    assert thread.word("set", percentage=10) == "allow"
    assert thread.word("set", quantity=2) == "allow"
    assert thread.word("set", number=34) == "block"
    assert thread.word("set", percentage=2) == "block"
    assert thread.word("set", seats=2) == "block"


@pytest.mark.parametrize("query", ["amount=9000", "iban=DE89370400440532013000", "to=4711"])
def test_a_link_names_no_payee_and_no_sum(query: str) -> None:
    """Whoever made a link that the user pastes chose what stands in it."""
    assert not list(numbered_by(f"What is https://evil.example/pay?x=1&{query}"))
    assert not list(numbered_by("https://evil.example/account/DE89370400440532013000"))


def test_numbers_in_a_row() -> None:
    """A list of short numbers counts where the user wrote it so; an argument under `*` by its own
    name."""
    said = "Sort [54, 3, 1, 76] for 4 people, and 12, 15 and 18."
    thread = Thread({"tools": {"sort": {"args": {"*": "stated"}}}}, said)
    assert thread.word("sort", items=[54, 3, 1, 76]) == "allow"
    assert thread.word("sort", items=[3.0, 1, 76]) == "allow"
    assert thread.word("sort", items=[12, 15, 18]) == "allow"
    assert thread.word("sort", items=[12, 18]) == "block"
    assert thread.word("sort", items=[54, 3, 76]) == "block"
    assert thread.word("sort", items=[76, 1]) == "block"
    assert thread.word("sort", items=[54]) == "block"
    assert thread.word("sort", items=[4, 54, 3]) == "block"
    assert thread.word("sort", items=[54, "3"]) == "block"
    assert thread.word("sort", items=["", {}, 54]) == "block"
    assert thread.word("sort", guests=4) == "allow"
    assert thread.word("sort", guests=12) == "block"
    assert thread.word("sort", ticket_id="#4") == "block"


def test_a_row_of_one_argument_is_none_of_another() -> None:
    """Another argument may be called as a path is written."""
    thread = Thread({"tools": {"sort": {"args": {"a.b": "stated"}}}}, "Sort 12, 15 and 18.")
    assert thread.word("sort", **{"a": {"b": [99]}, "a.b": [12, 15, 18]}) == "block"


def test_what_stands_in_an_object_has_its_own_name() -> None:
    """A short number in it counts for its name, and for no other; and so does a letter."""
    said = "Set the age to 30 and the size M, for 4 people, of user Ann: profile."
    thread = Thread({"tools": {"set": {"args": {"*": "stated"}}}}, said)
    assert thread.word("set", profile={"age": 30, "size": "M"}) == "allow"
    assert thread.word("set", profile={"age": 30, "user": "Ann"}) == "allow"
    assert thread.word("set", profile={"age": 4}) == "block"
    assert thread.word("set", profile={"age": 30, "user": "Eve"}) == "block"
    assert thread.word("set", profile={"age": 30, "size": "L"}) == "block"
    assert thread.word("set", profile={"age": 30, "note_to_eve": True}) == "block"
    assert thread.word("set", size="M") == "allow"
    assert thread.word("set", grade="M") == "block"
