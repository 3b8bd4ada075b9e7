"""One request and its response: what every wrapped client does the same way."""

from __future__ import annotations

import json
import logging
from typing import Any

import pytest
from pydantic import BaseModel, ConfigDict

from edgeward import PolicyViolationError, Spending, load_policy
from edgeward.guards.caller import Caller
from edgeward.guards.clients._exchange import MOST_CALLS, Door, Exchange, attach
from edgeward.guards.conversation import ModelTurn, Proposed, ToolResult, UserText

KEY = "sk-" + "a1" * 12
POLICY: dict[str, Any] = {
    "version": 2,
    "tools": {
        "read_doc": "allow",
        "send_email": "block",
        "post": "redact",
        "pay": "ask",
        "fetch": {"max_calls": 1},
    },
}


def exchange(**more: Any) -> Exchange:
    """An exchange that a user's word begins."""
    return Door(load_policy({**POLICY, **more})).exchange([UserText("Go on.")])


def test_calls_are_kept_or_not_in_order() -> None:
    """A finding for each; the decision says what became of them."""
    made = exchange()
    calls = [
        Proposed("read_doc", "{}", "c1"),
        Proposed("send_email", {"to": f"{KEY}"}, "c2"),
        Proposed("read_doc", "{", "c3"),
    ]
    assert [j.keep for j in made.judge(calls)] == [True, False, False]
    decision = made.decision()
    assert decision["action"] == "block"
    assert decision["stripped_tool_calls"] == ["c2", "c3"]
    assert [c["name"] for c in decision["blocked_calls"]] == ["send_email", "read_doc"]
    assert KEY not in str(decision)


def test_a_call_that_runs_masked() -> None:
    """It stays, with other arguments, and the decision says that something was masked."""
    made = exchange()
    (judged,) = made.judge([Proposed("post", json.dumps({"text": f"key {KEY}"}), "c1")])
    assert judged.keep
    assert json.loads(judged.arguments or "") == {"text": "key [REDACTED:openai_key]"}
    assert made.decision()["action"] == "redact"
    assert made.decision()["reason"] is not None
    (plain,) = made.judge([Proposed("post", '{"text": "hi"}', "c2")])
    assert (plain.keep, plain.arguments) == (True, None)


def test_a_call_that_needs_an_approval() -> None:
    """Nobody can be asked in the middle of a response: it is taken out, and the reason says so."""
    made = exchange()
    assert not made.judge([Proposed("pay", "{}", "c1")])[0].keep
    assert "nobody can be asked here" in str(made.decision()["blocked_calls"][0]["reasons"])


def test_calls_count_for_those_after_them() -> None:
    """Within one alternative of a response; another begins anew."""
    made = exchange()
    fetch = [Proposed("fetch", "{}", "c1"), Proposed("fetch", "{}", "c2")]
    assert [j.keep for j in made.judge(fetch)] == [True, False]
    assert [j.keep for j in made.judge(fetch, choice=1)] == [True, False]
    assert not made.judge([Proposed("fetch", "{}", "c3")])[0].keep


ORDER = {"sequence": [{"after": "fetch", "block": "read_doc", "until": "user"}]}


def test_calls_of_one_turn_may_run_in_any_order() -> None:
    """What one of them shuts for another is shut, whichever stands first."""
    fetch, read = Proposed("fetch", "{}", "c1"), Proposed("read_doc", "{}", "c2")
    for calls in ([fetch, read], [read, fetch]):
        made = exchange(**ORDER)
        assert not made.one_by_one
        assert {j.proposed.name: j.keep for j in made.judge(calls)} == {
            "fetch": True,
            "read_doc": False,
        }
        later = exchange(**ORDER)
        kept = [later.judge([call])[0].keep for call in calls]
        assert kept == [True, False]
    assert exchange().one_by_one
    assert all(j.keep for j in exchange(**ORDER).judge([read]))


def test_calls_of_one_turn_under_a_sequence_in_shadow() -> None:
    """All stay; what would not is noted, also of a call that would have come too late."""
    fetch, read = Proposed("fetch", "{}", "c1"), Proposed("read_doc", "{}", "c2")
    for calls in ([fetch, read], [read, fetch]):
        made = exchange(**ORDER, mode={"sequence": "shadow"})
        judged = {j.proposed.name: j for j in made.judge(calls)}
        assert all(j.keep for j in judged.values())
        words = {n: j.finding.verdict.would_be.word for n, j in judged.items()}
        assert words == {"fetch": "allow", "read_doc": "block"}
        later = exchange(**ORDER, mode="shadow")
        found = [later.judge([call])[0] for call in calls]
        assert [f.keep for f in found] == [True, True]
        assert [f.finding.verdict.would_be.word for f in found] == ["allow", "block"]
        assert later.decision()["action"] == "allow"


def test_who_is_served() -> None:
    """A tool for some callers only; what is known of conversations is shared."""
    policy = load_policy({"version": 2, "callers": {"roles": ["clerk"]}, "default": "allow"})
    door = Door(policy)
    clerk = door.serving(Caller("ann", roles=("clerk",)))
    assert clerk.rules.conversations is door.rules.conversations
    call = Proposed("read_doc", "{}", "c1")
    for one, keep in ((door, False), (clerk, True)):
        assert one.exchange([UserText("Hi.")]).judge([call])[0].keep == keep


def test_an_id_twice() -> None:
    """An answer could not be told from the other's: the second call is taken out."""
    made = exchange()
    calls = [Proposed("read_doc", "{}", i) for i in ("c1", "c1", "", "")]
    assert [j.keep for j in made.judge(calls)] == [True, False, True, True]
    assert "id is that of another call" in str(made.decision()["reason"])
    door = Door(load_policy(POLICY))
    waiting = door.exchange([UserText("Hi."), ModelTurn((Proposed("read_doc", "{}", "c1"),))])
    assert not waiting.judge([Proposed("read_doc", "{}", "c1")])[0].keep


@pytest.mark.parametrize("at_once", [True, False])
def test_a_turn_of_very_many_calls(at_once: bool) -> None:
    """Each is judged beside all others: the first 512 are, and what comes after is refused."""
    made = exchange()
    calls = [Proposed("read_doc", f'{{"n": "page-{n}"}}', f"c{n}") for n in range(MOST_CALLS + 3)]
    judged = made.judge(calls) if at_once else [made.judge([call])[0] for call in calls]
    assert [j.keep for j in judged] == [True] * MOST_CALLS + [False] * 3
    assert "after 512 calls of the same turn" in str(made.decision()["reason"])
    assert made.judge(calls[:1], choice=1)[0].keep  # another choice is another turn


def test_text_that_is_masked_is_told() -> None:
    """Its labels stand in the decision."""
    made = exchange()
    assert made.masked(f"the key is {KEY}") == "the key is [REDACTED:openai_key]"
    made.noted(["email"])
    decision = made.decision()
    assert (decision["action"], decision["reason"]) == ("redact", "redacted: openai_key, email")
    assert exchange().decision()["action"] == "allow"


def test_streamed_text_that_is_masked_is_told() -> None:
    """Each text has a holdback of its own; the decision names what all of them masked."""
    made = exchange()
    one, two = made.holdback(), made.holdback()
    first, second = one.feed("the key is sk-"), two.feed("to ann@")
    first += one.feed("a1" * 12) + one.close()
    assert first == "the key is [REDACTED:openai_key]"
    assert second + two.feed("mail.example") + two.close() == "to [REDACTED:email]"
    assert made.decision()["reason"] == "redacted: openai_key, email"


def test_tokens_are_the_conversations() -> None:
    """The call that comes after the budget is used up is taken out."""
    door = Door(load_policy({**POLICY, "token_budget_per_session": 100}))
    turns = [UserText("Hi.")]
    first = door.exchange(turns)
    assert first.judge([Proposed("read_doc", "{}", "c1")])[0].keep
    first.add_tokens(120)
    first.add_tokens(None)
    call = ModelTurn((Proposed("read_doc", "{}", "c1"),))
    second = door.exchange([*turns, call, ToolResult("c1", "text")])
    assert "token budget" in second.judge([Proposed("read_doc", "{}", "c2")])[0].finding.reasons[0]
    other = door.exchange([UserText("Hello.")])
    assert other.judge([Proposed("read_doc", "{}", "c1")])[0].keep


def test_a_response_can_be_followed() -> None:
    """By its id, with the calls that stayed."""
    door = Door(load_policy(POLICY))
    first = door.exchange([UserText("Hi.")])
    call = Proposed("fetch", "{}", "c1")
    first.judge([call])
    first.remember("resp_1", [ModelTurn((call,))])
    second = door.exchange([ToolResult("c1", "text")], after="resp_1")
    assert second.history.calls == {"fetch": 1}
    assert not second.judge([Proposed("fetch", "{}", "c2")])[0].keep


def test_a_secret_that_was_sent_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    """By its label; a request without one says nothing, and nothing was sent of a reply."""
    door = Door(load_policy(POLICY))
    kept = [{"type": "thinking", "thinking": KEY}]
    with caplog.at_level(logging.WARNING, "edgeward.guards"):
        door.rules.sent({"messages": ["hi", KEY], "user": KEY}, ["messages"])
        assert door.exchange(()).masked_data(kept) == kept
        assert not caplog.records
        door.rules.sent({"messages": kept}, ["messages"])
    assert "openai_key" in caplog.text
    assert KEY not in caplog.text


class Response(BaseModel):
    """A response of an SDK that takes what it does not know."""

    model_config = ConfigDict(extra="allow")


class Strict(BaseModel):
    """One that does not."""

    model_config = ConfigDict(extra="forbid")

    text: str = "hi"


def test_a_decision_is_put_on_any_response() -> None:
    """A model with extra fields, one without, an object, a dict."""
    decision = exchange().decision()
    response = Response()
    attach(response, decision)
    assert response.model_extra == {"firewall": decision}
    assert response.firewall == decision  # type: ignore[attr-defined]
    strict: Any = Strict()
    attach(strict, decision)
    assert strict.firewall == decision
    assert strict.model_dump() == {"text": "hi"}
    plain: Any = type("Plain", (), {})()
    attach(plain, decision)
    assert plain.firewall == decision
    given: dict[str, Any] = {}
    attach(given, decision)
    assert given == {"firewall": decision}


def test_exchanges_of_one_caller_side_by_side_do_not_pass_the_limit() -> None:
    """What the model call may take is set aside until it is told, or the request is given up."""
    limits = {"caller": {"tokens": 150}}
    spending = Spending()
    door = Door(load_policy({**POLICY, "limits": limits}), spending=spending)
    first = door.exchange([UserText("Go on.")])
    with pytest.raises(PolicyViolationError, match="150 of 150 tokens of this caller"):
        door.exchange([UserText("Go on.")])
    assert first.judge([Proposed("read_doc", "{}", "c1")])[0].keep  # its own part bars it not
    first.add_tokens(100)
    assert spending.of("")["tokens"] == 100
    given_up = door.exchange([UserText("Go on.")])
    assert spending.of("")["tokens"] == 150
    del given_up
    assert spending.of("")["tokens"] == 100
    assert door.serving(Caller("eve")).exchange([UserText("Go on.")])
