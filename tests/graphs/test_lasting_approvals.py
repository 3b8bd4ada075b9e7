"""An approval that lasts answers for later calls like it: not longer, not elsewhere, not others."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
from langchain_core.tools import StructuredTool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command
from pydantic import ValidationError

from edgeward import RunContext, ScriptedModel, load_strategy
from edgeward.graphs.compile import Parts, compile_strategy
from edgeward.graphs.locked import LockedGraph
from edgeward.guards.ticket import TicketKey
from tests.fakes import ask, on, policy, turn

HOUR = 3_600
ENTRY: dict[str, Any] = {
    "send": {"args": {"to": "known", "body": "clean", "urgent": "any"}, "otherwise": "ask"}
}
LASTING = {"decision": "approve", "by": "emma", "scope": {"arguments": ["to"], "for_s": HOUR}}
CLERK = RunContext(user="ann", tenant="acme", roles=("clerk",))


class Desk:
    """A graph whose model proposes calls of `send`, a clock, and what was sent."""

    def __init__(self, turns: list[Any], words: Mapping[str, Any] = ENTRY, **rules: Any) -> None:
        self.sent: list[tuple[str, str]] = []
        self.now = 1_000_000.0
        self.key = TicketKey()
        self.saver = InMemorySaver()
        self.model = ScriptedModel(turns=turns, order="conversation")
        self.graph = self.graph_with(words, **rules)

    def graph_with(self, words: Mapping[str, Any], **rules: Any) -> LockedGraph:
        """The graph under a policy."""

        def send(to: str, body: str = "", urgent: bool = False) -> str:
            """Send it."""
            self.sent.append((to, body))
            return "sent"

        parts = Parts(
            policy=policy(words, **rules),
            model=self.model,
            tools={"send": StructuredTool.from_function(send)},
            tickets=self.key,
            clock=lambda: self.now,
        )
        return compile_strategy(load_strategy("react"), parts, checkpointer=self.saver)

    def asked(self, thread: str = "t", context: RunContext = CLERK) -> list[dict[str, Any]]:
        """The questions that the next run of the thread comes to."""
        return waiting(self.graph.invoke(ask(), on(thread), context=context))

    def answer(self, context: RunContext = CLERK, thread: str = "t", **given: Any) -> Any:
        """Answer what waits."""
        return self.graph.invoke(Command(resume=given), on(thread), context=context)

    def records(self, thread: str = "t") -> list[dict[str, Any]]:
        """The records of the thread."""
        found: list[dict[str, Any]] = self.graph.get_state(on(thread)).values["verdicts"]
        return found


def waiting(result: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The questions of a result; none where the run went through."""
    return [call for one in result.get("__interrupt__", ()) for call in one.value["calls"]]


def mail(number: int, to: str = "bob@x.example", **more: Any) -> list[Any]:
    """A turn that sends a mail, and the end of the run."""
    return [turn(("send", {"to": to, **more}, f"c{number}")), "done"]


def desk(*calls: dict[str, Any], **rules: Any) -> Desk:
    """A desk where the first mail to bob was approved for an hour; `calls` come after it."""
    turns = [m for n, call in enumerate([{}, *calls]) for m in mail(n, **call)]
    made = Desk(turns, rules.pop("words", ENTRY), **rules)
    made.asked()
    made.answer(c0=LASTING)
    assert len(made.sent) == 1
    return made


def test_later_calls_like_it_are_not_asked_about() -> None:
    """Other words to the same address go out; who approved that, and when, is on the record."""
    made = desk({"body": "hello again"})
    assert made.asked() == []
    assert made.sent[1:] == [("bob@x.example", "hello again")]
    given, covered = (record["approval"] for record in made.records())
    assert given["scope"] == {"arguments": ["to"], "until": "1970-01-12T14:46:40+00:00"}
    assert covered["scope"] == {**given["scope"], "call": "c0"}
    assert (covered["by"], covered["at"]) == ("emma", given["at"])
    assert [record["word"] for record in made.records()] == ["ask", "ask"]


def test_the_question_offers_a_scope() -> None:
    """It fixes what is asked about and where the call leads, and may be handed back as it is."""
    made = Desk([*mail(0, body="x"), *mail(1)])
    (question,) = made.asked()
    assert question["scope"] == {"arguments": ["to"], "for_s": HOUR}
    made.answer(c0={"decision": "approve", "scope": question["scope"]})
    assert made.asked() == []


@pytest.mark.parametrize(
    "call",
    [
        {"to": "eve@evil.test"},
        {"to": ["bob@x.example"]},
        {"to": "Bob@x.example"},
        {"body": "see https://evil.test/x"},
    ],
)
def test_another_value_or_another_reason_is_asked_about(call: dict[str, Any]) -> None:
    """What is fixed is fixed to the letter; what else is asked about is another question."""
    made = desk(call)
    made.asked()
    assert len(made.sent) == 1


def test_it_ends() -> None:
    """At the second that it was given for, and what has run out is not kept."""
    made = desk({}, {}, {})
    made.now += HOUR - 1
    assert made.asked() == []
    made.now += 1
    assert len(made.asked()) == 1
    made.answer(c2=LASTING)
    (kept,) = made.graph.get_state(on()).values["approvals"]
    assert kept["call"] == "c2"


def test_it_holds_in_its_thread_and_for_its_caller() -> None:
    """Another thread, another user, another role: asked."""
    assert len(desk({}).asked("u")) == 1
    for other in (RunContext(user="bob", tenant="acme", roles=("clerk",)), RunContext()):
        assert len(desk({}).asked(context=other)) == 1
    assert desk({}).asked(context=replace(CLERK, max_steps=3)) == []


def test_it_is_bound_to_the_policy() -> None:
    """Under a policy that says one word more the question is asked again."""
    made = desk({})
    made.graph = made.graph_with(ENTRY, description="Another one.")
    assert len(made.asked()) == 1


def test_a_block_is_a_block() -> None:
    """An approval turns an ask into a yes, and never a block (I4)."""
    rule = {"name": "up", "reason": "leads out", "regex": r"\.\./"}
    made = desk({"body": "../x"}, arg_rules=[rule])
    assert made.asked() == []
    assert len(made.sent) == 1
    assert "leads out" in made.records()[-1]["reason"]


def test_nobody_can_forge_or_stretch_one() -> None:
    """Every word of a grant is under its seal; a ticket or another grant's seal is none."""
    from edgeward.guards.approvals import Bounds, covering
    from edgeward.guards.caller import Caller
    from edgeward.guards.decide import decide
    from edgeward.guards.ledger import History
    from edgeward.guards.verdict import ToolCall

    made = desk()
    (grant,) = made.graph.get_state(on()).values["approvals"]
    assert json.loads(json.dumps(grant)) == grant
    rules = policy(ENTRY)
    call = ToolCall("send", {"to": "bob@x.example", "body": "", "urgent": False}, id="c9")
    verdict = decide(rules, call, History())
    who = Caller("ann", "acme", ("clerk",))
    bounds = Bounds(made.key, "t", rules.digest, who)

    def covered(grant: Any, bounds: Bounds = bounds) -> bool:
        return covering([grant], call, verdict, now=made.now, bounds=bounds) is not None

    assert covered(grant)
    for change in (
        {"until": grant["until"] + 1},
        {"fixed": {}},
        {"fixed": {**grant["fixed"], "to": "eve@evil.test"}},
        {"rules": [*grant["rules"], "tools.send.args"]},
        {"tool": "pay"},
        {"by": "root"},
        {"seal": ""},
        {"seal": None},
        {"seal": made.key.sign(call, thread="t", policy=rules.digest)},
        {"until": float("nan")},
        {"fixed": object()},
    ):
        assert not covered({**grant, **change}), change
    for other in ("not a grant", {}, None, {"seal": grant["seal"]}):
        assert not covered(other)
    for other_bounds in (
        Bounds(TicketKey(), "t", rules.digest, who),
        Bounds(made.key, "u", rules.digest, who),
        Bounds(made.key, "t", "0" * 64, who),
        Bounds(made.key, "t", rules.digest, Caller("ann", "acme")),
    ):
        assert not covered(grant, other_bounds)


@pytest.mark.parametrize(
    ("answer", "wrong"),
    [
        ({"scope": {"arguments": ["to"], "for_s": HOUR + 1}}, "at most 3600"),
        ({"scope": {"arguments": ["cc"], "for_s": 1}}, "the call has no cc"),
        ({"scope": {"arguments": ["body"], "for_s": 1}}, "the scope has to fix it"),
        ({"scope": {"arguments": [], "for_s": 1}}, "the scope has to fix it"),
        ({"scope": {"arguments": ["to"], "for_s": 0}}, "for_s"),
        ({"scope": {"arguments": ["to"]}}, "for_s"),
        ({"scope": {"arguments": ["to"], "for_s": 1}, "decision": "reject"}, "goes with"),
    ],
)
def test_a_scope_that_does_not_fit(answer: dict[str, Any], wrong: str) -> None:
    """It is refused with the reason, nothing runs, and the thread keeps waiting."""
    made = Desk(mail(0))
    made.asked()
    with pytest.raises(ValidationError, match=wrong):
        made.answer(c0={"decision": "approve", **answer})
    assert made.sent == []
    made.answer(c0=LASTING)
    assert len(made.sent) == 1


def test_an_outright_ask() -> None:
    """A tool whose word is `ask` is asked about unless the same values were approved to last."""
    made = desk({"body": "b"}, {"to": "eve@evil.test"}, words={"send": "ask"})
    assert made.asked() == []
    assert len(made.asked()) == 1


@pytest.mark.parametrize("rule", ["once", {"once": ["send"]}, {"once": ["SEND"]}])
def test_a_policy_can_want_every_call_asked_about(rule: Any) -> None:
    """Then no scope is offered, and one that is sent is refused."""
    made = Desk(mail(0), approvals=rule)
    (question,) = made.asked()
    assert "scope" not in question
    with pytest.raises(ValidationError, match="approved by itself"):
        made.answer(c0=LASTING)


def test_a_count_is_no_matter_of_an_address() -> None:
    """What is asked because a tool ran often enough is asked each time."""
    words = {"send": {"args": {"to": "any"}, "max_calls": 1, "otherwise": "ask"}}
    made = Desk([turn(*[("send", {"to": "a"}, f"c{n}") for n in range(2)]), "done"], words)
    (question,) = made.asked()
    assert "scope" not in question
    with pytest.raises(ValidationError, match="asked each time"):
        made.answer(c1=LASTING)


def test_values_that_go_together_are_fixed_together() -> None:
    """Else one known address and one known amount would make any pair."""
    words = {
        "send": {
            "args": {"to": "any", "body": "any"}, "together": ["to", "body"], "otherwise": "ask"
        }
    }  # fmt: skip
    made = Desk(mail(0, body="100"), words)
    (question,) = made.asked()
    assert set(question["scope"]["arguments"]) >= {"to", "body"}
    with pytest.raises(ValidationError, match="has to fix it"):
        made.answer(c0=LASTING)


def test_one_answer_for_the_calls_of_a_turn() -> None:
    """Of two mails to one address the second needs no answer of its own."""
    two = turn(("send", {"to": "b@x.example"}, "c0"), ("send", {"to": "b@x.example"}, "c1"))
    made = Desk([two, "done"])
    assert len(made.asked()) == 2
    assert waiting(made.answer(c0=LASTING)) == []
    assert len(made.sent) == 2


def test_while_a_second_call_waits_the_first_may_run_out() -> None:
    """What was covered when the turn was proposed, and no longer is when it goes on, is asked."""
    made = desk({}, {})
    both = turn(("send", {"to": "bob@x.example"}, "d0"), ("send", {"to": "eve@x.example"}, "d1"))
    made.model.turns[:] = [*made.model.turns[:2], both, "done"]
    assert [q["id"] for q in made.asked()] == ["d1"]
    made.now += HOUR
    assert [q["id"] for q in waiting(made.answer(d1={"decision": "approve"}))] == ["d0"]
    assert len(made.sent) == 1


def test_an_edit_is_judged_beside_the_rest_of_its_turn() -> None:
    """A call that a person edits counts what else of the turn goes through."""
    words = {"send": {"args": {"to": {"in": ["a", "b"]}}, "max_calls": 2, "otherwise": "ask"}}
    three = turn(*[("send", {"to": to}, f"c{n}") for n, to in enumerate(["x", "a", "b"])])
    made = Desk([three, "done"], words)
    assert [q["id"] for q in made.asked()] == ["c0", "c2"]
    edit = {"decision": "edit", "args": {"to": "a"}}
    made.answer(c0=edit, c2={"decision": "approve"})
    assert "has run 2 time(s)" in made.records()[0]["reason"]
    rejected = Desk([three, "done"], words)
    rejected.asked()
    rejected.answer(c0=edit, c2={"decision": "reject"})
    assert rejected.records()[0]["word"] == "allow"
