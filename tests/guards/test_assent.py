"""A yes is no new request."""

from __future__ import annotations

import pytest

from edgeward.guards.assent import only_agrees

from .threads import Thread


@pytest.mark.parametrize(
    "message",
    ["Yes.", "yes please!", "Yes, that's right, go ahead.", "OK, do it", "I confirm.", "Ja, genau.",
     "Looks good, go ahead, thank you very much", "Sí, por favor",
     "Right.", "That is right, go ahead, thanks"],
)  # fmt: skip
def test_a_yes(message: str) -> None:
    """It agrees to what was said, and says nothing else."""
    assert only_agrees(message)


@pytest.mark.parametrize(
    "message",
    ["", "No.", "Yes, but only the blue one", "please", "do it", "Yes, all of them twice",
     "OK. What is the weather?", "yes " * 40, "no, go ahead",
     "Thank you!", "OK, thanks", "All right, thanks!", "That is correct, thank you.", "Great."],
)  # fmt: skip
def test_more_than_a_yes(message: str) -> None:
    """Another word may be a new request; without a yes it is none."""
    assert not only_agrees(message)


REFUNDS = {
    "tools": {
        "refund": {
            "requested": ["refund"],
            "args": {"ticket": "known", "reason": {"in": ["damaged", "arrived late"]}},
        }
    },
    "trust": [{"tool": "list_tickets", "fields": ["ticket"]}],
}


def _asked() -> Thread:
    thread = Thread(REFUNDS, "Refund my two tickets, the parcels were damaged.")
    thread.gave("list_tickets", [{"ticket": "T-771"}, {"ticket": "T-772"}])
    return thread


def test_what_was_chosen_before_a_yes_stays_chosen() -> None:
    """The user said damaged, and agrees: the other reason is a question as before."""
    thread = _asked()
    assert thread.word("refund", ticket="T-771", reason="arrived late") == "ask"
    thread.says("Yes, please go ahead.")
    assert thread.word("refund", ticket="T-771", reason="arrived late") == "ask"
    assert thread.word("refund", ticket="T-771", reason="damaged") == "allow"
    thread.says("Sorry, say that it arrived late.")
    assert thread.word("refund", ticket="T-771", reason="arrived late") == "allow"


def test_a_yes_is_for_the_call_that_comes_next() -> None:
    """Once another wish was carried out after it, the first one is a question again."""
    rules = {"tools": {"pay": {"requested": ["pay"]}, "note": {"requested": ["note"]}}}
    thread = Thread(rules, "Pay my bills and note it.")
    thread.gave("pay", "done")
    thread.says("Yes.")
    assert (thread.word("pay"), thread.word("note")) == ("allow", "allow")
    thread.gave("note", "done")
    assert (thread.word("pay"), thread.word("note")) == ("ask", "allow")
    thread.says("Yes, go ahead.")
    assert (thread.word("pay"), thread.word("note")) == ("allow", "allow")


def test_a_yes_between_two_calls_ends_no_wish() -> None:
    """Who agrees to each step asked for all of them; a thank you ends it, as before."""
    thread = _asked()
    thread.says("Yes.")
    thread.gave("refund", "done", {"ticket": "T-771", "reason": "damaged"})
    thread.says("Yes, please.")
    assert thread.word("refund", ticket="T-772", reason="damaged") == "allow"
    thread.says("OK, thank you.")
    assert thread.word("refund", ticket="T-772", reason="damaged") == "ask"
