"""A result that is too long: shown shortened in its place, and readable to its last character."""

from __future__ import annotations

import re
from typing import Any

import pytest
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage

from edgeward.nodes import compress
from edgeward.nodes._base import Here
from edgeward.nodes._messages import MessageLog
from edgeward.nodes._shorten import (
    calls_with_a_rest,
    cut_text,
    is_shortened,
    rest_of,
    shortened,
    whole_of,
)
from edgeward.nodes._sizes import level, start_of, text_tokens, tokens
from tests.fakes import ALLOW_ALL

TEXT = "\n".join(f"line {number} of the file" for number in range(5_000))
MIXED = "".join("text " if n % 3 else "\u6587\u5b57" for n in range(9_000))


def result(text: Any = TEXT, call: str = "c1") -> ToolMessage:
    """A tool's result."""
    return ToolMessage(
        text, tool_call_id=call, name="read", id=f"m-{call}", artifact={"edgeward": {}}
    )


@pytest.mark.parametrize("text", [TEXT, MIXED, "x" * 90_000], ids=["lines", "mixed", "one word"])
@pytest.mark.parametrize("most", [64, 300, 5_000])
def test_size(text: str, most: int) -> None:
    """A shortened result takes about what it may: never much more, and not much less."""
    cut = shortened(result(text), most, readable=True)
    assert tokens(cut) <= most + 20
    assert tokens(cut) >= most * 0.6
    assert whole_of(cut) == text
    assert cut.id == "m-c1"
    assert cut.artifact["edgeward"] == {}


def test_beginning_and_end_are_shown() -> None:
    """And the note between them says how much is left out and how to read it."""
    cut = shortened(result(), 300, readable=True)
    assert cut.text.startswith("line 0 of the file\n")
    assert cut.text.endswith("line 4999 of the file")
    note = re.search(r"\[\.\.\. (\d+) of (\d+) .*read_rest\(call='c1', start=(\d+)\)", cut.text)
    assert note is not None
    left, length, start = map(int, note.groups())
    assert length == len(TEXT)
    assert TEXT.startswith(cut.text.split("\n[...")[0])
    assert rest_of([cut], "c1", start=start, most=left).startswith(TEXT[start : start + 200])


def test_a_result_that_fits_is_left_alone() -> None:
    """The very message, without a copy."""
    message = result("short")
    assert shortened(message, 300, readable=True) is message


def test_shortened_twice() -> None:
    """A second time it is cut from the whole, which stays whole."""
    once = shortened(result(), 3_000, readable=True)
    twice = shortened(once, 300, readable=True)
    assert whole_of(twice) == TEXT
    assert twice == shortened(result(), 300, readable=True)


def test_where_nothing_can_read_on() -> None:
    """The note says to ask for less, and nothing is kept that nobody can read."""
    cut = shortened(result(), 300, readable=False)
    assert "read_rest" not in cut.text
    assert "ask for less" in cut.text
    assert not is_shortened(cut)


def test_an_image_stays() -> None:
    """Blocks that are no text stay beside the shortened text."""
    image = {"type": "image", "source": {"type": "base64", "data": "AAAA"}}
    cut = shortened(result([{"type": "text", "text": TEXT}, image]), 1_500, readable=True)
    assert cut.content[1] == image
    assert len(cut.text) < len(TEXT)


def test_every_character_can_be_read() -> None:
    """Page by page, each from where the last one says, gives the text back."""
    for text in (TEXT[:9_000], MIXED[:5_000]):
        messages = [shortened(result(text), 64, readable=True)]
        read, start = "", 0
        while True:
            page, _, told = rest_of(messages, "c1", start=start, most=200).rpartition("\n[")
            read += page
            if "end" in told.partition("; ")[2] and "start=" not in told:
                break
            start = int(re.findall(r"start=(\d+)", told)[0])
        assert read == text


def test_find() -> None:
    """Reading begins where a text next stands, in any case; or says that it stands nowhere."""
    messages = [shortened(result(), 64, readable=True)]
    page = rest_of(messages, "c1", find="LINE 4321 ", most=50)
    assert page.startswith("line 4321 of the file")
    assert "Nothing like that" in rest_of(
        messages, "c1", find="line 4321", start=len(TEXT), most=50
    )


@pytest.mark.parametrize("start", [-5, 0, 10**9])
def test_any_start(start: int) -> None:
    """A start outside of the text is its beginning or its end."""
    assert rest_of([shortened(result(), 64, readable=True)], "c1", start=start, most=50)


def test_what_is_not_there_cannot_be_read() -> None:
    """Another call's id, a result that is shown whole, or one that is gone: words, no error."""
    for messages in ([], [result()], [shortened(result(), 64, readable=True)]):
        assert "no shortened result" in rest_of(messages, "c9", most=50)
    assert "no shortened result" in rest_of([result()], "c1", most=50)


def in_a_step(messages: list[BaseMessage], **fields: Any) -> MessageLog:
    """The messages after a compress step that asks for no summary."""
    using = compress.Spec(kind="compress", enable_summary=False, **fields)
    with pytest.raises(StopIteration) as stop:
        next(compress.step(using, {"messages": messages}, Here(policy=ALLOW_ALL, readable=True)))
    return MessageLog(messages).merged(stop.value.value.update.get("messages", []))


CALLS = AIMessage("", tool_calls=[{"name": "read", "args": {}, "id": i} for i in ("c1", "c2")])


def test_the_newest_result_is_shortened_not_lost() -> None:
    """A result that alone is longer than the context is shown in part; the small one whole."""
    small = result("small", "c2")
    kept = in_a_step([HumanMessage("task"), CALLS, result(), small], context_limit=8_192)
    assert [m.type for m in kept] == ["human", "ai", "tool", "tool"]
    assert kept[2].text.startswith("line 0")
    assert kept[3] is small
    assert sum(map(tokens, kept)) <= 8_192 - 1_280
    assert calls_with_a_rest(kept) == ["c1"]


def test_a_result_longer_than_what_is_protected_stays_whole_where_it_fits() -> None:
    """The newest result is what was asked for: it goes only where there is no room for it."""
    history = [HumanMessage("task"), AIMessage("y" * 12_000), CALLS, result(TEXT[:12_000])]
    kept = in_a_step([*history, result("", "c2")], context_limit=6_000, prune_protect=500)
    assert kept[-2].text == TEXT[:12_000]
    assert len(kept) == 4


def test_minimum_holds_where_one_turn_is_huge() -> None:
    """A huge older turn is shortened rather than lost, where less than the minimum would stay."""
    history = [HumanMessage("task"), CALLS, result("z" * 600_000), result("", "c2")]
    kept = in_a_step([*history, AIMessage("short answer")])
    assert sum(map(tokens, kept)) >= 20_000
    assert kept[2].text.startswith("zzz")


def test_levels_and_cuts() -> None:
    """The arithmetic: who is cut to what, and where a text of some tokens ends."""
    assert level([10, 20, 30], 100) == 30
    assert level([10, 20, 30], 45) == 17
    assert level([10, 20, 30], 6) == 2
    assert level([5], -3) == 0
    for text in ("a" * 100, "\u6587" * 100, MIXED[:99]):
        for most in (0, 1, 7, 1_000):
            assert text_tokens(text[: start_of(text, most)]) <= most
    assert text_tokens(cut_text(TEXT, 100)) < 110
    assert cut_text("short", 100) == "short"
