"""What a run leaves behind: which texts, under which tag, with which origin."""

from __future__ import annotations

import pytest
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage

from edgeward.guards.redact import Redactor
from edgeward.profiles.memory.block import MemoryBlock
from edgeward.profiles.memory.notes import MAX_ARGUMENT_CHARS, MAX_FAILURE_CHARS, Leaving

CALL = {"name": "fetch", "args": {"url": "u"}, "id": "c1"}
RUN = [
    SystemMessage("be kind"),
    HumanMessage("an earlier task", id="h0"),
    AIMessage("an earlier answer"),
    HumanMessage("read the page", id="h1"),
    AIMessage(
        "I read it", tool_calls=[CALL], additional_kwargs={"reasoning_content": "hm, a page"}
    ),
    ToolMessage("page text", tool_call_id="c1", name="fetch"),
    AIMessage("it says hello"),
]


def left(messages=RUN, *, block=None, outcome=True, trajectory=True, **more):
    """(tag, role, text) of each note."""
    given = {name: more.pop(name) for name in ("ledger", "verdicts", "run") if name in more}
    leaving = Leaving(MemoryBlock(**(block or {})), str, outcome, trajectory)
    notes, _ = leaving.notes({"messages": messages, **given}, **more)
    return [(n.memory_type, n.role, n.text) for n in notes]


def test_D065_a_run_is_its_messages_and_its_outcome():
    """The last run of the thread, in order; the answer is in the outcome."""
    assert left() == [
        ("trajectory", "user", "read the page"),
        ("trajectory", "assistant", 'I read it\ncalled fetch({"url": "u"})'),
        ("outcome", "assistant", "Task: read the page\nAnswer: it says hello"),
    ]


def test_D125_each_switch_turns_its_part_off():
    """Only the outcome, only the messages (with the answer then), or nothing."""
    assert left(trajectory=False) == [left()[-1]]
    assert left(outcome=False)[-1] == ("trajectory", "assistant", "it says hello")
    assert left(outcome=False, trajectory=False) == []


def test_D060_roles_are_left_out():
    """Tools and the system by default; others where the profile says so."""
    everything = left(block={"ignore_roles": []}, begun="h0")
    assert [role for _, role, _ in everything] == ["user", "assistant"]
    assert ("trajectory", "tool", "page text") in left(block={"ignore_roles": []})
    assert not [n for n in left() if n[1] in ("tool", "system")]
    only = left(block={"ignore_roles": ["Assistant", "tool"]})
    assert [n[1] for n in only if n[0] == "trajectory"] == ["user"]


def test_D061_fields_are_left_out():
    """Reasoning never by default; calls or contents where the profile says so."""
    assert "hm" not in str(left())
    assert "hm, a page" in str(left(block={"ignore_fields": []}))
    assert "called" not in str(left(block={"ignore_fields": ["tool_calls"]}))
    assert "I read it" not in str(left(block={"ignore_fields": ["content"]}))


def test_D065_a_failure_is_kept_as_one():
    """What broke the run off, or the bound that stopped it, with the task."""
    assert left(failure="ValueError: no")[-1] == (
        "failure",
        "assistant",
        "Task: read the page\nFailed: ValueError: no",
    )
    stopped = left(run={"stopped": "max_steps"})[-1]
    assert stopped[0] == "failure"
    assert "Stopped: max_steps\nSaid last: it says hello" in stopped[2]
    assert left(run={"stopped": "max_revisions"})[-1][0] == "outcome"


def test_another_run_of_the_thread_can_be_named():
    """By the message that began it, also when a later one has come since."""
    assert left(begun="h0") == [
        ("trajectory", "user", "an earlier task"),
        ("outcome", "assistant", "Task: an earlier task\nAnswer: an earlier answer"),
    ]
    assert left([AIMessage("no user")]) == []


def trust(messages, **values):
    """(role, trust, sources) of each note."""
    leaving = Leaving(MemoryBlock(ignore_roles=[]), str)
    notes, _ = leaving.notes({"messages": messages, **values})
    return [(n.role, n.trust, n.sources) for n in notes]


def test_X19_I10_what_a_model_wrote_after_a_tool_answered_is_untrusted():
    """Only the user's own words are the user's; a tool's text never is."""
    assert trust(RUN) == [
        ("user", "user", ()),
        ("assistant", "untrusted", ("tool fetch",)),
        ("tool", "untrusted", ("tool fetch",)),
        ("assistant", "untrusted", ("tool fetch",)),
    ]
    assert trust(RUN[:3]) == [("user", "user", ()), ("assistant", "model", ())]


@pytest.mark.parametrize(
    "kept",
    [
        {"ledger": [{"source": "tool fetch", "call": "c1", "values": ["x"]}]},
        {"verdicts": [{"tool": "fetch", "word": "allow"}]},
        {"verdicts": [{"tool": "fetch", "word": "ask"}]},
    ],
)
def test_I10_a_summary_in_place_of_the_results_changes_nothing(kept):
    """The tool's messages are gone; the thread still knows that it answered."""
    assert trust([HumanMessage("go"), AIMessage("hello")], **kept)[-1] == (
        "assistant",
        "untrusted",
        ("tool fetch",),
    )
    summed = [HumanMessage("a summary", name="summary"), HumanMessage("go"), AIMessage("hello")]
    assert trust(summed)[-1] == ("assistant", "untrusted", ("summary",))


def test_a_blocked_call_taints_nothing():
    """It gave nothing that could be passed on."""
    blocked = {"verdicts": [{"tool": "fetch", "word": "block"}]}
    assert trust([HumanMessage("go"), AIMessage("hello")], **blocked)[-1][1] == "model"


def test_everything_is_cleaned():
    """The policy's masking sees each text before it is kept, also a call's arguments."""
    leaving = Leaving(MemoryBlock(ignore_fields=[]), str.upper)
    notes, task = leaving.notes({"messages": RUN}, failure="boom")
    assert task == "read the page"
    assert all(note.text == note.text.upper() for note in notes)


@pytest.mark.parametrize("shown", range(2, 30, 3))
def test_what_is_cut_was_cleaned_before(shown):
    """A key over the place where arguments or a failure are cut off leaves no half behind."""
    key = "sk-proj-TESTTESTTESTTESTTEST"
    redactor = Redactor()
    leaving = Leaving(MemoryBlock(), lambda text: redactor.secrets(text)[0])
    url = "u" * (MAX_ARGUMENT_CHARS - len('{"url": " ') - shown) + " " + key
    said = AIMessage("", tool_calls=[{"name": "fetch", "args": {"url": url}, "id": "c1"}])
    failure = "f" * (MAX_FAILURE_CHARS - 1 - shown) + " " + key
    notes, _ = leaving.notes({"messages": [HumanMessage("go"), said]}, failure=failure)
    assert [note.memory_type for note in notes] == ["trajectory", "trajectory", "failure"]
    assert not any("sk-" in note.text or "TEST" in note.text for note in notes)
