"""What a policy leaves open and the user's last message does not."""

from __future__ import annotations

from typing import Any

import pytest

from edgeward.guards.chosen import chosen_in, options
from tests.guards.threads import Thread, one

STATES = {"in": ["operational", "degraded", "full outage", "low"]}


@pytest.mark.parametrize(
    ("condition", "name", "said", "right", "wrong"),
    [
        ({"min": 1, "max": 12}, "replicas", "Scale search to 6 replicas.", 6, 1),
        ({"min": 1, "max": 12}, "replicas", "Scale search to six replicas.", "6", "12"),
        ({"max": 24}, "celsius", "Make it 20 degrees warm.", 20, 12),
        ({"max": 240}, "minutes", "Silence it for two hours.", 120, 240),
        ({"max": 600}, "seconds", "Wait half an hour... no, 5 minutes.", 300, 600),
        ({"max": 86400}, "ttl", "Use a TTL of 5 minutes.", 300, 1),
        ({"max": 100}, "brightness", "Dim it to 30 %.", 30, 0),
        ({"min": 1, "max": 200}, "price", "Set the price to 19,90 EUR.", "19.90", 1),
        ({"min": 1, "max": 99}, "quantity", "Order two mugs.", 2, 99),
        ({"max": 99}, "quantity", "Bill 2 workshops at 480 EUR each.", 2, 20),
        ({"max": 99}, "quantity", "Bill 2 workshops at $480 each.", 2, 20),
        ({"min": 1, "max": 4}, "copies", "Give Carla two keys.", 2, 4),
        ({"max": 800}, "budget", "Have it mended for at most 250 EUR.", 200, 800),
        ({"max": 900}, "price", "Buy a chair for no more than $200.", 150, 201),
        ({"in": ["approved", "rejected"]}, "decision", "Approve her leave.", "approved",
         "rejected"),
        ({"in": ["roles/viewer", "roles/editor"]}, "role", "Let Ann edit it.", "roles/editor",
         "roles/viewer"),
        ({"in": ["EUR", "USD"]}, "currency", "Give her 1500 euros.", "EUR", "USD"),
        ({"in": ["SEV1", "SEV2"]}, "severity", "Open a sev2 incident.", "SEV2", "SEV1"),
        ({"in": [6, 12]}, "months", "For 12 months.", 12, 6),
        ({"in": [23, 32]}, "max_kg", "A bag of 23 kg.", 23, 32),
        ({"in": ["limitPrice", "qty"]}, "field", "Lower the limit to 395.", "limitPrice", "qty"),
        ({"in": ["illness", "family"]}, "reason", "She was ill.", "illness", "family"),
        ({"match": r"20\d\d-\d\d"}, "period", "Send the October report.", "2026-10", "2026-09"),
        ({"match": "20.*"}, "day", "Book 4 December.", "2026-12-04", "2026-12-11"),
        ({"min": 1, "max": 28}, "day_of_month", "Pay it on the 1st.", 1, 28),
        ({"min": 1, "max": 10}, "period", "Book the 4th period.", 4, 9),
        ({"max": 9000}, "amount_cents", "Refund £42.10.", 4210, 42),
        ({"max": 9000}, "amount_cents", "Refund 42.10 GBP.", 4210, 8420),
        ({"in": ["In Progress", "In Review"]}, "to", "Move it to in review.", "In Review",
         "In Progress"),
        ({"in": ["inProgress", "in_review"]}, "to", "Move it to in review.", "in_review",
         "inProgress"),
    ],
)  # fmt: skip
def test_another_value_than_the_user_wrote(
    condition: Any, name: str, said: str, right: Any, wrong: Any
) -> None:
    """It is within the range or on the list, and a person is asked."""
    thread = Thread({"tools": {"use": {"args": {name: condition}}}}, said)
    assert thread.word("use", **{name: right}) == "allow"
    assert thread.word("use", **{name: wrong}) == "ask"
    assert thread.word("use", **{name.title(): right}) == "allow"
    assert thread.word("use", **{name.title(): wrong}) == "ask"
    [finding] = thread.verdict("use", **{name: wrong}).findings
    assert (finding.argument, finding.rests_on) == (name, (name,))
    assert "not what the user wrote for it" in finding.reason


def test_words_of_the_request_choose_however_short_they_are() -> None:
    """`buy` and `sell` are on the list and are what asks for the tool."""
    entry = {"requested": ["buy", "sell"], "args": {"side": {"in": ["buy", "sell"]}}}
    thread = Thread({"tools": {"place_order": entry}}, "buy 10 AAPL")
    assert thread.word("place_order", side="buy") == "allow"
    assert thread.word("place_order", side="sell") == "ask"
    thread = Thread({"tools": {"place_order": entry}}, "sell half of what I had them buy")
    assert thread.word("place_order", side="buy") == "allow"


def test_what_a_tool_adds_is_as_many_as_the_user_says() -> None:
    """Of a tool that changes what is there, `two more` may be any number."""
    entry = {"args": {"pieces": {"max": 9}}}
    thread = Thread({"tools": {"add_bags": entry, "set_bags": entry}}, "Two extra bags, please.")
    assert thread.word("add_bags", pieces=2) == "allow"
    assert thread.word("add_bags", pieces=4) == "ask"
    assert thread.word("set_bags", pieces=4) == "allow"


@pytest.mark.parametrize(
    ("condition", "name", "said", "value"),
    [
        ({"max": 12}, "replicas", "Scale search up.", 8),
        ({"max": 12}, "replicas", "It has 4 replicas: double them.", 8),
        ({"max": 12}, "replicas", "Give it 2 more replicas.", 6),
        ({"max": 12}, "replicas", "At most 6 replicas, please.", 4),
        ({"max": 12}, "replicas", "Ask me about the 4 replicas.", 8),
        ({"max": 900}, "price", "Buy a chair for less than 200 EUR.", 150),
        ({"max": 900}, "price", "Up to EUR 200.", 150),
        ({"max": 900}, "price", "10 % off of 200 EUR", 180),
        ({"max": 9}, "quantity", "Add two mugs each for Ann and Bob.", 4),
        ({"max": 9}, "quantity", "Add two pints of milk, and butter.", 1),
        ({"max": 100}, "percent", "Send 10 percent of it there.", 90),
        ({"max": 60}, "duration_minutes", "Lunch in two hours.", 60),
        ({"max": 900}, "invoice_id", "Send 2 invoices.", 482),
        (STATES, "state", "Set it right.", "degraded"),
        (STATES, "state", "It is no longer degraded: operational.", "operational"),
        (STATES, "state", "It was low.", "degraded"),
        (STATES, "state", "It is not operational.", "degraded"),
        ({"in": ["minor", "normal", "urgent"]}, "urgency", "A normal noise, not urgent.", "minor"),
        ({"max": 900}, "price", "At least 200 EUR.", 800),
        ({"in": ["degraded"]}, "state", "It is operational.", "degraded"),
        ({"in": ["alice@a.example", "robert@a.example"]}, "to", "Ask about Alice.",
         "robert@a.example"),
        ({"in": ["above", "below"]}, "op", "Tell me when it drops under 110.", "above"),
        ({"in": ["limitPrice", "stopPrice"]}, "field", "Change the price to 395.", "stopPrice"),
        ({"match": r"20\d\d-\d\d"}, "period", "Send what may be the last one.", "2026-10"),
        ({"match": r"20\d\d-\d\d"}, "period", "Send all since October.", "2026-11"),
        ({"min": 1, "max": 10}, "period", "Move the 4th period to the 6th.", 6),
        ({"match": r"20\d\d-\d\d"}, "period", "The March report, for April.", "2026-03"),
        ({"match": r"20\d\d-\d\d"}, "period", "It may be the last report.", "2026-03"),
        ({"min": 1, "max": 28}, "day_of_month", "Pay it on the 1st of December.", 5),
        ({"max": 9000}, "amount_cents", "Refund half of 42.10 EUR.", 2105),
        ([{"max": 12}, "stated"], "number", "Use 4711 replicas.", 4711),
    ],
)  # fmt: skip
def test_what_is_no_choice(condition: Any, name: str, said: str, value: Any) -> None:
    """A bound, what is computed, how things are, a word by accident: the policy alone decides."""
    thread = Thread({"tools": {"use": {"args": {name: condition}}}}, said)
    assert thread.word("use", **{name: value}) == "allow"


def test_a_number_that_nothing_names() -> None:
    """It may be anything, but not another one than the user wrote for it."""
    rules = {"tools": {"bill": {"args": {"lines.price": {"max": 900}}}}}
    thread = Thread(rules, "Bill 3 hours of work at $95.")
    assert thread.word("bill", lines=[{"price": 95, "quantity": 3}]) == "allow"
    assert thread.word("bill", lines=[{"price": 95, "quantity": 300}]) == "ask"
    assert thread.word("bill", lines=[{"price": 95, "quantity": "300"}]) == "ask"
    assert thread.word("bill", lines=[{"price": 95, "quantity": "\t300"}]) == "ask"
    assert thread.word("bill", lines=[{"price": 95, "page": 300}]) == "allow"
    assert Thread(rules).word("bill", lines=[{"price": 5, "quantity": 300}]) == "allow"


def test_how_many_a_tool_sets() -> None:
    """A quantity is that of what the tool speaks of."""
    thread = Thread({"tools": {"update_stock": {"args": {"quantity": {"max": 99}}}}})
    thread.says("Set the stock of mug-01 to 40.")
    assert thread.word("update_stock", quantity=40) == "allow"
    assert thread.word("update_stock", quantity=0) == "ask"


def test_a_day_that_nothing_names() -> None:
    """One day of the call is the user's; the other may be computed."""
    rules = {"tools": {"move": {"args": {"id": "known"}}, "add": {"args": {"at": "dated"}}}}
    thread = Thread(rules, "Move it to 4 December 2026.")
    assert thread.word("move", start="2026-12-04T15:00", end="2026-12-05") == "allow"
    assert thread.word("move", start="2026-12-25T15:00", end="2026-12-26") == "ask"
    assert thread.word("move", start="2031-12-04") == "allow"  # `dated` asks for the year, too
    assert thread.word("add", at="2026-12-04", remind="2026-12-03") == "allow"
    for said in ("Move it to the day after 4 December.", "Move it to 4.12. or so.", "£1.2k a day"):
        assert Thread(rules, said).word("move", start="2031-12-05") == "allow"


def test_the_last_message_chooses() -> None:
    """What was written before is a choice, too, and binds nobody any more."""
    thread = one(STATES, "Set search to degraded.")
    assert thread.word("use", x="operational") == "ask"
    thread.says("And the shop is operational.")
    assert thread.word("use", x="operational") == "allow"
    assert thread.word("use", x="degraded") == "allow"
    assert thread.word("use", x="full outage") == "ask"
    thread.says("Go on.")
    assert thread.word("use", x="full outage") == "allow"


def test_what_a_trusted_record_says_may_be_meant() -> None:
    """A number that is known is no other than the user meant."""
    trust = [{"tool": "get_bill", "fields": ["total"]}]
    rules = {"trust": trust, "tools": {"pay": {"args": {"amount": {"max": 9000}}}}}
    thread = Thread(rules, "Pay the rent and 50 EUR to Ann.")
    assert thread.word("pay", amount=1200) == "ask"
    thread.gave("get_bill", {"total": 1200})
    assert thread.word("pay", amount=1200) == "allow"


def test_a_version_ignores_what_was_written_later() -> None:
    """The last message is that of the ledger that is asked."""
    thread = one(STATES, "Set search to degraded.")
    before = thread.ledger
    thread.says("Set it to operational.")
    assert before.last_message == "Set search to degraded."
    assert thread.ledger.last_message == "Set it to operational."
    assert one(STATES).ledger.last_message == ""


def test_options_of_a_list() -> None:
    """Texts only, of which there are several; what all of them say tells none from another."""
    assert options(["a"]) == options([1, 2]) == options(["$user", "x"]) == ()
    viewer, editor = options(["roles/viewer", "roles/editor"])
    assert {"view", "viewer", "viewing"} <= viewer.forms
    assert "roles" not in editor.forms
    assert [o.binds for o in options(["low", "normal", "minor", "all", "1234"])] == [
        False, False, True, False, False,
    ]  # fmt: skip


def test_a_long_message_is_read_to_a_bound() -> None:
    """What lies beyond it chooses nothing."""
    assert chosen_in("6 replicas " + "x " * 20_000 + "9 seats").numbers["replica"] == {6}
    assert "seat" not in chosen_in("x " * 20_000 + "9 seats").numbers


def test_what_a_tool_speaks_of_chooses_nothing() -> None:
    """Who has an order cancelled says nothing of its having been ordered by mistake."""
    reasons = {"in": ["no longer needed", "ordered by mistake"]}
    rules = {"tools": {"cancel_order": {"args": {"reason": reasons}}}}
    thread = Thread(rules, "Cancel my order 7121, please.")
    assert thread.word("cancel_order", reason="no longer needed") == "allow"
    assert thread.word("cancel_order", reason="ordered by mistake") == "allow"
    thread = Thread(rules, "Cancel my order 7121, I no longer need it.")
    assert thread.word("cancel_order", reason="no longer needed") == "allow"
    assert thread.word("cancel_order", reason="ordered by mistake") == "ask"
    thread = Thread(rules, "Cancel that order, it was a mistake.")
    assert thread.word("cancel_order", reason="no longer needed") == "ask"
    assert thread.word("cancel_order", reason="ordered by mistake") == "allow"


def test_a_single_word_stays_a_choice_in_a_tool_that_speaks_of_it() -> None:
    """`ordered` chooses that state, `order` does not."""
    rules = {"tools": {"set_order_state": {"args": {"to": {"in": ["ordered", "delivered"]}}}}}
    assert Thread(rules, "Set it to ordered.").word("set_order_state", to="delivered") == "ask"
    assert Thread(rules, "Set the order back.").word("set_order_state", to="delivered") == "allow"
    said = "Set my order to delivered."
    assert Thread(rules, said).word("set_order_state", to="ordered") == "ask"


def test_what_a_tool_does_is_chosen_by_its_verb() -> None:
    """Who says approve chooses approved, though the tool speaks of it."""
    rules = {"tools": {"approve_request": {"args": {"to": {"in": ["approved", "rejected"]}}}}}
    for said, right, wrong in (
        ("Approve", "approved", "rejected"),
        ("Reject", "rejected", "approved"),
    ):
        thread = Thread(rules, f"{said} request 5.")
        assert thread.word("approve_request", to=right) == "allow"
        assert thread.word("approve_request", to=wrong) == "ask"


def test_more_than_a_sum_is_no_bound_from_above() -> None:
    """`more than 100` bounds from below; `no more than 100` and `not more than 100` from above."""
    rules = {"tools": {"book": {"args": {"price": {"max": 900}}}}}
    assert Thread(rules, "Book it even if it is more than $100.").word("book", price=250) == "allow"
    for said in ("no more than $100", "not more than $100", "don't pay more than $100"):
        assert Thread(rules, f"Book it, {said}.").word("book", price=250) == "ask"
        assert Thread(rules, f"Book it, {said}.").word("book", price=80) == "allow"


def test_a_total_of_things_is_no_sum_of_money() -> None:
    """Bags are counted, whatever may be paid for them; fees are paid."""
    rules = {"tools": {"add": {"args": {"total_bags": {"max": 9}, "total_fees": {"max": 900}}}}}
    thread = Thread(rules, "Add 2 checked bags, I pay $60.")
    assert thread.word("add", total_bags=2, total_fees=60) == "allow"
    assert thread.word("add", total_bags=2, total_fees=70) == "ask"


def test_what_is_excluded_is_no_choice() -> None:
    """`exclude any that are completed` chooses nothing; an adverb does, as its adjective."""
    condition = {"in": ["active", "completed"]}
    policy = {"tools": {"use": {"args": {"status": condition}}}}
    assert (
        Thread(policy, "List all but exclude any that are completed.").word("use", status="active")
        == "allow"
    )
    assert Thread(policy, "List those that are completed.").word("use", status="active") == "ask"
    policy = {"tools": {"use": {"args": {"sort": {"in": ["chronological", "popularity"]}}}}}
    sorted_so = Thread(policy, "Have them sorted chronologically.")
    assert sorted_so.word("use", sort="chronological") == "allow"
    assert sorted_so.word("use", sort="popularity") == "ask"
